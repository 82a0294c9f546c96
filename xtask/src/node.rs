//! Node.js, and the packages that the tests in the folders below need.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::cargo::{find_program, run, workspace_root};
use crate::install::apt;

/// The variable that tells the tests which Node.js to run; the packages are beside the scripts.
pub const VARIABLE: &str = "TOOLROOM_TEST_NODE";

/// What the conformance suite and the Inspector ask for.
const OLDEST: (u32, u32) = (22, 19);

/// Installed where the machine has none, or an older one: a registry package that holds the program itself.
const VERSION: &str = "22.23.3";

/// The folders that have packages.
const FOLDERS: [&str; 5] =
    ["tests/node", "tests/console", "tests/generated", "tests/js-runtimes", "tests/clients"];

/// The program, with the packages of each folder installed, anew whenever their lock file has changed.
pub fn environment() -> Result<PathBuf> {
    let target = workspace_root().join("target");
    fs::create_dir_all(&target)?;
    // Two runs at a time must not make the same folder.
    let lock = File::create(target.join("node.lock"))?;
    lock.lock()?;
    let node = program(&target.join("node"))?;
    for folder in FOLDERS {
        packages(folder, &node)?;
    }
    println!("           {VARIABLE}={}", node.display());
    Ok(node)
}

fn program(folder: &Path) -> Result<PathBuf> {
    if let Some(found) = find_program("node").filter(|node| is_new_enough(node)) {
        return Ok(found);
    }
    let package = package()?;
    let node = folder.join("node_modules").join(&package).join("bin/node");
    if !is_new_enough(&node) {
        println!("           installing Node.js {VERSION}");
        fs::create_dir_all(folder)?;
        let wanted = format!("{package}@{VERSION}");
        run(npm()?.args(["install", "--no-save", "--prefix"]).arg(folder).arg(wanted))?;
    }
    if !is_new_enough(&node) {
        bail!(
            "`{package}` is installed, but {} does not run: install Node.js 22.19 or later",
            node.display()
        );
    }
    Ok(node)
}

/// `PATH`, with this Node.js before any other.
pub fn first_on_path(node: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folder = node.parent().map(Path::to_owned);
    Ok(std::env::join_paths(folder.into_iter().chain(std::env::split_paths(&path)))?)
}

fn packages(name: &str, node: &Path) -> Result<()> {
    let folder = &workspace_root().join(name);
    let lock_file = folder.join("package-lock.json");
    let wanted = fs::read(&lock_file).with_context(|| format!("cannot read {}", lock_file.display()))?;
    // Written last, so that what was left half done is made again.
    let stamp = folder.join("node_modules/installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("           the packages of {name} are up to date");
        return Ok(());
    }
    // Packages may ask for the newer Node.js while they are installed.
    let path = first_on_path(node)?;
    // Not `npm ci`: the lock file names what this machine takes, and not the parts for every other machine.
    run(npm()?
        .args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(folder)
        .env("PATH", path))?;
    fs::write(&stamp, wanted)?;
    Ok(())
}

/// npm, installed first if there is none.
pub fn npm() -> Result<Command> {
    if find_program("npm").is_none() {
        apt("npm")?;
    }
    let mut npm = Command::new("npm");
    npm.args(["--loglevel", "error"]);
    Ok(npm)
}

/// The registry package that holds the program for this machine.
fn package() -> Result<String> {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("there is no Node.js package for {other}: install Node.js 22.19 or later"),
    };
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    Ok(format!("node-{system}-{machine}"))
}

fn is_new_enough(node: &Path) -> bool {
    let output = Command::new(node).arg("--version").stderr(Stdio::null()).output();
    output.is_ok_and(|output| version(&String::from_utf8_lossy(&output.stdout)) >= Some(OLDEST))
}

/// 22 and 23 of `v22.23.3`.
fn version(printed: &str) -> Option<(u32, u32)> {
    let mut parts = printed.trim().strip_prefix('v')?.split('.').map_while(|part| part.parse().ok());
    Some((parts.next()?, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn major_and_minor_version_are_read_off_what_node_prints() {
        assert_eq!(version("v22.23.3\n"), Some((22, 23)));
        assert_eq!(version("v8.9.0"), Some((8, 9)));
        assert_eq!(version(""), None);
    }
}
