//! Calls of the trivial tool over a connection that stays open, one at a time.

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::served::Served;

/// The trivial tool, under its own name.
pub const TOOL: &str = "add-numbers";

/// A client with one connection.
pub struct Caller {
    connection: SendRequest<Full<Bytes>>,
    host: String,
    key: String,
    tool: String,
    body: Bytes,
}

impl Caller {
    /// Connects.
    pub async fn connect(served: &Served, tool: &str) -> Result<Self> {
        let socket = TcpStream::connect(served.address).await?;
        socket.set_nodelay(true)?;
        let (connection, driving) = handshake(TokioIo::new(socket)).await?;
        tokio::spawn(driving);
        let (host, key) = (served.address.to_string(), format!("Bearer {}", served.key));
        Ok(Self { connection, host, key, tool: tool.to_owned(), body: body(tool).into() })
    }

    /// Makes a call and looks at its answer.
    pub async fn call(&mut self) -> Result<()> {
        let request = http::Request::post("/mcp")
            .header("host", &self.host)
            .header("authorization", &self.key)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", &self.tool)
            .body(Full::new(self.body.clone()))?;
        self.connection.ready().await?;
        let response = self.connection.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "the server answered {status}: {}", String::from_utf8_lossy(&body));
        let text = std::str::from_utf8(&body).context("an answer in UTF-8")?;
        ensure!(text.contains(r#""sum":9"#), "not an answer: {text}");
        Ok(())
    }
}

/// A call of the trivial tool under that name, as a message.
pub fn body(tool: &str) -> String {
    format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{{"a":7,"b":2}},"#,
            r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1.0.0"}},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        ),
        tool
    )
}
