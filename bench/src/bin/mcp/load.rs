//! Calls of the trivial tool over connections that stay open, one call at a time on each.

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::process::Served;

pub struct Load {
    pub served: Served,
    connections: usize,
}

pub const BODY: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add-numbers","arguments":{"a":7,"b":2},"#,
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#
);

impl Load {
    pub fn new(served: Served, connections: usize) -> Self {
        Self { served, connections }
    }

    /// Microseconds of the server's processor time per call. The connections are new: while the other servers have
    /// their turns, one that rests would be closed.
    pub async fn run(&self, calls: usize) -> Result<f64> {
        let each = calls / self.connections;
        let mut open = Vec::new();
        for _ in 0..self.connections {
            let socket = TcpStream::connect(self.served.address).await?;
            socket.set_nodelay(true)?;
            let (sender, connection) = handshake(TokioIo::new(socket)).await?;
            tokio::spawn(connection);
            open.push(sender);
        }
        let before = self.served.processor_time()?;
        let work: Vec<_> = open
            .into_iter()
            .map(|connection| {
                let (address, key) = (self.served.address.to_string(), self.served.key.clone());
                tokio::spawn(call(connection, address, key, each))
            })
            .collect();
        for connection in work {
            connection.await??;
        }
        let spent = self.served.processor_time()? - before;
        Ok(spent * 1e6 / (each * self.connections) as f64)
    }
}

async fn call(
    mut connection: SendRequest<Full<Bytes>>,
    host: String,
    key: String,
    calls: usize,
) -> Result<()> {
    for _ in 0..calls {
        let request = http::Request::post("/mcp")
            .header("host", &host)
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "add-numbers")
            .body(Full::new(Bytes::from_static(BODY.as_bytes())))?;
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "the server answered {status}: {}", String::from_utf8_lossy(&body));
        let text = std::str::from_utf8(&body).context("an answer in UTF-8")?;
        ensure!(text.contains(r#""sum":9"#), "not an answer: {text}");
    }
    Ok(())
}
