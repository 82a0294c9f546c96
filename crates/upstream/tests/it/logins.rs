//! Logins at servers that want a token of a person's: how they begin, end, and last.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolroom_outgoing::Url;
use toolroom_upstream::{Identity, Login, SpawnEnv, TokenFolder, TokenStore, Upstream, UpstreamError};

use crate::mock::{Mock, Seen, done, stateless};
use crate::test_servers::{call, config, text};

/// An authorization server. What it says about itself can be changed.
pub fn authorization_server(
    change: impl Fn(&mut Value) + Clone + Send + Sync + 'static,
    life: u64,
) -> impl Fn(&Seen) -> Response + Clone {
    let number = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    move |seen| {
        let here = format!("http://{}", seen.headers["host"].to_str().unwrap());
        match seen.uri.path() {
            "/.well-known/oauth-authorization-server" => {
                let mut said = json!({
                    "issuer": here, "authorization_endpoint": format!("{here}/authorize"),
                    "token_endpoint": format!("{here}/token"), "registration_endpoint": format!("{here}/register"),
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none"],
                    "authorization_response_iss_parameter_supported": true,
                });
                change(&mut said);
                axum::Json(said).into_response()
            }
            "/register" => (StatusCode::CREATED, axum::Json(json!({ "client_id": "c1" }))).into_response(),
            "/token" => {
                let number = number.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
                axum::Json(json!({ "access_token": format!("t{number}"), "token_type": "Bearer",
                    "refresh_token": format!("r{number}"), "expires_in": life }))
                .into_response()
            }
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }
}

/// A server whose tokens come from there, and which takes those that `takes` says.
pub fn protected(
    authorization: String,
    takes: impl Fn(&str) -> bool + Clone + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Response + Clone {
    let calls = stateless(done);
    move |seen| {
        let here = format!("http://{}", seen.headers["host"].to_str().unwrap());
        if seen.uri.path() == "/.well-known/oauth-protected-resource/mcp" {
            let said = json!({ "resource": format!("{here}/mcp"), "authorization_servers": [authorization],
                "scopes_supported": ["work"] });
            return axum::Json(said).into_response();
        }
        let token = seen.headers.get("authorization").and_then(|value| value.to_str().ok());
        if token.and_then(|token| token.strip_prefix("Bearer ")).is_some_and(&takes) {
            return calls(seen);
        }
        let place = format!("Bearer resource_metadata=\"{here}/.well-known/oauth-protected-resource/mcp\"");
        (StatusCode::UNAUTHORIZED, [("www-authenticate", place)]).into_response()
    }
}

pub fn server(url: &str, oauth: Value, folder: &TempDir) -> Upstream {
    let tokens: Arc<dyn TokenStore> = Arc::new(TokenFolder::new(folder.path().join("tokens")));
    let spawn_env = SpawnEnv { tokens: Some(tokens), ..SpawnEnv::default() };
    let config = config("mock", json!({ "url": url, "oauth": oauth }));
    Upstream::new(config, Arc::new(Identity::toolroom()), spawn_env)
}

pub fn parameter(url: &Url, name: &str) -> String {
    let found = url.query_pairs().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("no {name} in {url}")).1.into_owned()
}

/// Comes to a port of this machine as a browser does; the status that it is answered with.
async fn browse(url: &str) -> u16 {
    let url = Url::parse(url).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", url.port().unwrap())).await.unwrap();
    let path = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// A person says yes.
pub async fn say_yes(login: Login, issuer: &str) -> Result<(), UpstreamError> {
    let (back, state) = (parameter(login.url(), "redirect_uri"), parameter(login.url(), "state"));
    let finishing = tokio::spawn(login.finish());
    assert_eq!(browse(&format!("{back}?code=abc&state={state}&iss={issuer}")).await, 200);
    finishing.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_asked_for_by_name_and_lasts_beyond_a_restart() {
    let giver = Mock::start(authorization_server(|_| {}, 3600)).await;
    let mock = Mock::start(protected(giver.url(""), |token| token == "t1")).await;
    let folder = tempfile::tempdir().unwrap();
    let oauth = json!({ "allow_private": true });
    let before = server(&mock.url("/mcp"), oauth.clone(), &folder);
    let error = call(&before, "work", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("toolroom servers login mock"), "{error}");
    assert!(giver.seen.lock().unwrap().is_empty(), "nobody is asked anything before a person wants it");

    let login = before.login().await.unwrap();
    assert_eq!(parameter(login.url(), "code_challenge_method"), "S256");
    assert_eq!(parameter(login.url(), "resource"), mock.url("/mcp"));
    assert_eq!(parameter(login.url(), "scope"), "work");
    say_yes(login, &giver.url("")).await.unwrap();
    assert_eq!(text(&call(&before, "work", json!({})).await.unwrap()), "done");
    before.shutdown().await;

    let kept = folder.path().join("tokens/mock.json");
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(kept.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    let store = TokenFolder::new(kept.parent().unwrap());
    let printed = format!("{:?}", store.load("mock").unwrap().unwrap());
    assert!(!printed.contains("t1") && !printed.contains("r1"), "{printed}");

    let after = server(&mock.url("/mcp"), oauth.clone(), &folder);
    assert_eq!(text(&call(&after, "work", json!({})).await.unwrap()), "done");
    assert_eq!(giver.seen.lock().unwrap().iter().filter(|seen| seen.uri.path() == "/token").count(), 1);
    after.logout().await.unwrap();
    assert!(!kept.exists());

    // The entry has got another URL: the token is not for it.
    store_again(&store, &after, &giver, &mock).await;
    let other = Mock::start(protected(giver.url(""), |_| true)).await;
    let moved = server(&other.url("/mcp"), oauth, &folder);
    call(&moved, "work", json!({})).await.unwrap_err();
    let seen = other.seen.lock().unwrap();
    assert!(seen.iter().all(|seen| !seen.headers.contains_key("authorization")));
}

/// Logs in once more, so that something is kept.
async fn store_again(store: &TokenFolder, server: &Upstream, giver: &Mock, mock: &Mock) {
    let login = server.login().await.unwrap();
    say_yes(login, &giver.url("")).await.unwrap();
    assert!(store.load("mock").unwrap().is_some());
    assert!(mock.seen.lock().unwrap().len() > 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_has_lapsed_is_renewed_without_a_person() {
    let giver = Mock::start(authorization_server(|_| {}, 0)).await;
    let mock = Mock::start(protected(giver.url(""), |token| token != "t1")).await;
    let folder = tempfile::tempdir().unwrap();
    let server = server(&mock.url("/mcp"), json!({ "allow_private": true }), &folder);
    say_yes(server.login().await.unwrap(), &giver.url("")).await.unwrap();
    assert_eq!(text(&call(&server, "work", json!({})).await.unwrap()), "done");
    let seen = giver.seen.lock().unwrap();
    let forms: Vec<String> = seen
        .iter()
        .filter(|seen| seen.uri.path() == "/token")
        .map(|seen| String::from_utf8(seen.body.to_vec()).unwrap())
        .collect();
    assert!(forms[0].contains("grant_type=authorization_code") && forms[0].contains("code_verifier="));
    assert!(forms[1].contains("grant_type=refresh_token") && forms[1].contains("refresh_token=r1"));
    assert!(forms[2].contains("refresh_token=r2"), "a new refresh token takes the place of the old");
    assert!(forms.iter().all(|form| form.contains("resource=http") && form.contains("client_id=c1")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_cannot_be_renewed_is_given_up_and_a_login_asked_for() {
    let giving = authorization_server(|_| {}, 0);
    let giver =
        Mock::start(move |seen| match String::from_utf8_lossy(&seen.body).contains("refresh_token=r") {
            true => {
                (StatusCode::BAD_REQUEST, axum::Json(json!({ "error": "invalid_grant" }))).into_response()
            }
            false => giving(seen),
        })
        .await;
    let mock = Mock::start(protected(giver.url(""), |_| false)).await;
    let folder = tempfile::tempdir().unwrap();
    let server = server(&mock.url("/mcp"), json!({ "allow_private": true }), &folder);
    let error = say_yes(server.login().await.unwrap(), &giver.url("")).await.unwrap_err();
    assert!(error.to_string().contains("toolroom servers login mock"), "{error}");
    call(&server, "work", json!({})).await.unwrap_err();
    assert_eq!(giver.seen.lock().unwrap().iter().filter(|seen| seen.uri.path() == "/token").count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_at_the_port_are_turned_away_and_the_person_is_still_waited_for() {
    let giver = Mock::start(authorization_server(|_| {}, 3600)).await;
    let mock = Mock::start(protected(giver.url(""), |_| true)).await;
    let folder = tempfile::tempdir().unwrap();
    let server = server(&mock.url("/mcp"), json!({ "allow_private": true }), &folder);
    let login = server.login().await.unwrap();
    let (back, state) = (parameter(login.url(), "redirect_uri"), parameter(login.url(), "state"));
    let finishing = tokio::spawn(login.finish());
    // One that says nothing holds up nobody.
    let port = Url::parse(&back).unwrap().port().unwrap();
    let _silent = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    assert_eq!(browse(&format!("{back}?code=evil&state=guess")).await, 404);
    assert_eq!(browse(&format!("{back}?code=evil")).await, 404);
    assert_eq!(browse(&format!("{back}?code=evil&state={state}&state={state}")).await, 404);
    assert_eq!(browse(&format!("http://127.0.0.1:{port}/other?code=evil&state={state}")).await, 404);
    assert_eq!(browse(&format!("{back}?code=abc&state={state}&iss={}", giver.url(""))).await, 200);
    finishing.await.unwrap().unwrap();
    assert_eq!(text(&call(&server, "work", json!({})).await.unwrap()), "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_another_authorization_server_is_not_believed_even_if_it_is_an_error() {
    let giver = Mock::start(authorization_server(|_| {}, 3600)).await;
    let mock = Mock::start(protected(giver.url(""), |_| true)).await;
    let folder = tempfile::tempdir().unwrap();
    let server = server(&mock.url("/mcp"), json!({ "allow_private": true }), &folder);
    for (answer, said) in [
        ("code=abc&iss=http://evil.example", "another authorization server"),
        ("error=pay_here&iss=http://evil.example", "another authorization server"),
        (&format!("code=abc&iss={}&iss=http://evil.example", giver.url("")), "another authorization server"),
        ("code=abc", "does not say which authorization server"),
        (&format!("error=access_denied&iss={}", giver.url("")), "access_denied"),
    ] {
        let login = server.login().await.unwrap();
        let (back, state) = (parameter(login.url(), "redirect_uri"), parameter(login.url(), "state"));
        let finishing = tokio::spawn(login.finish());
        browse(&format!("{back}?state={state}&{answer}")).await;
        let error = finishing.await.unwrap().unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains("pay_here"), "{error}");
    }
    let tokens = |seen: &&Seen| seen.uri.path() == "/token" && seen.method == Method::POST;
    assert_eq!(giver.seen.lock().unwrap().iter().filter(tokens).count(), 0);
}
