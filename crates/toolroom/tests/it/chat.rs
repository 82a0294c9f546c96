//! The chat by its front doors: a served home, a home without a server, a pipe.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::scripted_model::{self, call, text};
use crate::test_home::{Done, PATIENCE, Served, TestHome};

/// A conversation over HTTP.
struct Conversation<'a> {
    server: &'a Served,
    profile: &'static str,
    id: Value,
}

impl<'a> Conversation<'a> {
    fn new(server: &'a Served, profile: &'static str) -> Self {
        Self { server, profile, id: Value::Null }
    }

    fn say(&mut self, message: &str) -> Value {
        let body = json!({ "message": message, "conversation_id": self.id, "profile": self.profile });
        let reply = self.server.post("/api/v1/chat", "", &body);
        assert_eq!(reply.status, 200, "{message}: {reply:?}");
        self.id = reply.json["conversation_id"].clone();
        reply.json
    }
}

fn titles(server: &Served) -> Vec<String> {
    let listed = server.post("/api/v1/profiles/assistant/functions/list_tasks", "", &json!({})).json;
    let tasks = listed["tasks"].as_array().unwrap();
    tasks.iter().rev().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

fn piped(home: &TestHome, arguments: &[&str], lines: &str) -> Done {
    let mut command = home.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_dialogue_offline_adds_lists_completes_by_words_and_deletes_after_a_yes() {
    let home = TestHome::new();
    let server = home.serve();
    let mut talk = Conversation::new(&server, "todo-chatbot");
    let added = talk.say("add buy milk");
    assert_eq!(added["tool_calls"][0]["name"], "create_task", "{added}");
    talk.say("add call the dentist");
    let listed = talk.say("show my tasks");
    assert!(listed["response"].as_str().unwrap().contains("Call the dentist"), "{listed}");
    let completed = talk.say("mark buy milk as done");
    let last = completed["tool_calls"].as_array().unwrap().last().unwrap();
    assert_eq!(last["output"]["task"]["completed"], true, "{completed}");
    let asked = talk.say("delete buy milk");
    assert_eq!(asked["pending_confirmation"]["task_title"], "Buy milk", "{asked}");
    let kept = talk.say("no");
    assert_eq!((&kept["pending_confirmation"], &kept["tool_calls"]), (&Value::Null, &json!([])));
    assert_eq!(titles(&server), ["Buy milk", "Call the dentist"]);
    assert!(!talk.say("delete buy milk")["pending_confirmation"].is_null());
    let gone = talk.say("Yes, please!");
    assert!(gone["response"].as_str().unwrap().contains("Deleted task 1"), "{gone}");
    assert_eq!(titles(&server), ["Call the dentist"]);
}

#[test]
fn promise_what_is_only_guessed_is_asked_about_even_where_nothing_is_confirmed() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let settings = "[profiles.todo-chatbot]\nconfirm = \"never\"\n";
    std::fs::write(home.home().join("toolroom.toml"), settings).unwrap();
    let server = home.serve();
    let mut talk = Conversation::new(&server, "todo-chatbot");
    talk.say("add write the report");
    talk.say("add call the dentist");
    for remark in [
        "the dentist is cancelled",
        "the report is written and the dentist is cancelled",
        "delete write the report unless bob objects",
    ] {
        talk.say(remark);
        assert_eq!(titles(&server), ["Write the report", "Call the dentist"], "{remark}");
    }
}

#[test]
fn killed_in_the_middle_of_a_pending_confirmation_the_yes_still_works_once() {
    let home = TestHome::new();
    let server = home.serve();
    let mut talk = Conversation::new(&server, "assistant");
    talk.say("add buy milk");
    talk.say("yes");
    talk.say("add feed the cat");
    talk.say("yes");
    assert_eq!(titles(&server), ["Buy milk", "Feed the cat"]);
    let asked = talk.say("delete task 1");
    assert!(!asked["pending_confirmation"].is_null(), "{asked}");
    let id = talk.id.clone();
    server.signal("-KILL");
    server.wait();
    let server = home.serve();
    let mut talk = Conversation { server: &server, profile: "assistant", id };
    let done = talk.say("yes");
    assert!(done["response"].as_str().unwrap().contains("Deleted"), "{done}");
    assert_eq!(titles(&server), ["Feed the cat"]);
    let again = talk.say("yes");
    assert_eq!(again["tool_calls"], json!([]), "{again}");
    assert_eq!(titles(&server), ["Feed the cat"]);
}

#[test]
fn the_command_takes_a_message_a_line_from_a_pipe_with_and_without_a_server() {
    for served in [false, true] {
        let home = TestHome::new();
        let _server = served.then(|| home.serve());
        let lines = "add buy milk\n\n/help\nshow my tasks\ndelete task 1\nyes\nshow my tasks\n/history\n/quit\nadd nothing\n";
        let done = piped(&home, &["chat", "--profile", "todo-chatbot"], lines);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.out.contains("Added task 1 “Buy milk”"), "{done:?}");
        assert!(done.out.contains("/history     what was said"), "{done:?}");
        assert!(done.out.contains("Deleted task 1 “Buy milk”."), "{done:?}");
        assert!(done.out.contains("you> delete task 1"), "the history: {done:?}");
        assert!(done.err.contains("→ create_task {\"title\":\"Buy milk\"}"), "a card: {done:?}");
        assert!(done.err.contains("✓ create_task: Added task 1 “Buy milk”."), "a card: {done:?}");
        assert!(!done.out.contains('\x1b') && !done.err.contains('\x1b'), "colours are for terminals");
        assert!(!done.out.contains("nothing"), "{done:?}");
    }
}

