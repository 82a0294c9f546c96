//! A PostgreSQL cluster of the test's own, which it can stop the hard way and start again.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::test_home::until;

pub struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    prefix: Vec<String>,
    port: u16,
    server: Option<Child>,
}

impl Cluster {
    pub fn start() -> Self {
        Self::start_with(|_| ())
    }

    /// The same, with something to be done before the server starts.
    pub fn start_with(prepare: impl FnOnce(&Self)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let prefix = account(folder.path());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut cluster = Self { folder, programs: programs(), prefix, port, server: None };
        cluster.make_data();
        prepare(&cluster);
        cluster.start_again();
        cluster
    }

    /// An empty cluster: a copy of the first one that any test made, which takes a tenth of the time.
    fn make_data(&self) {
        let version = self.programs.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("postgresql-{version}"));
        if kept.exists() {
            return copy(&kept, &self.data());
        }
        let mut initdb = self.command("initdb");
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]);
        let made = initdb.arg("--pgdata").arg(self.data()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let aside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        copy(&self.data(), &aside.path().join("data"));
        // Whole or not at all; of two who make it at once, one is first.
        let _ = fs::rename(aside.path().join("data"), kept);
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Writes a file for the server's eyes alone, and returns where it is; at the end of one that is there.
    pub fn append(&self, name: &str, text: &str) -> PathBuf {
        let path = self.data().join(name);
        let mut file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let owner = fs::metadata(self.data()).unwrap();
        chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
        path
    }

    /// Runs SQL while no server runs, a statement per line.
    pub fn run_alone(&self, sql: &str) {
        let mut single = self.command("postgres");
        single.args(["--single", "-D"]).arg(self.data()).arg("postgres").stdin(Stdio::piped());
        let mut running = single.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        running.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
        assert!(running.wait().unwrap().success());
    }

    /// Runs SQL on the server, and returns what it gives.
    pub fn sql(&self, sql: &str) -> String {
        let mut psql = self.command("psql");
        psql.args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, &self.url()]);
        let done = psql.output().unwrap();
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
    }

    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Starts the server and waits until it takes queries.
    pub fn start_again(&mut self) {
        let mut server = self.command("postgres");
        server.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
        server.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
        self.server = Some(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let status = self.data().join("postmaster.pid");
        until("PostgreSQL is ready", || {
            let text = fs::read_to_string(&status).unwrap_or_default();
            text.lines().nth(7).is_some_and(|line| line.trim() == "ready").then_some(())
        });
    }

    /// Ends it without a last word: connections are cut, nothing is tidied up.
    pub fn stop_hard(&mut self) {
        let mut stop = self.command("pg_ctl");
        let stopped = stop.args(["stop", "-m", "immediate", "-D"]).arg(self.data()).output().unwrap();
        assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stderr));
        if let Some(mut server) = self.server.take() {
            server.wait().unwrap();
        }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = match self.prefix.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
            None => Command::new(program),
        };
        // The account that runs it may not be allowed into the present folder.
        command.current_dir("/").stdin(Stdio::null());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.stop_hard();
        }
    }
}

/// Copies a folder with its owners.
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

/// The folder is given to an account that may run PostgreSQL, which root may not; this is how to become it.
fn account(folder: &Path) -> Vec<String> {
    let id = |flag: &str, user: &[&str]| {
        let output = Command::new("id").arg(flag).args(user).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse::<u32>().ok()
    };
    if id("-u", &[]) != Some(0) {
        return Vec::new();
    }
    let user = if id("-u", &["postgres"]).is_some() { "postgres" } else { "nobody" };
    let (owner, group) = (id("-u", &[user]).unwrap(), id("-g", &[user]).unwrap());
    chown(folder, Some(owner), Some(group)).unwrap();
    // The kernel ends the server if the test is killed.
    let words = ["setpriv", "--pdeathsig", "KILL", "--clear-groups"].map(str::to_owned);
    words.into_iter().chain([format!("--reuid={owner}"), format!("--regid={group}")]).collect()
}

/// Debian keeps the server's programs off PATH, one folder per version.
fn programs() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    let found = folders
        .into_iter()
        .chain(std::env::split_paths(&path))
        .find(|folder| folder.join("initdb").is_file());
    found.expect("PostgreSQL's programs are not to be found: `cargo xtask test` installs them")
}
