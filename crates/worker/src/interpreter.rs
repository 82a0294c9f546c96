//! Finds Python once, past wrappers that would slow down every start.

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

    /// The same interpreter with the packages of an environment.
    pub(crate) fn with_packages(&self, environment: Option<PathBuf>) -> Self {
        let Some(environment) = environment else { return self.clone() };
        let program = environment.join("bin/python");
        let folders = std::iter::once(environment).chain(self.folders.clone()).collect();
        Self { program, folders, cache_tag: self.cache_tag.clone() }
    }
}

/// Where a program is: a path as it is, a name on PATH.
pub(crate) fn on_path(program: &Path, path: Option<&String>) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.exists().then(|| program.to_owned());
    }
    std::env::split_paths(path?).map(|folder| folder.join(program)).find(|file| file.is_file())
}
