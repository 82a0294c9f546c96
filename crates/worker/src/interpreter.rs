//! Finds Python once, past wrappers that would slow down every start; for a script that asks for another version, the
//! one that fits.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::ScriptError;
use crate::python_version::PythonVersions;
use crate::spec::Settings;

const ASK: &str = "import sys; print(sys.implementation.cache_tag, '%d.%d.%d' % sys.version_info[:3], \
                   sys.executable, sys.prefix, sys.base_prefix, sep='\\n')";
/// The versions 3.x that are looked for by their names.
const MINORS: std::ops::Range<u32> = 8..30;

/// A Python interpreter that runs.
#[derive(Clone, Debug)]
pub(crate) struct Interpreter {
    /// The program itself, not a wrapper.
    pub(crate) program: PathBuf,
    /// Folders that it reads its library from.
    pub(crate) folders: Vec<PathBuf>,
    /// What it puts into the names of compiled files; empty for what is not Python.
    pub(crate) cache_tag: String,
    /// Its version; empty for what is not Python.
    pub(crate) version: Vec<u32>,
}

impl Interpreter {
    /// Asks the configured interpreter where it really is. Blocks for the length of its start.
    pub(crate) fn find(settings: &Settings) -> Result<Self, ScriptError> {
        Self::ask(&settings.python, settings)
    }

    /// An interpreter of one of these versions, other than the configured one: what uv knows, else what PATH has.
    pub(crate) fn find_version(versions: &PythonVersions, settings: &Settings) -> Option<Self> {
        let path = settings.environment.get("PATH");
        let known_to_uv = on_path(Path::new("uv"), path).and_then(|uv| {
            let mut ask = Command::new(uv);
            ask.args(["python", "find", "--system", "--no-project", "--no-python-downloads"])
                .arg(versions.to_string());
            let output = ask.stdin(Stdio::null()).output().ok().filter(|output| output.status.success())?;
            Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
        });
        let named = MINORS.rev().map(|minor| PathBuf::from(format!("python3.{minor}")));
        // A name may be a wrapper for a version that is not there.
        let mut found =
            known_to_uv.into_iter().chain(named).filter_map(|program| Self::ask(&program, settings).ok());
        found.find(|found| versions.take(&found.version))
    }

    fn ask(program: &Path, settings: &Settings) -> Result<Self, ScriptError> {
        let missing = || ScriptError::Interpreter { program: program.display().to_string() };
        let program = on_path(program, settings.environment.get("PATH")).ok_or_else(missing)?;
        let output = Command::new(&program)
            .args(["-I", "-c", ASK])
            .env_clear()
            .envs(&settings.environment)
            .stdin(Stdio::null())
            .output()
            .map_err(|_| missing())?;
        let text = String::from_utf8(output.stdout).map_err(|_| missing())?;
        let mut lines = text.lines();
        let cache_tag = lines.next().unwrap_or_default().to_owned();
        let version =
            lines.next().unwrap_or_default().split('.').filter_map(|part| part.parse().ok()).collect();
        let mut lines = lines.map(PathBuf::from);
        let program = lines.next().filter(|path| path.is_absolute()).ok_or_else(missing)?;
        let mut folders: Vec<PathBuf> = lines.collect();
        folders.dedup();
        Ok(Self { program, folders, cache_tag, version })
    }

    /// The same interpreter with the packages of an environment.
    pub(crate) fn with_packages(&self, environment: Option<PathBuf>) -> Self {
        let Some(environment) = environment else { return self.clone() };
        let program = environment.join("bin/python");
        let folders = std::iter::once(environment).chain(self.folders.clone()).collect();
        Self { program, folders, ..self.clone() }
    }
}

/// Where a program is: a path as it is, a name on PATH.
pub(crate) fn on_path(program: &Path, path: Option<&String>) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.exists().then(|| program.to_owned());
    }
    std::env::split_paths(path?).map(|folder| folder.join(program)).find(|file| file.is_file())
}
