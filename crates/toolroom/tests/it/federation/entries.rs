//! Entries of mcp.json as people write them: any name, and one that is wrong hides nothing of the others.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::test_servers::{Scripted, call, credential, key, mcp, names, settled, tool, write};
use crate::test_home::{Done, TestHome, until};

#[test]
fn a_server_of_any_name_is_used_under_a_plain_one() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([]));
    let said =
        json!({ "tools": [tool("work", "Works.")], "resources": [{ "uri": "memo://a", "name": "a" }] });
    server.says(&said);
    write(&home, json!({ "My Server": server.entry() }));
    assert_eq!(home.run(&["call", "My_Server__work"]).code, 0, "as public pages name them");
    let (ada, stranger) = (key(&home, &["My_Server:call"]), key(&home, &["tasks:*"]));
    let served = home.serve();
    settled(&home, "My Server", "ready", 1);
    assert!(names(&served, &ada).contains(&"My_Server__work".to_owned()));
    assert!(!names(&served, &stranger).contains(&"My_Server__work".to_owned()));
    assert_eq!(call(&served, &ada, "My_Server__work", json!({})).status, 200);
    for path in ["/api/v1/servers/My%20Server", "/api/v1/servers/My_Server"] {
        let shown = served.get(path, &credential(&ada));
        assert_eq!((shown.status, &shown.json["name"]), (200, &json!("My Server")), "{shown:?}");
        assert_eq!(shown.json["permission"], "My_Server:call");
    }
    let uri = "toolroom://servers/My_Server/memo://a";
    let read = mcp(&served, &ada, "resources/read", json!({ "uri": uri }), json!({}));
    assert_eq!(read["contents"][0]["text"], "read memo://a", "{read}");
    // What is printed to be pasted is one word, whatever the name.
    server.says(&json!({ "tools": [tool("work", "Works."), tool("a;b $(c)", "New.")] }));
    let pending = || home.run(&["servers", "show", "My Server"]).out;
    let approve = "toolroom servers approve 'My Server' --tool 'a;b $(c)'";
    until("the new tool", || pending().contains(approve).then_some(()));
    let taken = home.run(&["servers", "add", "my_server", "--", "true"]);
    assert!(taken.code == 1 && taken.err.contains("My Server"), "a collision is told: {taken:?}");
    assert_eq!(home.run(&["servers", "remove", "My Server"]).code, 0);
}

#[test]
fn tools_that_cannot_be_taken_are_told_with_their_reasons() {
    let home = TestHome::new();
    let mut odd = tool("odd", "Is odd.");
    odd["inputSchema"] = json!({ "type": "array" });
    let server = Scripted::new(&home, "s", json!([tool("work", "Works."), odd]));
    let entry = server.entry();
    let mut words = vec![entry["command"].as_str().unwrap()];
    words.extend(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    let added = home.run(&[&["servers", "add", "s", "--"], &words[..]].concat());
    assert!(added.out.contains("1 tool\n") && added.out.contains("not taken: odd: inputSchema"), "{added:?}");
    // Known without starting it, too.
    let shown = home.run(&["servers", "show", "s"]);
    assert!(shown.out.contains("odd  rejected: inputSchema must be of type object"), "{shown:?}");
}

#[test]
fn one_bad_entry_halts_no_command_and_no_other_server() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([tool("work", "Works.")]));
    write(
        &home,
        json!({
            "bad": { "timeout": -1, "command": "true" }, "worse": 3, "": { "command": "true" }, "My Server": server.entry(),
            "My_Server": server.entry(), "s": server.entry(),
        }),
    );
    assert_eq!(home.run(&["call", "s__work"]).code, 0);
    let listed = home.json(&["servers", "list"]);
    let of = |name: &str| -> Value {
        let servers = listed["servers"].as_array().unwrap();
        servers.iter().find(|server| server["name"] == name).cloned().unwrap()
    };
    for (name, told) in
        [("bad", "timeout"), ("worse", "line 1"), ("", "a name"), ("My Server", "'My_Server'")]
    {
        let shown = of(name);
        assert_eq!(shown["state"], "invalid", "{shown}");
        assert!(shown["reason"].as_str().unwrap().contains(told), "{shown}");
    }
    assert_eq!(of("My_Server")["reason"], Value::Null, "the one that is called so");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.out.contains("timeout"), "{doctor:?}");
    let served = home.serve();
    settled(&home, "s", "ready", 1);
    assert_eq!(served.get("/readyz", "").status, 200);
    assert_eq!(home.run(&["servers", "remove", "bad"]).code, 0, "what is wrong can be taken out");
}

