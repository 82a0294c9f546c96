//! Kept-alive connections after an early refusal: whoever is not told of the end can go on.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::running_server::{PATIENCE, RunningServer, header, status};

/// One answer with its body, and nothing behind it.
async fn one_answer(socket: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = timeout(PATIENCE, socket.read(&mut piece)).await.expect("an answer").unwrap();
        assert_ne!(read, 0, "it ended within an answer: {}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&piece[..read]);
        let so_far = String::from_utf8_lossy(&text).into_owned();
        if let Some((_, body)) = so_far.split_once("\r\n\r\n") {
            let length: usize = header(&so_far, "content-length").unwrap().parse().unwrap();
            if body.len() >= length {
                return so_far;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_ends_a_kept_alive_connection_says_so() {
    let server = RunningServer::start(Default::default());
    let refusals = [
        ("POST /api/v1/echo", "Host: evil.example\r\nContent-Type: application/json\r\n", 2000, 403),
        ("POST /nowhere", "Host: localhost\r\nContent-Type: application/json\r\n", 2000, 404),
        ("POST /ok", "Host: localhost\r\nContent-Type: application/json\r\n", 2000, 405),
        ("POST /api/v1/echo", "Host: localhost\r\nContent-Type: application/json\r\n", 2_000_000, 413),
        ("POST /api/v1/echo", "Host: localhost\r\nContent-Type: text/plain\r\n", 2000, 415),
    ];
    for (line, headers, length, expected) in refusals {
        for together in [true, false] {
            let mut socket = server.connect().await;
            socket.set_nodelay(true).unwrap();
            let head = format!("{line} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n");
            let body = "x".repeat(length.min(2000));
            let first = if together { format!("{head}{body}") } else { head };
            socket.write_all(first.as_bytes()).await.unwrap();
            let answer = one_answer(&mut socket).await;
            assert_eq!(status(&answer), expected, "{answer}");
            if header(&answer, "connection") == Some("close") {
                continue;
            }
            // It was not told to leave: the rest of the body and the next request are taken.
            let rest = if together { "" } else { &body };
            let next = format!("{rest}GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n");
            socket.write_all(next.as_bytes()).await.unwrap();
            assert_eq!(status(&one_answer(&mut socket).await), 200, "{line} {expected} {together}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn an_answer_to_a_request_that_was_read_whole_keeps_the_connection() {
    let server = RunningServer::start(Default::default());
    let mut socket = server.connect().await;
    for body in ["{}", "not JSON", "[1]"] {
        let length = body.len();
        let request = format!(
            "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        let answer = one_answer(&mut socket).await;
        assert_eq!(header(&answer, "connection"), None, "{answer}");
    }
    drop(socket);
    server.stop().await;
}
