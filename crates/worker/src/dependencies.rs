//! Packages that a script asks for: an environment for each set of them, made once and shared by name of its hash.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

use crate::error::ScriptError;
use crate::interpreter::{Interpreter, on_path};
use crate::spec::Settings;

/// What a script asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// Requirements, in order.
    pub requirements: Vec<String>,
    /// Whether they are Python's; else they are npm's.
    python: bool,
}

/// The block of a Python script that names its packages (PEP 723).
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Metadata {
    #[serde(default)]
    dependencies: Vec<String>,
}

/// What begins the line that names the packages of a script for Node.
const NODE_MARK: &str = "// @deps ";

impl Dependencies {
    /// Reads what a script of that name asks for; none if it asks for nothing.
    pub fn of(file: &str, text: &str) -> Result<Option<Self>, ScriptError> {
        let python = file.ends_with(".py");
        let mut requirements = match python {
            true => of_python(text)?,
            false => {
                let lines = text.lines().filter_map(|line| line.strip_prefix(NODE_MARK));
                lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
            }
        };
        requirements.sort();
        requirements.dedup();
        let is_package = if python { is_python_package } else { is_node_package };
        if let Some(bad) = requirements.iter().find(|one| !is_package(one)) {
            return Err(failed(format!("'{bad}' is not the name of a package, with a version if you like")));
        }
        Ok((!requirements.is_empty()).then_some(Self { requirements, python }))
    }

    /// Where their environment is, or will be.
    pub(crate) fn folder(&self, cache: &Path, python: Option<&Interpreter>) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        (&self.requirements, python.map(|python| &python.program), std::env::consts::ARCH).hash(&mut hasher);
        let kind = if self.python { "python" } else { "node" };
        cache.join("environments").join(format!("{kind}-{:016x}", hasher.finish()))
    }

    /// Makes the environment: aside, then renamed, so that a failure changes nothing. Blocks.
    pub(crate) fn install(
        &self,
        folder: &Path,
        python: Option<&Interpreter>,
        settings: &Settings,
    ) -> Result<(), ScriptError> {
        if folder.is_dir() {
            return Ok(());
        }
        let environments = folder.parent().unwrap_or(folder);
        fs::create_dir_all(environments)?;
        let aside = tempfile::Builder::new().prefix(".making-").tempdir_in(environments)?;
        let made = aside.path().join("made");
        match python {
            Some(python) => self.install_python(&made, python, settings)?,
            None => self.install_node(&made)?,
        }
        fs::write(made.join("requirements.txt"), self.requirements.join("\n") + "\n")?;
        match fs::rename(&made, folder) {
            Err(error) if !folder.is_dir() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Wheels only: building a package would run its code.
    fn install_python(
        &self,
        made: &Path,
        python: &Interpreter,
        settings: &Settings,
    ) -> Result<(), ScriptError> {
        let own = made.join("bin/python");
        let uv = on_path(Path::new("uv"), settings.environment.get("PATH"));
        let wheels = ["--quiet", "--only-binary", ":all:"];
        match uv {
            Some(uv) => {
                run(Command::new(&uv).args(["venv", "--quiet", "--python"]).arg(&python.program).arg(made))?;
                let mut install = Command::new(&uv);
                install.args(["pip", "install"]).args(wheels).arg("--python").arg(own);
                run(install.args(&self.requirements))
            }
            None => {
                run(Command::new(&python.program).args(["-m", "venv"]).arg(made))?;
                let mut install = Command::new(own);
                install.args(["-m", "pip", "install", "--disable-pip-version-check"]).args(wheels);
                run(install.args(&self.requirements))
            }
        }
    }

    fn install_node(&self, made: &Path) -> Result<(), ScriptError> {
        fs::create_dir(made)?;
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--ignore-scripts",
            "--omit=dev",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]);
        run(npm.arg("--prefix").arg(made).args(&self.requirements))
    }
}

