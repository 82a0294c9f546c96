//! Many clients that all use the same request id: no answer goes to another client.

use serde_json::json;

use crate::frames::sound;
use crate::line::Line;
use crate::server_process::ServerProcess;
use crate::sse::SseClient;

const CLIENTS: usize = 200;
const CALLS: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_two_hundred_clients_with_the_same_id_each_get_their_own_answer() {
    let server = ServerProcess::start();
    let work: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let mut line = Line::to(server.address());
            tokio::spawn(async move {
                for call in 0..CALLS {
                    let name = format!("client {client} call {call}");
                    let body =
                        sound(1, "tools/call", json!({ "name": "greet", "arguments": { "name": name } }));
                    let headers = [
                        ("accept", "application/json, text/event-stream"),
                        ("content-type", "application/json"),
                        ("mcp-protocol-version", "2026-07-28"),
                        ("mcp-method", "tools/call"),
                        ("mcp-name", "greet"),
                    ];
                    let answer =
                        line.post("/mcp/conformance", &headers, body.to_string().as_bytes()).await.json();
                    assert_eq!(answer["id"], 1, "{answer}");
                    assert_eq!(answer["result"]["content"][0]["text"], format!("Hello, {name}!"), "{answer}");
                }
            })
        })
        .collect();
    for client in work {
        client.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_clients_of_the_old_transport_with_the_same_id_each_get_their_own_answer() {
    let server = ServerProcess::start();
    let work: Vec<_> = (0..50)
        .map(|client| {
            let url = server.sse_url.clone();
            tokio::spawn(async move {
                let mut line = SseClient::connect(&url).await;
                line.initialize().await;
                for call in 0..20 {
                    let name = format!("client {client} call {call}");
                    let params = json!({ "name": "greet", "arguments": { "name": name } });
                    line.send(
                        &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }),
                    )
                    .await;
                    let answer = line.next().await;
                    assert_eq!(answer["id"], 1, "{answer}");
                    assert_eq!(answer["result"]["content"][0]["text"], format!("Hello, {name}!"), "{answer}");
                }
            })
        })
        .collect();
    for client in work {
        client.await.unwrap();
    }
}
