//! Peers that hold connections without using them, and the others, who must not notice.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use toolroom_server::listener::Limits;

use crate::running_server::{PATIENCE, RunningServer, body, read_to_close, status};

fn short() -> Limits {
    Limits {
        header_timeout: Duration::from_millis(400),
        body_timeout: Duration::from_millis(400),
        write_timeout: Duration::from_millis(400),
        idle_timeout: Duration::from_millis(400),
        linger: Duration::from_millis(100),
        ..Limits::default()
    }
}

#[tokio::test]
async fn headers_that_drip_are_cut_off_at_the_limit() {
    let server = RunningServer::start(short());
    let mut socket = server.connect().await;
    let began = Instant::now();
    socket.write_all(b"GET /ok HTTP/1.1\r\nHost: localhost\r\n").await.unwrap();
    // Each byte is progress of a kind; the limit must not care.
    while socket.write_all(b"a").await.is_ok() {
        assert!(began.elapsed() < PATIENCE, "still open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(began.elapsed() >= Duration::from_millis(400));
}

#[tokio::test]
async fn a_connection_that_sends_nothing_is_closed() {
    let server = RunningServer::start(short());
    assert_eq!(read_to_close(&mut server.connect().await).await, "");
}

#[tokio::test]
async fn a_slow_body_is_answered_408_and_closed() {
    let server = RunningServer::start(short());
    let answer = server
        .exchange(
            "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: 1000\r\n\r\n{",
        )
        .await;
    assert_eq!(status(&answer), 408, "{answer}");
    assert_eq!(body(&answer)["code"], "request_timeout");
}

#[tokio::test]
async fn a_peer_that_does_not_read_is_closed() {
    let server = RunningServer::start(short());
    let mut socket = server.connect().await;
    socket.write_all(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    // Nothing is read until the server has given up: its side of the connection then ends with an error.
    let ended = async {
        while socket.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, ended).await.expect("closed");
}

#[tokio::test]
async fn a_stream_that_rests_longer_than_every_limit_goes_on() {
    let limits = Limits {
        header_timeout: Duration::from_millis(100),
        body_timeout: Duration::from_millis(100),
        write_timeout: Duration::from_millis(100),
        idle_timeout: Duration::from_millis(100),
        ..Limits::default()
    };
    let answer = RunningServer::start(limits).get("/quiet", "Host: localhost\r\n").await;
    assert_eq!(answer.matches("data: tick").count(), 5, "{answer}");
    assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn a_resting_connection_is_closed_after_the_idle_time_only() {
    let limits = Limits { header_timeout: Duration::from_millis(100), ..short() };
    let server = RunningServer::start(limits);
    let mut socket = server.connect().await;
    let began = Instant::now();
    socket.write_all(b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let answer = read_to_close(&mut socket).await;
    assert!(answer.ends_with("ok"), "{answer}");
    assert!(began.elapsed() >= Duration::from_millis(400), "{:?}", began.elapsed());
}

#[tokio::test]
async fn headers_of_a_later_request_have_the_header_time_not_the_idle_time() {
    let limits = Limits { idle_timeout: PATIENCE * 2, ..short() };
    let server = RunningServer::start(limits);
    let mut socket = server.connect().await;
    socket.write_all(b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = [0; 512];
    assert!(tokio::io::AsyncReadExt::read(&mut socket, &mut answer).await.unwrap() > 0);
    socket.write_all(b"GET /ok HT").await.unwrap();
    read_to_close(&mut socket).await;
}

#[tokio::test]
async fn others_are_served_while_two_hundred_slow_sockets_hang() {
    let server = RunningServer::start(Limits {
        header_timeout: Duration::from_secs(1),
        body_timeout: Duration::from_secs(1),
        write_timeout: Duration::from_secs(1),
        idle_timeout: Duration::from_secs(1),
        ..Limits::default()
    });
    let mut slow: Vec<TcpStream> = Vec::new();
    for number in 0..200 {
        let mut socket = server.connect().await;
        let start: &[u8] = match number % 4 {
            0 => b"GET /ok HT",
            1 => b"POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n[",
            2 if number < 40 => b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n",
            _ => b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n",
        };
        socket.write_all(start).await.unwrap();
        slow.push(socket);
    }
    let closed = tokio::spawn(async move {
        for (number, socket) in slow.iter_mut().enumerate() {
            // Sockets that must not read are watched by writing.
            if number % 4 == 2 && number < 40 {
                while socket.write_all(b"x").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            } else {
                read_to_close(socket).await;
            }
        }
    });
    let mut probes = Vec::new();
    while !closed.is_finished() {
        let began = Instant::now();
        assert_eq!(status(&server.get("/ok", "Host: localhost\r\n").await), 200);
        probes.push(began.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    closed.await.unwrap();
    assert!(probes.len() > 5);
    // Behind even one of the slow ones they would take as long as it may: a second.
    probes.sort();
    assert!(probes[probes.len() / 2] < Duration::from_millis(500), "{probes:?}");
}
