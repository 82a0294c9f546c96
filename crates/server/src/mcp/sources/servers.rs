//! The resources and prompts of other servers. They are read by calls of our tools for that, so that permission,
//! limits and journal are those of every call.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_contract::context::ContextFields;
use toolroom_contract::{ErrorCode, Reporter};
use toolroom_runtime::catalogue::{Executor, Shown};
use toolroom_runtime::federation::{
    RemoteResource, RemoteResources, RemoteTemplate, ResourceTool, Server, mapped, prompt_names, unmapped,
};
use toolroom_runtime::{CallRequest, Edge, Reply};

use super::{
    Answering, AskedPrompt, Completes, Completing, Contents, Prompt, PromptEnding, Resource,
    ResourceTemplate, Source, SourceError, Visitor, ready,
};

/// The servers of `mcp.json`.
pub(super) struct Servers;

impl Source for Servers {
    fn resources<'a>(&'a self, visitor: Visitor<'a>) -> Answering<'a, Vec<Resource>> {
        let mut found = Vec::new();
        for (server, _) in shown(visitor, ResourceTool::ReadResource) {
            let remote_resources = server.remote_resources();
            let listed = remote_resources.resources.iter().filter_map(RemoteResource::listed);
            found.extend(listed.map(|one| Resource { uri: mapped(server.published(), &one.uri), ..one }));
        }
        ready(found)
    }

    fn templates(&self, visitor: Visitor<'_>) -> Vec<ResourceTemplate> {
        let mut found = Vec::new();
        for (server, _) in shown(visitor, ResourceTool::ReadResource) {
            let remote_resources = server.remote_resources();
            let listed = remote_resources.templates.iter().filter_map(RemoteTemplate::listed);
            found.extend(listed.map(|one| ResourceTemplate {
                uri_template: mapped(server.published(), &one.uri_template),
                ..one
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
            let contents: Vec<Contents> = serde_json::from_value(contents).map_err(|_| {
                SourceError::Failed(format!("The server '{}' gave no contents.", server.name()))
            })?;
            // A client that asked by the server's own address gets it back.
            let shown =
                |own: String| if unmapped(uri).is_some() { mapped(server.published(), &own) } else { own };
            let given = contents.into_iter().map(|one| Contents { uri: shown(one.uri), ..one });
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
            let remote_resources = server.remote_resources();
            for (one, name) in remote_resources.prompts.iter().zip(prompt_names(&server, &remote_resources)) {
                found.extend(one.listed().map(|listed| Prompt { name, ..listed }));
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
            let text = serde_json::from_value(data.clone()).unwrap_or_default();
            Ok(Some(PromptEnding::Done(text)))
        })
    }

    fn complete<'a>(
        &'a self,
        visitor: Visitor<'a>,
        asked: Completing<'a>,
    ) -> Answering<'a, Option<Vec<String>>> {
        let found = match asked.of {
            Completes::Prompt(name) => prompt_behind(visitor, name),
            Completes::Template(uri) => place(visitor, uri),
        };
        let Some((server, _, own)) = found else { return ready(None) };
        Box::pin(async move {
            let of = match asked.of {
                Completes::Prompt(_) => Completes::Prompt(&own),
                Completes::Template(_) => Completes::Template(&own),
            };
            let completed = server.complete(Completing { of, ..asked }).await;
            completed.map_err(|error| SourceError::Failed(error.message))
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
    servers.retain(|(server, _)| has(&server.remote_resources(), uri));
    match servers.len() {
        1 => servers.pop().map(|(server, tool)| (server, tool, uri.to_owned())),
        _ => None,
    }
}

fn has(remote_resources: &RemoteResources, uri: &str) -> bool {
    let begins = |template: &str| {
        let fixed = template.split('{').next().unwrap_or_default();
        template == uri || fixed.len() < template.len() && !fixed.is_empty() && uri.starts_with(fixed)
    };
    remote_resources.resources.iter().any(|one| one.uri == uri)
        || remote_resources.templates.iter().any(|one| begins(&one.uri_template))
}

fn prompt_behind(visitor: Visitor<'_>, name: &str) -> Option<(Arc<Server>, String, String)> {
    shown(visitor, ResourceTool::GetPrompt).into_iter().find_map(|(server, tool)| {
        let remote_resources = server.remote_resources();
        let at = prompt_names(&server, &remote_resources).iter().position(|one| one == name)?;
        let own = remote_resources.prompts[at].name.clone();
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
