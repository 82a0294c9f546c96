//! The commands that the pages show, run as they are printed.

use std::path::Path;

use serde_json::Value;

use crate::test_home::{Done, Reply, Served, TestHome};

/// The text of a page. Fenced blocks are files, not commands.
pub fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The commands of a page: indented lines, taken together while a quote is open or a line goes on.
pub fn commands(name: &str) -> Vec<Vec<String>> {
    let text = page(name);
    let mut found = Vec::new();
    let mut lines = text.lines();
    let mut fenced = false;
    while let Some(line) = lines.next() {
        fenced ^= line.starts_with("```");
        let Some(start) = line.strip_prefix("    ").filter(|_| !fenced) else { continue };
        let mut command = start.to_owned();
        while command.ends_with('\\') || command.matches('\'').count() % 2 == 1 {
            command = command.trim_end_matches('\\').to_owned() + " " + lines.next().unwrap().trim_start();
        }
        found.push(words(&command));
    }
    found
}

/// Words as a shell divides them; quotes may stand within a word. What follows `#` or `>` is not part of it.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in command.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('#' | '>', None) if word.is_empty() => break,
            (' ', None) => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            (c, _) => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Sends what `curl` would send.
pub fn curl(server: &Served, words: &[String], key: &str) -> Reply {
    let (mut path, mut headers, mut body) = (String::new(), String::new(), Value::Null);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-H" => headers += &(words.next().unwrap().replace("$KEY", key) + "\r\n"),
            "-d" => body = serde_json::from_str(words.next().unwrap()).unwrap(),
            url if url.starts_with("http") => {
                path = url.strip_prefix("http://127.0.0.1:7878").unwrap().to_owned();
            }
            _ => {}
        }
    }
    if body.is_null() {
        return server.get(&path, &headers);
    }
    let headers = headers.replace("Content-Type: application/json\r\n", "");
    server.post(&path, &headers, &body)
}

#[test]
fn the_commands_of_the_readme_work_as_printed() {
    let home = TestHome::new();
    let server = home.serve();
    let readme = page("README.md");
    let script = readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    std::fs::write(home.path("weather.py"), script).unwrap();
    let run = |words: &[&str]| {
        let mut command = home.command(words);
        command.current_dir(home.path(".")).env("HOME", home.path("."));
        Done::of(command)
    };
    let mut ran = 0;
    for command in commands("README.md") {
        let text: Vec<&str> = command.iter().map(String::as_str).collect();
        match text.as_slice() {
            // The first command of a checkout, what CI runs, and what the packages are tried with.
            ["cargo", "run", "--release", "--", "serve"] | ["cargo", "xtask", "test"] => {}
            ["cargo", "install", "--path", "crates/toolroom"] | ["toolroom", "serve"] => {}
            ["toolroom", "connect", client] => {
                let done = run(&["connect", client, "--yes"]);
                assert_eq!(done.code, 0, "{done:?}");
            }
            ["toolroom", verb @ ..] => {
                let done = run(verb);
                assert_eq!(done.code, 0, "{verb:?}: {done:?}");
            }
            ["curl", ..] => {
                let answer = curl(&server, &command, "").json;
                assert_eq!(answer["data"]["task"]["title"], "Buy groceries", "{answer}");
            }
            other => panic!("a command that nobody tries: {other:?}"),
        }
        ran += 1;
    }
    assert_eq!(ran, 10);
}

#[test]
fn the_commands_of_the_page_on_tasks_work_as_printed() {
    let home = TestHome::new();
    let server = home.serve();
    let key = home.run(&["keys", "create", "--user", "ada"]).line().to_owned();
    let mut ran = 0;
    for command in commands("docs/tasks.md") {
        let text: Vec<&str> = command.iter().map(String::as_str).collect();
        match text.as_slice() {
            ["curl", ..] => {
                let reply = curl(&server, &command, &key);
                assert_eq!(reply.status, 200, "{reply:?}");
                assert_ne!(reply.json["success"], false, "{reply:?}");
                ran += 1;
            }
            ["toolroom", "call", "restore-task", ..] => {
                let waiting = server.post(
                    "/api/v1/profiles/assistant/functions/delete_task",
                    &format!("X-API-Key: {key}\r\n"),
                    &serde_json::json!({ "task_id": 1 }),
                );
                assert_eq!(waiting.json["success"], true, "{waiting:?}");
                let done = home.run(&text[1..]);
                assert_eq!(done.code, 0, "{done:?}");
                ran += 1;
            }
            // Answers, Python, and what the test itself does.
            _ => {}
        }
    }
    assert_eq!(ran, 6);
}

