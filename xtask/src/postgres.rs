//! A temporary PostgreSQL cluster on loopback, gone when its owner lets go of it or dies.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cargo::find_program;
use crate::install::id;

/// The variable that tells tests and measurements where the cluster is.
pub const URL_VARIABLE: &str = "TOOLROOM_TEST_POSTGRES";

const START_LIMIT: Duration = Duration::from_secs(60);

/// A shell that owns the cluster. Its standard input is a pipe that only this process holds: the pipe's end
/// is the order to stop, and it comes however this process ends, be it by Ctrl-C or kill -9.
///
/// SIGQUIT is repeated because a shell starts its background programs deaf to it, until the server sets its
/// own handler; it skips the last checkpoint, which nobody will read.
const GUARD: &str = r#"
folder=$1 programs=$2 port=$3 fsync=$4
shift 4
exec 3<&0 </dev/null
trap 'rm -rf "$folder"' EXIT
"$@" "$programs/initdb" --pgdata="$folder/data" --username=postgres --auth=trust \
    --encoding=UTF8 --no-locale --no-sync 3<&- || exit 1
"$@" "$programs/postgres" -D "$folder/data" -p "$port" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c max_connections=200 -c fsync="$fsync" 3<&- &
server=$!
{ read -r _ <&3; while kill -QUIT "$server"; do sleep 0.1; done; rm -rf "$folder"; } 2>/dev/null &
watcher=$!
exec 3<&-
wait "$server"
kill "$watcher" 2>/dev/null
"#;

/// Whether the cluster waits for the disk.
#[derive(Clone, Copy)]
pub enum Durability {
    /// For quick tests: an operating system crash would lose data, and there is no data to lose.
    NoSync,
    /// For anything that measures.
    Full,
}

/// A running cluster; dropping it stops the server and removes its files.
pub struct Cluster {
    guard: Child,
    url: String,
}

impl Cluster {
    /// Makes and starts a cluster with the server programs in `programs`, and waits until it takes queries.
    pub fn start(programs: &Path, durability: Durability) -> Result<Self> {
        let account = Account::choose()?;
        let folder = tempfile::Builder::new().prefix("toolroom-postgres-").tempdir()?;
        if let Some((user, group)) = account.owner {
            chown(folder.path(), Some(user), Some(group))?;
        }
        let port = free_port()?;
        let mut log = tempfile::tempfile()?;
        let guard = Command::new("sh")
            .args(["-c", GUARD, "toolroom-postgres"])
            .arg(folder.path())
            .arg(programs)
            .arg(port.to_string())
            .arg(match durability {
                Durability::NoSync => "off",
                Durability::Full => "on",
            })
            .args(&account.prefix)
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?)
            // The account that runs the server may not be allowed into the present folder.
            .current_dir("/")
            // Its own group, so that Ctrl-C does not end the guard before it has cleaned up.
            .process_group(0)
            .spawn()
            .context("cannot start `sh`")?;
        let folder = folder.keep();
        let mut cluster = Self { guard, url: format!("postgres://postgres@127.0.0.1:{port}/postgres") };
        if let Err(error) = cluster.wait_until_ready(&folder.join("data/postmaster.pid")) {
            return Err(error.context(format!("PostgreSQL did not start; its log:\n{}", read_all(&mut log))));
        }
        println!("           {URL_VARIABLE}={}", cluster.url);
        Ok(cluster)
    }

    /// The address to connect to, as superuser and without a password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Reads the server's own status file: unlike a connection, it cannot be another server on the same port.
    fn wait_until_ready(&mut self, status_file: &Path) -> Result<()> {
        let began = Instant::now();
        while began.elapsed() < START_LIMIT {
            let status = fs::read_to_string(status_file).unwrap_or_default();
            if status.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
                return Ok(());
            }
            if let Some(ended) = self.guard.try_wait()? {
                bail!("it ended with {ended}");
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("it was not ready after {} s", START_LIMIT.as_secs())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        if let Err(error) = self.guard.wait() {
            eprintln!("xtask: cannot tell whether PostgreSQL has stopped: {error}");
        }
    }
}

/// Who runs the server: PostgreSQL refuses to run as root.
struct Account {
    /// The user and group that must own the cluster's folder, if not the ones of this process.
    owner: Option<(u32, u32)>,
    /// What to put before a command so that it runs under this account.
    prefix: Vec<String>,
}

impl Account {
    fn choose() -> Result<Self> {
        // The kernel ends the server if even the guard is killed.
        let dies_with_parent = ["setpriv", "--pdeathsig", "KILL"].map(str::to_owned);
        let has_setpriv = find_program("setpriv").is_some();
        if id("-u", None)? != 0 {
            let prefix = if has_setpriv { dies_with_parent.to_vec() } else { Vec::new() };
            return Ok(Self { owner: None, prefix });
        }
        if !has_setpriv {
            bail!(
                "PostgreSQL cannot run as root, and `setpriv` (util-linux) is missing to run it as another user"
            );
        }
        let user = if id("-u", Some("postgres")).is_ok() { "postgres" } else { "nobody" };
        let owner = (id("-u", Some(user))?, id("-g", Some(user))?);
        let mut prefix = dies_with_parent.to_vec();
        prefix.extend([
            format!("--reuid={}", owner.0),
            format!("--regid={}", owner.1),
            "--clear-groups".into(),
        ]);
        Ok(Self { owner: Some(owner), prefix })
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port on loopback")?;
    Ok(listener.local_addr()?.port())
}

fn read_all(log: &mut File) -> String {
    let mut bytes = Vec::new();
    match log.rewind().and_then(|()| log.read_to_end(&mut bytes)) {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("(cannot be read: {error})"),
    }
}
