//! `tasks/get`, `tasks/update`, `tasks/cancel`: deferred calls.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolroom_mcp::RpcError;

use crate::mcp::jobs;
use crate::mcp::read::request::Request;
use crate::mcp::write::result::{self, Nothing};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    task_id: String,
    #[serde(default)]
    input_responses: Option<Map<String, Value>>,
}

pub(crate) async fn get(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let Params { task_id, .. } = params(request)?;
    let snapshot = jobs::snapshot(request, &task_id).await?;
    Ok(result::complete(request.client.revision, &snapshot))
}

pub(crate) async fn update(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let Params { task_id, input_responses } = params(request)?;
    let Some(responses) = input_responses else {
        // Of a task that is not theirs, that is all they are told.
        jobs::snapshot(request, &task_id).await?;
        return Err(RpcError::invalid_params("'inputResponses' is missing."));
    };
    jobs::answer(request, &task_id, responses).await?;
    Ok(result::complete(request.client.revision, &Nothing {}))
}

pub(crate) async fn cancel(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let Params { task_id, .. } = params(request)?;
    jobs::cancel(request, &task_id).await?;
    Ok(result::complete(request.client.revision, &Nothing {}))
}

fn params(request: &Request<'_>) -> Result<Params, RpcError> {
    jobs::check_declared(request)?;
    request.params()
}
