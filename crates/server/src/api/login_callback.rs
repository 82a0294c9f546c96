//! Where a browser comes back to from the authorization server of another MCP server. The person has no key here: what
//! counts is the state in the query, which only they were given.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use toolroom_runtime::federation::CameBack;

use crate::app::App;

pub(crate) async fn come_back(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Response {
    let (status, text) = match app.federation.came_back(&query.unwrap_or_default()).await {
        CameBack::Done => (StatusCode::OK, "Toolroom has the answer. You can close this window."),
        CameBack::Failed => {
            (StatusCode::BAD_REQUEST, "The login failed. Who began it is told why, and can begin it again.")
        }
        CameBack::Unknown => {
            (StatusCode::NOT_FOUND, "No login is waiting here. It may have ended: begin it again.")
        }
    };
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (status, headers, text).into_response()
}
