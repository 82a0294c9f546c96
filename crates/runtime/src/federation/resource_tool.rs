//! A server's resources and prompts as tools of ours, so that callers of tools can use them, and under the same
//! permission, limits and journal.

use serde_json::{Value, json};
use toolroom_contract::{
    Answer, Category, Ending, ErrorCode, Permission, ResponseTime, ToolContext, ToolDefinition, ToolError,
};
use toolroom_upstream::names::federated;
use toolroom_upstream::{CallOptions, Reply, Resumption, Target, UpstreamError, answers};

use super::approved::ApprovedServer;
use super::bridge;
use super::remote_resources::unmapped;
use super::server::Server;
use super::tool::{Federated, meta, owner};
use crate::catalogue::Tool;

/// A way to a server's resources or prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceTool {
    /// What there is to read.
    ListResources,
    /// Reads.
    ReadResource,
    /// Fills in a prompt.
    GetPrompt,
}

impl ResourceTool {
    /// The second half of its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ListResources => "list-resources",
            Self::ReadResource => "read-resource",
            Self::GetPrompt => "get-prompt",
        }
    }

    fn parameters(self) -> Value {
        match self {
            Self::ListResources => {
                json!({ "type": "object", "properties": {}, "additionalProperties": false })
            }
            Self::ReadResource => json!({
                "type": "object",
                "properties": {
                    "uri": { "type": "string", "minLength": 1, "maxLength": 8192, "description": "The address of the resource" },
                },
                "required": ["uri"],
                "additionalProperties": false,
            }),
            Self::GetPrompt => json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string", "minLength": 1, "maxLength": 256, "description": "The prompt's own name" },
                    "arguments": {
                        "type": "object", "additionalProperties": { "type": "string" },
                        "description": "What is filled in",
                    },
                },
                "required": ["name"],
                "additionalProperties": false,
            }),
        }
    }

    fn description(self, server: &str, prefix: &str) -> String {
        match self {
            Self::ListResources => format!(
                "Lists what can be read on the MCP server '{server}'. Use it to find the address of a resource before \
                 {prefix}read-resource. Returns resources with their uri, and templates of addresses."
            ),
            Self::ReadResource => format!(
                "Reads a resource of the MCP server '{server}' by its uri. Use it for what {prefix}list-resources \
                 lists, or an address that fits one of its templates. Returns the contents."
            ),
            Self::GetPrompt => format!(
                "Fills in a prompt of the MCP server '{server}'. Use it when a task fits one of the server's prompts. \
                 Returns the messages."
            ),
        }
    }
}

impl Server {
    /// The tools through which its resources and prompts can be used.
    pub(super) fn readings(&self, approved: &ApprovedServer) -> Vec<(ResourceTool, ToolDefinition)> {
        let Some(config) = self.config() else { return Vec::new() };
        let mut wanted = Vec::new();
        // Before a person has looked at the server, nothing that it says is passed on. What a Toolroom has beside its tools,
        // such as its log, it shows to the user of our key, who stands for everybody here.
        if approved.unreviewed || config.toolroom {
            return Vec::new();
        }
        if approved.resources {
            wanted.extend([ResourceTool::ListResources, ResourceTool::ReadResource]);
        }
        wanted.extend(approved.prompts.then_some(ResourceTool::GetPrompt));
        let Ok(permission) = Permission::new(self.published(), "call") else { return Vec::new() };
        // Without a prefix of their own they would all be named alike.
        let prefix =
            Some(config.name_prefix()).filter(|prefix| !prefix.is_empty()).unwrap_or(self.published());
        let names = federated(prefix, wanted.iter().map(|reading| reading.name()));
        let shown = format!("{prefix}__");
        let definition = |(reading, name): (ResourceTool, String)| {
            let definition = ToolDefinition {
                permissions: vec![permission.clone()],
                parameters: reading.parameters(),
                category: Category::Query,
                response_time: ResponseTime::Slow,
                tags: vec!["mcp".to_owned(), self.published().to_owned()],
                timeout: config.timeout.map(|timeout| timeout.as_secs_f64()),
                ..ToolDefinition::query(&name, &reading.description(self.name(), &shown))
            };
            (reading, definition)
        };
        wanted.into_iter().zip(names).map(definition).collect()
    }
}

impl Federated {
    pub(super) async fn read(
        &self,
        reading: ResourceTool,
        tool: &Tool,
        params: &Value,
        context: &ToolContext,
    ) -> Result<Ending, UpstreamError> {
        let upstream = self.server().reachable()?;
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        let nothing = json!({});
        let target = match reading {
            ResourceTool::ListResources => {
                let remote_resources = self.server().resources_read(upstream).await?;
                let list = |raw: &serde_json::value::RawValue| {
                    serde_json::from_str(raw.get()).unwrap_or(Value::Null)
                };
                let resources: Vec<Value> =
                    remote_resources.resources.iter().map(|one| list(&one.raw)).collect();
                let templates: Vec<Value> =
                    remote_resources.templates.iter().map(|one| list(&one.raw)).collect();
                return Ok(done(json!({ "resources": resources, "templates": templates })));
            }
            ResourceTool::ReadResource => match unmapped(text("uri")) {
                Some((server, uri)) if server == self.server().published() => Target::Resource(uri),
                Some(_) => {
                    return Ok(Ending::Failed(ToolError::invalid("/uri", "belongs to another server")));
                }
                None => Target::Resource(text("uri")),
            },
            ResourceTool::GetPrompt => {
                Target::Prompt { name: text("name"), arguments: params.get("arguments").unwrap_or(&nothing) }
            }
        };
        let client = context.client.as_deref();
        let mut options = CallOptions {
            owner: owner(context),
            reporter: context.reporter.clone(),
            timeout: Some(tool.policy.timeout),
            meta: meta(context),
            capabilities: client.map(|client| answers::passed_on(&client.capabilities)),
            repeatable: true,
            ..CallOptions::default()
        };
        if let Some(client) = client
            && let Some(bridge::State::Theirs { state, .. }) = bridge::State::of(context)
        {
            options.resumption = Some(Resumption { responses: client.responses.clone(), state });
        }
        Ok(match upstream.reach(target, &options).await {
            Ok(Reply::Complete(result)) => done(Value::Object(result.fields()?)),
            Ok(Reply::InputRequired(wanted)) => {
                bridge::asks(wanted.requests, &self.server().parking.state(wanted.state))
            }
            // What a server refuses so is not there, or not asked for rightly.
            Err(error) if error.refuses_params() => {
                let code = if reading == ResourceTool::ReadResource {
                    ErrorCode::NotFound
                } else {
                    ErrorCode::InvalidInput
                };
                let message = format!("Server '{}': {}", self.server().name(), error);
                Ending::Failed(ToolError::new(code, message))
            }
            Err(error) => return Err(error),
        })
    }
}

fn done(data: Value) -> Ending {
    match Answer::new(data) {
        Ok(answer) => Ending::Done(answer),
        Err(error) => Ending::Failed(error),
    }
}
