//! One user at one profile, and answers made comparable.

use serde_json::{Map, Value, json};

use crate::test_server::TestServer;

pub struct ProfileClient<'a> {
    pub server: &'a TestServer,
    pub key: String,
    pub profile: &'a str,
}

impl<'a> ProfileClient<'a> {
    pub async fn new(server: &'a TestServer, profile: &'a str, user: &str) -> Self {
        Self { key: server.key(json!({ "user": user })).await, server, profile }
    }

    /// The same user at another profile.
    pub fn at(&self, profile: &'a str) -> Self {
        Self { server: self.server, key: self.key.clone(), profile }
    }

    /// Calls a function; its body is the contract, so that the status is 200 however the call went.
    pub async fn ask(&self, function: &str, params: Value) -> Value {
        let answer = self.server.function(&self.key, self.profile, function, params).await;
        assert_eq!(answer.status, 200, "{function}: {}", answer.text);
        answer.json()
    }

    /// Calls a canonical tool, with its status.
    pub async fn call(&self, tool: &str, params: Value) -> (u16, Value) {
        let answer = self.server.call(&self.key, tool, params).await;
        (answer.status.as_u16(), answer.json())
    }
}

/// Equal to the byte, order of the fields included, once times are replaced by `<time>`.
#[track_caller]
pub fn same(got: &Value, want: Value) {
    assert_eq!(timeless(got).to_string(), want.to_string());
}

fn timeless(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| {
                    let is_time = matches!(name.as_str(), "created_at" | "updated_at") && is_time(value);
                    (name.clone(), if is_time { "<time>".into() } else { timeless(value) })
                })
                .collect::<Map<_, _>>(),
        ),
        Value::Array(items) => items.iter().map(timeless).collect(),
        other => other.clone(),
    }
}

/// Written as the contracts print times: `2026-02-02T14:00:00Z`.
fn is_time(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    text.len() == 20 && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
}

pub fn titles(tasks: &Value) -> Vec<&str> {
    tasks.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap()).collect()
}
