//! `ping`: are you there? Revisions before 2026-07-28 alone.

use toolroom_mcp::RpcError;

use crate::mcp::read::request::Request;

pub(crate) fn answer(_: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    Ok(b"{}".to_vec())
}
