//! A client that keeps its connection, and for which a dead server is an answer too.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::test_home::{PATIENCE, Reply};

pub struct Client {
    address: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, connection: None }
    }

    /// Calls a canonical tool. An error is that of the connection: whether the call had an effect is unknown.
    pub fn call(&mut self, tool: &str, headers: &str, body: &Value) -> io::Result<Reply> {
        self.send("POST", &format!("/api/v1/tools/{tool}/call"), headers, Some(body))
    }

    /// Sends a request, with a body of JSON if there is one.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: Option<&Value>,
    ) -> io::Result<Reply> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             {headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = self.exchange(&request);
        // A server that closes the connection says so, as one that is fenced does.
        if !matches!(answer, Ok((_, true))) {
            self.connection = None;
        }
        answer.map(|(reply, _)| reply)
    }

    fn exchange(&mut self, request: &str) -> io::Result<(Reply, bool)> {
        if self.connection.is_none() {
            let stream = TcpStream::connect(self.address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            self.connection = Some(BufReader::new(stream));
        }
        let connection = self.connection.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        connection.get_mut().write_all(request.as_bytes())?;
        read_reply(connection)
    }
}

/// A reply, and whether the connection can be used again.
fn read_reply(connection: &mut BufReader<TcpStream>) -> io::Result<(Reply, bool)> {
    let mut line = String::new();
    connection.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or(io::ErrorKind::UnexpectedEof)?;
    let (mut length, mut stays) = (0, true);
    loop {
        line.clear();
        if connection.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(|_| io::ErrorKind::InvalidData)?;
        }
        stays &= !(name.eq_ignore_ascii_case("connection") && value.trim().eq_ignore_ascii_case("close"));
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok((Reply { status, json: serde_json::from_str(&body).unwrap_or(Value::Null), body }, stays))
}
