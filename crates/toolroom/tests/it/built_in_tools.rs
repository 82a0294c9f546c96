//! The built-in tools of a new home, and how the search engine is set up.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};

use crate::test_home::{Done, TestHome};

/// A search engine that answers with the request it got as its only result.
fn engine() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let mut buffer = [0; 4096];
            let count = socket.read(&mut buffer).unwrap();
            let asked = String::from_utf8_lossy(&buffer[..count]).into_owned();
            let found = [
                json!({ "title": "asked", "url": "https://a.example/", "content": asked, "description": asked }),
            ];
            let body = json!({ "results": found, "web": { "results": found } }).to_string();
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
            socket.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    format!("http://{address}")
}

/// A search with these variables set: what the engine was asked, else what went wrong.
fn search(home: &TestHome, variables: &[(&str, &str)]) -> Result<String, Done> {
    let mut command = home.command(&["call", "search-web", "--param", "query=toolroom"]);
    // A proxy of the environment would look names up itself: it is not used.
    command.env("http_proxy", "http://127.0.0.1:9").env("HTTP_PROXY", "http://127.0.0.1:9");
    command.envs(variables.iter().copied());
    let done = Done::of(command);
    match serde_json::from_str::<Value>(&done.out) {
        Ok(data) => Ok(data["results"][0]["snippet"].as_str().unwrap().to_owned()),
        Err(_) => Err(done),
    }
}

fn set(home: &TestHome, search: &str) {
    fs::write(home.home().join("toolroom.toml"), format!("[search]\n{search}\n")).unwrap();
}

#[test]
fn a_search_engine_is_set_up_by_the_environment_or_the_file() {
    let home = TestHome::new();
    let unset = search(&home, &[]).unwrap_err();
    assert_eq!(unset.code, 1);
    assert!(unset.err.contains("not_configured") && unset.err.contains("TOOLROOM_SEARCH_URL"), "{unset:?}");

    let url = engine();
    let asked = search(&home, &[("TOOLROOM_SEARCH_URL", &url)]).unwrap();
    assert!(asked.starts_with("GET /search?q=toolroom&format=json "), "{asked}");
    set(&home, &format!("url = \"{url}\""));
    assert!(search(&home, &[]).unwrap().starts_with("GET /search?"));
    set(&home, &format!("engine = \"brave\"\nurl = \"{url}\"\napi_key_env = \"KEY_OF_A_TEST\""));
    let asked = search(&home, &[("KEY_OF_A_TEST", "abc")]).unwrap();
    assert!(asked.contains("x-subscription-token: abc"), "{asked}");
    let keyless = search(&home, &[]).unwrap_err();
    assert!(keyless.err.contains("needs a key"), "{keyless:?}");
    set(&home, &format!("engine = \"tavily\"\nurl = \"{url}\"\napi_key = \"def\""));
    assert!(search(&home, &[]).unwrap().contains("authorization: Bearer def"));
}

#[test]
fn a_setting_of_search_that_cannot_work_is_refused_with_a_remedy() {
    let home = TestHome::new();
    home.run(&["tools", "list"]);
    for (text, told) in [
        ("engine = \"searxng\"", "needs a url"),
        ("url = \"ftp://x\"", "not an http or https address"),
        ("api_key = \"x\"", "no engine"),
        ("engine = \"altavista\"", "altavista"),
    ] {
        set(&home, text);
        let done = home.run(&["tools", "list"]);
        assert_eq!(done.code, 1, "{text}: {done:?}");
        assert!(done.err.contains(told) && done.err.contains("toolroom.toml"), "{text}: {done:?}");
    }
    set(&home, "");
    let bad = search(&home, &[("TOOLROOM_SEARCH_URL", "localhost:8888")]).unwrap_err();
    assert!(bad.code == 2 && bad.err.contains("TOOLROOM_SEARCH_URL"), "{bad:?}");
}

#[test]
fn a_new_home_has_the_built_in_tools_and_an_entry_that_is_gone_takes_its_tool_along() {
    let home = TestHome::new();
    let names = |home: &TestHome| -> Vec<String> {
        let listing = home.json(&["tools", "list"]);
        let tools = listing["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let built_in = ["execute-code", "search-web", "request-human-input"];
    assert!(built_in.iter().all(|name| names(&home).iter().any(|there| there == name)));
    let ran = home.json(&["call", "execute-code", "--param", "code=print(6 * 7)"]);
    assert_eq!(ran["data"]["stdout"], "42\n");
    let ran = home.json(&["call", "code_execution", "--profile", "executor", "--param", "code=print(6 * 7)"]);
    assert_eq!((&ran["status"], &ran["data"]["stdout"]), (&json!("success"), &json!("42\n")));
    let bad = home.run(&["call", "code_execution", "--profile", "executor", "--param", "code=1 / 0"]);
    assert_eq!(bad.code, 1, "{bad:?}");

    // By its other name, with limits of its own.
    let entry = json!({ "tools": [{
        "name": "code_execution", "type": "builtin", "description": "Runs code.", "timeout": 5,
        "config": { "limits": { "output": 64 } }
    }] });
    fs::write(home.home().join("tools/tools.json"), entry.to_string()).unwrap();
    let left = names(&home);
    assert!(
        left.contains(&"execute-code".to_owned()) && !left.contains(&"search-web".to_owned()),
        "{left:?}"
    );
    let ran = home.run(&["call", "execute-code", "--param", "code=print('x' * 100)"]);
    assert_eq!(ran.code, 1, "code that prints more than it may is stopped: {ran:?}");
    let ran = home.json(&["call", "execute-code", "--param", "code=print('x' * 50)"]);
    assert_eq!(ran["data"]["stdout"].as_str().unwrap().len(), 51);
}
