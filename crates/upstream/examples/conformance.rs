//! The client that the official conformance suite runs: `conformance URL`. It asks the suite's server for all
//! that it lists, and answers what it is asked with the defaults of the question.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use toolroom_upstream::answers::{Answering, Asked};
use toolroom_upstream::config::{Author, Standing, read_server};
use toolroom_upstream::contracts::{FederatedTool, catalogue};
use toolroom_upstream::{
    Answers, CallOptions, Identity, RemotePrompt, RemoteResource, RemoteTool, Reply, Resumption,
    Surroundings, Target, Upstream,
};

/// A tool that has nothing to do with the one that asks for input.
const UNRELATED: &str = "test_mrtr_unrelated";

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().next_back().context("the URL is missing")?;
    let entry = read_server("suite", &json!({ "url": url }), &|_| None, Author::File)?;
    let Standing::Enabled(config) = entry.standing else { bail!("the entry is disabled") };
    let server = Upstream::new(*config, Arc::new(Identity::toolroom()), Surroundings::default());
    let done = ask_for_everything(&server).await;
    server.shutdown().await;
    done
}

async fn ask_for_everything(server: &Upstream) -> Result<()> {
    let context: Value = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Value::Null,
    };
    let tools = server.list::<RemoteTool>().await?;
    let made = catalogue(server.config(), &tools.items);
    for tool in &made.tools {
        for arguments in arguments(&context, tool, &tools.items)? {
            call(server, tool, &arguments, &made.tools).await?;
        }
    }
    for resource in server.list::<RemoteResource>().await?.items {
        server.reach(Target::Resource(&resource.uri), &CallOptions::default()).await?;
    }
    for prompt in server.list::<RemotePrompt>().await?.items {
        let target = Target::Prompt { name: &prompt.name, arguments: &json!({}) };
        server.reach(target, &CallOptions::default()).await?;
    }
    Ok(())
}

/// What the suite wants a tool to be called with; each an object.
fn arguments(context: &Value, tool: &FederatedTool, all: &[RemoteTool]) -> Result<Vec<Value>> {
    let wanted = context["toolCalls"].as_array().into_iter().flatten();
    let given: Vec<Value> = wanted
        .filter(|call| call["name"] == tool.remote.name)
        .map(|call| call["arguments"].clone())
        .collect();
    if !given.is_empty() {
        return Ok(given);
    }
    if tool.remote.name != "json_schema_echo" {
        let properties = tool.definition.parameters["properties"].as_object().cloned().unwrap_or_default();
        return Ok(vec![Value::Object(
            properties.into_iter().map(|(name, schema)| (name, sample(&schema))).collect(),
        )]);
    }
    let focal = all.iter().find(|one| one.name == "json_schema_2020_12_tool").context("no tool to echo")?;
    let said: Value = serde_json::from_str(focal.raw.get())?;
    Ok(vec![json!({ "schema": said["inputSchema"] })])
}

async fn call(
    server: &Upstream,
    tool: &FederatedTool,
    arguments: &Value,
    all: &[FederatedTool],
) -> Result<()> {
    let mut options = CallOptions {
        answers: Some(Arc::new(Defaults)),
        capabilities: Some(json!({ "elicitation": { "form": {} }, "sampling": {} })),
        ..CallOptions::default()
    };
    for _ in 0..5 {
        let target = Target::Tool { name: &tool.remote.name, arguments, headers: &tool.headers };
        let Reply::InputRequired(wanted) = server.reach(target, &options).await? else { return Ok(()) };
        if all.iter().any(|one| one.remote.name == UNRELATED) {
            let unrelated = Target::Tool { name: UNRELATED, arguments: &json!({}), headers: &[] };
            server.reach(unrelated, &CallOptions::default()).await?;
        }
        let requests: Map<String, Value> = match &wanted.requests {
            Some(raw) => serde_json::from_str(raw.get())?,
            None => Map::new(),
        };
        let responses: Map<String, Value> =
            requests.into_iter().map(|(key, request)| (key, answer(&request["params"]))).collect();
        let responses = Some(to_raw_value(&responses)?);
        options.resumption = Some(Resumption { responses, state: wanted.state });
    }
    bail!("{} asks without end", tool.remote.name)
}

/// Answers each question with its defaults.
struct Defaults;

impl Answers for Defaults {
    fn answer(&self, asked: Asked) -> Answering<'_> {
        Box::pin(async move {
            let params = asked.params.map(|raw| serde_json::from_str(raw.get()).unwrap_or_default());
            let answered = answer(&params.unwrap_or(Value::Null));
            Ok(to_raw_value(&answered).unwrap_or_else(|_| <Box<RawValue>>::default()))
        })
    }
}

fn answer(params: &Value) -> Value {
    let properties = params["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
    let content: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name, sample(&schema))).collect();
    json!({ "action": "accept", "content": content })
}

/// A value that fits a plain schema.
fn sample(schema: &Value) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    match schema["type"].as_str() {
        Some("number" | "integer") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    }
}
