//! `completion/complete`: what an argument of a prompt or a resource template may be.

use toolroom_mcp::RpcError;
use toolroom_mcp::completion::{CompleteParams, Completed, Completes, Completion};

use crate::mcp::read::request::Request;
use crate::mcp::sources::ranking::rank;
use crate::mcp::write::result;

/// As many as the protocol lets us give.
const MOST: usize = 100;

pub(crate) async fn answer(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let params: CompleteParams = request.params()?;
    let asked = params.asked();
    let sources = &request.app.mcp.sources;
    if let Completes::Prompt(name) = asked.of {
        let all = sources.prompts(request.visitor()).await?;
        if !all.iter().any(|prompt| prompt.name == name) {
            return Err(RpcError::invalid_params("ref: unknown prompt; see prompts/list."));
        }
    }
    let found = sources.complete(request.visitor(), asked).await?;
    let (values, total) = rank(found, asked.value, MOST);
    let completion = Completion { has_more: Some(total > values.len()), values, total: Some(total) };
    Ok(result::complete(request.client.revision, &Completed { completion }))
}
