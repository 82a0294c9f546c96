//! One view of the catalogue: every edge shows a caller exactly the tools that the same caller can call.

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolroom_model::{Deltas, Model, Prompt, Turn, Turning};

use crate::test_server::{Ask, TestServer};

type Names = BTreeSet<String>;

const REVISION: &str = "2026-07-28";

/// A model that notes the tools it is offered, and says a word.
#[derive(Default)]
struct Recorder(Mutex<Names>);

impl Model for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    fn turn<'a>(&'a self, prompt: &'a Prompt, out: &'a mut dyn Deltas) -> Turning<'a> {
        *self.0.lock().unwrap() = prompt.tools.iter().map(|tool| tool.name.clone()).collect();
        Box::pin(async move {
            out.text("Hello.");
            Ok(Turn { text: "Hello.".to_owned(), ..Turn::default() })
        })
    }
}

/// The task tools, the built-in ones, and two scripts, of which one is past its removal date.
struct Walk {
    server: TestServer,
    model: Arc<Recorder>,
}

/// Someone who asks.
enum Caller {
    Keyless,
    Owner,
    Key(String),
}

impl Walk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let entry = |name: &str| {
            json!({
                "name": name,
                "description": "Says hello to whoever asks. Use it in tests. Returns a greeting.",
                "type": "local",
                "input_schema": { "type": "object", "properties": {}, "additionalProperties": false },
                "config": { "script_path": "greet.py" },
            })
        };
        let mut old = entry("greet-formerly");
        old["deprecated"] = json!({ "since": "0.1.0", "replacement": "greet", "removalDate": "2020-01-01" });
        fs::create_dir(folder.path().join("tools")).unwrap();
        let entries = json!({ "tools": [entry("greet"), old] });
        fs::write(folder.path().join("tools/tools.json"), entries.to_string()).unwrap();
        let model = Arc::new(Recorder::default());
        let speaking = Arc::clone(&model) as Arc<dyn Model>;
        Self { server: TestServer::speaking_in(folder, speaking), model }
    }

    fn ask<'a>(&'a self, who: &'a Caller, method: &'a str, path: &str) -> Ask<'a> {
        let ask = self.server.ask(method, path);
        match who {
            Caller::Keyless => ask,
            Caller::Owner => ask.owner(),
            Caller::Key(key) => ask.key(key),
        }
    }

    async fn get(&self, who: &Caller, path: &str) -> Value {
        self.ask(who, "GET", path).send().await.json()
    }

    /// The answer to an MCP request; `None` if the caller does not reach the profile.
    async fn mcp(&self, who: &Caller, profile: &str, method: &str, mut params: Value) -> Option<Value> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "walk", "version": "1.0.0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let path = format!("/mcp/{profile}");
        let mut ask = self
            .ask(who, "POST", &path)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", method);
        let name = if method == "resources/read" { "uri" } else { "name" };
        if let Some(name) = params[name].as_str() {
            ask = ask.header("mcp-name", name);
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = ask.body(message).send().await.json();
        answer.get("jsonrpc").is_some().then_some(answer)
    }

    /// Of these names, those that can be called: a call with a parameter that no tool has is refused for it.
    async fn callable(&self, who: &Caller, profile: &str, all: &Names) -> Names {
        let mut found = Names::new();
        for name in all {
            let params = json!({ "name": name, "arguments": { "no_such_parameter": true } });
            let Some(answer) = self.mcp(who, profile, "tools/call", params).await else { continue };
            // Profiles have codes of their own for it; the sentence is the same.
            let is_removed = answer["result"].to_string().contains("was removed on");
            if answer.get("error").is_none() && !is_removed {
                found.insert(name.clone());
            }
        }
        found
    }

    /// What each edge lists for this caller under this profile.
    async fn listed(&self, who: &Caller, profile: &str, all: &Names) -> Vec<(&'static str, Names)> {
        let mut edges = Vec::new();
        let list = self.mcp(who, profile, "tools/list", json!({})).await.unwrap_or_default();
        edges.push(("tools/list", names(&list["result"]["tools"])));
        let complete = json!({
            "ref": { "type": "ref/resource", "uri": "toolroom://tools/{name}" },
            "argument": { "name": "name", "value": "" },
        });
        let completed = self.mcp(who, profile, "completion/complete", complete).await.unwrap_or_default();
        edges.push(("completion/complete", texts(&completed["result"]["completion"]["values"])));
        let mut contracts = Names::new();
        for name in all {
            let uri = json!({ "uri": format!("toolroom://tools/{name}") });
            let read = self.mcp(who, profile, "resources/read", uri).await.unwrap_or_default();
            contracts.extend(read.get("result").map(|_| name.clone()));
        }
        edges.push(("resources/read", contracts));
        let functions = self.get(who, &format!("/api/v1/profiles/{profile}/functions")).await;
        let functions = functions.as_array().into_iter().flatten().map(|one| one["function"].clone());
        edges.push(("functions", names(&functions.collect())));
        let profiles = self.get(who, "/api/v1/profiles").await;
        let profiles = profiles["profiles"].as_array().unwrap();
        let shown = profiles.iter().find(|one| one["name"] == profile).cloned().unwrap_or_default();
        edges.push(("profiles", texts(&shown["tools"])));
        self.model.0.lock().unwrap().clear();
        let said = json!({ "message": "hello", "profile": profile });
        self.ask(who, "POST", "/api/v1/chat").body(said).send().await;
        edges.push(("chat", self.model.0.lock().unwrap().clone()));
        let said = json!({ "model": format!("toolroom/{profile}"), "messages": [{ "role": "user", "content": "hello" }] });
        self.model.0.lock().unwrap().clear();
        self.ask(who, "POST", "/v1/chat/completions").body(said).send().await;
        edges.push(("chat completions", self.model.0.lock().unwrap().clone()));
        let said = json!({ "model": format!("toolroom/{profile}"), "input": "hello" });
        self.model.0.lock().unwrap().clear();
        self.ask(who, "POST", "/v1/responses").body(said).send().await;
        edges.push(("responses", self.model.0.lock().unwrap().clone()));
        edges
    }

    /// What the routes and tools that find others find, where they are under `default`.
    async fn found(&self, who: &Caller, all: &Names) -> Vec<(&'static str, Names)> {
        let list = self.get(who, "/api/v1/tools").await;
        let mut edges = vec![("GET /tools", names(&list["tools"]))];
        let (mut shown, mut described, mut searched, mut queried) = Default::default();
        let add = |to: &mut Names, name: &str, found: bool| to.extend(found.then(|| name.to_owned()));
        for name in all {
            let one = self.ask(who, "GET", &format!("/api/v1/tools/{name}")).send().await;
            add(&mut shown, name, one.status == 200);
            let call = json!({ "name": "describe-tool", "arguments": { "name": name } });
            let answer = self.mcp(who, "default", "tools/call", call).await.unwrap_or_default();
            add(&mut described, name, answer["result"]["structuredContent"].get("data").is_some());
            let call = json!({ "name": "search-tools", "arguments": { "query": name, "limit": 50 } });
            let answer = self.mcp(who, "default", "tools/call", call).await.unwrap_or_default();
            let hits = names(&answer["result"]["structuredContent"]["data"]["tools"]);
            add(&mut searched, name, hits.contains(name));
            let hits = names(&self.get(who, &format!("/api/v1/tools?q={name}")).await["tools"]);
            add(&mut queried, name, hits.contains(name));
        }
        edges.extend([
            ("GET /tools/NAME", shown),
            ("describe-tool", described),
            ("search-tools", searched),
            ("GET /tools?q=", queried),
        ]);
        edges
    }
}