#[test]
fn a_server_with_a_wrong_command_is_told_at_once_and_once() {
    let home = TestHome::new();
    home.run(&["init"]);
    let add = |name: &str, command: &[&str]| {
        let began = Instant::now();
        let done = home.run(&[&["servers", "add", name, "--"], command].concat());
        (done, began.elapsed())
    };
    let (missing, took) = add("missing", &["/nowhere/at/all"]);
    assert_fails(&missing, took, "'/nowhere/at/all' cannot be started: no such file");
    let (dies, took) = add("dies", &["sh", "-c", "echo I-have-no-key >&2; exit 7"]);
    assert_fails(&dies, took, "exit code 7");
    assert_eq!(dies.err.matches("I-have-no-key").count(), 1, "{dies:?}");
    let served = home.serve();
    let (running, took) = add("later", &["/nowhere/at/all"]);
    assert_fails(&running, took, "'/nowhere/at/all' cannot be started: no such file");
    served.signal("-TERM");
    assert!(served.wait().success());
    // Port 1: one that was free a moment ago may belong to another test by now.
    let away = home.run(&["servers", "add", "away", "--url", "http://127.0.0.1:1/mcp"]);
    assert_fails(&away, Duration::ZERO, "nothing answers");
    let server = Scripted::new(&home, "s", json!([tool("work", "Works.")]));
    let entry = server.entry();
    let mut command = vec!["servers", "add", "s", "--", entry["command"].as_str().unwrap()];
    command.extend(entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()));
    let added = home.run(&command);
    assert!(added.code == 0 && added.out.contains("added s: 1 tool\n"), "{added:?}");
    assert!(!added.err.contains("WARN"), "a normal stop is no trouble: {added:?}");
}

fn assert_fails(done: &Done, took: Duration, reason: &str) {
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains(reason), "{done:?}");
    assert!(done.err.matches("cannot be").count() <= 2, "{done:?}");
    assert!(!done.err.contains("reached: the server cannot be reached"), "{done:?}");
    // Two seconds for the command; the rest is for a machine that has other work.
    assert!(took < Duration::from_secs(6), "{took:?}");
}

#[test]
fn resources_are_listed_though_no_server_runs() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([]));
    let said =
        json!({ "tools": [tool("work", "Works.")], "resources": [{ "uri": "memo://a", "name": "a" }] });
    server.says(&said);
    write(&home, json!({ "s": server.entry() }));
    for _ in 0..2 {
        let listed = home.json(&["call", "s__list-resources"]);
        assert_eq!(listed["data"]["resources"][0]["uri"], "memo://a", "{listed}");
    }
    server.says(&json!({ "tools": [tool("work", "Works.")], "resources": [] }));
    assert_eq!(home.json(&["call", "s__list-resources"])["data"]["resources"], json!([]));
}

#[test]
fn a_server_whose_fields_have_wrong_types_is_refused_in_plain_words() {
    let home = TestHome::new();
    home.run(&["init"]);
    let admin = key(&home, &["servers:write"]);
    let served = home.serve();
    for (field, wrong, plain) in [
        ("oauth", json!(5), "expected an object"),
        ("args", json!({}), "expected a list"),
        ("env", json!("A=1"), "expected an object"),
    ] {
        let mut body = json!({ "name": "s", "command": "true" });
        body[field] = wrong;
        let refused = served.post("/api/v1/servers", &credential(&admin), &body);
        let detail = refused.json.to_string();
        assert!(refused.status == 400 && detail.contains(plain), "{body}: {refused:?}");
        assert!(!detail.contains("struct") && !detail.contains("Written"), "{body}: {refused:?}");
    }
}