/// A name of the index, with extras, versions and a marker. Addresses and paths are refused: pip builds what it finds
/// there, which runs its code, whatever else it is told.
fn is_python_package(requirement: &str) -> bool {
    requirement.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !requirement.contains(['@', '/', '\\', ':'])
}

/// Whatever npm takes: it is told to run nothing of what it installs.
fn is_node_package(requirement: &str) -> bool {
    !requirement.starts_with('-') && !requirement.trim().is_empty()
}

fn of_python(text: &str) -> Result<Vec<String>, ScriptError> {
    let mut lines = text.lines().skip_while(|line| line.trim_end() != "# /// script");
    if lines.next().is_none() {
        return Ok(Vec::new());
    }
    let mut block = String::new();
    for line in lines {
        let Some(rest) = line.strip_prefix('#') else { break };
        if line.trim_end() == "# ///" {
            let read = toml::from_str::<Metadata>(&block);
            let read =
                read.map_err(|error| failed(format!("its block '# /// script': {}", error.message())))?;
            return Ok(read.dependencies);
        }
        block.push_str(rest.strip_prefix(' ').unwrap_or(rest));
        block.push('\n');
    }
    Err(failed("its block '# /// script' has no end: write '# ///' below it".to_owned()))
}

/// Runs an installer with the user's own settings, such as their index; its last words are the reason of a failure.
/// How long one step of an installation may take.
const INSTALL_TIME: Duration = Duration::from_secs(300);

fn run(command: &mut Command) -> Result<(), ScriptError> {
    let program = command.get_program().to_owned();
    let name =
        Path::new(&program).file_name().unwrap_or(OsStr::new("installer")).to_string_lossy().into_owned();
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed(format!("{name} is not installed")),
        _ => failed(format!("{name}: {error}")),
    })?;
    let mut errors = child.stderr.take();
    let said = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = errors.as_mut().map(|errors| errors.read_to_end(&mut said));
        said
    });
    let began = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if began.elapsed() < INSTALL_TIME => std::thread::sleep(Duration::from_millis(20)),
            None => {
                // With whatever it started.
                let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                let _ = group.map(|group| kill_process_group(group, Signal::KILL));
                child.wait()?;
                let minutes = INSTALL_TIME.as_secs() / 60;
                return Err(failed(format!("{name} did not finish within {minutes} minutes")));
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    let said = said.join().unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(6)..].join("\n");
    Err(failed(format!("{name} failed:\n{last}")))
}

fn failed(reason: String) -> ScriptError {
    ScriptError::Dependencies { reason }
}

#[cfg(test)]
mod tests {
    use super::Dependencies;

    #[test]
    fn packages_are_read_from_the_blocks_of_both_languages() {
        let python = "# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\n#   \"b>1\", # why\n#   \"a\",\n# ]\n# ///\n";
        let read = |file: &str, text: &str| {
            Dependencies::of(file, text).map(|found| found.map(|one| one.requirements))
        };
        assert_eq!(read("x.py", python).unwrap().unwrap(), ["a", "b>1"]);
        assert_eq!(read("x.ts", "// @deps zod@4 undici\n").unwrap().unwrap(), ["undici", "zod@4"]);
        assert_eq!(read("x.ts", "// @deps @types/node@22\n").unwrap().unwrap(), ["@types/node@22"]);
        for bad in [
            "evil @ http://127.0.0.1/e.tar.gz",
            "evil @ file:///e",
            "git+https://x.y/z",
            "./e",
            "-r x",
            "../e.whl",
        ] {
            let script = format!("# /// script\n# dependencies = [\"{bad}\"]\n# ///\n");
            assert!(read("x.py", &script).is_err(), "{bad}");
        }
        assert_eq!(read("x.py", "import os\n").unwrap(), None);
        assert!(read("x.py", "# /// script\n# dependencies = [\n").is_err());
        assert!(read("x.ts", "// @deps --registry=x zod\n").is_err());
    }
}
