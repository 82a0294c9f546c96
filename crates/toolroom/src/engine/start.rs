//! Reaching the engine of a home, and starting one where there is none.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::UnixStream;
use tokio::time::sleep;
use toolroom_server::listener::connect_unix;

use super::{PAUSE, SILENCE};
use crate::client::hung;
use crate::failure::Failure;
use crate::home::{Home, Role, Taking};
use crate::terminal;

/// How long engines may fail to start while nobody works on the home. One that was started here is waited for as long
/// as it lives: a busy machine is slow.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long another process may have the home and not answer.
const LONGEST_START: Duration = Duration::from_secs(60);
/// How large the log of engines may be before it starts over.
const LOG_BYTES: u64 = 1 << 20;
/// Where set, no engine is started: somebody else runs `serve`.
const NO_ENGINE: &str = "TOOLROOM_NO_ENGINE";
/// What an engine is given of the environment, beside what the home's files name: secrets of the program that happened
/// to start it must not reach the tools of others.
const KEPT: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"];
/// Settings of ours, of the model that the chat asks, and of the locale.
const KEPT_BEGINNINGS: [&str; 3] = ["TOOLROOM_", "OPENAI_", "LC_"];

/// A connection to the engine of a home, which is started if there is none, or only an older one of other fronts.
pub async fn connect(home: &Home, database: Option<&str>) -> Result<UnixStream> {
    let (since, mut told) = (Instant::now(), false);
    let (mut began, mut held) = (since, (None, since));
    loop {
        let holder = home.holder();
        let is_command = holder.as_ref().is_some_and(|holder| holder.role == Role::Command);
        // A command may take as long as its call does: an engine would only wait for it too.
        let is_busy = is_command && matches!(home.try_lock(Role::Command)?, Taking::Held(_));
        if is_busy {
            began = Instant::now();
        }
        let is_older =
            holder.as_ref().is_some_and(|holder| is_newer(env!("CARGO_PKG_VERSION"), &holder.version));
        match connect_unix(&home.socket()).await {
            Ok(_) if is_older && holder.as_ref().is_some_and(|holder| holder.role == Role::Engine) => {
                retire(home).await;
            }
            Ok(stream) => return Ok(stream),
            Err(_) if is_busy => {}
            Err(_) if std::env::var_os(NO_ENGINE).is_some_and(|value| !value.is_empty()) => {}
            Err(_) => match start(home, database).await? {
                Started::Answers => continue,
                Started::ByOthers => {
                    let by = home.holder().map(|holder| holder.pid);
                    if held.0 != by {
                        held = (by, Instant::now());
                    }
                    if held.1.elapsed() < LONGEST_START {
                        began = Instant::now();
                    }
                }
                Started::Ended => {}
            },
        }
        if began.elapsed() > PATIENCE {
            if matches!(home.try_lock(Role::Command)?, Taking::Held(_)) {
                return Err(hung(home));
            }
            let by = holder
                .map_or("nobody answers".to_owned(), |holder| format!("the last to use it was {holder}"));
            let hint = "Start 'toolroom serve', or look with 'toolroom doctor'.";
            return Err(Failure::new(format!("no server on {}: {by}", home.root().display()), hint).into());
        }
        if !told && since.elapsed() > SILENCE {
            told = true;
            let by = holder.map_or("a server".to_owned(), |holder| holder.to_string());
            terminal::remark(&format!("waiting for {by} on {}", home.root().display()));
        }
        sleep(PAUSE).await;
    }
}

/// Asks the engine that answers on the socket to end; `false` if none did. The kernel says who that is.
pub async fn retire(home: &Home) -> bool {
    let Ok(stream) = connect_unix(&home.socket()).await else { return false };
    let pid = stream.peer_cred().ok().and_then(|peer| Pid::from_raw(peer.pid()?));
    pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok())
}

/// What became of a start.
enum Started {
    /// There is an engine.
    Answers,
    /// Somebody else starts one, or has the home.
    ByOthers,
    /// It ended, and did not say why.
    Ended,
}

