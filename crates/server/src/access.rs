//! What stands before the handler of a route: who may pass, and as whom.

use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use http::{HeaderValue, Method, StatusCode, header};
use tokio_util::sync::CancellationToken;
use toolroom_contract::ids::UserId;
use toolroom_contract::{ErrorCode, Grants, Principal, ToolError, User};

use crate::app::App;
use crate::auth::{Asked, Known};
use crate::listener::Peer;
use crate::middleware::{Problem, dry_run, is_forwarded};
use crate::problems::{of_error, problem};
use crate::revocation::while_valid;

/// What a route asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Open,
    /// Nothing from this machine while the home has no keys; else the grant `executions:read`.
    OpenLocally,
    /// A principal.
    Caller,
    /// A principal with this grant.
    Granted(&'static str, &'static str),
    /// The owner of the home, by the socket or a session of theirs.
    Owner,
    /// The owner of the home, by the socket alone.
    OwnersSocket,
}

/// The handler of a route, behind what the route asks of its caller.
#[derive(Clone)]
pub(crate) struct Guarded<H> {
    pub(crate) access: Access,
    /// How the route reports that the credential cannot be checked now, if not by a problem document. What is posted to
    /// such a route are calls.
    pub(crate) unserved: Option<Unserved>,
    pub(crate) handler: H,
}

/// Answers a request with this error, in the form of its route, while the caller cannot be known.
pub(crate) type Unserved = fn(Arc<App>, Request, ToolError) -> BoxFuture<'static, Response>;

impl<H: Handler<T, Arc<App>>, T: 'static> Handler<T, Arc<App>> for Guarded<H> {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: Arc<App>) -> Self::Future {
        let Self { access, unserved, handler } = self;
        let next: Next = Box::new(move |request, app| Box::pin(handler.call(request, app)));
        Box::pin(guarded(access, unserved, request, app, next))
    }
}

/// The handler behind the guard. Boxed, so that the guard is compiled once and not for each route.
type Next = Box<dyn FnOnce(Request, Arc<App>) -> BoxFuture<'static, Response> + Send>;

async fn guarded(
    access: Access,
    unserved: Option<Unserved>,
    mut request: Request,
    app: Arc<App>,
    next: Next,
) -> Response {
    let admitted = admit(&app, access, Asked::of(&request)).await;
    let calls = unserved.is_some() && request.method() == Method::POST;
    if !calls
        && admitted.is_ok()
        && let Err(problem) = dry_run::refuse(request.method(), request.headers())
    {
        return problem.into_response();
    }
    match admitted {
        Ok(Some(Known { principal, session })) => {
            request.extensions_mut().insert(Arc::clone(&principal));
            if let Some(session) = session {
                request.extensions_mut().insert(session);
            }
            while_valid(principal, next(request, app)).await
        }
        Ok(None) => next(request, app).await,
        Err(problem) => match unserved.filter(|_| problem.status.is_server_error()) {
            Some(answer) => answer(app, request, unchecked(problem)).await,
            None => challenge(problem),
        },
    }
}

/// Why the credential of a caller cannot be checked, as the error of a call.
fn unchecked(problem: Problem) -> ToolError {
    let detail = problem.detail.unwrap_or("The database cannot be reached. Try again in a moment.".into());
    ToolError::new(ErrorCode::ServiceUnavailable, detail).retry_after_ms(problem.retry_after.unwrap_or(1000))
}

/// An unknown caller, who may do nothing.
pub(crate) fn nobody() -> Arc<Principal> {
    Arc::new(Principal {
        user: User { id: UserId(0), key: "unknown".into() },
        grants: Grants::default(),
        profiles: None,
        person: false,
        key: None,
        time_zone: None,
        revoked: CancellationToken::new(),
    })
}

/// Who may pass, and as whom; open routes need no principal.
async fn admit(app: &App, access: Access, asked: Asked<'_>) -> Result<Option<Known>, Problem> {
    if access == Access::Open {
        return Ok(None);
    }
    if access == Access::OpenLocally
        && asked.peer.is_some_and(|peer| peer.is_local())
        && !is_forwarded(asked.headers)
        && !app.auth.ever_keyed().await.map_err(|error| of_error(&error.into()))?
    {
        return Ok(None);
    }
    let known = app.auth.known(asked).await?;
    let principal = &known.principal;
    let is_owner = asked.peer == Some(Peer::Owner);
    let needed = match access {
        Access::OpenLocally if !principal.grants.hold("executions", "read") => {
            "This needs the grant executions:read.".to_owned()
        }
        Access::OpenLocally if principal.profiles.is_some() => {
            "These figures are of the whole server, and this key is confined to profiles. Use a key without --profile."
                .to_owned()
        }
        Access::Granted(resource, action) if !principal.grants.hold(resource, action) => {
            format!("This needs the grant {resource}:{action}.")
        }
        Access::Granted(..) if principal.profiles.is_some() => {
            "This concerns the whole server, and this key is confined to profiles. Use a key without --profile."
                .to_owned()
        }
        Access::Owner if !is_owner && !known.session.as_ref().is_some_and(|session| session.owner) => {
            "Only the owner of the home can do this: use the command line, or log in by 'toolroom console'."
                .to_owned()
        }
        Access::OwnersSocket if !is_owner => {
            "Only the owner of the home can do this: use the command line.".to_owned()
        }
        _ => return Ok(Some(known)),
    };
    Err(problem(ErrorCode::Forbidden, needed))
}

/// The answer to a refused request.
pub(crate) fn challenge(problem: Problem) -> Response {
    let refused = problem.status == StatusCode::UNAUTHORIZED;
    let mut response = problem.into_response();
    if refused {
        let scheme = HeaderValue::from_static("Bearer realm=\"toolroom\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}
