//! The REST API, route by route.

use serde_json::{Value, json};

use crate::test_server::TestServer;

fn names(listing: &Value) -> Vec<&str> {
    listing["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tools_are_listed_by_category_tag_and_words() {
    let server = TestServer::new();
    let all = server.ask("GET", "/api/v1/tools").send().await.json();
    assert!(names(&all).contains(&"create-task"));
    assert_eq!(all["total"], names(&all).len());
    let mutations = server.ask("GET", "/api/v1/tools?category=mutation").send().await.json();
    assert!(names(&mutations).contains(&"create-task") && !names(&mutations).contains(&"list-tasks"));
    let tagged = server.ask("GET", "/api/v1/tools?tag=registry").send().await.json();
    assert_eq!(names(&tagged), ["call-tool", "describe-tool", "get-status", "search-tools"]);
    let found = server.ask("GET", "/api/v1/tools?q=delete%20a%20task").send().await.json();
    assert_eq!(names(&found)[0], "delete-task");
    let bad = server.ask("GET", "/api/v1/tools?category=nonsense").send().await;
    assert_eq!((bad.status.as_u16(), bad.code().as_str()), (400, "invalid_input"));
    let one = server.ask("GET", "/api/v1/tools/create-task").send().await.json();
    assert_eq!(one["category"], "mutation");
    assert_eq!(server.ask("GET", "/api/v1/tools/nope").send().await.code(), "tool_not_found");
}

#[tokio::test]
async fn a_call_answers_the_envelope_with_the_status_of_its_error() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let made = server.call(&key, "create-task", json!({ "title": "Buy milk" })).await;
    assert_eq!(made.status, 200);
    let body = made.json();
    assert_eq!(body["data"]["task"]["title"], "Buy milk");
    assert!(body["agentHints"]["confidence"].as_f64().is_some());
    assert_eq!(body["metadata"]["toolVersion"], "1.0.0");
    let bad = server.call(&key, "create-task", json!({ "title": "", "nonsense": 1 })).await;
    assert_eq!(bad.status, 400);
    let body = bad.json();
    assert_eq!(
        (&body["error"]["code"], &body["error"]["class"]),
        (&json!("invalid_input"), &json!("validation"))
    );
    let pointers: Vec<&str> =
        body["error"]["details"].as_array().unwrap().iter().map(|d| d["pointer"].as_str().unwrap()).collect();
    assert!(pointers.contains(&"/title") && pointers.contains(&"/nonsense"), "{pointers:?}");
    let missing = server.call(&key, "get-task", json!({ "taskId": 999 })).await;
    assert_eq!((missing.status.as_u16(), missing.code().as_str()), (404, "not_found"));
}

#[tokio::test]
async fn the_callers_trace_agent_and_correlation_reach_the_answer_and_the_log() {
    let server = TestServer::new();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let answer = server
        .ask("POST", "/api/v1/tools/get-status/call")
        .header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"))
        .header("x-agent-id", "planner")
        .header("x-agent-version", "2.1.0")
        .body(json!({ "context": { "correlationId": "order-7" } }))
        .send()
        .await;
    let body = answer.json();
    assert_eq!(body["metadata"]["traceId"], trace);
    assert_eq!(answer.headers["x-trace-id"], trace);
    assert_eq!(body["metadata"]["correlationId"], "order-7");
    let id = body["metadata"]["executionId"].as_str().unwrap();
    let row = server.ask("GET", format!("/api/v1/executions/{id}")).send().await.json();
    assert_eq!((&row["agentId"], &row["agentVersion"]), (&json!("planner"), &json!("2.1.0")));
    assert_eq!(
        (&row["traceId"], &row["correlationId"], &row["edge"]),
        (&json!(trace), &json!("order-7"), &json!("rest"))
    );
}