/// Starts an engine, unless another front does so at this moment.
async fn start(home: &Home, database: Option<&str>) -> Result<Started> {
    let Some(_turn) = turn_to_start(home)? else { return Ok(Started::ByOthers) };
    if connect_unix(&home.socket()).await.is_ok() {
        return Ok(Started::Answers);
    }
    let (mut log, before) = open_log(home)?;
    let mut child = spawn(home, database, log.try_clone()?)?;
    let (began, mut told) = (Instant::now(), false);
    while connect_unix(&home.socket()).await.is_err() {
        if child.try_wait()?.is_some() {
            let mut said = String::new();
            let _ = log.seek(SeekFrom::Start(before)).and_then(|_| log.read_to_string(&mut said));
            // Somebody else was first, or it was killed: then there is another attempt.
            if matches!(home.try_lock(Role::Command)?, Taking::Held(_)) {
                return Ok(Started::ByOthers);
            }
            return match said.lines().find_map(|line| line.strip_prefix("error: ")) {
                None => Ok(Started::Ended),
                Some(line) => {
                    let message = format!("the engine did not start: {line}");
                    Err(Failure::new(message, format!("See {}.", home.engine_log().display())).into())
                }
            };
        }
        if !told && began.elapsed() > SILENCE {
            told = true;
            let pid = child.id();
            terminal::remark(&format!(
                "waiting for an engine (pid {pid}) to start on {}",
                home.root().display()
            ));
        }
        sleep(PAUSE).await;
    }
    // Whoever is its parent must notice its end.
    std::thread::spawn(move || child.wait());
    Ok(Started::Answers)
}

/// While this is held, no engine is started by others; `None` if somebody else holds it.
pub fn turn_to_start(home: &Home) -> Result<Option<File>> {
    let path = home.engine_turn();
    let turn = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let turn = turn.map_err(|error| home.cannot_open(&path, error))?;
    Ok(turn.try_lock().is_ok().then_some(turn))
}

fn spawn(home: &Home, database: Option<&str>, log: File) -> Result<Child> {
    let mut command = Command::new(program()?);
    command.arg("engine").arg("--home").arg(home.root()).env_clear();
    command.args(database.into_iter().flat_map(|url| ["--database", url]));
    let wanted = variables_named(home);
    let kept = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        KEPT.contains(&&*name)
            || KEPT_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            || wanted.contains(&*name)
    });
    command.envs(kept).current_dir(home.root());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().context("the engine cannot be started")
}

/// The variables that the home's files name: as `${NAME}` in tools.json and mcp.json, as `…_env = "NAME"` in the settings.
fn variables_named(home: &Home) -> BTreeSet<String> {
    let text = |file: PathBuf| std::fs::read_to_string(file).unwrap_or_default();
    let name = |rest: &str| -> String {
        rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    };
    let registries = [text(home.tools()), text(home.servers())];
    let named = registries.iter().flat_map(|text| text.split("${").skip(1)).map(name);
    let settings = text(home.settings());
    let set = settings.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        key.trim().ends_with("_env").then(|| name(value.trim().trim_start_matches(['"', '\''])))
    });
    named.chain(set).filter(|name| !name.is_empty()).collect()
}

/// This program; the new one, if it was replaced while it ran.
fn program() -> Result<PathBuf> {
    let program = std::env::current_exe().context("this program's file cannot be found")?;
    let text = program.to_string_lossy();
    Ok(text.strip_suffix(" (deleted)").map_or(program.clone(), PathBuf::from))
}

/// The log of engines, and where the next one begins in it.
fn open_log(home: &Home) -> Result<(File, u64)> {
    let path = home.engine_log();
    let open = || {
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path)?;
        if file.metadata()?.len() > LOG_BYTES {
            file.set_len(0)?;
        }
        let length = file.metadata()?.len();
        std::io::Result::Ok((file, length))
    };
    open().map_err(|error| home.cannot_open(&path, error))
}

fn is_newer(ours: &str, theirs: &str) -> bool {
    let numbers = |version: &str| -> Vec<u64> {
        version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
    };
    numbers(ours) > numbers(theirs)
}
