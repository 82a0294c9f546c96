//! The reference servers of npm, on the TypeScript SDK.

use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_upstream::answers::{Answering, Asked};
use toolroom_upstream::contracts::catalogue;
use toolroom_upstream::{
    Answers, CallOptions, Completes, Completing, Era, RemotePrompt, RemoteResource, RemoteTemplate,
    RemoteTool, Target, Upstream,
};

use crate::test_servers::{Listening, Reports, call, call_with, node_package, program, text, upstream};

const NODE: &str = "TOOLROOM_TEST_NODE";
const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";
const FILESYSTEM: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";

#[tokio::test(flavor = "multi_thread")]
async fn server_everything_over_stdio_gives_all_it_has() {
    let server = upstream(
        "everything",
        json!({ "command": program(NODE), "args": [node_package(EVERYTHING), "stdio"] }),
    );
    everything(&server, Era::Session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_everything_over_streamable_http_gives_all_it_has() {
    let listening = everything_listening("streamableHttp");
    let server = upstream("everything", json!({ "url": listening.url("/mcp") }));
    everything(&server, Era::Session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_everything_over_http_and_sse_gives_all_it_has() {
    let listening = everything_listening("sse");
    let server = upstream("everything", json!({ "url": listening.url("/sse") }));
    everything(&server, Era::HttpSse).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_filesystem_reads_and_writes_in_its_folder_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().canonicalize().unwrap();
    let server = upstream(
        "files",
        json!({ "command": program(NODE), "args": [node_package(FILESYSTEM), inside], "deny": ["move_*"] }),
    );
    let tools = server.list::<RemoteTool>().await.unwrap();
    let made = catalogue(server.config(), &tools.items);
    assert_eq!(made.rejected, []);
    let destructive = |name: &str| {
        let found = made.tools.iter().find(|tool| tool.remote.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).definition.destructive
    };
    assert!(!destructive("read_text_file") && destructive("write_file"));
    assert!(made.tools.iter().all(|tool| tool.remote.name != "move_file"), "denied by the entry");
    let file = inside.join("a.txt");
    call(&server, "write_file", json!({ "path": file, "content": "hello" })).await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "hello");
    let read = call(&server, "read_text_file", json!({ "path": file })).await.unwrap();
    assert_eq!(text(&read), "hello");
    let outside = call(&server, "read_text_file", json!({ "path": "/etc/passwd" })).await.unwrap();
    assert_eq!(outside["isError"], true);
    server.shutdown().await;
}

fn everything_listening(transport: &str) -> Listening {
    Listening::start(|port| {
        let mut command = Command::new(program(NODE));
        command.args([&node_package(EVERYTHING), transport]).env("PORT", port.to_string());
        command
    })
}

struct Agrees;

impl Answers for Agrees {
    fn answer(&self, asked: Asked) -> Answering<'_> {
        let text = match asked.question {
            toolroom_upstream::answers::Question::Elicitation => {
                r#"{"action":"accept","content":{"name":"Ada","integer":42}}"#
            }
            _ => {
                r#"{"role":"assistant","content":{"type":"text","text":"a poem"},"model":"none","stopReason":"endTurn"}"#
            }
        };
        Box::pin(async move { Ok(serde_json::from_str(text).unwrap()) })
    }
}

async fn everything(server: &Upstream, era: Era) {
    let tools = server.list::<RemoteTool>().await.unwrap();
    let made = catalogue(server.config(), &tools.items);
    assert_eq!(made.rejected, []);
    assert!(made.tools.len() >= 10);
    let status = server.status();
    assert_eq!(status.era, Some(era));
    assert!(!server.list::<RemoteResource>().await.unwrap().items.is_empty());
    assert!(!server.list::<RemoteTemplate>().await.unwrap().items.is_empty());
    let prompts = server.list::<RemotePrompt>().await.unwrap();
    assert!(prompts.items.iter().any(|prompt| prompt.name == "simple-prompt"), "{prompts:?}");
    assert!(text(&call(server, "echo", json!({ "message": "hi" })).await.unwrap()).contains("hi"));
    let image = call(server, "get-tiny-image", json!({})).await.unwrap();
    let kinds: Vec<&Value> = image["content"].as_array().unwrap().iter().map(|part| &part["type"]).collect();
    assert!(kinds.contains(&&json!("image")), "content of every kind is passed on");
    let weather = call(server, "get-structured-content", json!({ "location": "New York" })).await.unwrap();
    assert!(weather["structuredContent"]["temperature"].is_number());
    let reports = Arc::<Reports>::default();
    let options = CallOptions { reporter: reports.reporter(), ..CallOptions::default() };
    let arguments = json!({ "duration": 0.2, "steps": 4 });
    call_with(server, "trigger-long-running-operation", arguments, &options).await.unwrap();
    assert_eq!(reports.progress.lock().unwrap().len(), 4);
    let options = CallOptions { answers: Some(Arc::new(Agrees)), ..CallOptions::default() };
    let asked = call_with(server, "trigger-elicitation-request", json!({}), &options).await.unwrap();
    assert!(asked.to_string().contains("Ada"), "{asked}");
    let sampled =
        call_with(server, "trigger-sampling-request", json!({ "prompt": "a poem" }), &options).await.unwrap();
    assert!(sampled.to_string().contains("a poem"), "{sampled}");
    let uri = &server.list::<RemoteResource>().await.unwrap().items[0].uri;
    let read =
        server.reach(Target::Resource(uri), &CallOptions::default()).await.unwrap().complete().unwrap();
    assert!(read.text().contains("contents"));
    let of = Completes::Prompt("completable-prompt");
    let completed = server.complete(Completing { of, argument: "department", value: "E" }).await.unwrap();
    assert!(completed.iter().any(|value| value == "Engineering"), "{completed:?}");
    server.shutdown().await;
}
