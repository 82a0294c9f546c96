//! Authorization metadata that is hostile or wrong: nothing is sent where it must not go.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use toolroom_upstream::{Upstream, UpstreamError};

use crate::logins::{authorization_server, protected, say_yes, server};
use crate::mock::{Mock, Seen, done, stateless};
use crate::test_servers::{call, upstream};

/// A port of this machine that nobody may come to.
struct Canary {
    port: u16,
    seen: Arc<AtomicUsize>,
}

impl Canary {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&seen);
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { port, seen }
    }
}

/// How a login at a server fails.
async fn refused(url: &str, oauth: Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let server = server(url, oauth, &folder);
    match server.login().await {
        Err(error @ UpstreamError::Unauthorized { .. }) => error.to_string(),
        Err(error) => panic!("{error:?}"),
        Ok(login) => panic!("sent to {}", login.url()),
    }
}

/// A server that wants a token, and whose metadata are somewhere.
fn with_metadata(
    place: impl Fn(&str) -> String + Clone + Send + Sync + 'static,
    metadata: impl Fn(&str) -> Response + Clone + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Response + Clone {
    move |seen| {
        let here = format!("http://{}", seen.headers["host"].to_str().unwrap());
        match seen.uri.path() {
            "/mcp" => {
                let challenge = format!("Bearer resource_metadata=\"{}\"", place(&here));
                (StatusCode::UNAUTHORIZED, [("www-authenticate", challenge)]).into_response()
            }
            _ => metadata(&here),
        }
    }
}

fn about(here: &str, authorization: &str) -> Response {
    axum::Json(json!({ "resource": format!("{here}/mcp"), "authorization_servers": [authorization] }))
        .into_response()
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_leads_nobody_to_this_machine_or_its_network() {
    let canary = Canary::start().await;
    for form in [
        "127.0.0.1",
        "localhost",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "localhost.",
        "[::ffff:127.0.0.1]",
    ] {
        let target = format!("http://{form}:{}/x", canary.port);
        let place = target.clone();
        let named =
            Mock::start(with_metadata(move |_| place.clone(), |_| StatusCode::OK.into_response())).await;
        assert!(refused(&named.url("/mcp"), json!({})).await.contains("not allowed"), "{form}");

        let place = target.clone();
        let redirected = with_metadata(
            |here| format!("{here}/m"),
            move |_| (StatusCode::FOUND, [("location", place.clone())]).into_response(),
        );
        let redirected = Mock::start(redirected).await;
        assert!(refused(&redirected.url("/mcp"), json!({})).await.contains("not allowed"), "{form}");

        // By https too: only the address counts.
        let place = target.replace("http:", "https:");
        let given = with_metadata(|here| format!("{here}/m"), move |here| about(here, &place));
        let given = Mock::start(given).await;
        assert!(refused(&given.url("/mcp"), json!({})).await.contains("not allowed"), "{form}");
    }
    assert_eq!(canary.seen.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorization_server_of_this_network_may_lead_no_further() {
    let canary = Canary::start().await;
    for endpoint in ["token_endpoint", "registration_endpoint"] {
        let elsewhere = format!("http://127.0.0.1:{}/x", canary.port);
        let giver =
            Mock::start(authorization_server(move |said| said[endpoint] = json!(elsewhere), 60)).await;
        let mock = Mock::start(protected(giver.url(""), |_| true)).await;
        let folder = tempfile::tempdir().unwrap();
        let server = server(&mock.url("/mcp"), json!({ "allow_private": true }), &folder);
        let error = match server.login().await {
            Ok(login) => say_yes(login, &giver.url("")).await.unwrap_err(),
            Err(error) => error,
        };
        assert!(error.to_string().contains("not allowed"), "{error}");
    }
    assert_eq!(canary.seen.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_that_is_wrong_is_not_used() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 5] = [
        (|said| said["issuer"] = json!("https://honest.example"), "another issuer"),
        (|said| said["issuer"] = json!(format!("{}/", said["issuer"].as_str().unwrap())), "another issuer"),
        (|said| said["code_challenge_methods_supported"] = json!(["plain"]), "PKCE"),
        (|said| said["authorization_endpoint"] = json!("javascript:alert(1)"), "https"),
        (|said| said["padding"] = json!("x".repeat(3 << 20)), "larger"),
    ];
    for (change, why) in cases {
        let giver = Mock::start(authorization_server(change, 60)).await;
        let mock = Mock::start(protected(giver.url(""), |_| true)).await;
        let error = refused(&mock.url("/mcp"), json!({ "allow_private": true })).await;
        assert!(error.contains(why), "{error}");
        let seen = giver.seen.lock().unwrap();
        assert!(seen.iter().all(|seen| seen.uri.path() != "/register"), "{why}");
    }
    // Codes do not go over plain HTTP to the world.
    let plain = with_metadata(|here| format!("{here}/m"), |here| about(here, "http://auth.example"));
    let error = refused(&Mock::start(plain).await.url("/mcp"), json!({})).await;
    assert!(error.contains("https"), "{error}");
    let other =
        with_metadata(|here| format!("{here}/m"), |_| about("https://other.example", "https://a.example"));
    let error = refused(&Mock::start(other).await.url("/mcp"), json!({})).await;
    assert!(error.contains("another server"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_follow_no_redirect_of_a_token_server() {
    let canary = Canary::start().await;
    let elsewhere = format!("http://127.0.0.1:{}/token", canary.port);
    let calls = stateless(done);
    let mock = Mock::start(move |seen| match seen.uri.path() {
        "/token" => (StatusCode::TEMPORARY_REDIRECT, [("location", elsewhere.clone())]).into_response(),
        _ => calls(seen),
    })
    .await;
    let oauth = json!({ "token_url": mock.url("/token"), "client_id": "me", "client_secret": "s" });
    let server: Upstream = upstream("mock", json!({ "url": mock.url("/mcp"), "oauth": oauth }));
    let error = call(&server, "work", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("307"), "{error}");
    assert_eq!(canary.seen.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn registered_credentials_are_not_shown_to_another_authorization_server() {
    let giver = Mock::start(authorization_server(|_| {}, 60)).await;
    let mock = Mock::start(protected(giver.url(""), |_| true)).await;
    let oauth = json!({ "allow_private": true, "client_id": "me", "client_secret": "s", "issuer": "https://ours.example" });
    let error = refused(&mock.url("/mcp"), oauth).await;
    assert!(error.contains("not the one of its entry"), "{error}");
    assert!(giver.seen.lock().unwrap().is_empty());
}
