//! A folder with scripts, and ways to look at the processes that they become.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolroom_worker::{
    Isolation, Kind, Level, Limits, Output, Progress, ScriptError, ScriptSpec, Scripts, Settings, Sink,
};

pub struct TestFolder {
    folder: TempDir,
    pub scripts: Scripts,
}

impl TestFolder {
    pub fn new() -> Self {
        Self::with(Settings::from_environment())
    }

    pub fn with(settings: Settings) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), scripts: Scripts::new(settings) }
    }

    /// With what typed tools and tools in Node need.
    pub fn authoring() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = Some(folder.path().join("cache"));
        let node = std::env::var_os("TOOLROOM_TEST_NODE").map_or_else(|| "node".into(), PathBuf::from);
        let settings = Settings { cache, node, ..Settings::from_environment() };
        Self { folder, scripts: Scripts::new(settings) }
    }

    /// Where `name`, a runtime of the tests, is the only one.
    pub fn with_only(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/js-runtimes/node_modules");
        let (scope, program) = if name == "bun" { ("@oven", "bin/bun") } else { ("@deno", "deno") };
        let mut builds = fs::read_dir(packages.join(scope)).expect("installed by `cargo xtask test`");
        let program =
            builds.find_map(|build| build.unwrap().path().join(program).canonicalize().ok()).unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(program, bin.join(name)).unwrap();
        let mut settings = Settings::from_environment();
        settings.environment.insert("PATH".to_owned(), format!("{}:/usr/bin:/bin", bin.display()));
        let node = folder.path().join("no-node");
        let settings = Settings { cache: Some(folder.path().join("cache")), node, ..settings };
        Self { folder, scripts: Scripts::new(settings) }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn spec(&self, name: &str, kind: Kind, path: PathBuf) -> ScriptSpec {
        ScriptSpec {
            name: name.to_owned(),
            root: self.path().to_owned(),
            path,
            kind,
            env: Default::default(),
            limits: Limits { processes: 64, ..Limits::default() },
            parallel: 1,
            isolation: Isolation::Shared,
            workdir: self.path().join("work"),
            sandbox: None,
        }
    }

    pub fn python(&self, name: &str, text: &str) -> ScriptSpec {
        let path = self.write(&format!("{name}.py"), text);
        self.spec(name, Kind::Python { entrypoint: "run".to_owned() }, path)
    }

    /// A function of a Python file.
    pub fn function(&self, file: &str, function: &str) -> ScriptSpec {
        self.spec(function, Kind::Python { entrypoint: function.to_owned() }, self.path().join(file))
    }

    /// A tool of a file for Node.
    pub fn node(&self, file: &str, tool: &str) -> ScriptSpec {
        self.spec(tool, Kind::Node { tool: tool.to_owned() }, self.path().join(file))
    }

    pub fn shell(&self, name: &str, text: &str) -> ScriptSpec {
        let path = self.write(&format!("{name}.sh"), text);
        self.spec(name, Kind::Shell, path)
    }

    pub fn executable(&self, name: &str, text: &str) -> ScriptSpec {
        let path = self.write(name, text);
        self.spec(name, Kind::Executable, path)
    }

    pub async fn call(&self, spec: &ScriptSpec, params: Value) -> Result<Output, ScriptError> {
        self.scripts.call(spec, &params, &json!({"userId": "ann"}), &()).await
    }

    pub async fn data(&self, spec: &ScriptSpec, params: Value) -> Value {
        self.call(spec, params).await.unwrap().data
    }

    /// Processes that work in this folder, or were started with a path of it.
    pub fn survivors(&self) -> Vec<String> {
        processes()
            .into_iter()
            .filter(|pid| works_in(pid, &self.path()) || names(pid, &self.path()))
            .collect()
    }

    /// Waits until no process of the folder is left; if one is, shows what /proc says about it.
    pub fn is_empty_within(&self, time: Duration, what: &str) {
        let deadline = Instant::now() + time;
        loop {
            let survivors = self.survivors();
            if survivors.is_empty() {
                return;
            }
            if Instant::now() > deadline {
                let stat = |pid: &String| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                panic!("{what}: left after {time:?}: {:#?}", survivors.iter().map(stat).collect::<Vec<_>>());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub fn nothing_is_left_within(&self, time: Duration) {
        self.is_empty_within(time, "processes");
        until(time, "no zombie is left", || zombies().is_empty());
    }
}

pub fn processes() -> Vec<String> {
    let names =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

fn works_in(pid: &str, folder: &Path) -> bool {
    pid != std::process::id().to_string()
        && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
}

/// Whether a path of the folder stands in its command line, as the script of a worker does.
fn names(pid: &str, folder: &Path) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains(&*folder.to_string_lossy())
}

/// Children of this process that nobody has waited for.
pub fn zombies() -> Vec<String> {
    let own = format!("Z {} ", std::process::id());
    let is_ours = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(&own))
    };
    processes().into_iter().filter(is_ours).collect()
}

pub fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

pub fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Polls a condition until it holds, or fails.
pub fn until(time: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + time;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {time:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Keeps what a script reports.
#[derive(Default)]
pub struct Recorder {
    pub progress: Mutex<Vec<Progress>>,
    pub lines: Mutex<Vec<(Level, String)>>,
    pub stderr: Mutex<Vec<String>>,
}

impl Sink for Recorder {
    fn progress(&self, progress: Progress) {
        self.progress.lock().unwrap().push(progress);
    }

    fn log(&self, level: Level, text: &str) {
        self.lines.lock().unwrap().push((level, text.to_owned()));
    }

    fn stderr(&self, text: &str) {
        self.stderr.lock().unwrap().push(text.to_owned());
    }
}
