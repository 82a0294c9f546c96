//! `tools/call`: made in place, or by itself if it is slow and the client can wait for it elsewhere.

use toolroom_mcp::RpcError;
use toolroom_mcp::meta::TASKS_EXTENSION;

use super::call_turns::{in_place, meant};
use super::deferred_call;
use crate::mcp::read::call_params::CallParams;
use crate::mcp::read::request::Request;

pub(crate) async fn answer(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    if request.client.capabilities.has_extension(TASKS_EXTENSION) {
        let CallParams { name, .. } = CallParams::of(&request.fields)?;
        if deferred_call::may_defer(request, &meant(request, name)) {
            return deferred_call::run(request).await;
        }
    }
    in_place(request, None).await
}
