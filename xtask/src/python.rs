//! Python environments with the packages that the client tests in `tests/python` need.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::cargo::{run, workspace_root};
use crate::install::apt;

/// An environment, and what the tests know it by. There are several because `mcp` 1 and `mcp` 2 are one package.
struct Environment {
    /// The variable that tells the tests which interpreter has the packages.
    variable: &'static str,
    /// Its folder in `target`.
    folder: &'static str,
    /// The file in `tests/python` that names the packages.
    requirements: &'static str,
    /// The same, for packages that are installed without those they ask for.
    bare: Option<&'static str>,
}

const ENVIRONMENTS: [Environment; 6] = [
    Environment {
        variable: "TOOLROOM_TEST_PYTHON",
        folder: "python-venv",
        requirements: "requirements.txt",
        bare: None,
    },
    Environment {
        variable: "TOOLROOM_TEST_PYTHON_MCP1",
        folder: "python-mcp1",
        requirements: "requirements-mcp1.txt",
        bare: None,
    },
    Environment {
        variable: "TOOLROOM_TEST_PYTHON_MCP2",
        folder: "python-mcp2",
        requirements: "requirements-mcp2.txt",
        bare: None,
    },
    Environment {
        variable: "TOOLROOM_TEST_PYTHON_AGENTS",
        folder: "python-agents",
        requirements: "requirements-agents.txt",
        bare: Some("requirements-agents-bare.txt"),
    },
    Environment {
        variable: "TOOLROOM_TEST_PYTHON_FRAMEWORKS",
        folder: "python-frameworks",
        requirements: "requirements-frameworks.txt",
        bare: None,
    },
    Environment {
        variable: "TOOLROOM_TEST_PYTHON_DEPLOY",
        folder: "python-deploy",
        requirements: "requirements-deploy.txt",
        bare: None,
    },
];

/// Those that take long to make, for `soak` alone.
const LARGE: [Environment; 3] = [
    Environment {
        variable: "TOOLROOM_TEST_PYTHON_AG2",
        folder: "python-ag2",
        requirements: "requirements-ag2.txt",
        bare: None,
    },
    Environment {
        variable: "TOOLROOM_TEST_PYTHON_FRAMEWORKS_LARGE",
        folder: "python-frameworks-large",
        requirements: "requirements-frameworks-large.txt",
        bare: None,
    },
    Environment {
        variable: "TOOLROOM_TEST_PYTHON_CREWAI",
        folder: "python-crewai",
        requirements: "requirements-crewai.txt",
        bare: None,
    },
];

/// The interpreter of every environment, with the variable that names it to the tests.
pub fn environments() -> Result<Vec<(&'static str, PathBuf)>> {
    ENVIRONMENTS.iter().map(|one| Ok((one.variable, one.prepare()?))).collect()
}

/// The same for the large ones.
pub fn large_environments() -> Result<Vec<(&'static str, PathBuf)>> {
    LARGE.iter().map(|one| Ok((one.variable, one.prepare()?))).collect()
}

/// The interpreter that a variable names, with its packages.
pub fn environment(variable: &str) -> Result<PathBuf> {
    ENVIRONMENTS.iter().find(|one| one.variable == variable).context("no such environment")?.prepare()
}

impl Environment {
    /// The interpreter of the environment, which is made anew whenever the requirements have changed.
    fn prepare(&self) -> Result<PathBuf> {
        let named = |file: &str| workspace_root().join("tests/python").join(file);
        let (requirements, bare) = (named(self.requirements), self.bare.map(named));
        let mut wanted = Vec::new();
        for file in [Some(&requirements), bare.as_ref()].into_iter().flatten() {
            wanted.extend(fs::read(file).with_context(|| format!("cannot read {}", file.display()))?);
        }
        let target = workspace_root().join("target");
        fs::create_dir_all(&target)?;
        // Two runs at a time must not make the same folder.
        let lock = File::create(target.join(format!("{}.lock", self.folder)))?;
        lock.lock()?;
        let folder = target.join(self.folder);
        let interpreter = folder.join("bin/python");
        // Written last, so that what was left half done is made again.
        let stamp = folder.join("installed-requirements.txt");
        if interpreter.is_file() && fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
            println!("           {}={} (up to date)", self.variable, interpreter.display());
            return Ok(interpreter);
        }
        make(&folder)?;
        let install = |flags: &[&str], file: &Path| {
            let mut pip = Command::new(&interpreter);
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
            run(pip.args(flags).arg("--requirement").arg(file))
        };
        install(&[], &requirements)?;
        if let Some(bare) = &bare {
            install(&["--no-deps"], bare)?;
        }
        fs::write(&stamp, wanted)?;
        println!("           {}={}", self.variable, interpreter.display());
        Ok(interpreter)
    }
}

/// A new environment without packages.
pub fn make(folder: &Path) -> Result<()> {
    if !can_make() {
        apt("python3-venv")?;
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))
}

/// Debian and Ubuntu ship Python without what it needs to make environments.
fn can_make() -> bool {
    let mut check = Command::new("python3");
    check.args(["-c", "import ensurepip, venv"]).stdout(Stdio::null()).stderr(Stdio::null());
    check.status().is_ok_and(|status| status.success())
}
