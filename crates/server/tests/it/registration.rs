//! Tools that are registered, replaced and removed while the server runs.

use serde_json::{Value, json};

use crate::test_server::{Answer, TestServer};

const HELLO: &str = "def run(params, context):\n    return {'text': 'hello ' + params['name']}\n";

fn hello() -> Value {
    json!({
        "name": "say_hello",
        "description": "Says hello to someone.",
        "input_schema": {
            "type": "object",
            "properties": { "name": { "type": "string" } },
            "required": ["name"],
        },
        "config": { "script_path": "say_hello.py" },
        "script": HELLO,
    })
}

fn with(changes: Value) -> Value {
    let mut entry = hello();
    for (key, value) in changes.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

impl TestServer {
    async fn admin(&self) -> String {
        self.key(json!({ "user": "admin", "grants": ["registry:write", "say_hello:call"] })).await
    }

    async fn send(&self, key: &str, method: &str, path: &str, body: &Value) -> Answer {
        self.ask(method, path).key(key).body(body.clone()).send().await
    }

    fn file(&self) -> Value {
        let text = std::fs::read_to_string(self.folder.path().join("tools/tools.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

#[tokio::test]
async fn a_tool_is_registered_and_called_a_moment_later() {
    let server = TestServer::new();
    let key = server.admin().await;
    let made = server.send(&key, "POST", "/api/v1/tools", &hello()).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.headers["location"], "/api/v1/tools/say_hello");
    let stored = made.json();
    assert_eq!((&stored["name"], &stored["version"]), (&json!("say_hello"), &json!("0.1.0")));
    let derived: Vec<&str> =
        stored["derived"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(derived.contains(&"permissions") && derived.contains(&"category"), "{derived:?}");
    assert_eq!(server.file()["tools"][0]["name"], "say_hello");
    assert_eq!(server.file()["tools"][0].get("script"), None);
    let shown = server.ask("GET", "/api/v1/tools/say_hello").key(&key).send().await.json();
    assert_eq!(shown, stored);
    let called = server.call(&key, "say_hello", json!({ "name": "Ada" })).await;
    assert_eq!(
        (called.status.as_u16(), &called.json()["data"]["text"]),
        (200, &json!("hello Ada")),
        "{}",
        called.text
    );

    let again = server.send(&key, "POST", "/api/v1/tools", &hello()).await;
    assert_eq!((again.status.as_u16(), again.code().as_str()), (409, "already_exists"));
}

#[tokio::test]
async fn put_creates_and_replaces_and_the_names_must_agree() {
    let server = TestServer::new();
    let key = server.admin().await;
    let path = "/api/v1/tools/say_hello";
    let made = server.send(&key, "PUT", path, &hello()).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let replaced = server.send(&key, "PUT", path, &with(json!({ "version": "1.1.0", "timeout": 3 }))).await;
    assert_eq!(replaced.status, 200, "{}", replaced.text);
    assert_eq!(replaced.json()["version"], "1.1.0");
    assert_eq!(server.file()["tools"].as_array().unwrap().len(), 1);
    let other = server.send(&key, "PUT", "/api/v1/tools/other", &hello()).await;
    assert_eq!((other.status.as_u16(), other.code().as_str()), (400, "invalid_input"));
    assert_eq!(other.json()["errors"][0]["pointer"], "/name");
}

#[tokio::test]
async fn a_removed_tool_is_gone_from_lists_and_calls() {
    let server = TestServer::new();
    let key = server.admin().await;
    server.send(&key, "POST", "/api/v1/tools", &hello()).await;
    let gone = server.ask("DELETE", "/api/v1/tools/say_hello").key(&key).send().await;
    assert_eq!((gone.status.as_u16(), gone.text.as_str()), (204, ""));
    assert_eq!(server.ask("GET", "/api/v1/tools/say_hello").key(&key).send().await.status, 404);
    assert_eq!(server.call(&key, "say_hello", json!({ "name": "Ada" })).await.code(), "tool_not_found");
    assert_eq!(server.file(), json!({ "tools": [] }));
    let again = server.ask("DELETE", "/api/v1/tools/say_hello").key(&key).send().await;
    assert_eq!((again.status.as_u16(), again.code().as_str()), (404, "not_found"));
    assert_eq!(server.ask("DELETE", "/api/v1/tools/get-status").key(&key).send().await.status, 404);
}

#[tokio::test]
async fn only_who_may_write_the_registry_changes_it() {
    let server = TestServer::new();
    let changes = [
        ("POST", "/api/v1/tools"),
        ("PUT", "/api/v1/tools/say_hello"),
        ("DELETE", "/api/v1/tools/say_hello"),
    ];
    for (method, path) in changes {
        // Nobody has made a key yet: requests act as `local`, who does not hold the grant.
        let local = server.ask(method, path).body(hello()).send().await;
        assert_eq!((local.status.as_u16(), local.code().as_str()), (403, "forbidden"), "{method}");
        assert!(local.text.contains("registry:write"), "{}", local.text);
        assert_eq!(local.headers["content-type"], "application/problem+json");
    }
    let plain = server.key(json!({ "user": "ada" })).await;
    for (method, path) in changes {
        assert_eq!(server.send(&plain, method, path, &hello()).await.code(), "forbidden", "{method}");
        let nobody = server.ask(method, path).body(hello()).send().await;
        assert_eq!((nobody.status.as_u16(), nobody.code().as_str()), (401, "unauthenticated"), "{method}");
    }
    assert_eq!(server.file(), json!({ "tools": [] }));
    let owner = server.ask("POST", "/api/v1/tools").owner().body(hello()).send().await;
    assert_eq!(owner.status, 201, "{}", owner.text);
}

#[tokio::test]
async fn a_bad_entry_is_refused_by_pointer_and_changes_nothing() {
    let server = TestServer::new();
    let key = server.admin().await;
    let bad = [
        (json!({ "name": 7 }), "/name"),
        (json!({ "timeout": -1 }), "/timeout"),
        (json!({ "timeout": "soon" }), "/timeout"),
        (json!({ "colour": "red" }), "/colour"),
        (json!({ "category": "nonsense" }), "/category"),
        (json!({ "input_schema": { "type": "strin" } }), "/input_schema"),
        (json!({ "config": { "script_path": "../outside.py" } }), "/config/script_path"),
        (json!({ "config": {} }), "/config/script_path"),
        (json!({ "script": 7 }), "/script"),
        (json!({ "name": "code_execution" }), "/name"),
    ];
    for (change, pointer) in bad {
        let answer = server.send(&key, "POST", "/api/v1/tools", &with(change.clone())).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "invalid_input"),
            "{change}: {}",
            answer.text
        );
        let body = answer.json();
        let pointers: Vec<&str> =
            body["errors"].as_array().unwrap().iter().map(|one| one["pointer"].as_str().unwrap()).collect();
        assert!(pointers.iter().any(|one| one.starts_with(pointer)), "{change}: {pointers:?}");
    }
    let twice = r#"{"name": "a", "name": "b", "description": "x"}"#;
    let answer = server.ask("POST", "/api/v1/tools").key(&key).text(twice.into()).send().await;
    assert_eq!(answer.code(), "invalid_input");
    let native = server.send(&key, "POST", "/api/v1/tools", &with(json!({ "name": "create-task" }))).await;
    assert_eq!((native.status.as_u16(), native.code().as_str()), (409, "already_exists"));
    assert_eq!(server.file(), json!({ "tools": [] }));
    assert!(!server.folder.path().join("tools/say_hello.py").exists());
}

#[tokio::test]
async fn a_breaking_change_is_refused_with_the_new_name_and_the_deprecation() {
    let server = TestServer::new();
    let key = server.admin().await;
    let path = "/api/v1/tools/say_hello";
    server.send(&key, "PUT", path, &with(json!({ "version": "1.0.0" }))).await;
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "title": { "type": "string" } },
        "required": ["name", "title"],
    });
    let refused =
        server.send(&key, "PUT", path, &with(json!({ "input_schema": schema, "version": "2.0.0" }))).await;
    assert_eq!(
        (refused.status.as_u16(), refused.code().as_str()),
        (409, "breaking_change"),
        "{}",
        refused.text
    );
    for word in ["say_hello-v2", "deprecated", "/parameters", "new ones are optional", "it is a draft"] {
        assert!(refused.text.contains(word), "{word}: {}", refused.text);
    }
    assert_eq!(server.ask("GET", path).key(&key).send().await.json()["version"], "1.0.0");
    // What has never been published may change.
    let draft = "/api/v1/tools/draft";
    let config = json!({ "script_path": "draft.py" });
    let early = with(json!({ "name": "draft", "version": "0.1.0", "config": config }));
    assert_eq!(server.send(&key, "PUT", draft, &early).await.status, 201);
    let later =
        with(json!({ "name": "draft", "version": "0.2.0", "input_schema": schema, "config": config }));
    assert_eq!(server.send(&key, "PUT", draft, &later).await.status, 200);
}

