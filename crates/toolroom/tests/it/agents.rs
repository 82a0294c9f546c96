//! Agents of others on Toolroom, and Toolroom on a model's server of others.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::programs::{program, python_script};
use crate::python::pytest;
use crate::test_home::{Served, TestHome, post};

const PYTHON: &str = "TOOLROOM_TEST_PYTHON_AGENTS";

#[test]
fn agents_of_openai_agents_use_toolroom_by_mcp_by_its_function_schemas_and_as_their_model() {
    pytest(PYTHON, "test_agents.py");
}

/// llama.cpp with a model of 135 million parameters. It never calls a tool, whatever it is told.
struct LocalModel {
    child: Child,
    address: String,
}

impl LocalModel {
    fn start() -> Self {
        let mut child = Command::new(program(PYTHON))
            .arg(python_script("local_model.py"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("http://"), "it said {line:?}");
        Self { child, address: line.trim().to_owned() }
    }
}

impl Drop for LocalModel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(home: &TestHome, model: &LocalModel) -> Served {
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("OPENAI_BASE_URL", format!("{}/v1", model.address)).env("TOOLROOM_MODEL", "smollm2");
    Served::start(command)
}

fn count(server: &Served) -> Value {
    let path = "/api/v1/profiles/todo-chatbot/functions/list_tasks";
    server.post(path, "", &json!({})).json["count"].clone()
}

#[test]
fn a_real_server_of_a_model_that_calls_no_tools_is_spoken_with_and_the_answer_stays_honest() {
    let home = TestHome::new();
    let model = LocalModel::start();
    let server = serve(&home, &model);
    let listed = server.get("/v1/models", "").json;
    assert_eq!(listed["data"][0]["answered_by"], "smollm2");

    let body = json!({ "message": "Add a task: buy milk", "profile": "todo-chatbot" });
    let said = server.post("/api/v1/chat", "", &body);
    assert_eq!(said.status, 200, "{said:?}");
    assert_eq!(said.json["tool_calls"], json!([]), "{said:?}");
    assert_eq!(count(&server), 0);
    let words = said.json["response"].as_str().unwrap().to_lowercase();
    assert!(words.ends_with("\n\nnothing was changed."), "whatever it says: {words}");

    let body = json!({
        "model": "toolroom/todo-chatbot",
        "messages": [{ "role": "user", "content": "Say hello." }],
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(post("/v1/chat/completions", "", &body).as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("data: [DONE]"), "{text}");
    // The model ends by itself or at the 48 tokens that its server allows it, and we say which.
    let ended = |reason: &str| text.matches(&format!("\"finish_reason\":\"{reason}\"")).count();
    assert_eq!(ended("stop") + ended("length"), 1, "{text}");
    assert_eq!(ended("length"), text.matches("ended at its limit of length").count(), "{text}");
    let counted = text.lines().rev().find(|line| line.contains("\"total_tokens\"")).unwrap();
    assert!(!counted.contains("\"total_tokens\":0"), "the server's own count: {counted}");

    drop(model);
    let lost = server.post("/api/v1/chat", "", &json!({ "message": "Are you there?" }));
    assert_eq!(lost.status, 200, "{lost:?}");
    assert!(lost.json["response"].as_str().unwrap().contains("cannot be reached"), "{lost:?}");
}
