//! `cargo xtask dist`: every package that people install, made from one program, installed and tried.

mod check;
mod packages;
mod program;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::cargo::workspace_root;
use crate::steps;

/// The one target that is built and tested.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What the packages are made from.
pub struct Release {
    /// The stripped program.
    program: PathBuf,
    version: &'static str,
    /// The oldest system that the program runs on, as wheels call it.
    platform: String,
    /// Where the packages go.
    out: PathBuf,
}

pub fn run(args: &[String]) -> Result<()> {
    let mut binary = None;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--binary" => binary = rest.next().map(PathBuf::from),
            _ => bail!("`dist` takes `--binary PROGRAM`, to package a program that is built already"),
        }
    }
    steps::with_table(|steps| {
        let built = match binary {
            Some(binary) => binary,
            None => steps.run("program", program::build)?,
        };
        steps.run("packages", || packages_of(&built))
    })
}

/// Makes every package of this program, and tries each.
pub fn packages_of(built: &Path) -> Result<()> {
    let out = workspace_root().join("target/dist");
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out)?;
    let release = program::release(built, out)?;
    packages::tarball(&release)?;
    packages::wheel(&release)?;
    packages::npm(&release)?;
    packages::deb(&release)?;
    packages::container(&release)?;
    packages::sums(&release)?;
    check::run(&release)?;
    println!("           packages: {}", release.out.display());
    Ok(())
}
