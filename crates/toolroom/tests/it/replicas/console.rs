//! The console behind a balancer, which may lead a browser to any replica.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::Replica;
use crate::promises::cluster::Cluster;
use crate::test_home::{post, until};

const ORIGIN: &str = "Origin: http://localhost\r\n";

/// The headers by which a browser shows the session that the link gave it.
fn log_in(replica: &Replica, link: &str) -> String {
    let mut stream = TcpStream::connect(replica.server.address).unwrap();
    stream.write_all(post("/api/v1/session", ORIGIN, &json!({ "link": link })).as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 201"), "{text}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let begun: Value = serde_json::from_str(body).unwrap();
    let (cookie, proof) = (cookie.split(';').next().unwrap(), begun["proof"].as_str().unwrap());
    format!("{ORIGIN}Cookie: {cookie}\r\nX-Toolroom-Proof: {proof}\r\n")
}

#[test]
fn promise_a_link_into_the_console_works_once_at_any_replica_and_its_session_at_all() {
    let cluster = Cluster::start();
    let replicas = [0, 1].map(|_| Replica::start(&cluster.url()));
    let printed = replicas[0].home.run(&["console"]);
    let (_, link) =
        printed.line().split_once("/console/login#link=").unwrap_or_else(|| panic!("{printed:?}"));
    let session = log_in(&replicas[1], link);
    for replica in &replicas {
        let refused = replica.server.post("/api/v1/session", ORIGIN, &json!({ "link": link }));
        assert_eq!(refused.status, 401, "{refused:?}");
        let shown = replica.server.get("/api/v1/session", &session);
        assert_eq!((shown.status, &shown.json["owner"]), (200, &json!(true)), "{shown:?}");
    }
    let ended =
        format!("DELETE /api/v1/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{session}\r\n");
    let stream = TcpStream::connect(replicas[0].server.address).unwrap();
    assert_eq!(crate::test_home::Reply::over(stream, &ended).status, 204);
    until("it has ended at the other", || {
        (replicas[1].server.get("/api/v1/session", &session).status == 401).then_some(())
    });
}
