//! Every hop is checked like the first request, and takes no secret with it.

use http::{HeaderValue, Method, header};
use toolroom_outgoing::{Limits, Outgoing, OutgoingError, Request};

use crate::server::{Server, ok, redirect};

#[tokio::test]
async fn promise_a_redirect_to_an_inner_address_is_not_followed() {
    let canary = Server::canary().await;
    for status in [301, 302, 303, 307, 308] {
        for host in ["127.0.0.1", "[::1]", "localhost", "2130706433"] {
            let target = format!("http://{host}:{}/latest/meta-data", canary.port());
            let named = Server::new(move |_| redirect(status, &target)).await;
            let outgoing = Outgoing::new(Limits::default()).allow_private(named.url("/"));
            let error = outgoing.send(Request::get(named.url("/"))).await.unwrap_err();
            assert!(matches!(error, OutgoingError::Refused), "{status} {host}: {error:?}");
        }
    }
    let named = Server::new(|_| redirect(302, "file:///etc/passwd")).await;
    let outgoing = Outgoing::new(Limits::default()).allow_private(named.url("/"));
    let error = outgoing.send(Request::get(named.url("/"))).await.unwrap_err();
    assert!(matches!(error, OutgoingError::Refused), "{error:?}");
    assert_eq!(canary.seen().len(), 0);
}

#[tokio::test]
async fn a_redirect_within_a_server_is_followed_a_few_times() {
    let named = Server::new(|head| match head.split(' ').nth(1).unwrap() {
        "/3" => ok("there"),
        path => redirect(302, &format!("/{}", path[1..].parse::<u32>().unwrap() + 1)),
    })
    .await;
    let outgoing = Outgoing::new(Limits::default()).allow_private(named.url("/"));
    assert_eq!(outgoing.send(Request::get(named.url("/0"))).await.unwrap().body, b"there");
    let endless = Server::new(|_| redirect(302, "/")).await;
    let outgoing = Outgoing::new(Limits::default()).allow_private(endless.url("/"));
    let error = outgoing.send(Request::get(endless.url("/"))).await.unwrap_err();
    assert!(matches!(error, OutgoingError::Redirects), "{error:?}");
    assert_eq!(endless.seen().len(), 4);
}

#[tokio::test]
async fn a_key_does_not_travel_to_another_server() {
    let other = Server::new(|_| ok("other")).await;
    let target = other.url("/").to_string();
    let named = Server::new(move |_| redirect(302, &target)).await;
    let outgoing =
        Outgoing::new(Limits::default()).allow_private(named.url("/")).allow_private(other.url("/"));
    let mut request = Request::get(named.url("/"));
    request.method = Method::POST;
    request.body = Some(b"{}".to_vec());
    request.headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
    assert_eq!(outgoing.send(request).await.unwrap().body, b"other");
    assert!(named.seen()[0].contains("Bearer secret") && named.seen()[0].starts_with("POST "));
    assert!(!other.seen()[0].contains("secret") && other.seen()[0].starts_with("GET "), "{:?}", other.seen());
}
