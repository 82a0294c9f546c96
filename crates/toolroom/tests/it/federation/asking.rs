//! A stateless client and servers that ask in the middle of a call.

use serde_json::{Value, json};

use super::test_servers::{MCP1, MCP2, key, mcp, python, settled, write};
use crate::test_home::{Served, TestHome};

#[test]
fn a_stateless_client_is_asked_the_questions_of_servers_of_both_eras() {
    let home = TestHome::new();
    write(&home, json!({ "old": python(MCP1, "upstream_mcp1.py"), "new": python(MCP2, "upstream_mcp2.py") }));
    let ada = key(&home, &["old:call", "new:call"]);
    let served = home.serve();
    for server in ["old", "new"] {
        settled(&home, server, "ready", 7);
        let (question, state) = asked(&served, &ada, server);
        assert!(question.to_string().contains("Who is there?"), "{question}");
        let answered = answer(&served, &ada, server, &question, &state, &json!({ "name": "Ada" }));
        assert_eq!(answered["content"][0]["text"], "accept: Ada", "{server}: {answered}");
        let again = answer(&served, &ada, server, &question, &state, &json!({ "name": "Eve" }));
        assert!(!again.to_string().contains("accept: Eve"), "a state is used once: {again}");
    }
}

#[test]
fn a_client_that_cannot_be_asked_is_not_asked() {
    let home = TestHome::new();
    write(&home, json!({ "old": python(MCP1, "upstream_mcp1.py") }));
    let ada = key(&home, &["old:call"]);
    let served = home.serve();
    settled(&home, "old", "ready", 7);
    let answered =
        mcp(&served, &ada, "tools/call", json!({ "name": "old__ask", "arguments": {} }), json!({}));
    assert_eq!(answered["content"][0]["text"], "cancel: ", "{answered}");
}

/// The questions of a call, by key, and the state that goes with them.
fn asked(served: &Served, key: &str, server: &str) -> (Value, Value) {
    let params = json!({ "name": format!("{server}__ask"), "arguments": {} });
    let result = mcp(served, key, "tools/call", params, json!({ "elicitation": {} }));
    assert_eq!(result["resultType"], "input_required", "{server}: {result}");
    (result["inputRequests"].clone(), result["requestState"].clone())
}

fn answer(served: &Served, key: &str, server: &str, asked: &Value, state: &Value, content: &Value) -> Value {
    let answers = asked.as_object().unwrap().keys();
    let answers: serde_json::Map<String, Value> =
        answers.map(|key| (key.clone(), json!({ "action": "accept", "content": content }))).collect();
    let params = json!({
        "name": format!("{server}__ask"), "arguments": {}, "inputResponses": answers, "requestState": state,
    });
    super::test_servers::mcp_any(served, key, "tools/call", params, json!({ "elicitation": {} }))
}
