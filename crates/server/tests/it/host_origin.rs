//! Host and Origin on every route, known or not.

use toolroom_server::listener::Limits;

use crate::running_server::{RunningServer, body, header, status};

const ROUTES: [&str; 5] = ["/ok", "/api/v1/peer", "/page", "/panic", "/no/such/route"];

async fn refused_everywhere(headers: &str) {
    let server = RunningServer::start(Limits::default());
    for route in ROUTES {
        let answer = server.get(route, headers).await;
        assert_eq!(status(&answer), 403, "{route} {headers}: {answer}");
        assert_eq!(header(&answer, "content-type"), Some("application/problem+json"));
        assert_eq!(body(&answer)["code"], "forbidden");
    }
}

#[tokio::test]
async fn a_foreign_host_is_refused_on_every_route() {
    refused_everywhere("Host: evil.example\r\n").await;
}

#[tokio::test]
async fn two_hosts_are_refused_on_every_route() {
    refused_everywhere("Host: localhost\r\nHost: localhost\r\n").await;
}

#[tokio::test]
async fn a_missing_host_is_refused_on_every_route() {
    refused_everywhere("").await;
}

#[tokio::test]
async fn a_foreign_origin_is_refused_on_every_route() {
    refused_everywhere("Host: localhost\r\nOrigin: https://evil.example\r\n").await;
}

#[tokio::test]
async fn a_null_origin_is_refused_on_every_route() {
    refused_everywhere("Host: localhost\r\nOrigin: null\r\n").await;
}

#[tokio::test]
async fn a_foreign_host_in_the_request_line_is_refused() {
    let server = RunningServer::start(Limits::default());
    let answer = server.get("http://evil.example/ok", "Host: localhost\r\n").await;
    assert_eq!(status(&answer), 403, "{answer}");
}

#[tokio::test]
async fn own_names_pass_with_an_own_origin_or_none() {
    let server = RunningServer::start(Limits::default());
    for headers in [
        "Host: localhost:7878\r\n",
        "Host: [::1]\r\n",
        "Host: 127.0.0.1\r\nOrigin: http://localhost:5173\r\n",
        "Host: TOOLS.example.com.\r\nOrigin: https://tools.example.com\r\n",
    ] {
        assert_eq!(status(&server.get("/ok", headers).await), 200, "{headers}");
    }
}
