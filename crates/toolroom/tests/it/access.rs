//! Who gets in: without any key, with one, after its end.

use serde_json::{Value, json};

use crate::test_home::TestHome;

#[test]
fn without_any_key_this_machine_acts_as_local_with_plain_grants_and_added_tools() {
    let home = TestHome::new();
    let server = home.serve();
    let me = server.get("/api/v1/me", "").json;
    assert_eq!(me["user"], "local");
    assert_eq!(me["person"], false);
    assert_eq!(me["grants"], json!(["tasks:*", "cards:*", "web:search", "humans:ask", "added-tools:use"]));
}

const OWN_TOOLS: &str = r#"
from toolroom import tool


@tool(permissions=["words:read"])
def count_words(text: str) -> int:
    """Counts the words of a text. Use it to measure a text. Returns their number."""
    return len(text.split())


@tool(destructive=True)
def forget_words(text: str) -> str:
    """Forgets a text. Use it when nobody needs it. Returns nothing of interest."""
    return "forgotten"
"#;

#[test]
fn without_any_key_your_own_tools_are_there_and_neither_code_nor_what_destroys_at_once() {
    let home = TestHome::new();
    let file = home.path("words.py");
    std::fs::write(&file, OWN_TOOLS).unwrap();
    let added = home.run(&["tools", "add", file.to_str().unwrap()]);
    assert_eq!(added.code, 0, "{added:?}");
    let server = home.serve();
    let call = |name: &str, params: Value| {
        server.post(&format!("/api/v1/tools/{name}/call"), "", &json!({ "params": params }))
    };
    let counted = call("count_words", json!({ "text": "one two" }));
    assert_eq!(counted.status, 200, "{}", counted.json);
    assert_eq!(call("forget_words", json!({ "text": "one" })).status, 202);
    assert_eq!(call("execute-code", json!({ "code": "print(1)" })).status, 404);
    let first = home.run(&["keys", "create", "--user", "ada"]);
    assert!(first.err.contains("first key") && first.err.contains("X-API-Key"), "{first:?}");
    assert_eq!(call("count_words", json!({ "text": "one two" })).status, 401);
    let second = home.run(&["keys", "create", "--user", "ada"]);
    assert!(!second.err.contains("first key"), "{second:?}");
}

#[test]
fn without_any_key_forwarded_requests_are_refused_and_administration_is_forbidden() {
    let home = TestHome::new();
    let server = home.serve();
    for header in ["X-Forwarded-For: 10.0.0.1\r\n", "Forwarded: for=10.0.0.1\r\n"] {
        assert_eq!(server.get("/api/v1/me", header).status, 401, "{header}");
    }
    assert_eq!(server.get("/api/v1/keys", "").status, 403);
    assert_eq!(server.post("/api/v1/keys", "", &json!({ "user": "eve" })).status, 403);
    let by_header = server.get("/api/v1/me", "x-toolroom-user: root\r\n");
    assert_eq!(by_header.json["user"], "local");
}

#[test]
fn a_key_is_valid_at_once_and_revoked_at_once_and_keyless_access_does_not_come_back() {
    let home = TestHome::new();
    let server = home.serve();
    let key = home.run(&["keys", "create", "--user", "alice"]).line().to_owned();
    let with_key = format!("X-API-Key: {key}\r\n");
    assert_eq!(server.get("/api/v1/me", &with_key).json["user"], "alice");
    assert_eq!(server.get("/api/v1/me", "").status, 401);
    let id = home.json(&["keys", "list"])["keys"][0]["id"].to_string();
    assert_eq!(home.run(&["keys", "revoke", &id]).code, 0);
    assert_eq!(server.get("/api/v1/me", &with_key).status, 401);
    assert_eq!(server.get("/api/v1/me", "").status, 401);
    assert_eq!(home.json(&["call", "get-status"])["data"]["status"], "ok");
}

#[test]
fn a_key_holds_what_it_was_made_with() {
    let home = TestHome::new();
    let made = home.json(&[
        "keys",
        "create",
        "--user",
        "bob",
        "--grant",
        "tasks:read",
        "--grant",
        "web:*",
        "--profile",
        "default",
        "--person",
    ]);
    assert_eq!(made["grants"], json!(["tasks:read", "web:*"]));
    assert_eq!(made["profiles"], json!(["default"]));
    assert_eq!(made["person"], true);
    assert_eq!(home.json(&["keys", "create", "--user", "bob", "--grant", "none"])["grants"], json!([]));
    let listed = home.json(&["keys", "list"]);
    assert_eq!(listed["keys"].as_array().unwrap().len(), 2);
    assert!(!listed.to_string().contains(made["key"].as_str().unwrap()), "a secret is shown once");
    let bad = home.run(&["keys", "create", "--user", "bob", "--grant", "nonsense"]);
    assert_eq!(bad.code, 1);
    assert!(bad.err.contains("invalid_input") && bad.err.contains("hint: "), "{bad:?}");
}
