//! The resources and prompts of other servers. They are read by calls of our tools for that, so that permission,
//! limits and journal are those of every call.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolroom_contract::context::ContextFields;
use toolroom_contract::{ErrorCode, Reporter};
use toolroom_runtime::catalogue::{Executor, Shown};
use toolroom_runtime::federation::{RemoteResources, ResourceTool, Server, mapped, prompt_names, unmapped};
use toolroom_runtime::{CallRequest, Edge, Reply};

use super::{
    Answering, AskedPrompt, Completes, Completing, Contents, Prompt, PromptArgument, PromptEnding,
    PromptText, Resource, ResourceTemplate, Source, SourceError, Visitor, ready,
};

/// The servers of `mcp.json`.
pub(super) struct Servers;

impl Source for Servers {
    fn resources<'a>(&'a self, visitor: Visitor<'a>) -> Answering<'a, Vec<Resource>> {
        let mut found = Vec::new();
        for (server, _) in shown(visitor, ResourceTool::ReadResource) {
            let offers = server.offers();
            found.extend(offers.resources.iter().filter_map(|one| {
                let mut resource: Listed = read(&one.raw)?;
                resource.more.shift_remove("uri");
                Some(Resource {
                    uri: mapped(server.published(), &one.uri),
                    name: resource.name.unwrap_or_else(|| one.uri.clone()),
                    title: resource.title,
                    description: resource.description,
                    mime_type: resource.mime_type,
                    size: resource.size,
                    more: resource.more,
                })
            }));
        }
        ready(found)
    }

    fn templates(&self, visitor: Visitor<'_>) -> Vec<ResourceTemplate> {
        let mut found = Vec::new();
        for (server, _) in shown(visitor, ResourceTool::ReadResource) {
            let offers = server.offers();
            found.extend(offers.templates.iter().filter_map(|one| {
                let mut template: Listed = read(&one.raw)?;
                template.more.shift_remove("uriTemplate");
                Some(ResourceTemplate {
                    uri_template: mapped(server.published(), &one.uri_template),
                    name: template.name.unwrap_or_else(|| one.uri_template.clone()),
                    title: template.title,
                    description: template.description,
                    mime_type: template.mime_type,
                    more: template.more,
                })
            }));
        }
        found
    }

    fn read<'a>(&'a self, visitor: Visitor<'a>, uri: &'a str) -> Answering<'a, Option<Vec<Contents>>> {
        let Some((server, tool, own)) = place(visitor, uri) else { return ready(None) };
        Box::pin(async move {
            let reply = call(visitor, tool, json!({ "uri": own }), None).await;
            let contents = match data(&reply)? {
                None => return Ok(None),
                Some(data) => data.get("contents").cloned().unwrap_or_default(),
            };
            let contents: Vec<Read> = serde_json::from_value(contents).map_err(|_| {
                SourceError::Failed(format!("The server '{}' gave no contents.", server.name()))
            })?;
            // A client that asked by the server's own address gets it back.
            let shown =
                |own: String| if unmapped(uri).is_some() { mapped(server.published(), &own) } else { own };
            let given = contents.into_iter().map(|one| Contents {
                uri: shown(one.uri),
                mime_type: one.mime_type,
                text: one.text,
                blob: one.blob,
                meta: one.meta,
                more: one.more,
            });
            Ok(Some(given.collect()))
        })
    }

    fn watches(&self, visitor: Visitor<'_>, uri: &str) -> bool {
        let Some((server, own)) = unmapped(uri) else { return false };
        let found =
            shown(visitor, ResourceTool::ReadResource).into_iter().find(|(one, _)| one.published() == server);
        found.is_some_and(|(server, _)| server.follow(own))
    }

    fn prompts<'a>(&'a self, visitor: Visitor<'a>) -> Answering<'a, Vec<Prompt>> {
        let mut found = Vec::new();
        for (server, _) in shown(visitor, ResourceTool::GetPrompt) {
            let offers = server.offers();
            for (one, name) in offers.prompts.iter().zip(prompt_names(&server, &offers)) {
                let Some(mut prompt) = read::<ListedPrompt>(&one.raw) else { continue };
                prompt.more.shift_remove("name");
                found.push(Prompt {
                    name,
                    title: prompt.title,
                    description: prompt.description,
                    arguments: prompt.arguments.into_iter().map(ListedArgument::shown).collect(),
                    more: prompt.more,
                });
            }
        }
        ready(found)
    }

    fn prompt<'a>(
        &'a self,
        visitor: Visitor<'a>,
        asked: AskedPrompt<'a>,
    ) -> Answering<'a, Option<PromptEnding>> {
        let Some((_, tool, own)) = prompt_behind(visitor, asked.name) else { return ready(None) };
        Box::pin(async move {
            let client = Some(Arc::new(asked.client.clone()));
            let reply =
                call(visitor, tool, json!({ "name": own, "arguments": asked.arguments }), client).await;
            if let Some(asks) = reply.asks {
                return Ok(Some(PromptEnding::Asks(*asks)));
            }
            let Some(data) = data(&reply)? else { return Ok(None) };
            let messages = data.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
            let description = data.get("description").and_then(Value::as_str).map(str::to_owned);
            Ok(Some(PromptEnding::Done(PromptText { description, messages })))
        })
    }

    fn complete<'a>(
        &'a self,
        visitor: Visitor<'a>,
        asked: Completing<'a>,
    ) -> Answering<'a, Option<Vec<String>>> {
        let (server, reference) = match asked.of {
            Completes::Prompt(name) => {
                let Some((server, _, own)) = prompt_behind(visitor, name) else { return ready(None) };
                (server, json!({ "type": "ref/prompt", "name": own }))
            }
            Completes::Template(uri) => {
                let Some((server, _, own)) = place(visitor, uri) else { return ready(None) };
                (server, json!({ "type": "ref/resource", "uri": own }))
            }
        };
        Box::pin(async move {
            let argument = json!({ "name": asked.argument, "value": asked.value });
            let Some(upstream) = server.upstream() else { return Ok(None) };
            let answered = upstream.complete(&reference, &argument).await;
            let raw = answered
                .map_err(|error| SourceError::Failed(error.into_tool_error(server.name()).message))?;
            let completed: Completed = serde_json::from_str(raw.get()).unwrap_or_default();
            Ok(Some(completed.completion.values))
        })
    }
}

