//! Installs each package where nothing else is, and takes the first steps with it: a new user, an empty home
//! directory, no cargo on PATH.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Release;
use crate::cargo::workspace_root;
use crate::install;
use crate::python;

pub fn run(release: &Release) -> Result<()> {
    for (name, check) in CHECKS {
        let room = tempfile::tempdir()?;
        check(release, room.path()).with_context(|| format!("the {name} does not work"))?;
        println!("           {name}: installed, and called a tool");
    }
    Ok(())
}

type Check = fn(&Release, &Path) -> Result<()>;
const CHECKS: [(&str, Check); 5] =
    [("tarball", tarball), ("wheel", wheel), ("npm package", npm), ("deb", deb), ("minimal image", minimal)];

/// A command for a user who has nothing yet.
fn fresh(program: impl AsRef<std::ffi::OsStr>, room: &Path) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let without_cargo = std::env::split_paths(&path).filter(|folder| !folder.join("cargo").exists());
    let path = std::env::join_paths(without_cargo).unwrap_or_default();
    let mut command = Command::new(program);
    command.env_clear().env("PATH", path).env("HOME", room).current_dir(room);
    command
}

fn tarball(release: &Release, room: &Path) -> Result<()> {
    // The installer downloads, so it is given somewhere to download from.
    let server = FileServer::start(&release.out)?;
    let mut install = fresh("sh", room);
    install.arg(release.out.join("install.sh")).env("TOOLROOM_DOWNLOAD_URL", &server.url);
    succeed(&mut install)?;
    first_steps(|| fresh(room.join(".local/bin/toolroom"), room))
}

fn wheel(release: &Release, room: &Path) -> Result<()> {
    let venv = room.join("venv");
    python::make(&venv)?;
    let wheel = file(release, |name| name.ends_with(".whl"))?;
    succeed(
        fresh(venv.join("bin/pip"), room).args(["install", "--quiet", "--no-index", "--no-deps"]).arg(wheel),
    )?;
    // The module for authors, and the program by both names.
    let module = "from toolroom import tool; from toolroom.testing import call";
    succeed(fresh(venv.join("bin/python"), room).args(["-c", module]))?;
    succeed(fresh(venv.join("bin/python"), room).args(["-m", "toolroom", "--version"]))?;
    own_tool(&venv.join("bin/toolroom"), room)?;
    first_steps(|| fresh(venv.join("bin/toolroom"), room))
}

/// How long a stranger may take from the first command of the README to a call by a client.
const FIRST_MINUTE: Duration = Duration::from_secs(60);

