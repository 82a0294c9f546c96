//! Waits on this machine for a browser that comes back from an authorization server.

use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How long a connection may take to say what it wants.
const READ_LIMIT: Duration = Duration::from_secs(5);
/// What a request's first line may have at most; codes can be long.
const MOST_BYTES: usize = 16 << 10;

/// A port of this machine that a browser comes back to.
pub(crate) struct Loopback {
    listener: TcpListener,
    redirect_uri: Url,
}

impl Loopback {
    /// Listens at a URI's port, or at any.
    pub(crate) async fn open(at: Option<&Url>) -> Result<Self, String> {
        let port = at.and_then(Url::port).unwrap_or(0);
        let cannot =
            |error: std::io::Error| format!("cannot listen for the browser on port {port}: {}", error.kind());
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let redirect_uri = match at {
            Some(uri) => uri.clone(),
            None => {
                Url::parse(&format!("http://127.0.0.1:{port}/callback")).map_err(|error| error.to_string())?
            }
        };
        Ok(Self { listener, redirect_uri })
    }

    pub(crate) fn redirect_uri(&self) -> &Url {
        &self.redirect_uri
    }

    /// The first URL that a browser comes back with and that fits. Anyone on this machine can come to the port,
    /// so what does not fit is turned away, and holds up nobody.
    pub(crate) async fn returned(&self, fits: impl Fn(&Url) -> bool) -> Result<Url, String> {
        let (sender, mut coming) = tokio::sync::mpsc::channel::<(Url, TcpStream)>(8);
        let mut connections = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < 64 => {
                    let Ok((stream, _)) = accepted else { continue };
                    let (sender, base) = (sender.clone(), self.redirect_uri.clone());
                    connections.spawn(async move {
                        let read = tokio::time::timeout(READ_LIMIT, read(stream, &base)).await;
                        if let Ok(Some(come)) = read {
                            let _ = sender.send(come).await;
                        }
                    });
                }
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
                Some((url, stream)) = coming.recv() => {
                    if url.path() == self.redirect_uri.path() && fits(&url) {
                        answer(stream, "200 OK", "Toolroom has the answer. You can close this window.").await;
                        return Ok(url);
                    }
                    connections.spawn(answer(stream, "404 Not Found", "No login is waiting here."));
                }
            }
        }
    }
}

/// The URL that a browser asks for.
async fn read(mut stream: TcpStream, base: &Url) -> Option<(Url, TcpStream)> {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    while !text.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut buffer).await.ok()?;
        if read == 0 || text.len() + read > MOST_BYTES {
            return None;
        }
        text.extend_from_slice(&buffer[..read]);
    }
    let text = String::from_utf8(text).ok()?;
    let path = text.strip_prefix("GET ")?.split(' ').next()?;
    // A path alone: what would lead to another host is none.
    let url = base.join(path).ok().filter(|url| path.starts_with('/') && url.origin() == base.origin())?;
    Some((url, stream))
}

async fn answer(mut stream: TcpStream, status: &'static str, text: &'static str) {
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\n\
         cache-control: no-store\r\nconnection: close\r\n\r\n{text}"
    );
    // The browser may have gone; the code came all the same.
    let _ = tokio::time::timeout(READ_LIMIT, stream.write_all(answer.as_bytes())).await;
    let _ = stream.shutdown().await;
}
