//! `resources/list`, `resources/templates/list`, `resources/read`.

use serde::{Deserialize, Serialize};
use toolroom_mcp::RpcError;

use super::paging::{Hints, Paged, page};
use crate::mcp::read::request::Request;
use crate::mcp::sources::{Contents, Resource, ResourceTemplate};
use crate::mcp::write::result;

/// How long a client may rely on what it read.
const READ_TTL_MS: u64 = 1_000;

pub(crate) async fn list(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    #[derive(Serialize)]
    struct Body<'a> {
        resources: &'a [Resource],
        #[serde(flatten)]
        rest: Paged,
    }
    let all = request.app.mcp.sources.resources(request.visitor()).await?;
    let (resources, rest) = page(request, &all, |resource| &resource.uri)?;
    Ok(result::complete(request.client.revision, &Body { resources, rest }))
}

pub(crate) fn templates(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Body<'a> {
        resource_templates: &'a [ResourceTemplate],
        #[serde(flatten)]
        rest: Paged,
    }
    let all = request.app.mcp.sources.templates(request.visitor());
    let (resource_templates, rest) = page(request, &all, |template| &template.uri_template)?;
    Ok(result::complete(request.client.revision, &Body { resource_templates, rest }))
}

pub(crate) async fn read(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    #[derive(Deserialize)]
    struct Params {
        uri: String,
    }
    #[derive(Serialize)]
    struct Body {
        contents: Vec<Contents>,
        #[serde(flatten)]
        hints: Hints,
    }
    let Params { uri } = request.params()?;
    let revision = request.client.revision;
    let found = request.app.mcp.sources.read(request.visitor(), &uri).await?;
    let contents = found.ok_or_else(|| RpcError::no_resource(revision, &uri))?;
    Ok(result::complete(revision, &Body { contents, hints: Hints::of(revision, READ_TTL_MS) }))
}
