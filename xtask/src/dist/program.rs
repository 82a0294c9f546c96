//! The program of a release: linked for older systems than the one that builds it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Release, TARGET};
use crate::cargo::{cargo, run, workspace_root};
use crate::python;

/// The oldest C library that a release is linked against: RHEL 8, Debian 10, Ubuntu 20.04.
const GLIBC: &str = "2.28";
/// The linker that can do that, from its Python package, and what calls it for cargo.
const LINKER: [&str; 2] = ["ziglang==0.15.1", "cargo-zigbuild==0.24.0"];

/// Builds the program.
pub fn build() -> Result<PathBuf> {
    let target = workspace_root().join("target");
    let tools = target.join("dist-tools");
    if !tools.join("bin/cargo-zigbuild").is_file() {
        python::make(&tools)?;
        run(Command::new(tools.join("bin/pip")).args(["install", "--quiet"]).args(LINKER))?;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([tools.join("bin")].into_iter().chain(std::env::split_paths(&path)))?;
    let wanted = format!("{TARGET}.{GLIBC}");
    let mut command = cargo(&["zigbuild", "--release", "--locked", "-p", "toolroom", "--target", &wanted]);
    run(command.env("PATH", path))?;
    Ok(target.join(TARGET).join("release/toolroom"))
}

/// The program without symbols, in the folder of the packages.
pub fn release(built: &Path, out: PathBuf) -> Result<Release> {
    let folder = out.join("container");
    fs::create_dir_all(&folder)?;
    let program = folder.join("toolroom");
    run(Command::new("strip").arg("-o").arg(&program).arg(built))?;
    let platform = format!("manylinux_{}_x86_64", glibc_of(&program)?.replace('.', "_"));
    Ok(Release { program, version: env!("CARGO_PKG_VERSION"), platform, out })
}

/// The newest version of the C library that the program asks for.
fn glibc_of(program: &Path) -> Result<String> {
    let listed = Command::new("objdump").arg("-T").arg(program).output().context("cannot start objdump")?;
    let text = String::from_utf8_lossy(&listed.stdout);
    let versions = text.split("GLIBC_").skip(1).filter_map(|rest| {
        let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let (major, minor) = number.split_once('.')?;
        let minor = minor.split('.').next()?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    let Some((major, minor)) = versions.max() else {
        bail!("{} does not say which C library it needs", program.display());
    };
    Ok(format!("{major}.{minor}"))
}