#[tokio::test]
async fn a_bad_edit_keeps_the_catalogue_and_readyz_says_so() {
    let server = TestServer::new();
    let key = server.admin().await;
    server.send(&key, "POST", "/api/v1/tools", &hello()).await;
    let file = server.folder.path().join("tools/tools.json");
    let good = std::fs::read(&file).unwrap();
    std::fs::write(&file, "{\"tools\": [\n{\"name\": 7}]}").unwrap();
    // The next change looks at the file first, and must not write over the edit.
    let refused = server.send(&key, "PUT", "/api/v1/tools/say_hello", &hello()).await;
    assert_eq!(
        (refused.status.as_u16(), refused.code().as_str()),
        (503, "service_unavailable"),
        "{}",
        refused.text
    );
    let anybody = server.ask("GET", "/readyz").send().await.json();
    assert_eq!(anybody["checks"]["registry"]["ok"], false);
    assert!(!anybody.to_string().contains("tools.json:2"), "where and why is not for everybody: {anybody}");
    let ready = server.ask("GET", "/readyz").owner().send().await;
    assert_eq!(ready.status, 200);
    let registry = ready.json()["checks"]["registry"].clone();
    assert_eq!(registry["ok"], false);
    let reason = registry["reason"].as_str().unwrap();
    assert!(reason.contains("tools.json:2") && reason.contains("from before are in use"), "{reason}");
    assert!(!reason.contains(&*server.folder.path().to_string_lossy()), "{reason}");
    assert_eq!(server.call(&key, "say_hello", json!({ "name": "Ada" })).await.status, 200);
    std::fs::write(&file, good).unwrap();
    assert_eq!(server.send(&key, "PUT", "/api/v1/tools/say_hello", &hello()).await.status, 200);
    assert_eq!(server.ask("GET", "/readyz").send().await.json()["checks"]["registry"], json!({ "ok": true }));
}