#[test]
fn one_message_of_the_command_line_answers_and_can_be_gone_on_from() {
    let home = TestHome::new();
    let first = home.json(&["chat", "add", "buy", "milk", "--profile", "todo-chatbot", "--user", "ada"]);
    assert_eq!(first["tool_calls"][0]["name"], "create_task", "{first}");
    let id = first["conversation_id"].as_str().unwrap();
    let asked = home.json(&["chat", "delete it", "--conversation", id, "--user", "ada"]);
    assert_eq!(asked["pending_confirmation"]["task_id"], 1, "{asked}");
    let done = home.json(&["chat", "y", "--conversation", id, "--user", "ada"]);
    assert_eq!(done["tool_calls"][0]["name"], "delete_task", "{done}");
    let foreign = home.run(&["chat", "hello", "--conversation", id, "--user", "bob"]);
    assert_eq!(foreign.code, 1);
    assert!(foreign.err.contains("not_found") && foreign.err.contains("hint: "), "{foreign:?}");
    let json_lines = piped(&home, &["chat", "--json"], "hello\nshow my tasks\n");
    let answers: Vec<Value> =
        json_lines.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["conversation_id"], answers[1]["conversation_id"]);
    let failed = piped(&home, &["chat", "--profile", "nope"], "hello\n");
    assert_eq!(failed.code, 1, "{failed:?}");
}

#[test]
fn a_model_of_the_settings_is_named_and_a_wrong_one_is_refused_with_the_line() {
    let home = TestHome::new();
    home.run(&["init"]);
    let settings = home.home().join("toolroom.toml");
    let name = |text: &str| {
        std::fs::write(&settings, text).unwrap();
        home.run(&["chat", "hello"])
    };
    let nowhere = name("[model]\nbase_url = \"http://127.0.0.1:9/v1\"\nname = \"tiny\"\n");
    assert_eq!(nowhere.code, 0, "{nowhere:?}");
    assert!(nowhere.out.contains("the model's server cannot be reached"), "{nowhere:?}");
    let nameless = name("[model]\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    assert!(nameless.err.contains("[model] has a base_url but no name"), "{nameless:?}");
    let wrong = name("[model]\nbase_url = \"ftp://x\"\nname = \"tiny\"\n");
    assert!(wrong.err.contains("not an http or https address") && wrong.err.contains("hint: "), "{wrong:?}");
    let unknown = name("[chat]\nturn = 3\n");
    assert!(unknown.err.contains("toolroom.toml:2"), "{unknown:?}");
}

#[test]
fn a_model_of_the_environment_calls_tools_and_what_it_only_claims_is_contradicted() {
    let home = TestHome::new();
    let url = scripted_model::start(|request| {
        let done = request["messages"].as_array().unwrap().iter().any(|message| message["role"] == "tool");
        match scripted_model::said(request) {
            "add bread" if done => text("Anything else?"),
            "add bread" => call("create_task", &json!({ "title": "Bread" })),
            _ => text("I have deleted all your tasks."),
        }
    });
    let say = |message: &str| {
        let mut command = home.command(&["chat", message, "--profile", "todo-chatbot"]);
        command.env("OPENAI_BASE_URL", &url).env("TOOLROOM_MODEL", "tiny").env("OPENAI_API_KEY", "secret");
        Done::of(command)
    };
    let added = say("add bread");
    assert!(added.out.contains("Added task 1 “Bread”.") && added.out.contains("Anything else?"), "{added:?}");
    let claimed = say("please clean up");
    assert_eq!(claimed.code, 0, "{claimed:?}");
    assert_eq!(claimed.out, "I have deleted all your tasks.\n\nNothing was changed.\n", "{claimed:?}");
}

#[test]
fn ctrl_c_stops_the_answer_and_what_was_done_is_told() {
    let home = TestHome::new();
    let (asked, was_asked) = mpsc::channel();
    let url = scripted_model::start(move |_| {
        asked.send(()).unwrap();
        loop {
            std::thread::park();
        }
    });
    let mut command = home.command(&["chat", "add bread", "--profile", "todo-chatbot"]);
    command.env("OPENAI_BASE_URL", &url).env("TOOLROOM_MODEL", "tiny");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    was_asked.recv_timeout(PATIENCE).unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("Nothing was changed"), "{out} {err}");
    assert!(err.contains("stopping"), "{err}");
    assert_eq!(output.status.code(), Some(0));
}
