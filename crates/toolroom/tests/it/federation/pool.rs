//! A Toolroom that draws on another one: the user travels, and an answer has one envelope.

use serde_json::{Value, json};

use super::test_servers::{call, credential, headers, mcp, request, settled, write};
use crate::replicas::write_script;
use crate::test_home::{Served, TestHome};

/// Two Toolrooms: the first draws on the second, with a key that has these grants there.
struct Pair {
    front: (TestHome, Served),
    pool: (TestHome, Served),
}

impl Pair {
    fn start(grants: &[&str]) -> Self {
        Self::start_with(grants, |_| ())
    }

    /// The same, with something to be done in the home of the second before it starts. Calls are approved there alone.
    fn start_with(grants: &[&str], prepare: impl FnOnce(&TestHome)) -> Self {
        let pool = TestHome::new();
        prepare(&pool);
        let key = key(&pool, "pool", grants);
        let served = pool.serve();
        let front = TestHome::new();
        let url = format!("http://{}/mcp", served.address);
        write(&front, json!({ "pool": { "url": url, "headers": { "X-API-Key": key }, "toolroom": true } }));
        let settings = "[profiles.default]\nrequires_approval = false\n";
        std::fs::write(front.home().join("toolroom.toml"), settings).unwrap();
        let front_served = front.serve();
        let pair = Self { front: (front, front_served), pool: (pool, served) };
        let open = pair.front.0.json(&["servers", "show", "pool", "--start"])["open"].as_u64().unwrap();
        settled(&pair.front.0, "pool", "ready", open);
        pair
    }

    /// A user's call through the first.
    fn call(&self, key: &str, tool: &str, params: Value) -> crate::test_home::Reply {
        call(&self.front.1, key, &format!("pool__{tool}"), params)
    }
}

fn key(home: &TestHome, user: &str, grants: &[&str]) -> String {
    let mut arguments = vec!["keys", "create", "--user", user];
    arguments.extend(grants.iter().flat_map(|grant| ["--grant", *grant]));
    home.run(&arguments).line().to_owned()
}

#[test]
fn promise_the_user_travels_to_a_toolroom_and_an_answer_has_one_envelope() {
    let pair = Pair::start(&["tasks:*", "users:act-as"]);
    let users = ["ada", "bob"].map(|user| key(&pair.front.0, user, &["pool:call"]));
    let made = pair.call(&users[0], "create-task", json!({ "title": "by ada" }));
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(made.json["data"]["task"]["title"], "by ada", "{made:?}");
    assert!(
        made.json["agentHints"]["confidence"].is_number() && made.json["metadata"].is_object(),
        "{made:?}"
    );
    // What the other one suggests is suggested under the names here.
    let steps = made.json["agentHints"]["suggestedNextActions"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["action"].as_str().unwrap().starts_with("pool__")), "{made:?}");
    // It is ada's there, and nobody else's.
    let there = key(&pair.pool.0, "ada", &["tasks:*"]);
    let listed = call(&pair.pool.1, &there, "list-tasks", json!({}));
    assert_eq!(listed.json["data"]["tasks"][0]["title"], "by ada", "{listed:?}");
    let others = pair.call(&users[1], "list-tasks", json!({}));
    assert_eq!(others.json["data"]["tasks"], json!([]), "{others:?}");
    // Over MCP the same, once.
    let asked = json!({ "name": "pool__list-tasks", "arguments": {} });
    let shown = mcp(&pair.front.1, &users[0], "tools/call", asked, json!({}));
    assert_eq!(shown["structuredContent"]["data"]["tasks"][0]["title"], "by ada", "{shown}");
    let text: Value = serde_json::from_str(shown["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["data"]["tasks"][0]["title"], "by ada", "{shown}");
    // What is published says what is answered.
    let tools = mcp(&pair.front.1, &users[0], "tools/list", json!({}), json!({}));
    let tool =
        tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "pool__list-tasks").unwrap();
    assert!(tool["outputSchema"]["properties"]["data"]["properties"]["tasks"].is_object(), "{tool}");
}

#[test]
fn promise_an_error_of_a_toolroom_is_the_error_of_the_call() {
    let pair = Pair::start(&["tasks:*", "users:act-as"]);
    let ada = key(&pair.front.0, "ada", &["pool:call"]);
    let there = key(&pair.pool.0, "ada", &["tasks:*"]);
    for params in [json!({ "taskId": 99_999 }), json!({ "taskId": 1, "title": "" })] {
        let tool = if params["title"].is_null() { "get-task" } else { "update-task" };
        let direct = call(&pair.pool.1, &there, tool, params.clone());
        let through = pair.call(&ada, tool, params);
        assert_eq!(through.status, direct.status, "{through:?}");
        assert_eq!(through.json["error"]["code"], direct.json["error"]["code"], "{through:?}");
    }
}

