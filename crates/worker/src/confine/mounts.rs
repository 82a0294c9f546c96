//! The file system of a box: a small root of read-only pieces of the host, and one tmpfs to write to.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use super::plan::{Failed, Plan};
use super::step::Steps;
use super::view;

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const NO_SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;

/// Where the new root is put together. What is on it cannot be seen meanwhile, which is why sources are taken first.
const PLACE: &str = "/usr";

/// A piece of the host on its way into the box.
enum Piece {
    /// A folder or file, taken out of its place already.
    Tree {
        mount: OwnedFd,
        to: PathBuf,
        folder: bool,
    },
    Link {
        at: PathBuf,
        to: PathBuf,
    },
}

/// Makes the box and enters it; tells whether it has a /proc. `user` owns the writable place.
pub(super) fn enter(plan: &Plan, user: u32, steps: &Steps) -> Result<bool, Failed> {
    steps.run("mount private", || {
        rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
    })?;
    let pieces = take(plan, steps)?;
    let proc = match steps.run("mount proc", proc) {
        Ok(proc) => Some(proc),
        // Where the host's own /proc is covered in part, a fresh one is refused: the box does without.
        Err(Failed { errno: libc::EPERM, .. }) if steps.fail_at.is_none() => None,
        Err(error) => return Err(error),
    };
    let writable = steps.run("mount work", || {
        let (size, files) = (plan.totals.disk.to_string(), (plan.totals.files + OWN_FILES).to_string());
        let owner = user.to_string();
        tmpfs(&[("size", &size), ("nr_inodes", &files), ("mode", "755"), ("uid", &owner), ("gid", &owner)])
    })?;
    steps.run("mount root", || -> io::Result<()> {
        let root = tmpfs(&[("size", "1m"), ("nr_inodes", "2k"), ("mode", "755")])?;
        attach(&root, Path::new(PLACE))?;
        Ok(rustix::process::chdir(PLACE)?)
    })?;
    steps.run("lay out root", || lay_out(plan, user, &pieces, &writable))?;
    for piece in pieces {
        if let Piece::Tree { mount, to, folder } = piece {
            let name = format!("bind {}", to.display());
            steps.run(&name, || place(&mount, &to, folder))?;
        }
    }
    if let Some(proc) = &proc {
        steps.run("place proc", || attach(proc, Path::new("proc")))?;
    }
    steps.run("pivot root", || {
        rustix::process::pivot_root(".", ".")?;
        rustix::mount::unmount(".", UnmountFlags::DETACH)?;
        rustix::process::chdir("/")
    })?;
    steps.run("read-only root", || {
        let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, no_mode())?;
        super::sys::set_mount(root.as_fd(), READ_ONLY | NO_SETUID | NO_DEVICES, false)
    })?;
    Ok(proc.is_some())
}

/// Inodes of the writable place that are ours: its root, the working folder, two for temporary files, the code.
const OWN_FILES: u64 = 5;

/// Takes everything that the box shows out of the host's tree, read-only unless it may be written.
fn take(plan: &Plan, steps: &Steps) -> Result<Vec<Piece>, Failed> {
    let mut pieces = Vec::new();
    let mut taken: Vec<PathBuf> = Vec::new();
    let network: &[&str] = if plan.host_network { &view::ETC_FOR_NETWORK } else { &[] };
    for path in view::SYSTEM.iter().chain(&view::ETC).chain(network) {
        let path = Path::new(path);
        let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        match fs::read_link(path) {
            Ok(to) if is_link && path != Path::new("/etc/resolv.conf") => {
                pieces.push(Piece::Link { at: inner(path), to });
            }
            _ => pieces.extend(tree(path, READ_ONLY | NO_SETUID | NO_DEVICES, steps)?),
        }
        taken.push(path.to_owned());
    }
    for device in view::DEVICES {
        // On a read-only mount a device can be written to, but not be changed.
        let path = Path::new(device);
        pieces.extend(tree(path, READ_ONLY | NO_SETUID | libc::MOUNT_ATTR_NOEXEC, steps)?);
    }
    for path in &plan.library {
        let real = steps.run(&format!("find {}", path.display()), || fs::canonicalize(path))?;
        if !taken.iter().any(|known| real.starts_with(known)) {
            pieces.extend(tree(&real, READ_ONLY | NO_SETUID | NO_DEVICES, steps)?);
            taken.push(real.clone());
        }
        if *path != real && !taken.iter().any(|known| path.starts_with(known)) {
            pieces.push(Piece::Link { at: inner(path), to: real });
        }
    }
    let read = plan.read.iter().map(|path| (path, READ_ONLY | NO_SETUID | NO_DEVICES));
    let write = plan.write.iter().map(|path| (path, NO_SETUID | NO_DEVICES));
    for (path, attributes) in read.chain(write) {
        let writable = attributes & READ_ONLY == 0;
        if writable || !taken.iter().any(|known| path.starts_with(known)) {
            pieces.push(exact(path, attributes, steps)?);
            taken.push(path.clone());
        }
    }
    // A folder before what lies in it.
    pieces.sort_by_key(|piece| match piece {
        Piece::Tree { to, .. } => to.components().count(),
        Piece::Link { .. } => 0,
    });
    Ok(pieces)
}

