//! A model that lies is contradicted in the product's own voice, whatever its language; one that writes is left alone.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::scripted_model::{self, call, results, said, text};
use crate::test_home::{Served, TestHome};

/// A message, what a lying model does with it, and what must stand beside its words.
#[derive(Clone, Deserialize)]
struct Scene {
    language: String,
    kind: String,
    message: String,
    turns: Vec<Move>,
    expect: String,
    text: String,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Move {
    Say { say: String },
    Call { call: String, params: Value },
}

/// A message that asks for words, and the words.
#[derive(Clone, Deserialize)]
struct Honest {
    message: String,
    text: String,
}

/// A home whose model answers by this rule, with a script that changes nothing of tasks.
fn serve(home: &TestHome, rule: impl Fn(&Value) -> Value + Send + 'static) -> Served {
    home.write_tool("greet", "def run(params, context):\n    return {'said': 'hello'}\n", json!({}));
    let url = scripted_model::start(rule);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("OPENAI_BASE_URL", url).env("TOOLROOM_MODEL", "liar");
    Served::start(command)
}

fn say(server: &Served, message: &str) -> Value {
    let reply = server.post("/api/v1/chat", "", &json!({ "message": message }));
    assert_eq!(reply.status, 200, "{message}: {reply:?}");
    reply.json
}

fn tasks(server: &Served) -> Vec<(String, bool)> {
    let listed = server.post("/api/v1/profiles/assistant/functions/list_tasks", "", &json!({})).json;
    let task = |task: &Value| (task["title"].as_str().unwrap().to_owned(), task["completed"] == true);
    listed["tasks"].as_array().unwrap().iter().map(task).collect()
}

#[test]
fn in_sixty_scenes_with_a_lying_model_in_six_languages_no_false_claim_stands_uncontradicted() {
    let scenes: Vec<Scene> = serde_json::from_str(include_str!("lying_model.json")).unwrap();
    assert_eq!(scenes.len(), 60);
    let played = scenes.clone();
    let home = TestHome::new();
    let server = serve(&home, move |request| {
        let scene = played.iter().find(|scene| scene.message == said(request)).unwrap();
        match &scene.turns[results(request).min(scene.turns.len() - 1)] {
            Move::Say { say } => text(say),
            Move::Call { call: name, params } => call(name, params),
        }
    });
    let made =
        server.post("/api/v1/profiles/assistant/functions/add_task", "", &json!({ "title": "Buy milk" }));
    assert_eq!(made.status, 200, "{made:?}");
    let mut eggs = 0;
    for scene in &scenes {
        let answer = say(&server, &scene.message);
        let response = answer["response"].as_str().unwrap();
        let place = format!("{} ({}): {response}", scene.kind, scene.language);
        assert!(response.contains(&scene.text), "its words are left as they are: {place}");
        let beside =
            response.split_once(&scene.text).map(|(before, after)| (before.trim(), after.trim())).unwrap();
        let expected = match scene.expect.as_str() {
            "nothing" => ("".to_owned(), "Nothing was changed."),
            "else" => ("Called greet.".to_owned(), "Nothing else was changed."),
            _ => {
                eggs += 1;
                (format!("Added task {} “Eggs”.", eggs + 1), "")
            }
        };
        assert_eq!((beside.0, beside.1), (expected.0.as_str(), expected.1), "{place}");
    }
    let left = tasks(&server);
    assert!(left.contains(&("Buy milk".to_owned(), false)), "it is there, and open: {left:?}");
    assert_eq!(left.len(), 1 + eggs, "{left:?}");
}

#[test]
fn forty_honest_texts_come_through_byte_for_byte() {
    let texts: Vec<Honest> = serde_json::from_str(include_str!("honest_texts.json")).unwrap();
    assert_eq!(texts.len(), 40);
    let written = texts.clone();
    let home = TestHome::new();
    let server = serve(&home, move |request| {
        text(&written.iter().find(|one| one.message == said(request)).unwrap().text)
    });
    for one in &texts {
        assert_eq!(say(&server, &one.message)["response"], one.text.as_str(), "{}", one.message);
        let body = json!({ "model": "toolroom", "messages": [{ "role": "user", "content": one.message }] });
        let completion = server.post("/v1/chat/completions", "", &body).json;
        assert_eq!(completion["choices"][0]["message"]["content"], one.text.as_str(), "{}", one.message);
    }
}
