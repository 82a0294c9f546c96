//! Servers at a URL that answer as a test says, and note what they were asked.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use toolroom_upstream::Upstream;

use crate::test_servers::upstream;

/// What was asked of a mock.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    /// The body, if it is JSON.
    pub message: Value,
    pub body: Bytes,
}

impl Seen {
    pub fn rpc(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    pub fn id(&self) -> &Value {
        &self.message["id"]
    }
}

pub struct Mock {
    pub address: std::net::SocketAddr,
    pub seen: Arc<Mutex<Vec<Seen>>>,
}

impl Mock {
    pub async fn start(answer: impl Fn(&Seen) -> Response + Clone + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let log = Arc::clone(&seen);
        let app = Router::new().fallback(async move |request: Request| {
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let message = serde_json::from_slice(&body).unwrap_or_default();
            let one = Seen { method: parts.method, uri: parts.uri, headers: parts.headers, message, body };
            log.lock().unwrap().push(one.clone());
            answer(&one)
        });
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, seen }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn upstream(&self) -> Upstream {
        upstream("mock", json!({ "url": self.url("/mcp") }))
    }

    pub fn seen(&self, rpc: &str) -> Vec<Seen> {
        self.seen.lock().unwrap().iter().filter(|one| one.rpc() == rpc).cloned().collect()
    }
}

pub fn json_answer(id: &Value, result: Value) -> Response {
    axum::Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}

pub fn event_stream(text: impl Into<Body>) -> Response {
    ([("content-type", "text/event-stream")], text.into()).into_response()
}

pub fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// A server without sessions, but for its calls.
pub fn stateless(
    calls: impl Fn(&Seen) -> Response + Clone + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Response + Clone {
    move |seen| match seen.rpc() {
        "server/discover" => json_answer(
            seen.id(),
            json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "ttlMs": 0, "cacheScope": "private", "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "mock" } } }),
        ),
        "tools/list" => json_answer(
            seen.id(),
            json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [
                { "name": "work", "inputSchema": { "type": "object", "properties": {
                    "region": { "type": "string", "x-mcp-header": "Region" } } } },
            ] }),
        ),
        _ => calls(seen),
    }
}

/// A server with sessions, but for its calls.
pub fn session(
    calls: impl Fn(&Seen) -> Response + Clone + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Response + Clone {
    move |seen| match (&seen.method, seen.rpc()) {
        (_, "initialize") => {
            let result = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                "serverInfo": { "name": "mock", "version": "1" } });
            let mut response = json_answer(seen.id(), result);
            response.headers_mut().insert("mcp-session-id", "s1".parse().unwrap());
            response
        }
        (_, "server/discover") => StatusCode::BAD_REQUEST.into_response(),
        (_, "notifications/initialized") => StatusCode::ACCEPTED.into_response(),
        (&Method::DELETE, _) => StatusCode::OK.into_response(),
        _ => calls(seen),
    }
}

pub fn done(seen: &Seen) -> Response {
    json_answer(
        seen.id(),
        json!({ "resultType": "complete", "content": [{ "type": "text", "text": "done" }] }),
    )
}
