//! The page for people who have never seen Toolroom, followed word by word.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::documents::{commands, curl, page};
use crate::test_home::{Done, Served, TestHome};

/// The fenced blocks of the page, each with the file name that the text before it gives.
fn files(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\n```") {
        let name = before.rsplit("Save this as `").next().unwrap().split('`').next().unwrap().to_owned();
        let (block, next) = after.split_once("\n```\n").unwrap();
        let (_language, block) = block.split_once('\n').unwrap();
        found.push((name, format!("{block}\n")));
        rest = next;
    }
    found
}

#[test]
fn a_newcomer_has_a_tool_of_their_own_in_use_within_five_minutes() {
    let began = Instant::now();
    let home = TestHome::new();
    let text = page("docs/first-tool.md");
    let scripts = files(&text);
    assert_eq!(scripts.len(), 2);
    for (name, script) in &scripts {
        fs::write(home.path(name), script).unwrap();
    }
    let mut newcomer = Newcomer { home, server: None, key: String::new(), admin: String::new() };
    let (mut ran, mut said) = (0, String::new());
    for command in commands("docs/first-tool.md") {
        match command.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["toolroom", ..] => said = newcomer.toolroom(&command[1..]),
            ["curl", ..] => newcomer.curl(&command),
            // Lines that the page shows as the answer of the command before.
            words => {
                for word in words.iter().take(3) {
                    assert!(said.contains(word), "{word:?} of {words:?} is not in {said}");
                }
                continue;
            }
        }
        ran += 1;
    }
    assert_eq!(ran, 13);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(120), "the machine alone takes {took:?} of the five minutes");
}

struct Newcomer {
    home: TestHome,
    server: Option<Served>,
    key: String,
    admin: String,
}

impl Newcomer {
    fn toolroom(&mut self, words: &[String]) -> String {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words == ["serve"] {
            self.server = Some(self.home.serve());
            return String::new();
        }
        let mut command = self.home.command(&words);
        command.current_dir(self.home.path("."));
        let done = Done::of(command);
        if words.contains(&"{\"txt\": \"oops\"}") {
            assert_eq!(done.code, 1, "{done:?}");
            assert!((done.out + &done.err).contains("/text"), "the bad field is named");
            return String::new();
        }
        assert_eq!(done.code, 0, "{words:?}: {done:?}");
        match words.as_slice() {
            ["keys", ..] => done.line().clone_into(&mut self.key),
            ["call", "count-words", ..] => {
                assert!(done.out.contains('6') && done.out.contains("not"), "{done:?}")
            }
            ["logs", ..] => assert!(done.out.contains("count-words"), "{done:?}"),
            ["tools", "update", ..] => assert!(done.out.contains("updated count-words 0.1.0"), "{done:?}"),
            _ => {}
        }
        done.out
    }

    fn curl(&mut self, words: &[String]) {
        let server = self.server.as_ref().expect("the page has started the server");
        if self.admin.is_empty() {
            let admin = ["keys", "create", "--user", "admin", "--grant", "registry:write"];
            self.admin = self.home.run(&admin).line().to_owned();
        }
        let words: Vec<String> = words.iter().map(|word| word.replace("$ADMIN", &self.admin)).collect();
        let reply = curl(server, &words, &self.key);
        let stored = reply.json["name"] == "say-hello" && reply.status == 201;
        let called = reply.json["data"]["words"] == 3 && reply.status == 200;
        assert!(stored || called, "{reply:?}");
        if stored {
            let call: Value = self.home.json(&["call", "say-hello"]);
            assert_eq!(call["data"], "hello");
        }
    }
}
