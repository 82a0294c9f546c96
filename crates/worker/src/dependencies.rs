//! Packages that a script asks for: an environment for each set of them, made once and shared by name of its hash.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::error::ScriptError;
use crate::installer::{failed, run};
use crate::interpreter::{Interpreter, on_path};
use crate::python_version::PythonVersions;
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
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Metadata {
    #[serde(default)]
    dependencies: Vec<String>,
    requires_python: Option<String>,
}

/// What begins the line that names the packages of a script for Node.
const NODE_MARK: &str = "// @deps ";

impl Dependencies {
    /// Reads what a script of that name asks for; none if it asks for nothing.
    pub fn of(file: &str, text: &str) -> Result<Option<Self>, ScriptError> {
        let python = file.ends_with(".py");
        let mut requirements = match python {
            true => of_python(text)?.dependencies,
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
                let mut venv = Command::new(&uv);
                run("uv", venv.args(["venv", "--quiet", "--python"]).arg(&python.program).arg(made), None)?;
                let mut install = Command::new(&uv);
                install.args(["pip", "install"]).args(wheels).arg("--python").arg(own);
                run("uv", install.args(&self.requirements), None)
            }
            None => {
                run("venv", Command::new(&python.program).args(["-m", "venv"]).arg(made), None)?;
                let mut install = Command::new(own);
                install
                    .args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input"])
                    .args(wheels);
                // What went wrong on the way to an index stands there alone.
                let log = made.with_file_name("pip.log");
                run("pip", install.arg("--log").arg(&log).args(&self.requirements), Some(&log))
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
        run("npm", npm.arg("--prefix").arg(made).args(&self.requirements), None)
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

/// The versions of Python that a script takes; none if it does not say.
pub(crate) fn python_versions(text: &str) -> Result<Option<PythonVersions>, ScriptError> {
    let Some(wanted) = of_python(text)?.requires_python else { return Ok(None) };
    let versions = PythonVersions::parse(&wanted).ok_or_else(|| {
        failed(format!("requires-python is '{wanted}'; write it as \">=3.11\" or \">=3.11,<3.14\""))
    })?;
    Ok(Some(versions))
}

fn of_python(text: &str) -> Result<Metadata, ScriptError> {
    let mut lines = text.lines().skip_while(|line| line.trim_end() != "# /// script");
    if lines.next().is_none() {
        return Ok(Metadata::default());
    }
    let mut block = String::new();
    for line in lines {
        let Some(rest) = line.strip_prefix('#') else { break };
        if line.trim_end() == "# ///" {
            let read = toml::from_str::<Metadata>(&block);
            let read =
                read.map_err(|error| failed(format!("its block '# /// script': {}", error.message())))?;
            return Ok(read);
        }
        block.push_str(rest.strip_prefix(' ').unwrap_or(rest));
        block.push('\n');
    }
    Err(failed("its block '# /// script' has no end: write '# ///' below it".to_owned()))
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
