//! Sockets: binding, the accept loop with its limits, and the drain at the end.

mod admission;
mod alarm;
mod bodies;
mod connection;
mod guarded_io;
mod limits;
mod open_files;
mod owner_socket;
mod proxies;
mod proxy_protocol;
mod serve;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixStream};

pub use bodies::BodyTooSlow;
pub use limits::Limits;
pub use open_files::raise_open_file_limit;
pub use owner_socket::connect as connect_unix;
pub use proxies::{BadNetwork, ForwardedHeader, TrustedProxies};
pub use serve::{ServeReport, serve};

use owner_socket::OwnerSocket;

/// Connections that the kernel keeps for us until they are accepted.
const BACKLOG: u32 = 1024;

/// What the kernel keeps per connection for a peer that does not read. By default it takes megabytes, and a thousand
/// such peers use up the memory that all connections of the machine share.
const SEND_BUFFER_BYTES: u32 = 128 * 1024;

/// A bound socket that [`serve`] accepts from.
#[derive(Debug)]
pub struct Listener(Kind);

#[derive(Debug)]
enum Kind {
    Tcp(TcpListener),
    Unix(OwnerSocket),
}

/// Who is at the other end of a connection; found in the extensions of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A TCP client at this address.
    Tcp(SocketAddr),
    /// A client at this address, by the word of a proxy that is trusted.
    Proxied(IpAddr),
    /// The home's owner (or root) on the unix socket, or a call from inside the process.
    Owner,
}

impl Peer {
    /// Whether the peer is on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().to_canonical().is_loopback(),
            // Whatever address a proxy names, the client is behind the proxy.
            Self::Proxied(_) => false,
            Self::Owner => true,
        }
    }

    /// The client's address; the owner has none.
    pub fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(address) => Some(address.ip().to_canonical()),
            Self::Proxied(address) => Some(address.to_canonical()),
            Self::Owner => None,
        }
    }
}

/// Why a listener could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is taken, not ours, or needs rights that we lack.
    #[error("cannot listen on {address}: {source}")]
    Tcp { address: SocketAddr, source: io::Error },
    /// Another process answers on the socket file: a server already runs for this home.
    #[error("another server answers on {}", .0.display())]
    InUse(PathBuf),
    /// Something that is not a socket is where the socket file belongs.
    #[error("{} exists and is not a socket; move or remove it", .0.display())]
    NotASocket(PathBuf),
    /// The file name is longer than a socket address allows.
    #[error("the socket's file name is too long: {}", .0.display())]
    NameTooLong(PathBuf),
    /// The socket file could not be examined, removed or made.
    #[error("cannot create the socket {}: {source}", path.display())]
    Unix { path: PathBuf, source: io::Error },
}

impl Listener {
    /// Listens on a TCP address; port 0 takes a free one.
    pub fn bind_tcp(address: SocketAddr) -> Result<Self, ListenError> {
        let bind = || {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            socket.set_reuseaddr(true)?;
            // Accepted connections inherit it.
            socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        };
        bind().map(|tcp| Self(Kind::Tcp(tcp))).map_err(|source| ListenError::Tcp { address, source })
    }

    /// Listens on a unix socket that only its owner may open. A socket file on which nobody answers is replaced.
    pub fn bind_unix(path: &Path) -> Result<Self, ListenError> {
        OwnerSocket::bind(path).map(|socket| Self(Kind::Unix(socket)))
    }

    /// The TCP address in use, `None` for a unix socket.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match &self.0 {
            Kind::Tcp(tcp) => tcp.local_addr().ok(),
            Kind::Unix(_) => None,
        }
    }

    async fn accept(&self) -> io::Result<Accepted> {
        match &self.0 {
            Kind::Tcp(tcp) => tcp.accept().await.map(|(stream, address)| Accepted::Tcp(stream, address)),
            Kind::Unix(socket) => socket.accept().await.map(Accepted::Unix),
        }
    }

    /// Removes the socket file, so that nobody new finds us while the backlog is still served.
    fn withdraw(&self) {
        if let Kind::Unix(socket) = &self.0 {
            socket.remove_file();
        }
    }
}

enum Accepted {
    Tcp(TcpStream, SocketAddr),
    Unix(UnixStream),
}
