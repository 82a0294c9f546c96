//! The client of OpenAI-compatible servers, against one that does what servers really do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolroom_model::openai::{ApiKey, OpenAi, OpenAiSettings};
use toolroom_model::{
    Arguments, Deltas, Finish, Message, Model, ModelError, Moment, Prompt, Sampling, ToolCall, ToolChoice,
    ToolSpec, Turn, Usage,
};

/// What the server does with one request.
#[derive(Clone)]
enum Play {
    /// Answers with this status, type and body, in pieces.
    Answer(u16, &'static str, Vec<String>),
    /// Sends the head and this much of a chunked body, then closes the connection.
    Break(String),
    /// Sends this, and then nothing forever.
    Hang(String),
    /// Closes the connection at once.
    Close,
}

struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(plays: Vec<Play>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let (seen, tops) = (Arc::clone(&requests), Arc::clone(&heads));
        tokio::spawn(async move {
            for play in plays {
                let (mut socket, _) = listener.accept().await.unwrap();
                if matches!(play, Play::Close) {
                    continue;
                }
                let (head, body) = read(&mut socket).await;
                tops.lock().unwrap().push(head);
                seen.lock().unwrap().push(body);
                tokio::spawn(answer(socket, play));
            }
        });
        Self { url, requests, heads }
    }

    fn model(&self) -> OpenAi {
        let mut settings = OpenAiSettings::new(&self.url, ApiKey::new("sk-secret"), "test-model").unwrap();
        settings.timeout = Duration::from_secs(20);
        settings.idle = Duration::from_millis(300);
        OpenAi::new(settings)
    }

    fn request(&self, at: usize) -> Value {
        self.requests.lock().unwrap()[at].clone()
    }
}

async fn read(socket: &mut tokio::net::TcpStream) -> (String, Value) {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 4096];
        let read = socket.read(&mut part).await.unwrap();
        bytes.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase();
            let length =
                length.split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
            if body.len() >= length {
                return (head.to_owned(), serde_json::from_str(body).unwrap());
            }
        }
        assert!(read > 0, "the request ended early");
    }
}

async fn answer(mut socket: tokio::net::TcpStream, play: Play) {
    let head = |status: u16, kind: &str| {
        format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        )
    };
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let sse = "text/event-stream";
    let text = match &play {
        Play::Answer(status, kind, pieces) => {
            let pieces: String = pieces.iter().map(|piece| chunk(piece)).collect();
            format!("{}{pieces}0\r\n\r\n", head(*status, kind))
        }
        Play::Hang(text) if text.is_empty() => head(200, sse),
        Play::Break(text) | Play::Hang(text) => format!("{}{}", head(200, sse), chunk(text)),
        Play::Close => String::new(),
    };
    let _ = socket.write_all(text.as_bytes()).await;
    if let Play::Hang(_) = play {
        std::future::pending::<()>().await;
    }
}

/// A stream of these chunks, cut into pieces that fit nothing.
fn stream(chunks: &[Value]) -> Play {
    let mut text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    text += "data: [DONE]\n\n";
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters.chunks(7).map(|piece| piece.iter().collect()).collect();
    Play::Answer(200, "text/event-stream; charset=utf-8", pieces)
}

