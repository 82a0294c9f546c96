//! Search engines on this machine, which answer as they are told and note what they are asked.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolroom_packs::builtin::search::{ApiKey, SearchEngine, SearchSettings};

pub struct Engine {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Engine {
    /// Answers every request with this status, these further headers, and this body.
    pub async fn new(status: u16, headers: &str, body: impl Into<Vec<u8>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let body = body.into();
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n");
        let answer = Arc::new([head.into_bytes(), body].concat());
        let noted = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                tokio::spawn(async move {
                    let mut text = Vec::new();
                    let mut buffer = [0; 4096];
                    while !is_whole(&text) {
                        match socket.read(&mut buffer).await {
                            Ok(0) | Err(_) => break,
                            Ok(count) => text.extend_from_slice(&buffer[..count]),
                        }
                    }
                    noted.lock().unwrap().push(String::from_utf8_lossy(&text).into_owned());
                    // The client may have had enough already.
                    let _ = socket.write_all(&answer).await;
                    let _ = socket.shutdown().await;
                });
            }
        });
        Self { address, asked }
    }

    pub async fn json(body: Value) -> Self {
        Self::new(200, "content-type: application/json\r\n", body.to_string()).await
    }

    pub fn settings(&self, engine: SearchEngine, key: Option<&str>) -> Option<SearchSettings> {
        let url = self.url("/").parse().unwrap();
        Some(SearchSettings { engine, url, api_key: key.map(|key| ApiKey(key.to_owned())) })
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, heads and bodies.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn is_whole(text: &[u8]) -> bool {
    let Some(end) = text.windows(4).position(|part| part == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&text[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    text.len() >= end + 4 + length.unwrap_or(0)
}
