//! The owner's socket, handed over from HTTP: `toolroom mcp` passes its lines on to the server that runs.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request as HttpRequest, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use serde::Deserialize;

use crate::api::Caller as Who;
use crate::app::App;
use crate::mcp::http::check_profile;
use crate::middleware::Problem;
use crate::problems::bad_query;

/// What both sides of a connection that is handed over call it in their headers.
pub const LINES_PROTOCOL: &str = "toolroom-lines";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    profile: String,
}

pub(crate) async fn upgrade(
    State(app): State<Arc<App>>,
    Extension(who): Who,
    wanted: Result<Query<Wanted>, QueryRejection>,
    mut request: HttpRequest,
) -> Response {
    let profile = match wanted {
        Ok(Query(Wanted { profile })) => profile,
        Err(error) => return bad_query(error).into_response(),
    };
    if let Err(problem) = check_profile(&app, &who, &profile) {
        return problem.into_response();
    }
    let wanted = request.headers().get(header::UPGRADE).is_some_and(|value| value == LINES_PROTOCOL);
    let Some(handed) = request.extensions_mut().remove::<OnUpgrade>().filter(|_| wanted) else {
        return Problem::new(StatusCode::UPGRADE_REQUIRED, "invalid_input")
            .detail("This is for 'toolroom mcp', which speaks lines here.")
            .into_response();
    };
    let tracker = app.handed_over.clone();
    tracker.spawn(async move {
        let served = match handed.await {
            Ok(stream) => {
                let (input, output) = tokio::io::split(TokioIo::new(stream));
                super::serve(app, who, profile.into(), input, output).await
            }
            Err(error) => Err(std::io::Error::other(error)),
        };
        if let Err(error) = served {
            tracing::debug!(%error, "a line connection ended early");
        }
    });
    let mut response = StatusCode::SWITCHING_PROTOCOLS.into_response();
    response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static(LINES_PROTOCOL));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    response
}
