//! A runtime with a folder of scripts and the registrar of its `tools.json`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_runtime::registrar::{
    Builtin, ChangeError, Disk, FileProblem, RealDisk, Registrar, Registration, Setup,
};
use toolroom_worker::Scripts;

use crate::test_runtime::TestRuntime;
use crate::tools::query;

pub struct TestScripts {
    pub runtime: TestRuntime,
    pub registrar: Arc<Registrar>,
}

impl TestScripts {
    /// Scripts by name, and the entries of `tools.json`.
    pub fn new(scripts: &[(&str, &str)], entries: Value) -> Self {
        Self::open(scripts, &render(&entries), Vec::new(), Arc::new(RealDisk)).unwrap()
    }

    pub fn open(
        scripts: &[(&str, &str)],
        file: &str,
        builtins: Vec<Builtin>,
        disk: Arc<dyn Disk>,
    ) -> Result<Self, FileProblem> {
        let runtime = TestRuntime::new(vec![query("get-native").build()]);
        let tools = runtime.folder.path().join("tools");
        fs::create_dir(&tools).unwrap();
        for (name, text) in scripts {
            write_script(&tools.join(name), text);
        }
        fs::write(tools.join("tools.json"), file).unwrap();
        let registrar = Registrar::open(Setup {
            file: tools.join("tools.json"),
            work: runtime.folder.path().join("work"),
            runtime: Arc::clone(&runtime.runtime),
            scripts: Scripts::new(toolroom_worker::Settings::from_environment()),
            builtins,
            disk,
        })?;
        Ok(Self { runtime, registrar })
    }

    pub fn tools(&self) -> PathBuf {
        self.runtime.folder.path().join("tools")
    }

    pub fn file(&self) -> PathBuf {
        self.tools().join("tools.json")
    }

    pub fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// The names in the file, in its order.
    pub fn names_on_disk(&self) -> Vec<String> {
        let file: Value = serde_json::from_str(&self.text()).unwrap();
        let entries = file["tools"].as_array().unwrap();
        entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    }

    /// What lies in the folder of the scripts.
    pub fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.tools()).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The folder in which a tool runs.
    pub fn work(&self, tool: &str) -> PathBuf {
        self.runtime.folder.path().join("work").join(tool)
    }

    pub fn has(&self, tool: &str) -> bool {
        self.runtime.runtime.registry.get(tool).is_some()
    }

    pub fn version(&self) -> u64 {
        self.runtime.runtime.registry.snapshot().version
    }
}

pub fn write_script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The text of a `tools.json`.
pub fn render(entries: &Value) -> String {
    format!("{:#}\n", json!({ "tools": entries }))
}

/// A short entry, with more fields.
pub fn entry(name: &str, script: &str, more: Value) -> Value {
    let mut entry = json!({
        "name": name,
        "description": "Does what a test needs.",
        "type": "local",
        "input_schema": { "type": "object" },
        "config": { "script_path": script },
    });
    merge(&mut entry, more);
    entry
}

fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

pub fn registration(entry: Value, script: Option<&str>) -> Registration {
    let entry: ToolEntry = serde_json::from_value(entry).unwrap();
    Registration { entry, script: script.map(str::to_owned) }
}

/// What a refused change tells its caller.
pub fn refusal<T>(changed: Result<T, ChangeError>, code: ErrorCode) -> ToolError {
    let error = ToolError::from(changed.err().unwrap_or_else(|| panic!("the change was made")));
    assert_eq!(error.code, code, "{error:?}");
    error
}

/// Waits until something holds that another process or thread brings about.
pub async fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}: it never came to that");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process of that number runs; one that has ended and is not collected yet does not.
pub fn runs(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    state.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}