/// A schema of a few hundred bytes that stands for a million.
fn doubling(levels: usize) -> Value {
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        defs.insert(format!("l{level}"), json!({ "anyOf": [next.clone(), next] }));
    }
    defs.insert(format!("l{levels}"), json!({ "type": "string" }));
    json!({ "type": "object", "properties": { "name": { "$ref": "#/$defs/l0" } }, "$defs": defs })
}

#[tokio::test]
async fn a_small_schema_that_stands_for_a_huge_one_is_refused_with_the_limit() {
    let server = TestServer::new();
    let key = server.admin().await;
    let pattern = |at: usize| (format!("f{at}"), json!({ "pattern": format!("^\\p{{L}}{{120}}{at}$") }));
    let patterns: serde_json::Map<String, Value> = (0..50).map(pattern).collect();
    for (schema, reason) in [
        (doubling(20), "more than 4096 subschemas apply to one value"),
        (doubling(24), "more than 4096 subschemas apply to one value"),
        (json!({ "type": "object", "properties": patterns }), "the patterns take more than 16 MiB"),
    ] {
        for which in ["input_schema", "output_schema"] {
            let refused = server.send(&key, "POST", "/api/v1/tools", &with(json!({ which: schema }))).await;
            assert_eq!(refused.status, 400, "{}", refused.text);
            assert!(refused.text.contains(reason), "{}", refused.text);
        }
    }
    assert_eq!(server.send(&key, "POST", "/api/v1/tools", &hello()).await.status, 201);
}

#[tokio::test]
async fn a_call_whose_check_would_not_end_is_refused_in_time() {
    let server = TestServer::new();
    let key = server.admin().await;
    let list = json!({ "type": "array", "items": { "$ref": "#/$defs/node" }, "minItems": 1 });
    let schema = json!({
        "type": "object",
        "properties": { "name": { "$ref": "#/$defs/node" } },
        "$defs": { "node": { "anyOf": [list.clone(), list.clone(), list] } }
    });
    let made = server.send(&key, "POST", "/api/v1/tools", &with(json!({ "input_schema": schema }))).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let deep = (0..100).fold(json!([]), |inner, _| json!([inner]));
    let refused = server.call(&key, "say_hello", json!({ "name": deep })).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert_eq!(refused.json()["error"]["code"], "invalid_input");
}