#[test]
fn the_commands_of_the_page_on_mcp_work_as_printed() {
    let home = TestHome::new();
    let server = home.serve();
    let answers: Vec<Value> = commands("docs/mcp.md")
        .iter()
        .map(|command| {
            assert_eq!(command[0], "curl", "a command that nobody tries: {command:?}");
            curl(&server, command, "").json
        })
        .collect();
    let [list, call] = answers.as_slice() else { panic!("{answers:?}") };
    let names: Vec<&Value> =
        list["result"]["tools"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert!(names.iter().any(|name| *name == "create-task"), "{names:?}");
    assert_eq!(call["result"]["structuredContent"]["success"], true, "{call}");
}

#[test]
fn the_commands_of_the_page_on_the_chat_work_as_printed() {
    let home = TestHome::new();
    let server = home.serve();
    let mut ran = 0;
    for command in commands("docs/chat.md") {
        let text: Vec<&str> = command.iter().map(String::as_str).collect();
        match text.as_slice() {
            // What they name must be what the program reads.
            ["export", setting] => {
                let (name, _) = setting.split_once('=').unwrap();
                assert!(["OPENAI_BASE_URL", "OPENAI_API_KEY", "TOOLROOM_MODEL"].contains(&name), "{name}");
            }
            ["toolroom", "eval", ..] => {
                let none = home.run(&text[1..]);
                assert!(none.code == 1 && none.err.contains("no model is set up"), "{none:?}");
            }
            ["toolroom", verb @ ..] => {
                let done = home.run(verb);
                assert_eq!(done.code, 0, "{verb:?}: {done:?}");
            }
            ["curl", "-sN", ..] => {
                let streamed = curl(&server, &command, "");
                assert_eq!(streamed.status, 200, "{streamed:?}");
            }
            ["curl", ..] => {
                let answer = curl(&server, &command, "").json;
                let said = answer["response"]
                    .as_str()
                    .or(answer["choices"][0]["message"]["content"].as_str())
                    .or(answer["output"][0]["content"][0]["text"].as_str());
                assert!(said.is_some_and(|said| said.contains("milk")), "{answer}");
            }
            other => panic!("a command that nobody tries: {other:?}"),
        }
        ran += 1;
    }
    assert_eq!(ran, 12);
}

#[test]
fn the_commands_of_the_page_on_the_contract_work_as_printed() {
    let home = TestHome::new();
    let mut ran = 0;
    for command in commands("docs/contract.md") {
        assert_eq!(command[0], "toolroom", "a command that nobody tries: {command:?}");
        let words: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        let done = home.run(&words);
        assert_eq!(done.code, 0, "{words:?}: {done:?}");
        ran += 1;
    }
    assert_eq!(ran, 2);
}

#[test]
fn the_commands_of_the_page_on_cards_work_as_printed() {
    let home = TestHome::new();
    home.run(&["init"]).line();
    let page = page("docs/cards.md");
    let settings = page.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    std::fs::write(home.home().join("toolroom.toml"), settings).unwrap();
    let mut ran = 0;
    for command in commands("docs/cards.md") {
        assert_eq!(command[0], "toolroom", "a command that nobody tries: {command:?}");
        let words: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        let done = home.run(&words);
        assert_eq!(done.code, 0, "{words:?}: {done:?}");
        ran += 1;
    }
    assert_eq!(ran, 4);
}

#[test]
fn the_commands_of_the_page_on_operations_work_as_printed() {
    let home = TestHome::new();
    home.run(&["call", "create-task", "--param", "title=Water the plants"]);
    let (mut server, mut key, mut ran) = (None, String::new(), 0);
    for command in commands("docs/operations.md") {
        let text: Vec<&str> = command.iter().map(String::as_str).collect();
        match text.as_slice() {
            ["toolroom", verb @ ..] => {
                let mut command = home.command(verb);
                command.current_dir(home.path("."));
                let done = Done::of(command);
                assert_eq!(done.code, 0, "{verb:?}: {done:?}");
                if verb.starts_with(&["keys"]) {
                    done.line().clone_into(&mut key);
                }
            }
            ["curl", ..] => {
                let reply = curl(server.get_or_insert_with(|| home.serve()), &command, &key);
                assert_eq!(reply.status, 200, "{text:?}: {reply:?}");
            }
            other => panic!("a command that nobody tries: {other:?}"),
        }
        ran += 1;
    }
    assert_eq!(ran, 8);
    let restored = home.json(&["call", "list-tasks"]);
    assert_eq!(restored["data"]["tasks"][0]["title"], "Water the plants", "{restored}");
}
