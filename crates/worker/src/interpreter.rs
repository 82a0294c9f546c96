//! Finds the interpreters once, Python past wrappers that would slow down every start.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::ScriptError;
use crate::spec::Settings;

/// A Python interpreter that runs.
#[derive(Clone, Debug)]
pub(crate) struct Interpreter {
    /// The program itself, not a wrapper.
    pub(crate) program: PathBuf,
    /// Folders that it reads its library from.
    pub(crate) folders: Vec<PathBuf>,
    /// What it puts into the names of compiled files; empty for what is not Python.
    pub(crate) cache_tag: String,
}

impl Interpreter {
    /// Asks the configured interpreter where it really is. Blocks for the length of its start.
    pub(crate) fn find(settings: &Settings) -> Result<Self, ScriptError> {
        let missing = || ScriptError::Interpreter { program: settings.python.display().to_string() };
        let program = on_path(&settings.python, settings.environment.get("PATH")).ok_or_else(missing)?;
        let output = Command::new(&program)
            .args(["-I", "-c", "import sys; print(sys.implementation.cache_tag, sys.executable, sys.prefix, sys.base_prefix, sep='\\n')"])
            .env_clear()
            .envs(&settings.environment)
            .stdin(Stdio::null())
            .output()
            .map_err(|_| missing())?;
        let text = String::from_utf8(output.stdout).map_err(|_| missing())?;
        let mut lines = text.lines();
        let cache_tag = lines.next().unwrap_or_default().to_owned();
        let mut lines = lines.map(PathBuf::from);
        let program = lines.next().filter(|path| path.is_absolute()).ok_or_else(missing)?;
        let mut folders: Vec<PathBuf> = lines.collect();
        folders.dedup();
        Ok(Self { program, folders, cache_tag })
    }
}

impl Interpreter {
    /// The same interpreter with the packages of an environment.
    pub(crate) fn with_packages(&self, environment: Option<PathBuf>) -> Self {
        let Some(environment) = environment else { return self.clone() };
        let program = environment.join("bin/python");
        let folders = std::iter::once(environment).chain(self.folders.clone()).collect();
        Self { program, folders, cache_tag: self.cache_tag.clone() }
    }
}

/// What runs TypeScript and JavaScript.
#[derive(Clone, Debug)]
pub(crate) struct NodeProgram {
    interpreter: Interpreter,
    bun: bool,
}

/// The first that runs TypeScript as it is.
const OLDEST_NODE: (u32, u32) = (22, 18);

impl NodeProgram {
    /// Node if it is new enough, else Bun. Blocks for the length of its start.
    pub(crate) fn find(settings: &Settings) -> Result<Self, ScriptError> {
        let path = settings.environment.get("PATH");
        let version = |program: &Path| {
            let mut command = Command::new(program);
            command.arg("--version").env_clear().envs(&settings.environment).stdin(Stdio::null());
            let output = command.output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).trim().trim_start_matches('v').to_owned())
        };
        let node = on_path(&settings.node, path);
        let found = node.as_ref().and_then(|node| version(node)).unwrap_or_default();
        let mut numbers = found.split('.').map_while(|part| part.parse::<u32>().ok());
        let is_new = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= OLDEST_NODE;
        let bun = || on_path(Path::new("bun"), path).filter(|bun| version(bun).is_some());
        let (program, bun) = match node.filter(|_| is_new) {
            Some(node) => (Some(node), false),
            None => (bun(), true),
        };
        let Some(program) = program else {
            let found = if found.is_empty() { "none".to_owned() } else { format!("Node.js {found}") };
            let program = format!("Node.js 22.18 or later, or Bun (found: {found})");
            return Err(ScriptError::Interpreter { program });
        };
        let program = program.canonicalize()?;
        let interpreter = Interpreter { program, folders: Vec::new(), cache_tag: String::new() };
        Ok(Self { interpreter, bun })
    }

    pub(crate) fn interpreter(&self) -> &Interpreter {
        &self.interpreter
    }

    /// The program with its own options. Memory is bounded by the heap, because WebAssembly reserves more address
    /// space than any limit would allow.
    pub(crate) fn command(&self, memory: Option<u64>) -> Vec<OsString> {
        let mut command = vec![self.interpreter.program.clone().into()];
        if !self.bun {
            command.extend(
                ["--disable-wasm-trap-handler", "--disable-warning=ExperimentalWarning"].map(OsString::from),
            );
            command.extend(memory.map(|bytes| format!("--max-old-space-size={}", bytes >> 20).into()));
        }
        command
    }
}

/// Where a program is: a path as it is, a name on PATH.
pub(crate) fn on_path(program: &Path, path: Option<&String>) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.exists().then(|| program.to_owned());
    }
    std::env::split_paths(path?).map(|folder| folder.join(program)).find(|file| file.is_file())
}
