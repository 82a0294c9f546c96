//! Tools as the console needs them: in a line, on a sheet, checked before a call; and scripts while they are written.

use serde_json::{Value, json};

use crate::test_server::{Answer, TestServer};

const SCRIPT: &str = r#""""Counts the words of a text. Use it when someone asks how long a text is. Returns the number.

name: count-words
category: query
params:
  text (string, required, max 1000): the text
returns:
  words (integer): how many
example: {"text": "two words"} -> {"words": 2}
"""


def run(params, context):
    return {"words": len(params["text"].split())}
"#;

async fn admin(server: &TestServer) -> String {
    let grants = json!(["registry:write", "count-words:call", "tasks:*", "executions:read"]);
    server.key(json!({ "user": "ada", "grants": grants, "person": true })).await
}

async fn send(server: &TestServer, key: &str, method: &str, path: &str, body: Value) -> Answer {
    server.ask(method, format!("/api/v1{path}")).key(key).body(body).send().await
}

async fn get(server: &TestServer, key: &str, path: &str) -> Value {
    let answer = server.ask("GET", format!("/api/v1{path}")).key(key).send().await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

async fn plan(server: &TestServer, key: &str, body: Value) -> Value {
    let answer = send(server, key, "POST", "/drafts/plan", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

/// Registers the script as the plan says.
async fn register(server: &TestServer, key: &str) {
    let mut entry = plan(server, key, json!({ "script": SCRIPT })).await["entry"].clone();
    entry["script"] = json!(SCRIPT);
    let made = send(server, key, "POST", "/tools", entry).await;
    assert_eq!(made.status, 201, "{}", made.text);
}

#[tokio::test]
async fn promise_tools_are_listed_in_lines_page_by_page() {
    let server = TestServer::new();
    let key = admin(&server).await;
    server.call(&key, "create-task", json!({ "title": "Milk" })).await;
    let (mut seen, mut path) = (Vec::new(), "/tools?view=brief&limit=4".to_owned());
    let total = loop {
        let page = get(&server, &key, &path).await;
        seen.extend(page["tools"].as_array().unwrap().clone());
        match page["nextCursor"].as_str() {
            Some(cursor) => path = format!("/tools?view=brief&limit=4&cursor={cursor}"),
            None => break page["total"].as_u64().unwrap(),
        }
    };
    assert_eq!(seen.len() as u64, total);
    let line = |name: &str| seen.iter().find(|tool| tool["name"] == name).unwrap().clone();
    let delete = line("delete-task");
    assert_eq!((&delete["source"], &delete["destructive"]), (&json!("native"), &json!(true)));
    assert!(delete.get("parameters").is_none() && delete["about"].as_str().unwrap().starts_with("Deletes"));
    assert_eq!((&line("create-task")["calls30d"], &delete["calls30d"]), (&json!(1), &json!(0)));
}

#[tokio::test]
async fn promise_a_sheet_says_what_follows_from_the_contract() {
    let server = TestServer::new();
    let key = admin(&server).await;
    register(&server, &key).await;
    server.call(&key, "count-words", json!({ "text": "a b" })).await;
    let sheet = get(&server, &key, "/tools/count-words?view=sheet").await;
    assert_eq!(sheet["source"], json!({ "kind": "script", "script": "count_words.py" }));
    assert_eq!(
        (&sheet["policy"]["needsApproval"], &sheet["policy"]["parallel"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(sheet["record"], json!({ "good": 1, "of": 1 }));
    let published: Vec<&Value> = sheet["published"].as_array().unwrap().iter().collect();
    assert!(published.contains(&&json!({ "profile": "default", "as": "count-words" })), "{published:?}");
    assert!(sheet["tokens"].as_u64().unwrap() > 10 && sheet["findings"][0]["line"].is_string());
    let plain = get(&server, &key, "/tools/count-words").await;
    assert_eq!(plain, sheet["definition"]);
}

#[tokio::test]
async fn promise_a_check_says_what_is_wrong_at_each_field_and_makes_no_call() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let wrong = send(
        &server,
        &key,
        "POST",
        "/tools/create-task/validate",
        json!({ "params": { "title": "", "priority": "soon" } }),
    )
    .await
    .json();
    assert_eq!(wrong["valid"], false);
    let pointers: Vec<&str> =
        wrong["errors"].as_array().unwrap().iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    assert!(pointers.contains(&"/title") && pointers.contains(&"/priority"), "{wrong}");
    let good = json!({ "params": { "title": "Milk", "due": "tomorrow" } });
    let good = send(&server, &key, "POST", "/tools/create-task/validate", good).await.json();
    assert_eq!(good["valid"], true, "{good}");
    assert!(good["resolved"]["/due"].is_string(), "{good}");
    let never = json!({ "params": { "title": "Milk", "due": "when pigs fly" } });
    let never = send(&server, &key, "POST", "/tools/create-task/validate", never).await.json();
    assert_eq!((&never["valid"], &never["errors"][0]["pointer"]), (&json!(false), &json!("/due")), "{never}");
    let published = json!({ "params": { "task_id": "x" }, "profile": "assistant" });
    let published = send(&server, &key, "POST", "/tools/delete-task/validate", published).await.json();
    assert_eq!(published["errors"][0]["pointer"], "/task_id", "{published}");
    let unknown = send(&server, &key, "POST", "/tools/execute-code/validate", json!({ "params": {} })).await;
    assert_eq!((unknown.status.as_u16(), unknown.code().as_str()), (404, "tool_not_found"));
    let log = server.ask("GET", "/api/v1/executions").owner().send().await.json();
    assert_eq!(log["executions"], json!([]), "nothing was called");
}

#[tokio::test]
async fn promise_a_plan_says_what_saving_a_script_would_mean_and_changes_nothing() {
    let server = TestServer::new();
    let key = admin(&server).await;
    let meant = plan(&server, &key, json!({ "script": SCRIPT })).await;
    assert_eq!(meant["entry"]["config"]["script_path"], "count_words.py");
    assert_eq!((&meant["definition"]["name"], &meant["mistakes"]), (&json!("count-words"), &json!([])));
    assert!(meant["derived"].as_array().unwrap().contains(&json!("permissions")), "{meant}");
    assert_eq!(
        get(&server, &key, "/tools?q=words&view=brief").await["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|tool| tool["source"] == "script")
            .count(),
        0
    );

    let odd = SCRIPT.replace("category: query", "category: quantum");
    let mistakes = plan(&server, &key, json!({ "script": odd })).await["mistakes"].clone();
    assert_eq!((&mistakes[0]["line"], mistakes[0]["message"].is_string()), (&json!(4), true), "{mistakes}");

    register(&server, &key).await;
    let again = plan(&server, &key, json!({ "script": SCRIPT })).await;
    assert!(again["mistakes"][0]["message"].as_str().unwrap().contains("exists"), "{again}");
    let published = send(&server, &key, "POST", "/tools/count-words/publish", json!({})).await;
    assert_eq!(published.status, 200, "{}", published.text);
    let broken = SCRIPT.replace("text (string, required, max 1000)", "text (string, required, max 10)");
    let refused = plan(&server, &key, json!({ "script": broken, "replaces": "count-words" })).await;
    assert_eq!(
        (&refused["refused"], &refused["nextName"]),
        (&json!(true), &json!("count-words-v2")),
        "{refused}"
    );
    assert_eq!(refused["changes"][0]["impact"], "breaking");
    let ways_out = refused["waysOut"].as_str().unwrap();
    assert!(
        ways_out.contains("new ones are optional") && ways_out.contains("'count-words-v2'"),
        "{ways_out}"
    );
    let fine = SCRIPT.replace("Counts the words", "Counts all words");
    let fine = plan(&server, &key, json!({ "script": fine, "replaces": "count-words" })).await;
    assert_eq!(
        (&fine["refused"], &fine["definition"]["version"]),
        (&json!(false), &json!("1.0.0")),
        "{fine}"
    );
    assert!(!fine["changes"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn promise_of_two_editors_the_second_is_told_that_the_script_has_changed() {
    let server = TestServer::new();
    let key = admin(&server).await;
    register(&server, &key).await;
    let read = async || server.ask("GET", "/api/v1/tools/count-words/script").key(&key).send().await;
    let first = read().await;
    assert_eq!((&first.json()["script"], &first.json()["language"]), (&json!(SCRIPT), &json!("python")));
    let tag = first.headers["etag"].to_str().unwrap().to_owned();
    let save = async |script: String, tag: &str| {
        let mut entry = first.json()["entry"].clone();
        entry["script"] = json!(script);
        let put = server.ask("PUT", "/api/v1/tools/count-words").key(&key).header("if-match", tag);
        put.body(entry).send().await
    };
    let saved = save(SCRIPT.replace(".split()", ".split(None)"), &tag).await;
    assert_eq!(saved.status, 200, "{}", saved.text);
    let late = save(SCRIPT.replace("return", "# mine\n    return"), &tag).await;
    assert_eq!((late.status.as_u16(), late.code().as_str()), (412, "version_conflict"), "{}", late.text);
    let now = read().await;
    assert!(now.json()["script"].as_str().unwrap().contains("split(None)"), "nothing was lost");
    assert_ne!(now.headers["etag"].to_str().unwrap(), tag);
    let native = server.ask("GET", "/api/v1/tools/create-task/script").key(&key).send().await;
    assert_eq!(native.status, 404);
    let agent = server.key(json!({ "user": "bob", "grants": ["count-words:call"] })).await;
    assert_eq!(server.ask("GET", "/api/v1/tools/count-words/script").key(&agent).send().await.status, 403);
}

#[tokio::test]
async fn promise_a_draft_runs_once_confined_and_in_no_list() {
    let server = TestServer::new();
    let key = admin(&server).await;
    let entry = plan(&server, &key, json!({ "script": SCRIPT })).await["entry"].clone();
    let run = async |script: String, params: Value| {
        send(
            &server,
            &key,
            "POST",
            "/drafts/run",
            json!({ "script": script, "entry": entry, "params": params }),
        )
        .await
    };
    let ran = run(SCRIPT.to_owned(), json!({ "text": "one two three" })).await;
    assert_eq!(ran.json()["data"]["words"], 3, "{}", ran.text);
    let wrong = run(SCRIPT.to_owned(), json!({ "text": 5 })).await;
    assert_eq!(wrong.json()["error"]["details"][0]["pointer"], "/text", "{}", wrong.text);
    let database = server.folder.path().join("toolroom.db");
    let peek = format!("    import os\n    return {{\"words\": int(os.path.exists({database:?}))}}\n");
    let peek = SCRIPT.replace("    return {\"words\": len(params[\"text\"].split())}\n", &peek);
    assert_eq!(run(peek, json!({ "text": "" })).await.json()["data"]["words"], 0, "the home cannot be seen");
    assert_eq!(server.ask("GET", "/api/v1/tools/count-words").key(&key).send().await.status, 404);
    let log = get(&server, &key, "/executions?tool=count-words").await;
    assert_eq!(
        (&log["executions"][0]["via"], &log["executions"][0]["status"]),
        (&json!("draft"), &json!("ok"))
    );
    let left: Vec<_> =
        std::fs::read_dir(server.folder.path().join("work")).into_iter().flatten().flatten().collect();
    assert!(left.iter().all(|one| !one.file_name().to_string_lossy().starts_with(".draft")), "{left:?}");
    let agent = server.key(json!({ "user": "bob" })).await;
    let body = json!({ "script": SCRIPT, "entry": entry, "params": {} });
    assert_eq!(send(&server, &agent, "POST", "/drafts/run", body).await.status, 403);
}
