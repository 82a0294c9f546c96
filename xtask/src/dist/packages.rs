//! The packages. Two runs with the same program give the same bytes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Release, TARGET};
use crate::cargo::{run, workspace_root};
use crate::node;

/// The times in every archive.
const TIME: &str = "@315532800";

fn source(name: &str) -> PathBuf {
    workspace_root().join("deploy").join(name)
}

/// `toolroom-VERSION-TARGET.tar.gz`, and the installer that unpacks it.
pub fn tarball(release: &Release) -> Result<()> {
    let work = tempfile::tempdir()?;
    let name = format!("toolroom-{}-{TARGET}", release.version);
    let folder = work.path().join(&name);
    fs::create_dir(&folder)?;
    fs::copy(&release.program, folder.join("toolroom"))?;
    for file in ["README.md", "LICENSE"] {
        fs::copy(workspace_root().join(file), folder.join(file))?;
    }
    fs::copy(source("systemd/toolroom.service"), folder.join("toolroom.service"))?;
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime", TIME]);
    // Without a name and a time in its header.
    tar.arg("--use-compress-program=gzip -n").arg("-cf").arg(release.out.join(format!("{name}.tar.gz")));
    run(tar.arg("-C").arg(work.path()).arg(&name))?;
    let installer = fs::read_to_string(source("install.sh"))?.replace("@VERSION@", release.version);
    write_program(&release.out.join("install.sh"), installer.as_bytes())
}

/// The Python wheel, with the module that tools import.
pub fn wheel(release: &Release) -> Result<()> {
    let mut python = Command::new("python3");
    python.arg(source("python/wheel.py")).arg(&release.program);
    run(python.args([release.version, &release.platform]).arg(&release.out))
}

/// The npm package, and the one of this platform that it draws in.
pub fn npm(release: &Release) -> Result<()> {
    let work = tempfile::tempdir()?;
    let platform = "toolroom-linux-x64";
    let program = work.path().join(platform).join("bin/toolroom");
    fs::create_dir_all(program.parent().context("a folder")?)?;
    write_program(&program, &fs::read(&release.program)?)?;
    let mut package: Value = serde_json::from_slice(&fs::read(source("npm/package.json"))?)?;
    package["version"] = release.version.into();
    let mut own = package.clone();
    package["optionalDependencies"] = json!({ platform: release.version });
    for (name, value) in [
        ("name", json!(platform)),
        ("os", json!(["linux"])),
        ("cpu", json!(["x64"])),
        ("libc", json!(["glibc"])),
    ] {
        own[name] = value;
    }
    if let Some(own) = own.as_object_mut() {
        own.remove("bin");
        own.remove("optionalDependencies");
    }
    let launcher = work.path().join("toolroom");
    fs::create_dir_all(launcher.join("bin"))?;
    write_program(&launcher.join("bin/toolroom.js"), &fs::read(source("npm/bin/toolroom.js"))?)?;
    for (folder, package) in [(work.path().join(platform), own), (launcher, package)] {
        fs::write(folder.join("package.json"), serde_json::to_string_pretty(&package)?)?;
        fs::copy(workspace_root().join("README.md"), folder.join("README.md"))?;
        run(node::npm()?
            .args(["pack", "--silent", "--pack-destination"])
            .arg(&release.out)
            .current_dir(folder))?;
    }
    Ok(())
}

/// The Debian package: the program, the service, and the user that it runs as.
pub fn deb(release: &Release) -> Result<()> {
    let work = tempfile::tempdir()?;
    let root = work.path();
    fs::set_permissions(root, fs::Permissions::from_mode(0o755))?;
    let place = |path: &str| -> Result<PathBuf> {
        let path = root.join(path);
        fs::create_dir_all(path.parent().context("a folder")?)?;
        Ok(path)
    };
    write_program(&place("usr/bin/toolroom")?, &fs::read(&release.program)?)?;
    fs::copy(source("systemd/toolroom.service"), place("lib/systemd/system/toolroom.service")?)?;
    fs::copy(workspace_root().join("LICENSE"), place("usr/share/doc/toolroom/copyright")?)?;
    let Some(glibc) = release.platform.split('_').nth(2) else { bail!("no version of the C library") };
    let control = format!(
        "Package: toolroom\nVersion: {}\nArchitecture: amd64\nMaintainer: The Toolroom developers <toolroom@localhost>\n\
         Depends: libc6 (>= 2.{glibc}), adduser\nRecommends: python3\nSection: utils\nPriority: optional\n\
         Description: gateway for the tools of AI agents\n \
         One gateway in front of your scripts and MCP servers, with keys, approvals, limits and an audit log.\n",
        release.version
    );
    fs::write(place("DEBIAN/control")?, control)?;
    for name in ["postinst", "prerm", "postrm"] {
        write_program(&place(&format!("DEBIAN/{name}"))?, &fs::read(source(&format!("debian/{name}")))?)?;
    }
    let name = format!("toolroom_{}_amd64.deb", release.version);
    let mut build = Command::new("dpkg-deb");
    build.env("SOURCE_DATE_EPOCH", TIME.trim_start_matches('@'));
    run(build.args(["--root-owner-group", "-Zxz", "-z2", "--build"]).arg(root).arg(release.out.join(name)))
}

/// The folder to build the images from; the program is there already.
pub fn container(release: &Release) -> Result<()> {
    fs::copy(source("container/Containerfile"), release.out.join("container/Containerfile"))?;
    Ok(())
}

/// `SHA256SUMS` of every package.
pub fn sums(release: &Release) -> Result<()> {
    let mut names: Vec<_> = fs::read_dir(&release.out)?
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name())
        .collect();
    names.sort();
    let made = Command::new("sha256sum").args(names).current_dir(&release.out).output()?;
    if !made.status.success() {
        bail!("sha256sum failed");
    }
    fs::write(release.out.join("SHA256SUMS"), made.stdout)?;
    Ok(())
}

fn write_program(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}