fn delta(delta: Value) -> Value {
    json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn prompt() -> Prompt {
    let call = ToolCall { id: "c1".into(), name: "list_tasks".into(), arguments: Arguments::Json(json!({})) };
    Prompt {
        messages: vec![
            Message::System { text: "Be brief.".into() },
            Message::user("list"),
            Message::Assistant { text: String::new(), calls: vec![call] },
            Message::Tool {
                call_id: "c1".into(),
                name: "list_tasks".into(),
                content: "[]".into(),
                structured: None,
                failed: false,
            },
            Message::assistant("You have none."),
            Message::user("add milk"),
        ],
        tools: vec![ToolSpec {
            name: "add_task".into(),
            canonical: "create-task".into(),
            description: "Adds a task.".into(),
            parameters: json!({ "type": "object" }).into(),
            read_only: false,
            destructive: false,
        }],
        tool_choice: ToolChoice::Required,
        moment: Moment { now: Timestamp::UNIX_EPOCH, zone: TimeZone::UTC },
        profile: "assistant".into(),
        confirms_changes: true,
        confirms_deletes: true,
    }
}

#[derive(Default)]
struct Heard(Vec<String>);

impl Deltas for Heard {
    fn text(&mut self, piece: &str) {
        self.0.push(piece.to_owned());
    }
}

async fn turn(plays: Vec<Play>) -> (Result<Turn, ModelError>, Heard, Server) {
    let server = Server::start(plays).await;
    let mut heard = Heard::default();
    let turn = server.model().turn(&prompt(), &mut heard).await;
    (turn, heard, server)
}

fn arguments(turn: &Turn) -> Vec<&Arguments> {
    turn.calls.iter().map(|call| &call.arguments).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_streamed_and_the_request_is_as_servers_want_it() {
    let chunks = [
        delta(json!({ "role": "assistant", "content": "" })),
        delta(json!({ "content": "Hel" })),
        delta(json!({ "content": "lo 🌍" })),
        finish("stop"),
        json!({ "choices": [], "usage": { "prompt_tokens": 11, "completion_tokens": 2 } }),
    ];
    let (turn, heard, server) = turn(vec![stream(&chunks)]).await;
    let turn = turn.unwrap();
    assert_eq!((turn.text.as_str(), turn.finish), ("Hello 🌍", Finish::Stop));
    assert_eq!(turn.usage, Usage { input: 11, output: 2 });
    assert_eq!(heard.0, ["Hel", "lo 🌍"]);
    let request = server.request(0);
    assert_eq!(request["model"], "test-model");
    assert_eq!(request["stream_options"], json!({ "include_usage": true }));
    assert_eq!(request["tool_choice"], "required");
    assert_eq!(request["tools"][0]["function"]["name"], "add_task");
    assert_eq!(
        request["messages"],
        json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "list" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "list_tasks", "arguments": "{}" } }
            ] },
            { "role": "tool", "tool_call_id": "c1", "content": "[]" },
            { "role": "assistant", "content": "You have none." },
            { "role": "user", "content": "add milk" }
        ])
    );
    let head = server.heads.lock().unwrap()[0].to_lowercase();
    assert!(
        head.starts_with("post /v1/chat/completions ") && head.contains("authorization: bearer sk-secret"),
        "{head}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_put_together_from_pieces() {
    let piece = |value: Value| delta(json!({ "tool_calls": [value] }));
    let chunks = [
        piece(
            json!({ "index": 0, "id": "a", "type": "function", "function": { "name": "add_task", "arguments": "" } }),
        ),
        piece(json!({ "index": 0, "function": { "arguments": "{\"title\":" } })),
        piece(json!({ "index": 1, "id": "b", "function": { "name": "list_tasks", "arguments": "" } })),
        piece(json!({ "index": 0, "function": { "arguments": " \"Milk\"}" } })),
        finish("tool_calls"),
    ];
    let (turn, _, _) = turn(vec![stream(&chunks)]).await;
    let turn = turn.unwrap();
    let names: Vec<_> = turn.calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
    assert_eq!(names, [("a", "add_task"), ("b", "list_tasks")]);
    assert_eq!(arguments(&turn), [&Arguments::Json(json!({ "title": "Milk" })), &Arguments::Json(json!({}))]);
    assert_eq!(turn.finish, Finish::Calls);
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_calls_are_understood_or_told_to_be_broken() {
    let piece = |value: Value| delta(json!({ "tool_calls": [value] }));
    // No index and no id; every call numbered 0; arguments as an object; a name in every piece.
    let chunks = [
        piece(json!({ "function": { "name": "one", "arguments": "{\"a\"" } })),
        piece(json!({ "function": { "arguments": ":1}" } })),
        piece(json!({ "index": 0, "id": "x", "function": { "name": "two", "arguments": { "b": 2 } } })),
        piece(json!({ "index": 0, "id": "y", "function": { "name": "three", "arguments": "{\"c\":" } })),
        piece(json!({ "index": 0, "id": "y", "function": { "name": "three", "arguments": "3}" } })),
        piece(json!({ "index": 7, "id": "z", "function": { "name": "four", "arguments": "{\"d\": " } })),
        piece(
            json!({ "index": 8, "id": "w", "function": { "name": "five", "arguments": "\"{\\\"e\\\": 5}\"" } }),
        ),
        piece(
            json!({ "index": 9, "id": "v", "function": { "name": "six", "arguments": "```json\n{\"f\": 6}\n```" } }),
        ),
        piece(json!({ "index": 10, "id": "u", "function": { "arguments": "{}" } })),
        finish("stop"),
    ];
    let (turn, _, _) = turn(vec![stream(&chunks)]).await;
    let turn = turn.unwrap();
    let names: Vec<_> = turn.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["one", "two", "three", "four", "five", "six"], "one without a name is none");
    let json = |value: Value| Arguments::Json(value);
    let expected = [
        json(json!({ "a": 1 })),
        json(json!({ "b": 2 })),
        json(json!({ "c": 3 })),
        Arguments::Broken("{\"d\": ".to_owned()),
        json(json!({ "e": 5 })),
        json(json!({ "f": 6 })),
    ];
    assert_eq!(arguments(&turn), expected.iter().collect::<Vec<_>>());
    assert_eq!(turn.finish, Finish::Calls, "whatever the server says");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_chunks_are_passed_over() {
    let text = [
        ": keep alive\n",
        "event: message\n",
        "data: {\"choices\": [], \"usage\": null}\n\n",
        "data: not json\n\n",
        "data: {\"choices\": [{\"delta\": null}]}\n\n",
        "data:{\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}}]}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\" there\"},\"finish_reason\":\"stop\"}]}\n\n",
    ];
    let play = Play::Answer(200, "text/event-stream", text.iter().map(|&one| one.to_owned()).collect());
    let (turn, _, _) = turn(vec![play]).await;
    assert_eq!(turn.unwrap().text, "Hi there", "and no [DONE]");
}

#[tokio::test(flavor = "multi_thread")]
async fn thoughts_are_not_said() {
    let chunks = ["<th", "ink>I should", " call</thi", "nk>\n\nHello", " <think>"]
        .map(|text| delta(json!({ "content": text })));
    let (turn, heard, _) = turn(vec![stream(&chunks)]).await;
    assert_eq!(turn.unwrap().text, "Hello <think>");
    assert_eq!(heard.0.concat(), "Hello <think>");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_stream_is_understood() {
    let call = json!({ "id": "a", "type": "function", "function": { "name": "add_task", "arguments": "{\"title\":\"M\"}" } });
    let whole = json!({
        "object": "chat.completion",
        "choices": [{ "message": { "role": "assistant", "content": null, "tool_calls": [call] }, "finish_reason": "tool_calls" }],
        "usage": { "prompt_tokens": 5, "completion_tokens": 6 }
    });
    let pretty = serde_json::to_string_pretty(&whole).unwrap();
    let (turn, _, _) = turn(vec![Play::Answer(200, "application/json", vec![pretty])]).await;
    let turn = turn.unwrap();
    assert_eq!((turn.calls[0].name.as_str(), turn.usage.output), ("add_task", 6));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ignores_tool_choice_is_survived() {
    let chunks = [delta(json!({ "content": "I have done it." })), finish("stop")];
    let (turn, _, _) = turn(vec![stream(&chunks)]).await;
    assert!(turn.unwrap().calls.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_does_not_know_is_left_out_the_second_time() {
    let refusal = json!({ "error": { "message": "unknown field stream_options" } }).to_string();
    let chunks = [delta(json!({ "content": "Hi" })), finish("stop")];
    let (turn, _, server) =
        turn(vec![Play::Answer(400, "application/json", vec![refusal]), stream(&chunks)]).await;
    assert_eq!(turn.unwrap().text, "Hi");
    let second = server.request(1);
    assert!(second.get("stream_options").is_none() && second.get("tool_choice").is_none(), "{second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn before_the_first_byte_a_request_is_sent_again() {
    let busy = Play::Answer(503, "text/plain", vec!["busy".into()]);
    let chunks = [delta(json!({ "content": "Hi" })), finish("stop")];
    let (turn, _, server) = turn(vec![Play::Close, busy, stream(&chunks)]).await;
    assert_eq!(turn.unwrap().text, "Hi");
    assert_eq!(server.requests.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_or_says_nothing_in_time_is_asked_again() {
    let failed = Play::Answer(500, "text/plain", vec!["broken".into()]);
    let chunks = [delta(json!({ "content": "Hi" })), finish("stop")];
    let (turned, _, server) = turn(vec![failed.clone(), failed.clone(), stream(&chunks)]).await;
    assert_eq!(turned.unwrap().text, "Hi");
    assert_eq!(server.requests.lock().unwrap().len(), 3);
    let (turned, _, server) = turn(vec![failed.clone(), failed.clone(), failed, stream(&chunks)]).await;
    assert_eq!(turned.unwrap_err().to_string(), "the model's server failed: 500: broken");
    assert_eq!(server.requests.lock().unwrap().len(), 3);
    // The head of an answer came, and nothing of the answer.
    let (turned, _, server) = turn(vec![Play::Hang(String::new()), stream(&chunks)]).await;
    assert_eq!(turned.unwrap().text, "Hi");
    assert_eq!(server.requests.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_ends_before_it_says_so_is_no_answer() {
    let text = format!("data: {}\n\n", delta(json!({ "content": "I have del" })));
    let (turned, _, _) = turn(vec![Play::Answer(200, "text/event-stream", vec![text])]).await;
    assert!(matches!(turned, Err(ModelError::Broken)));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_the_text_become_calls() {
    let written = "Sure.<tool_call>{\"name\": \"add_task\", \"arguments\": {\"title\": \"M\"}}</tool_call>";
    let pieces = written.chars().collect::<Vec<_>>();
    let mut chunks: Vec<Value> =
        pieces.chunks(4).map(|piece| delta(json!({ "content": piece.iter().collect::<String>() }))).collect();
    chunks.push(finish("stop"));
    let (turned, heard, _) = turn(vec![stream(&chunks)]).await;
    let turned = turned.unwrap();
    assert_eq!((turned.text.as_str(), heard.0.concat().as_str()), ("Sure.", "Sure."));
    assert_eq!((turned.calls[0].name.as_str(), turned.finish), ("add_task", Finish::Calls));
    assert_eq!(arguments(&turned), [&Arguments::Json(json!({ "title": "M" }))]);
    // One that cannot be read is a call all the same, so that the model is told.
    let chunks = [delta(json!({ "content": "<tool_call>add milk</tool_call>" })), finish("stop")];
    let (turned, _, _) = turn(vec![stream(&chunks)]).await;
    assert_eq!(arguments(&turned.unwrap()), [&Arguments::Broken("add milk".to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sampling_is_passed_on_until_a_server_refuses_it() {
    let refusal = || Play::Answer(400, "application/json", vec!["{\"error\": \"no seed here\"}".into()]);
    let chunks = [delta(json!({ "content": "Hi" })), finish("stop")];
    let server = Server::start(vec![refusal(), refusal(), stream(&chunks)]).await;
    let Value::Object(sent) = json!({ "temperature": 0.5, "seed": 7, "user": "x", "top_p": null }) else {
        panic!()
    };
    let model = server.model().sampled(&Sampling::read(&sent).unwrap()).unwrap();
    assert_eq!(model.turn(&prompt(), &mut ()).await.unwrap().text, "Hi");
    let seeds: Vec<Value> = (0..3).map(|at| server.request(at)["seed"].clone()).collect();
    assert_eq!(seeds, [json!(7), json!(7), Value::Null]);
    assert_eq!((&server.request(0)["temperature"], server.request(0).get("user")), (&json!(0.5), None));
    let wrong = json!({ "stop": 5 }).as_object().cloned().unwrap();
    assert_eq!(Sampling::read(&wrong).unwrap_err().to_string(), "stop must be a text or a list of texts.");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_first_byte_nothing_is_sent_again() {
    let start = format!("data: {}\n\n", delta(json!({ "content": "Hel" })));
    for (play, timeout) in [(Play::Break(start.clone()), false), (Play::Hang(start), true)] {
        let (turn, _, server) = turn(vec![play, stream(&[finish("stop")])]).await;
        match turn {
            Err(ModelError::Timeout) => assert!(timeout),
            Err(ModelError::Broken) => assert!(!timeout),
            other => panic!("{other:?}"),
        }
        assert_eq!(server.requests.lock().unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_told_without_the_key() {
    let error = |message: &str| json!({ "error": { "message": message, "type": "x" } });
    let inside = format!(
        "data: {}\n\ndata: {}\n\n",
        delta(json!({ "content": "Hi" })),
        error("overloaded for sk-secret")
    );
    let (turned, _, _) = turn(vec![Play::Answer(200, "text/event-stream", vec![inside])]).await;
    assert_eq!(turned.unwrap_err().to_string(), "the model's server failed: overloaded for …");

    let body = error("Incorrect API key provided: sk-secret").to_string();
    let (turned, _, _) = turn(vec![Play::Answer(401, "application/json", vec![body])]).await;
    assert_eq!(turned.unwrap_err().to_string(), "the model's server refused the key");

    let (turned, _, _) = turn(vec![Play::Answer(404, "text/html", vec!["<p>no sk-secret</p>".into()])]).await;
    assert_eq!(turned.unwrap_err().to_string(), "the model's server failed: 404: <p>no …</p>");

    let (turned, _, _) =
        turn(vec![Play::Answer(200, "text/event-stream", vec!["data: [DONE]\n\n".into()])]).await;
    assert!(matches!(turned, Err(ModelError::Broken)));

    let settings = OpenAiSettings::new("http://127.0.0.1:9/v1", None, "m").unwrap();
    let turned = OpenAi::new(settings.clone()).turn(&prompt(), &mut ()).await;
    assert!(matches!(turned, Err(ModelError::Unreachable)));
    assert!(!format!("{settings:?}{:?}", ApiKey::new("sk-secret")).contains("sk-secret"));
    assert!(OpenAiSettings::new("file:///x", None, "m").is_err());
    assert!(OpenAiSettings::new("http://x", None, " ").is_err());
}
