//! A connection to the server that stays open, and carries bytes as a test wants them.

use std::time::Duration;

use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than anything here may take; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Line {
    address: String,
    sender: Option<SendRequest<Full<Bytes>>>,
}

pub struct Answer {
    pub status: StatusCode,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|_| panic!("{} and no JSON: {}", self.status, self.text))
    }
}

impl Line {
    pub fn to(address: &str) -> Self {
        Self { address: address.to_owned(), sender: None }
    }

    /// Posts a body, on a new connection if the server closed the old one.
    pub async fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = Request::post(path).header("host", &self.address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        timeout(PATIENCE, self.exchange(request)).await.expect("the server answers")
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Answer {
        if let Some(sender) = &mut self.sender
            && sender.ready().await.is_err()
        {
            self.sender = None;
        }
        let sender = match &mut self.sender {
            Some(sender) => sender,
            None => {
                let socket = TcpStream::connect(&self.address).await.unwrap();
                let (sender, connection) = handshake(TokioIo::new(socket)).await.unwrap();
                // It ends with an error when the server closes; the next request finds out.
                tokio::spawn(async move { drop(connection.await) });
                self.sender.insert(sender)
            }
        };
        let (parts, body) = sender.send_request(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Answer { status: parts.status, text }
    }
}
