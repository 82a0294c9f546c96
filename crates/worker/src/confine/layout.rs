//! The writable place of a box: its folders, and the files that are sent into it.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use rustix::fs::{Gid, Mode, OFlags, Uid};

use super::plan::Plan;

/// The folders of a place: one to work in, one for temporary files.
pub(super) fn folders(place: &Path, user: u32) -> io::Result<()> {
    for name in ["work", "tmp"] {
        let path = place.join(name);
        fs::create_dir(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
        chown(&path, Some(user), Some(user))?;
    }
    Ok(())
}

/// Writes the code and the files, whose contents come one after the other; returns the working folder.
/// The program is not there yet, and still no link is followed.
pub(super) fn fill(place: &Path, plan: &Plan, user: u32, input: &mut fs::File) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = rustix::fs::open(place, flags, Mode::empty())?;
    if let Some((name, size)) = &plan.code {
        let mut file = create(place.as_fd(), name, 0o555)?;
        copy(input, &mut file, *size)?;
    }
    let work = rustix::fs::openat(&place, "work", flags, Mode::empty())?;
    for (name, size) in &plan.files {
        let mut parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
        let last = parts.pop().ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        let mut folder = rustix::io::fcntl_dupfd_cloexec(&work, 0)?;
        for part in parts {
            match rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o755)) {
                Ok(()) => rustix::fs::chownat(
                    &folder,
                    part,
                    Some(Uid::from_raw(user)),
                    Some(Gid::from_raw(user)),
                    rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
                )?,
                Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            folder = rustix::fs::openat(&folder, part, flags, Mode::empty())?;
        }
        let mut file = create(folder.as_fd(), last, 0o644)?;
        copy(input, &mut file, *size)?;
        rustix::fs::fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(user)))?;
    }
    Ok(work)
}

fn create(folder: BorrowedFd<'_>, name: &str, mode: u32) -> io::Result<fs::File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(mode))?.into())
}

fn copy(from: &mut fs::File, to: &mut fs::File, size: u64) -> io::Result<()> {
    if io::copy(&mut from.take(size), to)? == size {
        return to.flush();
    }
    Err(io::Error::from_raw_os_error(libc::EPIPE))
}
