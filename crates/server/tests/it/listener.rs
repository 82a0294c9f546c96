//! Limits on what comes in, the caps, the drain and the owner's socket.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use toolroom_server::listener::{Limits, ListenError, Listener, connect_unix};

use crate::running_server::{PATIENCE, RunningServer, body, exchange, header, read_to_close, status};

#[tokio::test]
async fn too_many_headers_are_answered_431() {
    let server = RunningServer::start(Limits::default());
    let headers: String = (0..10_000).map(|number| format!("x-{number}: 1\r\n")).collect();
    assert_eq!(status(&server.get("/ok", &format!("Host: localhost\r\n{headers}")).await), 431);
}

#[tokio::test]
async fn a_huge_header_is_answered_431() {
    let server = RunningServer::start(Limits::default());
    let huge = "a".repeat(100_000);
    assert_eq!(status(&server.get("/ok", &format!("Host: localhost\r\nx: {huge}\r\n")).await), 431);
}

#[tokio::test]
async fn an_endless_chunked_body_is_answered_413_early() {
    let server = RunningServer::start(Limits::default());
    let (mut reader, mut writer) = server.connect().await.into_split();
    let sender = tokio::spawn(async move {
        let head = "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
        writer.write_all(head.as_bytes()).await.unwrap();
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        while writer.write_all(chunk.as_bytes()).await.is_ok() {}
    });
    let answer = read_to_close(&mut reader).await;
    assert_eq!(status(&answer), 413, "{answer}");
    assert_eq!(body(&answer)["code"], "body_too_large");
    sender.await.unwrap();
}

#[tokio::test]
async fn an_announced_length_beyond_the_limit_is_answered_413_unread() {
    let server = RunningServer::start(Limits::default());
    let answer = server
        .exchange(
            "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n",
        )
        .await;
    assert_eq!(status(&answer), 413, "{answer}");
}

#[tokio::test]
async fn a_connection_beyond_the_cap_is_answered_503_and_places_come_back() {
    let server = RunningServer::start(Limits { max_connections: 1, ..Limits::default() });
    let mut first = server.connect().await;
    first.write_all(b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(first.read(&mut [0; 512]).await.unwrap() > 0);
    let refused = server.get("/ok", "Host: localhost\r\n").await;
    assert_eq!(status(&refused), 503, "{refused}");
    assert_eq!(body(&refused)["code"], "busy");
    drop(first);
    let place = async { while status(&server.get("/ok", "Host: localhost\r\n").await) != 200 {} };
    timeout(PATIENCE, place).await.expect("a place becomes free");
}

#[tokio::test]
async fn a_drain_finishes_running_requests_and_refuses_new_connections() {
    let server = RunningServer::start(Limits::default());
    let mut running = server.connect().await;
    running.write_all(b"GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut resting = server.connect().await;
    resting.write_all(b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    server.gates.entered.notified().await;
    server.shutdown.cancel();
    assert!(read_to_close(&mut resting).await.ends_with("ok"));
    assert!(TcpStream::connect(server.address).await.is_err());
    server.gates.release.notify_one();
    let answer = read_to_close(&mut running).await;
    assert!(answer.ends_with("finished"), "{answer}");
    assert_eq!(header(&answer, "connection"), Some("close"));
    let report = server.stop().await;
    assert_eq!((report.accepted, report.aborted), (2, 0));
}

#[tokio::test]
async fn a_request_on_a_kept_connection_is_still_served_as_the_drain_begins() {
    let server = RunningServer::start(Limits { drain_notice: Duration::from_secs(5), ..Limits::default() });
    let mut kept = server.connect().await;
    kept.write_all(b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(kept.read(&mut [0; 512]).await.unwrap() > 0);
    server.shutdown.cancel();
    let answer = exchange(kept, "GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!((status(&answer), header(&answer, "connection")), (200, Some("close")));
}

#[tokio::test]
async fn a_drain_aborts_what_outlasts_the_grace() {
    let listener = Listener::bind_tcp("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let server = RunningServer::on(listener, address, Limits::default(), Duration::from_millis(300));
    let mut socket = server.connect().await;
    socket.write_all(b"GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    server.gates.entered.notified().await;
    let report = server.stop().await;
    assert_eq!(report.aborted, 1);
    assert_eq!(read_to_close(&mut socket).await, "");
}

fn serve_unix(path: &Path) -> RunningServer {
    let listener = Listener::bind_unix(path).unwrap();
    RunningServer::on(listener, "0.0.0.0:0".parse().unwrap(), Limits::default(), Duration::from_secs(5))
}

const PEER_REQUEST: &str = "GET /api/v1/peer HTTP/1.1\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn the_owners_socket_is_private_knows_its_owner_and_goes_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toolroom.sock");
    let server = serve_unix(&path);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let answer = exchange(connect_unix(&path).await.unwrap(), PEER_REQUEST).await;
    assert_eq!(body(&answer)["owner"], true, "{answer}");
    server.stop().await;
    assert!(!path.exists());
}

#[tokio::test]
async fn a_dead_socket_file_is_replaced_but_a_living_one_or_a_plain_file_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toolroom.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let living = Listener::bind_unix(&path).unwrap();
    assert!(matches!(Listener::bind_unix(&path), Err(ListenError::InUse(_))));
    drop(living);
    std::fs::write(&path, "precious").unwrap();
    assert!(matches!(Listener::bind_unix(&path), Err(ListenError::NotASocket(_))));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[tokio::test]
async fn a_socket_deep_in_the_file_system_works_too() {
    let directory = tempfile::tempdir().unwrap();
    let deep = directory.path().join("d".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let path = deep.join("toolroom.sock");
    let server = serve_unix(&path);
    let answer = exchange(connect_unix(&path).await.unwrap(), PEER_REQUEST).await;
    assert_eq!(status(&answer), 200, "{answer}");
    server.stop().await;
    assert!(!path.exists());
    let name = deep.join("n".repeat(120));
    assert!(matches!(Listener::bind_unix(&name), Err(ListenError::NameTooLong(_))));
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_request() {
    let server = RunningServer::start(Limits::default());
    let mut socket = server.connect().await;
    socket.write_all(b"GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    server.gates.entered.notified().await;
    drop(socket);
    assert_eq!(server.stop().await.aborted, 0);
}
