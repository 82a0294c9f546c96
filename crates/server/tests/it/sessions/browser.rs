//! A browser that is logged in: it sends what a page of ours would.

use http::StatusCode;
use serde_json::{Value, json};

use crate::test_server::{Answer, Ask, TestServer};

/// The address under which the tests reach the server.
pub const OURS: &str = "http://127.0.0.1:7878";

pub struct Browser<'a> {
    server: &'a TestServer,
    pub cookie: String,
    pub proof: String,
}

/// The secret of a new link.
pub async fn link(server: &TestServer) -> String {
    let made = server.ask("POST", "/api/v1/links").owner().send().await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
    let url = made.json()["url"].as_str().unwrap().to_owned();
    let (place, secret) = url.split_once("#link=").unwrap();
    assert_eq!(place, format!("{OURS}/console/login"));
    secret.to_owned()
}

pub async fn log_in(server: &TestServer, by: Value) -> Answer {
    server.ask("POST", "/api/v1/session").header("origin", OURS).body(by).send().await
}

impl<'a> Browser<'a> {
    pub fn of(server: &'a TestServer, begun: &Answer) -> Self {
        assert_eq!(begun.status, StatusCode::CREATED, "{}", begun.text);
        let cookie = begun.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        Self { server, cookie, proof: begun.json()["proof"].as_str().unwrap().to_owned() }
    }

    /// Logged in as the home's owner.
    pub async fn owner(server: &'a TestServer) -> Self {
        let link = link(server).await;
        Self::of(server, &log_in(server, json!({ "link": link })).await)
    }

    /// Logged in by a person's key.
    pub async fn by_key(server: &'a TestServer, key: &str) -> Self {
        Self::of(server, &log_in(server, json!({ "key": key })).await)
    }

    pub fn ask(&self, method: &'a str, path: impl Into<String>) -> Ask<'a> {
        self.ask_from(OURS, method, path)
    }

    /// The same, as if a page of this origin had sent it.
    pub fn ask_from(&self, origin: &str, method: &'a str, path: impl Into<String>) -> Ask<'a> {
        self.ask_without_origin(method, path).header("origin", origin)
    }

    pub fn ask_without_origin(&self, method: &'a str, path: impl Into<String>) -> Ask<'a> {
        self.server.ask(method, path).header("cookie", &self.cookie).header("x-toolroom-proof", &self.proof)
    }

    /// Whether the session counts: its status and code at a route that needs one.
    pub async fn standing(&self) -> u16 {
        self.ask("GET", "/api/v1/session").send().await.status.as_u16()
    }
}