#[test]
fn promise_a_key_without_the_grant_names_no_other_user() {
    let pair = Pair::start(&["tasks:*"]);
    let ada = key(&pair.front.0, "ada", &["pool:call"]);
    let refused = pair.call(&ada, "create-task", json!({ "title": "not by ada" }));
    assert_eq!((refused.status, &refused.json["error"]["code"]), (404, &json!("not_found")), "{refused:?}");
    // Nor does one that speaks to it directly.
    let eve = key(&pair.pool.0, "eve", &["tasks:*"]);
    let params = json!({ "name": "list-tasks", "arguments": {} });
    let mut asked = request("tools/call", params.clone(), json!({}));
    asked["params"]["_meta"]["dev.toolroom/user"] = json!("ada");
    let spoofed = pair.pool.1.post("/mcp", &headers(&eve, "tools/call", &params), &asked);
    let result = &spoofed.json["result"];
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["error"]["code"]),
        (&json!(true), &json!("not_found"))
    );
    // Naming oneself is no more than saying nothing.
    asked["params"]["_meta"]["dev.toolroom/user"] = json!("eve");
    let own = pair.pool.1.post("/mcp", &headers(&eve, "tools/call", &params), &asked);
    assert_eq!(own.json["result"]["structuredContent"]["data"]["tasks"], json!([]), "{own:?}");
    let listed = pair.pool.1.get("/api/v1/executions?limit=1", &credential(&eve));
    assert_eq!(listed.status, 200);
}

#[test]
fn promise_the_arguments_of_a_call_that_travelled_name_no_other_user() {
    let pool = TestHome::new();
    let [front, bob] = [("front", &["tasks:*", "users:act-as"][..]), ("bob", &["tasks:*"])]
        .map(|(user, grants)| key(&pool, user, grants));
    let served = pool.serve();
    assert_eq!(call(&served, &bob, "create-task", json!({ "title": "only bob's" })).status, 200);
    // A published shape in which the arguments name the user.
    let listed_for = |user: &str| {
        let params = json!({ "name": "list_tasks", "arguments": { "user_id": "bob" } });
        let mut asked = request("tools/call", params.clone(), json!({}));
        asked["params"]["_meta"]["dev.toolroom/user"] = json!(user);
        served.post("/mcp/todo_tasks", &headers(&front, "tools/call", &params), &asked).json.to_string()
    };
    let own = listed_for("bob");
    assert!(own.contains("only bob's"), "{own}");
    let others = listed_for("ada");
    assert!(others.contains("isError") && !others.contains("only bob's"), "{others}");
}

#[test]
fn promise_what_a_toolroom_logs_of_one_user_is_shown_to_no_other() {
    let pair = Pair::start(&["tasks:*", "users:act-as"]);
    let [ada, eve] = ["ada", "eve"].map(|user| key(&pair.front.0, user, &["pool:call"]));
    assert_eq!(pair.call(&ada, "create-task", json!({ "title": "of nobody's concern" })).status, 200);
    let listed = mcp(&pair.front.1, &eve, "resources/list", json!({}), json!({}));
    assert!(!listed.to_string().contains("servers/pool"), "{listed}");
    for tool in ["read-resource", "list-resources", "get-prompt"] {
        let refused = pair.call(&eve, tool, json!({ "uri": "toolroom://executions" }));
        assert_eq!(refused.json["error"]["code"], "tool_not_found", "{refused:?}");
    }
    let asked = json!({ "uri": "toolroom://servers/pool/toolroom://executions" });
    let headers = headers(&eve, "resources/read", &asked);
    let read = pair.front.1.post("/mcp", &headers, &request("resources/read", asked, json!({})));
    assert_eq!(read.json["error"]["code"], -32602, "{read:?}");
}

#[test]
fn promise_a_toolroom_logs_whose_call_it_was_and_who_made_it() {
    let pair = Pair::start(&["tasks:*", "users:act-as"]);
    let ada = key(&pair.front.0, "ada", &["pool:call"]);
    assert_eq!(pair.call(&ada, "create-task", json!({ "title": "by ada" })).status, 200);
    let there = |user: &str| {
        let key = key(&pair.pool.0, user, &["tasks:*"]);
        let listed = pair.pool.1.get("/api/v1/executions?tool=create-task", &credential(&key));
        let rows = listed.json["executions"].as_array().unwrap().clone();
        rows.iter().map(|row| (row["user"].clone(), row["by"].clone())).collect::<Vec<_>>()
    };
    // She finds it among her calls; so does the one that made it for her, and nobody else.
    let hers = vec![(json!("ada"), json!("pool"))];
    assert_eq!((there("ada"), there("pool"), there("eve")), (hers.clone(), hers, Vec::new()));
}

#[test]
fn promise_a_limit_of_a_toolroom_counts_each_user_who_travels_to_it() {
    let limit =
        json!({ "rateLimit": { "maxCalls": 2, "windowMs": 3_600_000 }, "permissions": ["plain:run"] });
    let script = "def run(params, context):\n    return {'done': True}\n";
    let prepare = |home: &TestHome| write_script(home, "limited", script, limit);
    let pair = Pair::start_with(&["plain:*", "users:act-as"], prepare);
    let [ada, eve] = ["ada", "eve"].map(|user| key(&pair.front.0, user, &["pool:call"]));
    let statuses = |who: &str| [0, 1, 2].map(|_| pair.call(who, "limited", json!({})).status);
    assert_eq!(statuses(&ada), [200, 200, 429]);
    assert_eq!(statuses(&eve), [200, 200, 429], "what ada used is not eve's");
    // Calls by whom it has under the same name count with them.
    let there = key(&pair.pool.0, "ada", &["plain:*"]);
    assert_eq!(call(&pair.pool.1, &there, "limited", json!({})).status, 429);
}

