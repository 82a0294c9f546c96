//! `X-Dry-Run`: whoever sends it believes that nothing happens. So it is honoured, or the request is refused.

use http::{HeaderMap, Method};
use toolroom_contract::ErrorCode;

use super::Problem;
use crate::problems::problem;

const HEADER: &str = "x-dry-run";

/// Whether the request asks for a dry run.
pub(crate) fn is_wanted(headers: &HeaderMap) -> bool {
    headers.get_all(HEADER).iter().any(|value| value != "false" && value != "0")
}

/// Refuses a dry run of something that can only be done.
pub(crate) fn refuse(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if method.is_safe() || !is_wanted(headers) {
        return Ok(());
    }
    let detail = "Only calls of tools can be tried with X-Dry-Run, and this is not one. Nothing was done. Call the tool \
                  itself, or leave the header out.";
    Err(problem(ErrorCode::InvalidInput, detail))
}
