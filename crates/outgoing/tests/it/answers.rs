//! Answers are bounded in size and time.

use std::time::{Duration, Instant};

use toolroom_outgoing::{Limits, Outgoing, OutgoingError, Request};

use crate::server::Server;

#[tokio::test]
async fn promise_an_answer_without_end_is_cut_off_at_the_limit() {
    let server = Server::new(|_| {
        let mut bytes = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
        bytes.resize(8 << 20, b'x');
        bytes
    })
    .await;
    let outgoing = Outgoing::new(Limits::default()).allow_private(server.url("/"));
    let error = outgoing.send(Request::get(server.url("/"))).await.unwrap_err();
    assert!(matches!(error, OutgoingError::TooLarge { limit } if limit == 2 << 20), "{error:?}");
}

#[tokio::test]
async fn a_packed_answer_is_not_unpacked_and_none_is_asked_for() {
    let packed = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let server = Server::new(move |_| {
        let head =
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: gzip\r\ncontent-length: 10\r\n\r\n";
        [head.as_bytes(), &packed].concat()
    })
    .await;
    let outgoing = Outgoing::new(Limits::default()).allow_private(server.url("/"));
    assert_eq!(outgoing.send(Request::get(server.url("/"))).await.unwrap().body, packed);
    assert!(!server.seen()[0].to_lowercase().contains("accept-encoding"), "{:?}", server.seen());
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up_in_time() {
    let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url: toolroom_outgoing::Url = format!("http://{}/", silent.local_addr().unwrap()).parse().unwrap();
    let limits = Limits { timeout: Duration::from_millis(200), ..Limits::default() };
    let outgoing = Outgoing::new(limits).allow_private(url.clone());
    let started = Instant::now();
    let error = outgoing.send(Request::get(url)).await.unwrap_err();
    assert!(matches!(error, OutgoingError::Timeout), "{error:?}");
    assert!(started.elapsed() < Limits::default().timeout, "its own limit counts");
}
