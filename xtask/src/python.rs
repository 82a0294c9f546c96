//! A Python environment with the packages that the client tests in `tests/python` need.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::cargo::{run, workspace_root};
use crate::install::apt;

/// The variable that tells the tests which interpreter has the packages.
pub const VARIABLE: &str = "TOOLROOM_TEST_PYTHON";

/// The interpreter of the environment, which is made anew whenever the requirements have changed.
pub fn environment() -> Result<PathBuf> {
    let requirements = workspace_root().join("tests/python/requirements.txt");
    let wanted =
        fs::read(&requirements).with_context(|| format!("cannot read {}", requirements.display()))?;
    let target = workspace_root().join("target");
    fs::create_dir_all(&target)?;
    // Two runs at a time must not make the same folder.
    let lock = File::create(target.join("python-venv.lock"))?;
    lock.lock()?;
    let folder = target.join("python-venv");
    let interpreter = folder.join("bin/python");
    // Written last, so that what was left half done is made again.
    let stamp = folder.join("installed-requirements.txt");
    if interpreter.is_file() && fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("           {VARIABLE}={} (up to date)", interpreter.display());
        return Ok(interpreter);
    }
    make(&folder)?;
    run(Command::new(&interpreter)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
        .arg(&requirements))?;
    fs::write(&stamp, wanted)?;
    println!("           {VARIABLE}={}", interpreter.display());
    Ok(interpreter)
}

fn make(folder: &Path) -> Result<()> {
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
