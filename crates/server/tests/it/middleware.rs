//! Problems, panics, traces, security headers and JSON bodies as a client sees them.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolroom_server::listener::Limits;

use crate::running_server::{RunningServer, body, exchange, header, status};

const LOCAL: &str = "Host: localhost\r\n";

#[tokio::test]
async fn a_panic_is_answered_500_and_neither_connection_nor_server_dies() {
    let server = RunningServer::start(Limits::default());
    let mut socket = server.connect().await;
    socket.write_all(b"GET /panic HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut space = [0; 2048];
    let count = socket.read(&mut space).await.unwrap();
    let answer = String::from_utf8_lossy(&space[..count]).into_owned();
    assert_eq!(status(&answer), 500, "{answer}");
    assert_eq!(body(&answer)["code"], "internal");
    assert!(!answer.contains("secret"));
    let again = exchange(socket, "GET /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert_eq!(status(&again), 200);
}

#[tokio::test]
async fn the_callers_trace_is_followed_and_a_problem_names_it() {
    let server = RunningServer::start(Limits::default());
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let headers = format!("{LOCAL}traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n");
    let answer = server.get("/api/v1/peer", &headers).await;
    assert_eq!(header(&answer, "x-trace-id"), Some(trace));
    assert_eq!(body(&answer)["trace"], trace);
    let problem = server.get("/panic", &headers).await;
    assert_eq!(body(&problem)["traceId"], trace, "{problem}");
    let made = server.get("/ok", &format!("{LOCAL}traceparent: 00-zz-01\r\n")).await;
    assert_eq!(header(&made, "x-trace-id").map(str::len), Some(36), "a UUID with its hyphens");
}

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    let server = RunningServer::start(Limits::default());
    for route in ["/ok", "/api/v1/peer", "/page", "/panic", "/no/such/route"] {
        let answer = server.get(route, LOCAL).await;
        assert_eq!(header(&answer, "x-content-type-options"), Some("nosniff"), "{route}");
        assert_eq!(header(&answer, "referrer-policy"), Some("no-referrer"), "{route}");
        assert_eq!(header(&answer, "cache-control").is_some(), route.starts_with("/api"), "{route}");
        assert_eq!(header(&answer, "content-security-policy").is_some(), route == "/page", "{route}");
    }
}

#[tokio::test]
async fn json_bodies_are_judged_by_type_and_text() {
    let server = RunningServer::start(Limits::default());
    for (kind, text, expected) in [
        ("application/json", r#"{"a": 1}"#, 200),
        ("application/vnd.x+json; charset=utf-8", "[]", 200),
        ("text/plain", "{}", 415),
        ("application/json", "{", 400),
        ("application/json", r#""\ud800""#, 400),
    ] {
        let answer = server
            .exchange(format!(
                "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                 Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{text}",
                text.len()
            ))
            .await;
        assert_eq!(status(&answer), expected, "{answer}");
        if expected == 400 {
            assert_eq!(body(&answer)["errors"][0]["pointer"], "", "{answer}");
        }
    }
}
