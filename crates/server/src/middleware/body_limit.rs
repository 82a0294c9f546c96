//! The size of request bodies: refused by the announced length, or as soon as too much has come.

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use http_body_util::Limited;
use toolroom_contract::ErrorCode;

use super::Problem;
use crate::listener::Peer;
use crate::problems::problem;

/// The most bytes that a request body may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimit(pub usize);

impl Default for BodyLimit {
    fn default() -> Self {
        Self(1024 * 1024)
    }
}

impl BodyLimit {
    /// What the home's owner may send to be imported: a whole API, or a whole registry.
    const IMPORT: Self = Self(32 * 1024 * 1024);

    /// The answer to a body beyond the limit.
    pub fn exceeded(self) -> Problem {
        problem(ErrorCode::BodyTooLarge, format!("The request body may have {} bytes at most.", self.0))
    }

    /// Refuses what is announced to be too long. A body of unknown length is cut off at the limit: every reader sees
    /// an error there, and [`StrictJson`](super::StrictJson) answers 413.
    #[allow(clippy::result_large_err, reason = "made once per refused request")]
    pub(super) fn enforce(self, mut request: Request) -> Result<Request, Problem> {
        let path = request.uri().path();
        let imports = path.starts_with("/api/v1/imports/") || path == "/api/v1/registry";
        let is_owner = matches!(request.extensions().get(), Some(Peer::Owner));
        let limit = if imports && is_owner { Self::IMPORT } else { self };
        match request.body().size_hint().upper() {
            Some(length) if length > limit.0 as u64 => Err(limit.exceeded()),
            Some(_) => Ok(request),
            None => {
                request.extensions_mut().insert(limit);
                Ok(request.map(|body| Body::new(Limited::new(body, limit.0))))
            }
        }
    }
}
