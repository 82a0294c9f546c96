//! Calls of the trivial tool over a connection that stays open, one at a time. The request is made once and its answer
//! looked at, not taken apart: a load must be lighter than the lightest server that it measures.

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::served::Served;

/// The trivial tool, under its own name.
pub const TOOL: &str = "add-numbers";

/// A client with one connection.
pub struct Caller {
    socket: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Caller {
    /// Connects.
    pub async fn connect(served: &Served, tool: &str) -> Result<Self> {
        let socket = TcpStream::connect(served.address).await?;
        socket.set_nodelay(true)?;
        let body = body(tool);
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {}\r\n\r\n{body}",
            served.address,
            served.key,
            body.len(),
        );
        Ok(Self { socket, request: request.into_bytes(), answer: Vec::with_capacity(16 * 1024) })
    }

    /// Makes a call and looks at its answer.
    pub async fn call(&mut self) -> Result<()> {
        self.socket.write_all(&self.request).await?;
        self.answer.clear();
        loop {
            let came = self.socket.read_buf(&mut self.answer).await?;
            ensure!(came > 0, "the server closed the connection");
            let Some(length) = length(&self.answer)? else { continue };
            if self.answer.len() == length {
                break;
            }
            ensure!(self.answer.len() < length, "more came than one answer");
        }
        let text = std::str::from_utf8(&self.answer).context("an answer in UTF-8")?;
        ensure!(text.starts_with("HTTP/1.1 200 ") && text.contains(r#""sum":9"#), "not an answer: {text}");
        Ok(())
    }
}

/// How many bytes the answer has in all, once its headers are there.
fn length(answer: &[u8]) -> Result<Option<usize>> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(body) = head.parse(answer)? else { return Ok(None) };
    for header in head.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            return Ok(Some(body + std::str::from_utf8(header.value)?.parse::<usize>()?));
        }
    }
    bail!("an answer without its length")
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
