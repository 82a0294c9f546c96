//! The client that the official conformance suites run. It asks the suite's server for all that it lists,
//! answers what it is asked with the defaults of the question, and says yes to every login.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use toolroom_outgoing::{Limits, Outgoing, Url};
use toolroom_upstream::answers::{Answering, Asked};
use toolroom_upstream::config::{Author, Standing, read_server};
use toolroom_upstream::contracts::{FederatedTool, catalogue};
use toolroom_upstream::{
    Answers, CallOptions, Consent, Identity, RemotePrompt, RemoteResource, RemoteTool, Reply, Resumption,
    SpawnEnv, Target, Upstream, Visit,
};

/// A tool that has nothing to do with the one that asks for input.
const UNRELATED: &str = "test_mrtr_unrelated";

/// The document that the suite knows us by.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// Goes through one scenario, which the suite describes in variables.
pub async fn run_as_client(url: &str) -> Result<()> {
    let context: Value = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Value::Null,
    };
    let entry = json!({ "url": url, "oauth": oauth(&context) });
    let entry = read_server("suite", &entry, &|_| None, Author::File)?;
    let Standing::Enabled(config) = entry.standing else { bail!("the entry is disabled") };
    let spawn_env = SpawnEnv { consent: Some(Arc::new(Yes)), ..SpawnEnv::default() };
    let server = Upstream::new(*config, Arc::new(Identity::toolroom()), spawn_env);
    let done = ask_for_everything(&server, &context).await;
    server.shutdown().await;
    done
}

/// What an administrator would write for a server of this scenario. The suite's authorization servers are on
/// this machine.
fn oauth(context: &Value) -> Value {
    let mut oauth = json!({ "allow_private": true, "client_metadata_url": CLIENT_DOCUMENT });
    for (field, given) in
        [("client_id", "client_id"), ("client_secret", "client_secret"), ("private_key", "private_key_pem")]
    {
        if let Some(value) = context.get(given) {
            oauth[field] = value.clone();
        }
    }
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    if scenario.starts_with("auth/client-credentials") {
        oauth["grant"] = json!("client_credentials");
    }
    if let Some(id_token) = context.get("idp_id_token") {
        oauth["identity"] = json!({
            "token_url": context["idp_token_endpoint"],
            "client_id": context["idp_client_id"],
            "id_token": id_token,
        });
    }
    oauth
}

/// A person who says yes to everything: their browser only follows the redirect.
#[derive(Debug)]
struct Yes;

impl Consent for Yes {
    fn redirect_uri(&self) -> Url {
        Url::parse("http://localhost:3000/callback").unwrap_or_else(|_| unreachable!("it is a URL"))
    }

    fn visit<'a>(&'a self, _: &'a str, url: &'a Url) -> Visit<'a> {
        Box::pin(async move {
            let outgoing = Outgoing::new(Limits::default()).allow_private(url.clone());
            let browser = outgoing.client_for(url).map_err(|error| error.to_string())?;
            let answer = browser.get(url.clone()).send().await.map_err(|error| error.to_string())?;
            let location = answer.headers().get("location").and_then(|location| location.to_str().ok());
            Url::parse(location.ok_or("no redirect")?).map_err(|error| error.to_string())
        })
    }
}

async fn ask_for_everything(server: &Upstream, context: &Value) -> Result<()> {
    let tools = server.list::<RemoteTool>().await?;
    let made = catalogue(server.config(), &tools.items);
    for tool in &made.tools {
        for arguments in arguments(context, tool, &tools.items)? {
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
        let requests = wanted.requests.into_iter();
        let responses = requests.map(|(key, request)| (key, answer(&request.params))).collect();
        options.resumption = Some(Resumption { responses, state: wanted.state });
    }
    bail!("{} asks without end", tool.remote.name)
}

/// Answers each question with its defaults.
struct Defaults;

impl Answers for Defaults {
    fn answer(&self, asked: Asked) -> Answering<'_> {
        Box::pin(async move { Ok(answer(&asked.params)) })
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