/// The servers whose resources or prompts the visitor may use, with the published name of the tool for that.
fn shown(visitor: Visitor<'_>, reading: ResourceTool) -> Vec<(Arc<Server>, String)> {
    let runtime = &visitor.app.runtime;
    let snapshot = runtime.registry.snapshot();
    let Some(view) = snapshot.view(visitor.principal, visitor.profile, runtime.today()) else {
        return Vec::new();
    };
    let fits = |shown: Shown<'_>| match &shown.tool.executor {
        Executor::Upstream(federated) if federated.reading() == Some(reading) => {
            Some((Arc::clone(federated.server()), shown.name.to_owned()))
        }
        _ => None,
    };
    view.tools().filter_map(fits).collect()
}

/// The server behind an address, the tool that reads there, and the server's own address. Results carry servers' own
/// addresses, so that those are taken too where one server alone has them.
fn place(visitor: Visitor<'_>, uri: &str) -> Option<(Arc<Server>, String, String)> {
    let mut servers = shown(visitor, ResourceTool::ReadResource);
    if let Some((name, own)) = unmapped(uri) {
        let (server, tool) = servers.into_iter().find(|(server, _)| server.published() == name)?;
        return Some((server, tool, own.to_owned()));
    }
    servers.retain(|(server, _)| has(&server.offers(), uri));
    match servers.len() {
        1 => servers.pop().map(|(server, tool)| (server, tool, uri.to_owned())),
        _ => None,
    }
}

fn has(offers: &RemoteResources, uri: &str) -> bool {
    let begins = |template: &str| {
        let fixed = template.split('{').next().unwrap_or_default();
        template == uri || fixed.len() < template.len() && !fixed.is_empty() && uri.starts_with(fixed)
    };
    offers.resources.iter().any(|one| one.uri == uri)
        || offers.templates.iter().any(|one| begins(&one.uri_template))
}

fn prompt_behind(visitor: Visitor<'_>, name: &str) -> Option<(Arc<Server>, String, String)> {
    shown(visitor, ResourceTool::GetPrompt).into_iter().find_map(|(server, tool)| {
        let offers = server.offers();
        let at = prompt_names(&server, &offers).iter().position(|one| one == name)?;
        let own = offers.prompts[at].name.clone();
        Some((server, tool, own))
    })
}

/// A call through the pipeline, for the visitor and under their profile.
pub(super) async fn call(
    visitor: Visitor<'_>,
    tool: String,
    params: Value,
    client: Option<Arc<toolroom_contract::ClientSide>>,
) -> Reply {
    let request = CallRequest {
        profile: Cow::Owned(visitor.profile.to_owned()),
        name: tool,
        params,
        principal: Arc::clone(visitor.principal),
        context: ContextFields { client, ..ContextFields::default() },
        edge: Edge::Mcp,
        reporter: Reporter::default(),
    };
    visitor.app.runtime.call(request).await
}

/// The data of a reply; `None` if there is no such thing.
pub(super) fn data(reply: &Reply) -> Result<Option<&Value>, SourceError> {
    match reply.result.error() {
        None => Ok(reply.result.data()),
        Some(error) => match error.code {
            ErrorCode::NotFound | ErrorCode::ToolNotFound => Ok(None),
            ErrorCode::InvalidInput => Err(SourceError::Refused(error.message.clone())),
            _ => Err(SourceError::Failed(error.message.clone())),
        },
    }
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    mime_type: Option<String>,
    size: Option<u64>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Deserialize)]
struct ListedPrompt {
    title: Option<String>,
    description: Option<String>,
    #[serde(default)]
    arguments: Vec<ListedArgument>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Deserialize)]
struct ListedArgument {
    name: String,
    description: Option<String>,
    #[serde(default)]
    required: Option<bool>,
}

impl ListedArgument {
    fn shown(self) -> PromptArgument {
        let Self { name, description, required } = self;
        PromptArgument { name, description, required: required.unwrap_or(false) }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    uri: String,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
    #[serde(rename = "_meta")]
    meta: Option<Value>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Default, Deserialize)]
struct Completed {
    completion: Values,
}

#[derive(Default, Deserialize)]
struct Values {
    #[serde(default)]
    values: Vec<String>,
}
