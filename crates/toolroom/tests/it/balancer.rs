//! Behind a balancer: health checks by address, settings of the listener, clients named by proxies, and a stop that is
//! announced.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::test_home::{Reply, Served, TestHome, until};

fn home_with(settings: &str) -> TestHome {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    std::fs::write(home.home().join("toolroom.toml"), settings).unwrap();
    home
}

fn send(server: &Served, text: &str) -> Reply {
    Reply::over(TcpStream::connect(server.address).unwrap(), text)
}

#[test]
fn health_routes_take_any_host_and_nothing_else_does() {
    let home = TestHome::new();
    let server = home.serve();
    for host in ["Host: 10.0.0.7:7878\r\n", "Host: tools.internal\r\n", ""] {
        for (path, status) in
            [("/healthz", 200), ("/readyz", 200), ("/metrics", 403), ("/api/v1/readyz", 403)]
        {
            let got = send(&server, &format!("GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n"));
            assert_eq!(got.status, status, "{host:?} {path}: {got:?}");
        }
    }
    // As HAProxy asks by default.
    assert_eq!(send(&server, "GET /readyz HTTP/1.0\r\n\r\n").status, 200);
    let page = "GET /readyz HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(send(&server, page).status, 403, "a web page elsewhere is still refused");
}

#[test]
fn a_server_that_stops_says_so_first_and_serves_until_the_delay_is_over() {
    let home = home_with("[server]\nstop_delay = 600\n");
    let server = home.serve();
    assert_eq!(server.get("/readyz", "").status, 200);
    server.signal("-TERM");
    let told = until("it is not ready", || Some(server.get("/readyz", "")).filter(|told| told.status == 503));
    assert_eq!(told.json["checks"]["server"]["ok"], false, "{told:?}");
    assert_eq!(server.get("/healthz", "").status, 200, "it is alive");
    let called = server.post("/api/v1/tools/get-status/call", "", &json!({}));
    assert_eq!(called.status, 200, "what a balancer still sends is served");
    // A second signal cuts the delay short.
    server.signal("-TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn limits_of_the_listener_are_settings() {
    let home = home_with("[server]\nconnections = 2\nidle = 1\n");
    let server = home.serve();
    let mut first = TcpStream::connect(server.address).unwrap();
    let asked = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    first.write_all(asked.as_bytes()).unwrap();
    let mut start = [0; 12];
    first.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    let second = TcpStream::connect(server.address).unwrap();
    let third = send(&server, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!((third.status, &third.json["code"]), (503, &json!("busy")), "{third:?}");
    drop(second);
    let began = Instant::now();
    first.read_to_end(&mut Vec::new()).unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "the usual 25 s do not apply");
}

#[test]
fn settings_that_cannot_be_meant_are_refused_with_the_place() {
    for (settings, said) in [
        ("trusted_proxies = [\"proxy.example\"]", "trusted_proxies: 'proxy.example'"),
        ("proxy_protocol = true", "proxy_protocol"),
        ("idle = 0", "toolroom.toml:2"),
    ] {
        let home = home_with(&format!("[server]\n{settings}\n"));
        let refused = home.run(&["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.err.contains(said) && refused.err.contains("hint: "), "{refused:?}");
    }
}

/// The address that a session of the console was begun from, as the server saw it.
fn address_of_login(home: &TestHome, server: &Served, before: &str, headers: &str) -> String {
    let key = home.run(&["keys", "create", "--user", "anna", "--person"]).line().to_owned();
    let body = json!({ "key": key }).to_string();
    let length = body.len();
    let request = format!(
        "{before}POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}Connection: close\r\n\r\n{body}"
    );
    let begun = send(server, &request);
    assert!((200..300).contains(&begun.status), "{begun:?}");
    let listed = Reply::over_socket(home, "GET /api/v1/sessions HTTP/1.1\r\nConnection: close\r\n\r\n");
    listed.json["sessions"][0]["address"].as_str().unwrap().to_owned()
}

#[test]
fn only_trusted_proxies_are_believed_about_a_clients_address() {
    let named = "X-Forwarded-For: 203.0.113.5, 192.0.2.7\r\nForwarded: for=198.51.100.1\r\n";
    let home = TestHome::new();
    assert_eq!(address_of_login(&home, &home.serve(), "", named), "127.0.0.1");
    let home = home_with("[server]\ntrusted_proxies = [\"127.0.0.0/8\"]\n");
    assert_eq!(address_of_login(&home, &home.serve(), "", named), "192.0.2.7");
    let home = home_with("[server]\ntrusted_proxies = [\"127.0.0.1\"]\nforwarded_header = \"forwarded\"\n");
    assert_eq!(address_of_login(&home, &home.serve(), "", named), "198.51.100.1");
}

#[test]
fn a_client_behind_a_trusted_proxy_never_counts_as_this_machine() {
    let home = home_with("[server]\ntrusted_proxies = [\"127.0.0.1\"]\n");
    let server = home.serve();
    let called = |headers: &str| server.post("/api/v1/tools/get-status/call", headers, &json!({})).status;
    assert_eq!(called(""), 200);
    assert_eq!(called("X-Forwarded-For: 127.0.0.1\r\n"), 401);
}

#[test]
fn connections_of_trusted_proxies_begin_with_the_proxy_protocol_where_that_is_set() {
    let home = home_with("[server]\ntrusted_proxies = [\"127.0.0.1\"]\nproxy_protocol = true\n");
    let server = home.serve();
    let version_1 = "PROXY TCP4 192.0.2.9 127.0.0.1 4711 7878\r\n";
    let spoofed = "X-Forwarded-For: 203.0.113.5\r\n";
    let seen = address_of_login(&home, &server, version_1, spoofed);
    assert_eq!(seen, "192.0.2.9", "the client's own header is not the proxy's word");
    let version_2 = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\x01\x02\x03\x7f\0\0\x01\x12\x34\0\x50";
    assert_eq!(address_of_login(&home, &server, version_2, ""), "10.1.2.3");
    // Whoever the proxy does not name is not on this machine either.
    for unnamed in
        [&b"PROXY UNKNOWN\r\n"[..], b"\r\n\r\n\0\r\nQUIT\n\x21\0\0\0", b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"]
    {
        let mut socket = TcpStream::connect(server.address).unwrap();
        let request = b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        socket.write_all(&[unnamed, request].concat()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 401"), "{unnamed:?}: {answer}");
    }
    let mut without = TcpStream::connect(server.address).unwrap();
    without.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = without.read_to_end(&mut answer);
    assert!(answer.is_empty(), "without it the connection is closed");
}
