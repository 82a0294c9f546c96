//! Who is let in, as whom, and where.

use serde_json::json;

use crate::test_server::TestServer;

#[tokio::test]
async fn without_any_key_this_machine_acts_as_local_with_plain_grants_and_added_tools() {
    let server = TestServer::new();
    let me = server.ask("GET", "/api/v1/me").send().await.json();
    assert_eq!(me["user"], "local");
    assert_eq!(me["grants"], json!(["tasks:*", "cards:*", "web:search", "humans:ask", "added-tools:use"]));
    assert_eq!(me["person"], false);
}

#[tokio::test]
async fn keyless_requests_from_elsewhere_or_through_a_proxy_are_refused() {
    let server = TestServer::new();
    let far = server.ask("GET", "/api/v1/me").from([10, 1, 2, 3]).send().await;
    assert_eq!((far.status.as_u16(), far.code().as_str()), (401, "unauthenticated"));
    assert!(far.headers.contains_key("www-authenticate"));
    let proxied = server.ask("GET", "/api/v1/me").header("x-forwarded-for", "10.1.2.3").send().await;
    assert_eq!(proxied.status, 401);
}

#[tokio::test]
async fn the_first_key_ends_the_keyless_mode_and_its_revocation_does_not_bring_it_back() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    assert_eq!(server.ask("GET", "/api/v1/me").send().await.status, 401);
    let me = server.ask("GET", "/api/v1/me").key(&key).send().await.json();
    assert_eq!(me["user"], "ada");
    let id = server.ask("GET", "/api/v1/keys").owner().send().await.json()["keys"][0]["id"].clone();
    assert_eq!(server.ask("DELETE", format!("/api/v1/keys/{id}")).owner().send().await.status, 200);
    assert_eq!(server.ask("GET", "/api/v1/me").key(&key).send().await.status, 401, "revoked at once");
    assert_eq!(server.ask("GET", "/api/v1/me").send().await.status, 401);
}

#[tokio::test]
async fn a_key_comes_by_either_header_and_never_twice_or_by_query() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let bearer =
        server.ask("GET", "/api/v1/me").header("authorization", format!("Bearer {key}")).send().await;
    assert_eq!(bearer.status, 200);
    let twice = server
        .ask("GET", "/api/v1/me")
        .key(&key)
        .header("authorization", format!("Bearer {key}"))
        .send()
        .await;
    assert_eq!(twice.status, 401);
    let query = server.ask("GET", format!("/api/v1/me?api_key={key}")).send().await;
    assert_eq!(query.status, 401);
    let basic = server.ask("GET", "/api/v1/me").header("authorization", format!("Basic {key}")).send().await;
    assert_eq!(basic.status, 401);
}

#[tokio::test]
async fn every_route_needs_a_caller_unless_the_table_says_open() {
    let server = TestServer::new();
    server.key(json!({ "user": "ada" })).await;
    let document = server.ask("GET", "/openapi.json").send().await.json();
    let mut open = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = method.to_uppercase();
            let concrete = path.replace("{name}", "x").replace("{id}", "1").replace("{profile}", "default");
            let answer = server.ask(&method, concrete).from([10, 0, 0, 9]).body(json!({})).send().await;
            if operation["x-access"] == "open" {
                open.push(path.clone());
                assert_ne!(answer.status, 401, "{method} {path}");
            } else {
                assert_eq!(answer.status, 401, "{method} {path}");
            }
        }
    }
    open.sort();
    assert_eq!(
        open,
        [
            "/",
            "/api/v1/session",
            "/docs",
            "/docs/errors",
            "/healthz",
            // A browser that comes back from a login shows the state that it was sent off with, and nothing else.
            "/login/callback/{server}",
            "/openapi.json",
            "/readyz"
        ]
    );
}

#[tokio::test]
async fn keys_are_for_the_owner_alone_however_much_a_key_may_do() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["*"], "person": true })).await;
    for (method, path) in [("GET", "/api/v1/keys"), ("POST", "/api/v1/keys"), ("DELETE", "/api/v1/keys/1")] {
        let answer = server.ask(method, path).key(&key).body(json!({ "user": "eve" })).send().await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (403, "forbidden"), "{method} {path}");
    }
}

#[tokio::test]
async fn a_key_without_grants_sees_only_what_needs_none() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["none"] })).await;
    let tools = server.ask("GET", "/api/v1/tools").key(&key).send().await.json();
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["call-tool", "describe-tool", "get-status", "search-tools"]);
    let forbidden = server.call(&key, "list-tasks", json!({})).await;
    let unknown = server.call(&key, "list-taskz", json!({})).await;
    assert_eq!(forbidden.status, 404);
    assert_eq!(forbidden.json()["error"], unknown.json()["error"], "forbidden and unknown read alike");
}

#[tokio::test]
async fn a_key_is_confined_to_its_profiles() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "profiles": ["assistant"] })).await;
    let profiles = server.ask("GET", "/api/v1/profiles").key(&key).send().await.json();
    assert_eq!(profiles["profiles"].as_array().unwrap().len(), 1);
    assert_eq!(server.call(&key, "list-tasks", json!({})).await.status, 404);
    assert_eq!(server.function(&key, "todo_tasks", "list_tasks", json!({})).await.status, 404);
    assert_eq!(server.function(&key, "assistant", "list_tasks", json!({})).await.json()["success"], true);
}

#[tokio::test]
async fn unsound_grants_and_profiles_are_refused_with_a_pointer() {
    let server = TestServer::new();
    let bad = server
        .ask("POST", "/api/v1/keys")
        .owner()
        .body(json!({ "user": "a", "grants": ["tasks:*", "oops"] }));
    let bad = bad.send().await;
    assert_eq!(bad.status, 400);
    assert_eq!(bad.json()["errors"][0]["pointer"], "/grants/1");
    let bad = server
        .ask("POST", "/api/v1/keys")
        .owner()
        .body(json!({ "user": "a", "profiles": ["nope"] }))
        .send()
        .await;
    assert_eq!(bad.json()["errors"][0]["pointer"], "/profiles/0");
    let keys = server.ask("GET", "/api/v1/keys").owner().send().await.json();
    assert_eq!(keys["keys"], json!([]), "nothing was made");
}

#[tokio::test]
async fn the_owner_speaks_for_any_user_with_every_grant() {
    let server = TestServer::new();
    let me = server.ask("GET", "/api/v1/me").owner().header("x-toolroom-user", "bob").send().await.json();
    assert_eq!((me["user"].as_str(), me["person"].as_bool()), (Some("bob"), Some(true)));
    let tcp = server.ask("GET", "/api/v1/me").header("x-toolroom-user", "bob").send().await.json();
    assert_eq!(tcp["user"], "local", "the header counts on the owner's socket alone");
}