fn names(tools: &Value) -> Names {
    let tools = tools.as_array().into_iter().flatten();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn texts(values: &Value) -> Names {
    values.as_array().into_iter().flatten().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_every_edge_lists_exactly_the_tools_that_the_caller_can_call() {
    let walk = Walk::new();
    let profiles = walk.get(&Caller::Owner, "/api/v1/profiles").await;
    let profiles: Vec<String> =
        texts(&profiles["profiles"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect())
            .into_iter()
            .collect();
    let mut all = Names::from(["no-such-tool".to_owned(), "greet-formerly".to_owned()]);
    for profile in &profiles {
        let list = walk.mcp(&Caller::Owner, profile, "tools/list", json!({})).await.unwrap();
        all.extend(names(&list["result"]["tools"]));
    }
    assert!(all.contains("create-task") && all.contains("add_task") && all.contains("greet"), "{all:?}");
    // Without a key first: the first one that is made ends that.
    let mut counts = vec![compare(&walk, "keyless", &Caller::Keyless, &profiles, &all).await];
    for (who, wanted) in [
        ("a key for everything", json!({ "user": "ada", "grants": ["*"] })),
        ("a usual key", json!({ "user": "ada" })),
        ("a key without grants", json!({ "user": "ada", "grants": [] })),
        ("a key for one script", json!({ "user": "ada", "grants": ["greet:call"] })),
        ("a confined key", json!({ "user": "ada", "grants": ["*"], "profiles": ["assistant", "executor"] })),
    ] {
        let key = Caller::Key(walk.server.key(wanted).await);
        counts.push(compare(&walk, who, &key, &profiles, &all).await);
    }
    counts.push(compare(&walk, "the owner", &Caller::Owner, &profiles, &all).await);
    let distinct: BTreeSet<usize> = counts.iter().copied().collect();
    assert!(distinct.len() >= 5, "the callers differ in what they may use: {counts:?}");
}

/// How many tools the caller may call, over all profiles.
async fn compare(walk: &Walk, who: &str, caller: &Caller, profiles: &[String], all: &Names) -> usize {
    let mut count = 0;
    for profile in profiles {
        let callable = walk.callable(caller, profile, all).await;
        assert!(!callable.contains("no-such-tool") && !callable.contains("greet-formerly"));
        for (edge, listed) in walk.listed(caller, profile, all).await {
            assert_eq!(listed, callable, "{edge} for {who} under {profile}");
        }
        if profile == "default" {
            for (edge, found) in walk.found(caller, all).await {
                // Without the tools that find others nothing is found by them; they need no grants.
                assert_eq!(found, callable, "{edge} for {who}");
            }
        }
        count += callable.len();
    }
    count
}