#[tokio::test]
async fn a_call_that_waits_for_approval_is_202_until_a_person_decides_and_then_completes_once() {
    let server = TestServer::new();
    let agent = server.key(json!({ "user": "ada" })).await;
    let person = server.key(json!({ "user": "ada", "person": true })).await;
    let id =
        server.call(&agent, "create-task", json!({ "title": "Old" })).await.json()["data"]["task"]["taskId"]
            .clone();
    let waiting = server.call(&agent, "delete-task", json!({ "taskId": id })).await;
    assert_eq!(waiting.status, 202);
    let pending = waiting.json()["pending"].clone();
    assert_eq!(pending["kind"], "approval");
    assert!(pending["expires_at"].is_string());
    let path = format!("/api/v1/approvals/{}", pending["id"].as_str().unwrap());
    let own = server.ask("POST", &path).key(&agent).body(json!({ "decision": "approve" })).send().await;
    assert_eq!((own.status.as_u16(), own.code().as_str()), (403, "forbidden"), "an agent never decides");
    let listed = server.ask("GET", "/api/v1/approvals").key(&person).send().await.json();
    assert_eq!(listed["approvals"][0]["arguments"], json!({ "taskId": id }));
    let yes = server.ask("POST", &path).key(&person).body(json!({ "decision": "approve" })).send().await;
    assert_eq!(yes.json()["state"], "approved");
    let again = server
        .ask("POST", "/api/v1/tools/delete-task/call")
        .key(&agent)
        .body(json!({ "params": { "taskId": id }, "context": { "approvalId": pending["id"] } }))
        .send()
        .await;
    assert_eq!(again.json()["data"]["deleted"], true, "{}", again.text);
    let once = server
        .ask("POST", "/api/v1/tools/delete-task/call")
        .key(&agent)
        .body(json!({ "params": { "taskId": id }, "context": { "approvalId": pending["id"] } }))
        .send()
        .await;
    assert_eq!(once.code(), "approval_expired", "a decision is used once");
}

#[tokio::test]
async fn a_call_can_wait_for_the_decision_instead() {
    let server = TestServer::new();
    let agent = server.key(json!({ "user": "ada" })).await;
    let id =
        server.call(&agent, "create-task", json!({ "title": "Old" })).await.json()["data"]["task"]["taskId"]
            .clone();
    let waiting = server
        .ask("POST", "/api/v1/tools/delete-task/call?wait=60")
        .key(&agent)
        .body(json!({ "params": { "taskId": id } }))
        .send();
    let deciding = async {
        loop {
            let open = server.ask("GET", "/api/v1/approvals").owner().send().await.json();
            if let Some(id) = open["approvals"][0]["id"].as_str() {
                let path = format!("/api/v1/approvals/{id}");
                break server.ask("POST", path).owner().body(json!({ "decision": "deny" })).send().await;
            }
            tokio::task::yield_now().await;
        }
    };
    let (answer, decided) = tokio::join!(waiting, deciding);
    assert_eq!(decided.json()["state"], "denied");
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (403, "approval_denied"));
}

