//! Where a browser comes back to from the authorization server of another MCP server. The person has no key here: what
//! counts is the state in the query, which only they were given.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use toolroom_runtime::federation::CameBack;

use crate::app::App;

pub(crate) async fn come_back(
    State(app): State<Arc<App>>,
    Path(server): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let came = app.federation.came_back(&server, &query.unwrap_or_default()).await;
    let text = match &came {
        CameBack::Done => "Toolroom has the answer. You can close this window.".to_owned(),
        CameBack::Failed => {
            "The login failed. Who began it is told why, and can begin it again.".to_owned()
        }
        CameBack::CalledOff(reason) => {
            format!("This login is over: {reason}. Nothing was kept. If you still want to log in, begin it again.")
        }
        CameBack::Removed(server) => format!(
            "The server '{server}' was removed from Toolroom while you logged in, so nothing was kept. If you still want \
             it, add it again, then begin the login again."
        ),
        CameBack::WrongAddress => {
            "The login failed: the answer came to the address of another server, and was not used. One of the two may \
             have sent you to the other's login. Tell whoever looks after this Toolroom before you begin it again."
                .to_owned()
        }
        CameBack::Unknown => "No login is waiting here. It may have ended: begin it again.".to_owned(),
    };
    let status = match came {
        CameBack::Done => StatusCode::OK,
        CameBack::Failed | CameBack::WrongAddress => StatusCode::BAD_REQUEST,
        CameBack::CalledOff(_) | CameBack::Removed(_) => StatusCode::GONE,
        CameBack::Unknown => StatusCode::NOT_FOUND,
    };
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (status, headers, text).into_response()
}
