//! `tasks/get`, `tasks/update`, `tasks/cancel`: deferred calls.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolroom_mcp::RpcError;

use crate::mcp::jobs::{self, Job};
use crate::mcp::read::request::Request;
use crate::mcp::sources::News;
use crate::mcp::write::result::{self, Nothing};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    task_id: String,
    #[serde(default)]
    input_responses: Option<Map<String, Value>>,
}

pub(crate) fn get(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let job = named(request)?;
    Ok(result::complete(request.client.revision, &job.snapshot()))
}

pub(crate) fn update(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let job = named(request)?;
    let Params { input_responses, .. } = request.params()?;
    let responses =
        input_responses.ok_or_else(|| RpcError::invalid_params("'inputResponses' is missing."))?;
    if job.answer(responses, request.app.runtime.clock.now()) {
        request.app.mcp.sources.tell(News::Task(Arc::clone(&job.id)));
    }
    Ok(result::complete(request.client.revision, &Nothing {}))
}

pub(crate) fn cancel(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let job = named(request)?;
    if job.cancel(request.app.runtime.clock.now()) {
        request.app.mcp.sources.tell(News::Task(Arc::clone(&job.id)));
    }
    Ok(result::complete(request.client.revision, &Nothing {}))
}

fn named(request: &Request<'_>) -> Result<Arc<Job>, RpcError> {
    jobs::check_declared(request)?;
    let Params { task_id, .. } = request.params()?;
    jobs::of_request(request, &task_id)
}