/// The README's own minute: its file, each of its commands, and a call by a client of the MCP SDK.
fn own_tool(program: &Path, room: &Path) -> Result<()> {
    let began = Instant::now();
    let readme = fs::read_to_string(workspace_root().join("README.md"))?;
    let minute =
        readme.split("\n## ").find(|part| part.starts_with("In a minute")).context("no first minute")?;
    let script = minute.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    fs::write(room.join("weather.py"), script.context("no script in it")?)?;
    let commands = minute.lines().filter_map(|line| line.strip_prefix("    toolroom "));
    let mut ran = 0;
    for command in commands.filter(|command| *command != "serve") {
        let mut run = fresh(program, room);
        run.args(command.split(' '));
        if command.starts_with("connect ") {
            run.arg("--yes");
        }
        succeed(&mut run)?;
        ran += 1;
    }
    if ran < 4 {
        bail!("the README has only {ran} commands for the first minute");
    }
    let client = workspace_root().join("tests/python/own_tool_client.py");
    let mut call = fresh(python::environment("TOOLROOM_TEST_PYTHON_MCP1")?, room);
    let said = succeed(call.arg(client).arg(program).args(["get_weather", r#"{"city": "Oslo"}"#]))?;
    if !said.contains("\"temperature\": 21") {
        bail!("the client got {said}");
    }
    let took = began.elapsed();
    println!("           first minute of the README: {:.1} s", took.as_secs_f64());
    if took > FIRST_MINUTE { bail!("the first minute took {} s", took.as_secs()) } else { Ok(()) }
}

fn npm(release: &Release, room: &Path) -> Result<()> {
    let packages = [
        file(release, |name| name.starts_with("toolroom-linux-x64-") && name.ends_with(".tgz"))?,
        release.out.join(format!("toolroom-{}.tgz", release.version)),
    ];
    succeed(fresh("npm", room).args(["install", "--silent", "--offline", "--no-audit"]).args(packages))?;
    first_steps(|| fresh(room.join("node_modules/.bin/toolroom"), room))
}

/// Unpacked, and not installed: that would change this machine.
fn deb(release: &Release, room: &Path) -> Result<()> {
    let package = release.out.join(format!("toolroom_{}_amd64.deb", release.version));
    succeed(fresh("dpkg-deb", room).arg("--extract").arg(&package).arg(room.join("root")))?;
    let unit = room.join("root/lib/systemd/system/toolroom.service");
    let program = room.join("root/usr/bin/toolroom");
    // `verify` wants the program where the unit says that it is.
    let text = fs::read_to_string(&unit)?.replace("/usr/bin/toolroom", &program.to_string_lossy());
    fs::write(&unit, text)?;
    if Path::new("/usr/bin/systemd-analyze").exists() {
        succeed(fresh("systemd-analyze", room).args(["verify", "--man=no"]).arg(&unit))?;
    }
    first_steps(|| fresh(&program, room))
}

/// The image without a system, made as its stage says, with this machine's libraries: nothing else may be needed.
fn minimal(release: &Release, room: &Path) -> Result<()> {
    let root = room.join("root");
    let file = fs::read_to_string(release.out.join("container/Containerfile"))?;
    let stage = file.split("\nFROM ").find(|stage| stage.starts_with("scratch ")).context("no such stage")?;
    for line in stage.lines().filter_map(|line| line.strip_prefix("COPY ")) {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.starts_with("--")).collect();
        let (to, from) = words.split_last().context("an empty COPY")?;
        for from in from {
            let name = Path::new(from).file_name().context("no name")?;
            let place = root.join(to.trim_start_matches('/'));
            match *from {
                "/data" => fs::create_dir_all(place)?,
                "toolroom" => copy_into(&release.program, &place)?,
                library => copy_into(Path::new(library), &place.join(name))?,
            }
        }
    }
    let needed = Command::new("objdump").arg("-p").arg(&release.program).output()?;
    let needed = String::from_utf8_lossy(&needed.stdout).into_owned();
    for library in needed.lines().filter_map(|line| line.trim().strip_prefix("NEEDED")).map(str::trim) {
        if !["lib64", "lib/x86_64-linux-gnu"].iter().any(|folder| root.join(folder).join(library).exists()) {
            bail!("it has no {library}, which the program needs");
        }
    }
    // Only the system's administrator can make a folder the root of a process.
    if install::id("-u", None)? != 0 {
        return Ok(());
    }
    // Without `/proc`, which a container has, no engine is started for MCP.
    first_calls(&|| {
        let mut inside = fresh("chroot", room);
        inside.arg(&root).arg("/usr/bin/toolroom").env("HOME", "/data").env("TOOLROOM_HOME", "/data");
        inside
    })
}

fn copy_into(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().context("a folder")?)?;
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

/// What the README begins with, without a server and through MCP.
fn first_steps(toolroom: impl Fn() -> Command) -> Result<()> {
    first_calls(&toolroom)?;
    let mut mcp = toolroom().arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}"#;
    let mut stdin = mcp.stdin.take().context("no stdin")?;
    std::io::Write::write_all(&mut stdin, format!("{request}\n").as_bytes())?;
    let mut answer = String::new();
    BufReader::new(mcp.stdout.take().context("no stdout")?).read_line(&mut answer)?;
    drop(stdin);
    mcp.wait()?;
    let answer: Value = serde_json::from_str(&answer)?;
    if answer["result"]["protocolVersion"] != "2025-11-25" {
        bail!("`mcp` answered {answer}");
    }
    Ok(())
}

fn first_calls(toolroom: &impl Fn() -> Command) -> Result<()> {
    let version = succeed(toolroom().arg("--version"))?;
    if !version.contains(env!("CARGO_PKG_VERSION")) {
        bail!("it says that it is {version}");
    }
    succeed(toolroom().args(["call", "create-task", "--param", "title=Buy groceries"]))?;
    let listed: Value = serde_json::from_str(&succeed(toolroom().args(["call", "list-tasks", "--json"]))?)?;
    if listed["data"]["tasks"][0]["title"] != "Buy groceries" {
        bail!("the task is not in the list: {listed}");
    }
    Ok(())
}

/// The one package of this name.
fn file(release: &Release, is_it: impl Fn(&str) -> bool) -> Result<PathBuf> {
    let mut found = fs::read_dir(&release.out)?.filter_map(Result::ok).map(|entry| entry.path());
    let named = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(&is_it);
    found.find(named).context("the package was not made")
}

/// What the command says; it must succeed.
fn succeed(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        bail!("{command:?} ended with {}:\n{out}{err}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The packages' folder over HTTP, on this machine alone.
struct FileServer {
    child: Child,
    url: String,
}

impl FileServer {
    fn start(folder: &Path) -> Result<Self> {
        let program = "import http.server, functools, sys\n\
                       files = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])\n\
                       server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), files)\n\
                       print(server.server_port, flush=True)\n\
                       server.serve_forever()";
        let mut command = Command::new("python3");
        command.args(["-c", program]).arg(folder).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut port = String::new();
        BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut port)?;
        Ok(Self { child, url: format!("http://127.0.0.1:{}", port.trim()) })
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
