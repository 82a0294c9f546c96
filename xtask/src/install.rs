//! Finds the programs that the tests need, and installs what is missing through apt.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::{find_program, run, workspace_root};

/// Debian and Ubuntu keep the server programs here, off PATH, one folder per version.
const DEBIAN_POSTGRES: &str = "/usr/lib/postgresql";

/// The folder with PostgreSQL's server programs, installed first if there is none.
fn postgres() -> Result<PathBuf> {
    if find_postgres().is_none() {
        apt("postgresql")?;
    }
    let programs = find_postgres().context("PostgreSQL is installed, but `initdb` is not to be found")?;
    println!("           PostgreSQL: {}", programs.display());
    Ok(programs)
}

/// What the tests need and find on PATH. `strace` sees what a server asks of the system, and lets it fail; the console is
/// tested in the browser, completions in the shells.
const ON_PATH: [&str; 4] = ["strace", "chromium", "zsh", "fish"];

/// What the tests need: that, Redis, and PostgreSQL, whose programs' folder it gives.
pub fn for_tests() -> Result<PathBuf> {
    for name in ON_PATH {
        if find_program(name).is_none() {
            apt(name)?;
        }
    }
    redis()?;
    postgres()
}

/// Redis, from the package that has its program and starts no service: `redis-check-rdb` is the server under another name.
fn redis() -> Result<()> {
    let is_there = ["redis-server", "redis-check-rdb"].into_iter().any(|name| find_program(name).is_some());
    if is_there { Ok(()) } else { apt("redis-tools") }
}

/// The programs that the files in `deploy` are for, with the variables that name them to the tests.
pub fn deploy_programs() -> Result<Vec<(&'static str, PathBuf)>> {
    let wanted = [("TOOLROOM_TEST_HAPROXY", "haproxy"), ("TOOLROOM_TEST_COMPOSE", "docker-compose")];
    wanted.into_iter().map(|(variable, name)| Ok((variable, package_program(name)?))).collect()
}

/// The program of the package of the same name, installed first if there is none.
fn package_program(name: &str) -> Result<PathBuf> {
    // Debian keeps what is a server off the PATH of ordinary users.
    let off_path = Path::new("/usr/sbin").join(name);
    let find = || find_program(name).or_else(|| Some(off_path.clone()).filter(|file| file.is_file()));
    if find().is_none() {
        apt(name)?;
    }
    find().with_context(|| format!("the package `{name}` is installed, but its program is not to be found"))
}

/// Where the tests find promtool.
pub const PROMTOOL_VARIABLE: &str = "TOOLROOM_TEST_PROMTOOL";

/// `promtool`, which checks metrics. It is taken out of Debian's package: installing that would start a server.
pub fn promtool() -> Result<PathBuf> {
    if let Some(found) = find_program("promtool") {
        return Ok(found);
    }
    let folder = workspace_root().join("target/promtool");
    let program = folder.join("usr/bin/promtool");
    if !program.is_file() {
        println!("           fetching promtool");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let download =
            || run(Command::new("apt-get").args(["download", "-q", "prometheus"]).current_dir(&folder));
        if download().is_err() {
            run(Command::new("apt-get").args(["update", "-q"]))?;
            download()?;
        }
        let packages = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
        let package = packages.into_iter().find(|path| path.extension().is_some_and(|ext| ext == "deb"));
        let package = package.context("apt-get downloaded no package")?;
        run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&folder))?;
        fs::remove_file(package)?;
        let _ = fs::remove_file(folder.join("usr/bin/prometheus"));
    }
    Ok(program)
}

/// The numeric user id, or group id with `flag` "-g", of `user`, or of the one who runs this.
pub fn id(flag: &str, user: Option<&str>) -> Result<u32> {
    let output = Command::new("id").arg(flag).args(user).output().context("cannot start `id`")?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().with_context(|| format!("there is no user {}", user.unwrap_or("of this process")))
}

fn find_postgres() -> Option<PathBuf> {
    let on_path = find_program("initdb").and_then(|file| file.canonicalize().ok());
    let on_path = on_path.as_deref().and_then(Path::parent).map(Path::to_owned);
    on_path
        .into_iter()
        .chain(debian_folders())
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

fn debian_folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(DEBIAN_POSTGRES).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_by_key(|name| std::cmp::Reverse(version(name)));
    names.iter().map(|name| Path::new(DEBIAN_POSTGRES).join(name).join("bin")).collect()
}

fn version(name: &str) -> Vec<u32> {
    name.split('.').map_while(|part| part.parse().ok()).collect()
}

/// Installs a package of Debian or Ubuntu, or says how to.
pub fn apt(package: &str) -> Result<()> {
    let by_hand = format!("apt-get update && apt-get install -y --no-install-recommends {package}");
    if find_program("apt-get").is_none() {
        bail!(
            "`{package}` is missing and there is no apt-get here: install it with your system's package manager"
        );
    }
    if id("-u", None)? != 0 {
        bail!("`{package}` is missing and only root can install it. Run:\n\n    sudo sh -c '{by_hand}'\n");
    }
    println!("           installing `{package}`");
    run(Command::new("apt-get").args(["update", "-q"]))?;
    run(Command::new("apt-get")
        .args(["install", "-q", "-y", "--no-install-recommends", package])
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn a_newer_major_version_sorts_above_an_older_one_with_a_larger_first_digit() {
        assert!(version("15") > version("9.6"));
        assert!(version("9.6") > version("9.5"));
        assert!(version("17") > version("15"));
    }
}
