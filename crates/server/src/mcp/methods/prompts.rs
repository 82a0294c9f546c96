//! `prompts/list` and `prompts/get`.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};
use toolroom_contract::{ClientInput, ClientSide};
use toolroom_mcp::{Code, RpcError};

use super::paging::{Paged, page};
use crate::mcp::input::{self, MOST_ROUNDS};
use crate::mcp::read::call_params::CallParams;
use crate::mcp::read::request::Request;
use crate::mcp::seal::{Bound, State};
use crate::mcp::sources::{AskedPrompt, Prompt, PromptEnding};
use crate::mcp::write::input_required::required;
use crate::mcp::write::result;

pub(crate) async fn list(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    #[derive(Serialize)]
    struct Body<'a> {
        prompts: &'a [Prompt],
        #[serde(flatten)]
        rest: Paged,
    }
    let all = request.app.mcp.sources.prompts(request.visitor()).await?;
    let (prompts, rest) = page(request, &all, |prompt| &prompt.name)?;
    Ok(result::complete(request.client.revision, &Body { prompts, rest }))
}

pub(crate) async fn get(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let CallParams { name, arguments, input_responses, request_state } = CallParams::of(&request.fields)?;
    let arguments = arguments.unwrap_or_default();
    check(request, &name, &arguments).await?;
    let mut client = ClientSide {
        capabilities: Arc::clone(&request.client.capabilities.0),
        responses: input_responses.unwrap_or_default(),
        state: match request_state {
            Some(text) => Some(open(request, &name, &arguments, &text).await?),
            None => None,
        },
    };
    for _ in 0..MOST_ROUNDS {
        let asked = AskedPrompt { name: &name, arguments: &arguments, client: &client };
        let found = request.app.mcp.sources.prompt(request.visitor(), asked).await?;
        match found.ok_or_else(unknown)? {
            PromptEnding::Done(text) => return Ok(result::complete(request.client.revision, &text)),
            PromptEnding::Asks(needed) => {
                input::check_capabilities(&request.client.capabilities, &needed.requests)?;
                if request.client.revision.is_stateless() {
                    let state = seal(request, &name, &arguments, &needed).await?;
                    return Ok(required(request.client, &needed.requests, state));
                }
                let responses = input::ask(request.peer, &needed.requests).await;
                client.responses = responses.map_err(|error| {
                    RpcError::new(
                        Code::Internal,
                        format!("The prompt needs an answer from the client: {error}."),
                    )
                })?;
                client.state = needed.state;
            }
        }
    }
    Err(RpcError::new(Code::Internal, "The prompt asks the client again and again."))
}

fn unknown() -> RpcError {
    RpcError::invalid_params("name: unknown prompt, or not allowed for you; see prompts/list.")
}

/// The prompt is there, what it requires is given, and every argument is a text.
async fn check(request: &Request<'_>, name: &str, arguments: &Map<String, Value>) -> Result<(), RpcError> {
    let all = request.app.mcp.sources.prompts(request.visitor()).await?;
    let prompt = all.iter().find(|prompt| prompt.name == name).ok_or_else(unknown)?;
    if let Some((wrong, _)) = arguments.iter().find(|(_, value)| !value.is_string()) {
        return Err(RpcError::invalid_params(format!("arguments/{wrong}: must be a string")));
    }
    let given =
        |name: &str| arguments.get(name).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    match prompt.arguments.iter().find(|argument| argument.required && !given(&argument.name)) {
        Some(missing) => Err(RpcError::invalid_params(format!("arguments/{}: is required", missing.name))),
        None => Ok(()),
    }
}

async fn seal(
    request: &Request<'_>,
    name: &str,
    arguments: &Map<String, Value>,
    needed: &ClientInput,
) -> Result<Option<String>, RpcError> {
    let app = request.app;
    let Some(state) = &needed.state else { return Ok(None) };
    let until = app.runtime.clock.now() + input::PATIENCE;
    let bound = bound(request, name, arguments);
    app.mcp.seals.seal(&app.runtime.store, State::Tool(state.clone()), &bound, until).await.map(Some)
}

async fn open(
    request: &Request<'_>,
    name: &str,
    arguments: &Map<String, Value>,
    text: &str,
) -> Result<String, RpcError> {
    let app = request.app;
    let bound = bound(request, name, arguments);
    match app.mcp.seals.open(&app.runtime.store, text, &bound, app.runtime.clock.now()).await? {
        State::Tool(state) => Ok(state),
        State::PendingRequest(_) => {
            Err(RpcError::invalid_params("'requestState' belongs to another request."))
        }
    }
}

fn bound(request: &Request<'_>, name: &str, arguments: &Map<String, Value>) -> Bound {
    Bound::of(request.caller, "prompts/get", name, arguments.clone())
}
