//! Small servers: one that counts who comes, one that answers as it is told.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolroom_outgoing::Url;

/// A server that answers every request by this function of its head.
pub struct Server {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub async fn new(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&heads), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    let mut buffer = [0; 4096];
                    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                        match socket.read(&mut buffer).await {
                            Ok(0) | Err(_) => break,
                            Ok(count) => head.extend_from_slice(&buffer[..count]),
                        }
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let bytes = answer(&head);
                    seen.lock().unwrap().push(head);
                    // The client may have had enough already.
                    let _ = socket.write_all(&bytes).await;
                    let _ = socket.shutdown().await;
                });
            }
        });
        Self { address, heads }
    }

    /// A server that nobody should ever reach.
    pub async fn canary() -> Self {
        Self::new(|_| ok("the canary sang")).await
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn url(&self, path: &str) -> Url {
        format!("http://{}{path}", self.address).parse().unwrap()
    }

    /// The heads of the requests so far; an empty one is a connection without a request.
    pub fn seen(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

pub fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

pub fn redirect(status: u16, to: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Elsewhere\r\nconnection: close\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
        .into_bytes()
}
