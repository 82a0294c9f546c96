//! `completion/complete`: what an argument of a prompt or a resource template may be.

use serde::{Deserialize, Serialize};

use crate::mcp::error::RpcError;
use crate::mcp::request::Request;
use crate::mcp::result;
use crate::mcp::sources::ranking::rank;
use crate::mcp::sources::{Completes, Completing};

/// As many as the protocol lets us give.
const MOST: usize = 100;

#[derive(Deserialize)]
struct Params {
    r#ref: Reference,
    argument: Argument,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Reference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Resource { uri: String },
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

#[derive(Serialize)]
struct Body {
    completion: Completion,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Completion {
    values: Vec<String>,
    total: usize,
    has_more: bool,
}

pub(crate) async fn answer(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let Params { r#ref, argument } = request.params()?;
    let sources = &request.app.mcp.sources;
    let of = match &r#ref {
        Reference::Prompt { name } => {
            let all = sources.prompts(request.visitor()).await?;
            if !all.iter().any(|prompt| prompt.name == *name) {
                return Err(RpcError::invalid_params("ref: unknown prompt; see prompts/list."));
            }
            Completes::Prompt(name)
        }
        Reference::Resource { uri } => Completes::Template(uri),
    };
    let asked = Completing { of, argument: &argument.name, value: &argument.value };
    let found = sources.complete(request.visitor(), asked).await?;
    let (values, total) = rank(found, &argument.value, MOST);
    let completion = Completion { has_more: total > values.len(), values, total };
    Ok(result::complete(request.client.revision, &Body { completion }))
}