#[test]
fn promise_users_whom_a_toolroom_does_not_have_yet_have_limits_and_questions_of_their_own() {
    let limit = json!({
        "category": "query", "permissions": ["plain:run"], "rateLimit": { "maxCalls": 2, "windowMs": 3_600_000 },
    });
    let script = "def run(params, context):\n    return {'done': True}\n";
    let prepare = |home: &TestHome| write_script(home, "look", script, limit);
    let pair = Pair::start_with(&["plain:*", "humans:ask", "users:act-as"], prepare);
    let keys = ["ada", "eve"].map(|user| key(&pair.front.0, user, &["pool:call"]));
    for who in &keys {
        // Reads, which make nobody there.
        let statuses = [0, 1, 2].map(|_| pair.call(who, "look", json!({})).status);
        assert_eq!(statuses, [200, 200, 429]);
    }
    let ask = |who: &str| pair.call(who, "request-human-input", json!({ "question": "May I?" }));
    let ids = keys.each_ref().map(|who| {
        let asked = ask(who);
        assert_eq!(asked.status, 202, "{asked:?}");
        asked.json["pending"]["id"].as_str().unwrap().to_owned()
    });
    let listed = pair.pool.0.json(&["approvals", "list"]);
    let whose = |id: &str| {
        let all = listed["approvals"].as_array().unwrap();
        all.iter().find(|one| one["id"] == id).unwrap_or_else(|| panic!("{listed}"))["user"].clone()
    };
    assert_eq!((whose(&ids[0]), whose(&ids[1])), (json!("ada"), json!("eve")));
    // What eve is answered is not ada's.
    pair.pool.0.json(&["approvals", "answer", &ids[1], "yes"]);
    assert_eq!(ask(&keys[0]).status, 202);
    let answered = ask(&keys[1]);
    assert_eq!((answered.status, &answered.json["data"]["answer"]), (200, &json!("yes")), "{answered:?}");
}

#[test]
fn promise_an_approval_that_a_toolroom_asks_for_arrives_as_itself_and_is_the_users_own() {
    let pair = Pair::start(&["tasks:*", "users:act-as"]);
    let [ada, eve] = ["ada", "eve"].map(|user| key(&pair.front.0, user, &["pool:call"]));
    let task = |who: &str, title: &str| {
        let made = pair.call(who, "create-task", json!({ "title": title }));
        made.json["data"]["task"]["taskId"].clone()
    };
    let delete = |who: &str, task: &Value| pair.call(who, "delete-task", json!({ "taskId": task }));
    let first = task(&ada, "first");
    let asked = delete(&ada, &first);
    assert_eq!((asked.status, &asked.json["error"]["code"]), (202, &json!("approval_required")), "{asked:?}");
    assert_eq!(asked.json["pending"]["server"], "pool", "{asked:?}");
    let next = &asked.json["agentHints"]["suggestedNextActions"][0];
    assert_eq!(next["action"], "pool__delete-task", "{asked:?}");
    assert_eq!(next["data"]["taskId"], first, "{asked:?}");
    assert!(!next.to_string().contains("approvalId"), "its id means nothing here: {asked:?}");
    // Nobody waits here for what is decided there.
    let waited = pair.front.1.post(
        "/api/v1/tools/pool__delete-task/call?wait=30",
        &credential(&ada),
        &json!({ "params": { "taskId": first } }),
    );
    assert_eq!((waited.status, &waited.json["pending"]["id"]), (202, &asked.json["pending"]["id"]));

    // It is there as ada's, and approved for a while, for her and for nobody else.
    let id = asked.json["pending"]["id"].as_str().unwrap();
    let listed = pair.pool.0.json(&["approvals", "list"]);
    assert_eq!((&listed["approvals"][0]["id"], &listed["approvals"][0]["user"]), (&json!(id), &json!("ada")));
    pair.pool.0.json(&["approvals", "approve", id, "--for", "1h"]);
    assert_eq!(delete(&ada, &first).status, 200);
    let second = task(&ada, "second");
    assert_eq!(delete(&ada, &second).status, 200, "what stands is hers");
    let others = task(&eve, "third");
    assert_eq!(delete(&eve, &others).status, 202, "and not eve's");
    // Nor does it let anybody else's hands at hers.
    let third = task(&ada, "fourth");
    let not_hers = delete(&eve, &third);
    assert_ne!(not_hers.status, 200, "{not_hers:?}");
    assert_eq!(pair.call(&ada, "get-task", json!({ "taskId": third })).status, 200);
}