/// A path of the host, if there is such a thing, with these attributes.
fn tree(path: &Path, attributes: u64, steps: &Steps) -> Result<Option<Piece>, Failed> {
    let Ok(found) = fs::metadata(path) else { return Ok(None) };
    let name = format!("take {}", path.display());
    let mount = steps.run(&name, || -> io::Result<OwnedFd> {
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let mount = open_tree(CWD, path, flags)?;
        super::sys::set_mount(mount.as_fd(), attributes, true)?;
        Ok(mount)
    })?;
    Ok(Some(Piece::Tree { mount, to: inner(path), folder: found.is_dir() }))
}

/// A path of the host that must be there, with no link on its way: where it led to was looked at before.
fn exact(path: &Path, attributes: u64, steps: &Steps) -> Result<Piece, Failed> {
    let name = format!("open {}", path.display());
    let (mount, folder) = steps.run(&name, || -> io::Result<(OwnedFd, bool)> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let place = rustix::fs::openat2(CWD, path, flags, no_mode(), ResolveFlags::NO_SYMLINKS)?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode);
        if !matches!(kind, FileType::Directory | FileType::RegularFile) {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_EMPTY_PATH;
        let mount = open_tree(&place, "", flags)?;
        super::sys::set_mount(mount.as_fd(), attributes, true)?;
        Ok((mount, kind == FileType::Directory))
    })?;
    Ok(Piece::Tree { mount, to: inner(path), folder })
}

/// A path of the host as it is named from the new root.
fn inner(path: &Path) -> PathBuf {
    path.strip_prefix("/").unwrap_or(path).to_owned()
}

/// Folders, links and files of our own; the working directory is the new root.
fn lay_out(plan: &Plan, user: u32, pieces: &[Piece], writable: &OwnedFd) -> io::Result<()> {
    for folder in ["box", "dev", "etc", "proc"] {
        fs::create_dir(folder)?;
    }
    attach(writable, Path::new("box"))?;
    for folder in ["work", "tmp", "shm"] {
        let path = Path::new("box").join(folder);
        fs::create_dir(&path)?;
        // Before the owner, because afterwards it is not ours to change.
        fs::set_permissions(
            &path,
            fs::Permissions::from_mode(if folder == "work" { 0o700 } else { 0o1777 }),
        )?;
        std::os::unix::fs::chown(&path, Some(user), Some(user))?;
    }
    let below_tmp = |piece: &Piece| match piece {
        Piece::Tree { to, .. } | Piece::Link { at: to, .. } => to.starts_with("tmp"),
    };
    if pieces.iter().any(below_tmp) {
        // Something of the host is shown below /tmp, so that it must be a folder.
        fs::create_dir("tmp")?;
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        attach(&open_tree(CWD, "box/tmp", flags)?, Path::new("tmp"))?;
    } else {
        symlink("/box/tmp", "tmp")?;
    }
    symlink("/box/shm", "dev/shm")?;
    for (name, to) in [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")] {
        symlink(format!("/proc/self/fd{to}"), Path::new("dev").join(name))?;
    }
    for (name, text) in view::written(user, plan.host_network) {
        fs::write(name, text)?;
    }
    for piece in pieces {
        if let Piece::Link { at, to } = piece {
            parents(at)?;
            symlink(to, at)?;
        }
    }
    Ok(())
}

fn place(mount: &OwnedFd, to: &Path, folder: bool) -> io::Result<()> {
    parents(to)?;
    if fs::symlink_metadata(to).is_err() {
        if folder { fs::create_dir(to)? } else { fs::write(to, "")? }
    }
    attach(mount, to)
}

fn parents(of: &Path) -> io::Result<()> {
    of.parent().map_or(Ok(()), fs::create_dir_all)
}

fn attach(mount: &OwnedFd, to: &Path) -> io::Result<()> {
    Ok(move_mount(mount, "", CWD, to, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

fn tmpfs(options: &[(&str, &str)]) -> Result<OwnedFd, Errno> {
    file_system("tmpfs", options, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV)
}

/// Only processes, and of those only what this user may see. Read-only: nothing in it is to be set.
fn proc() -> Result<OwnedFd, Errno> {
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    file_system("proc", &[("subset", "pid"), ("hidepid", "invisible")], attributes)
}

fn file_system(kind: &str, options: &[(&str, &str)], attributes: MountAttrFlags) -> Result<OwnedFd, Errno> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(context.as_fd(), *key, *value)?;
    }
    fsconfig_create(context.as_fd())?;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn no_mode() -> rustix::fs::Mode {
    rustix::fs::Mode::empty()
}
