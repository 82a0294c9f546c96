//! The owner's unix socket: a file that only its owner may open, and a check of who did.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixSocket, UnixStream};

use super::{BACKLOG, ListenError};

/// The longest path that a socket address holds, its closing zero not counted.
const MAX_ADDRESS_BYTES: usize = 107;

/// A bound unix socket; its file goes with it.
#[derive(Debug)]
pub(super) struct OwnerSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the file, so that a successor's file is never removed.
    file: (u64, u64),
}

impl OwnerSocket {
    pub(super) fn bind(path: &Path) -> Result<Self, ListenError> {
        let failed = |source| ListenError::Unix { path: path.to_owned(), source };
        let address = Address::of(path).map_err(failed)?;
        if address.path.as_os_str().len() > MAX_ADDRESS_BYTES {
            return Err(ListenError::NameTooLong(path.to_owned()));
        }
        remove_stale(path, &address)?;
        let listener = listen(&address.path).map_err(failed)?;
        let file = fs::symlink_metadata(path).map(|found| identity(&found)).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), file })
    }

    /// The next connection of the owner or of root; anybody else's is dropped.
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let ours = rustix::process::geteuid().as_raw();
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == ours || peer.uid() == 0 => return Ok(stream),
                Ok(peer) => tracing::warn!(uid = peer.uid(), "refused another user on the owner's socket"),
                Err(error) => tracing::warn!(%error, "refused an unknown user on the owner's socket"),
            }
        }
    }

    pub(super) fn remove_file(&self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.file)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, path = %self.path.display(), "cannot remove the socket file");
        }
    }
}

impl Drop for OwnerSocket {
    fn drop(&mut self) {
        self.remove_file();
    }
}

/// Connects to an owner's socket, however long its path is.
pub async fn connect(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(&Address::of(path)?.path).await
}

/// A path short enough for a socket address. A long one is reached through the open directory it lies in.
struct Address {
    path: PathBuf,
    _directory: Option<File>,
}

impl Address {
    fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().len() <= MAX_ADDRESS_BYTES {
            return Ok(Self { path: path.to_owned(), _directory: None });
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
        };
        let directory = File::open(parent)?;
        let short = Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name);
        Ok(Self { path: short, _directory: Some(directory) })
    }
}

/// A file on which nobody answers was left by a process that died; anything else is not ours to remove.
fn remove_stale(path: &Path, address: &Address) -> Result<(), ListenError> {
    let failed = |source| ListenError::Unix { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ListenError::NotASocket(path.to_owned()));
        }
        Ok(_) => {}
    }
    match BlockingStream::connect(&address.path) {
        Ok(_) => Err(ListenError::InUse(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// The mode is set before the bind, so that the file never exists with a wider one.
fn listen(address: &Path) -> io::Result<UnixListener> {
    let socket = UnixSocket::new_stream()?;
    rustix::fs::fchmod(&socket, rustix::fs::Mode::from_raw_mode(0o600))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