#[tokio::test]
async fn another_users_log_and_matters_do_not_exist() {
    let server = TestServer::new();
    let (ada, bob) = (
        server.key(json!({ "user": "ada" })).await,
        server.key(json!({ "user": "bob", "person": true })).await,
    );
    let made = server.call(&ada, "create-task", json!({ "title": "Mine" })).await.json();
    let execution = made["metadata"]["executionId"].as_str().unwrap().to_owned();
    let foreign = server.ask("GET", format!("/api/v1/executions/{execution}")).key(&bob).send().await;
    assert_eq!(foreign.status, 404);
    let listed = server.ask("GET", "/api/v1/executions?user=ada").key(&bob).send().await.json();
    assert_eq!(listed["executions"], json!([]));
    let waiting =
        server.call(&ada, "delete-task", json!({ "taskId": made["data"]["task"]["taskId"] })).await.json();
    let path = format!("/api/v1/approvals/{}", waiting["pending"]["id"].as_str().unwrap());
    let foreign = server.ask("POST", path).key(&bob).body(json!({ "decision": "approve" })).send().await;
    let unknown = server
        .ask("POST", "/api/v1/approvals/0198a0a0-0000-7000-8000-000000000000")
        .key(&bob)
        .body(json!({ "decision": "approve" }))
        .send()
        .await;
    assert_eq!((foreign.status, &foreign.json()["detail"]), (unknown.status, &unknown.json()["detail"]));
    let reader = server.key(json!({ "user": "carl", "grants": ["executions:read"] })).await;
    let all = server.ask("GET", "/api/v1/executions?user=ada").key(&reader).send().await.json();
    assert_eq!(all["executions"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_idempotency_key_by_header_gives_the_first_answer_again() {
    let server = TestServer::new();
    let call = || async {
        server
            .ask("POST", "/api/v1/tools/create-task/call")
            .header("idempotency-key", "k-1")
            .body(json!({ "params": { "title": "Once" } }))
            .send()
            .await
            .json()
    };
    let (first, second) = (call().await, call().await);
    assert_eq!(first["data"], second["data"]);
    assert_eq!(second["metadata"]["replayed"], true);
    let tasks = server.function_local("assistant", "list_tasks").await;
    assert_eq!(tasks["count"], 1);
}

#[tokio::test]
async fn a_time_zone_is_kept_and_dates_in_words_follow_it() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let bad = server.ask("PUT", "/api/v1/me").key(&key).body(json!({ "timezone": "Mars/Base" })).send().await;
    assert_eq!(bad.status, 400);
    let set = server
        .ask("PUT", "/api/v1/me")
        .key(&key)
        .body(json!({ "timezone": "Asia/Tokyo" }))
        .send()
        .await
        .json();
    assert_eq!(set["timezone"], "Asia/Tokyo");
    let made = server
        .ask("POST", "/api/v1/tools/create-task/call")
        .key(&key)
        .body(json!({
            "params": { "title": "Tea", "due": "tomorrow 9am" },
            "context": { "timestamp": "2026-11-15T20:00:00Z" },
        }))
        .send()
        .await
        .json();
    // In Tokyo it is the 16th already.
    assert_eq!(made["data"]["task"]["due"], "2026-11-17T00:00:00Z", "{made}");
}

#[tokio::test]
async fn a_dry_run_changes_nothing_and_says_what_would_happen() {
    let server = TestServer::new();
    let answer = server
        .ask("POST", "/api/v1/tools/create-task/call")
        .header("x-dry-run", "true")
        .body(json!({ "params": { "title": "Maybe" } }))
        .send()
        .await
        .json();
    assert_eq!((&answer["data"]["dryRun"], &answer["metadata"]["dryRun"]), (&json!(true), &json!(true)));
    assert_eq!(server.function_local("assistant", "list_tasks").await["count"], 0);
}

#[tokio::test]
async fn wrong_paths_methods_and_bodies_are_problem_documents() {
    let server = TestServer::new();
    for (method, path, body, status) in [
        ("GET", "/nowhere", None, 404),
        ("DELETE", "/healthz", None, 405),
        ("PUT", "/api/v1/me", Some(json!({ "nonsense": 1 })), 400),
        ("POST", "/api/v1/tools/get-status/call", None, 415),
    ] {
        let mut ask = server.ask(method, path);
        if let Some(body) = body {
            ask = ask.body(body);
        }
        let answer = ask.send().await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        assert_eq!(answer.headers["content-type"], "application/problem+json", "{method} {path}");
        assert!(answer.json()["code"].is_string());
    }
}

#[tokio::test]
async fn health_readiness_metrics_and_pages_answer() {
    let server = TestServer::new();
    assert_eq!(server.ask("GET", "/healthz").send().await.text, "ok\n");
    assert_eq!(server.ask("GET", "/readyz").send().await.json()["ready"], true);
    server.call_local("get-status").await;
    let metrics = server.ask("GET", "/metrics").send().await.text;
    assert!(metrics.contains("toolroom_executions_total{tool=\"get-status\",status=\"ok\"} 1"), "{metrics}");
    for name in ["execution_duration_seconds_bucket", "cache_hits_total", "queue_depth"] {
        assert!(metrics.contains(&format!("toolroom_{name}")), "{name}");
    }
    assert!(server.ask("GET", "/docs").send().await.text.contains("/api/v1/tools/{name}/call"));
    assert!(server.ask("GET", "/docs/errors").send().await.text.contains("id=\"rate_limited\""));
}

#[tokio::test]
async fn metrics_come_in_the_classic_format_too_with_help_for_every_name() {
    let server = TestServer::new();
    server.call_local("get-status").await;
    let answer = server.ask("GET", "/metrics").header("accept", "text/plain;version=0.0.4").send().await;
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = answer.text;
    assert!(!text.contains("# EOF") && text.contains("\nprocess_resident_memory_bytes "), "{text}");
    assert!(text.contains("toolroom_build_info{version=\""), "{text}");
    assert!(text.contains("toolroom_http_requests_total{area=\"api\",status=\"2xx\"} 1\n"), "{text}");
    let described = |start: &str| -> Vec<&str> {
        text.lines().filter_map(|line| line.strip_prefix(start)?.split(' ').next()).collect()
    };
    let (help, types) = (described("# HELP "), described("# TYPE "));
    assert_eq!(help, types);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        assert!(types.contains(&name) || family.is_some_and(|family| types.contains(&family)), "{line}");
    }
    for line in text.lines().filter(|line| line.starts_with("# TYPE") && line.ends_with(" counter")) {
        assert!(line.ends_with("_total counter"), "{line}");
    }
    // Scrapers that take both get OpenMetrics.
    let both = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    let answer = server.ask("GET", "/metrics").header("accept", both).send().await;
    assert!(answer.text.ends_with("# EOF\n"), "{}", answer.text);
    // What the board asks for is there. Meters without samples are not shown, so that the sources are looked at.
    let sources = [
        include_str!("../../../runtime/src/metrics/mod.rs"),
        include_str!("../../../runtime/src/metrics/http.rs"),
        include_str!("../../../runtime/src/metrics/process.rs"),
    ]
    .concat();
    let board = include_str!("../../../../deploy/grafana/toolroom.json");
    let names = board.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    for name in names.filter(|name| name.starts_with("toolroom_") || name.starts_with("process_")) {
        let family = name.trim_end_matches("_bucket").trim_end_matches("_total");
        let family = family.strip_prefix("toolroom_").unwrap_or(family);
        assert!(
            sources.contains(&format!("\"{family}\"")) || text.contains(&format!("# TYPE {name} ")),
            "{name}"
        );
    }
}

#[tokio::test]
async fn calls_that_wait_for_a_person_are_not_counted_as_errors() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let made = server.call(&key, "create-task", json!({ "title": "Buy milk" })).await.json();
    let asked = server.call(&key, "delete-task", json!({ "taskId": made["data"]["task"]["taskId"] })).await;
    assert_eq!(asked.json()["error"]["code"], "approval_required", "{}", asked.text);
    let metrics = server.ask("GET", "/metrics").owner().send().await.text;
    assert!(
        metrics.contains("toolroom_executions_total{tool=\"delete-task\",status=\"waiting\"} 1"),
        "{metrics}"
    );
    assert!(
        metrics.contains("toolroom_executions_total{tool=\"delete-task\",status=\"error\"} 0"),
        "{metrics}"
    );
    assert!(!metrics.contains("approval_required"), "{metrics}");
}

#[tokio::test]
async fn the_committed_openapi_document_is_the_one_that_is_served() {
    let server = TestServer::new();
    let served = server.ask("GET", "/openapi.json").send().await.json();
    let text = serde_json::to_string_pretty(&served).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/openapi.json");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == text,
        "schema/openapi.json is not what is served: run with UPDATE_EXPECT=1 and look at the diff"
    );
}

impl TestServer {
    async fn function_local(&self, profile: &str, name: &str) -> Value {
        self.ask("POST", format!("/api/v1/profiles/{profile}/functions/{name}"))
            .body(json!({}))
            .send()
            .await
            .json()
    }

    async fn call_local(&self, tool: &str) -> Value {
        self.ask("POST", format!("/api/v1/tools/{tool}/call")).body(json!({})).send().await.json()
    }
}
