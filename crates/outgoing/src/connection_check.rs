//! A last word before a request goes over a connection that had to be made for it: who answers there may have become
//! another since the last one.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower::{BoxError, Layer, Service};

/// The future of a check: whether the request may be sent.
pub type Checking = Pin<Box<dyn Future<Output = bool> + Send>>;
/// Made for each new connection.
pub type ConnectionCheck = Arc<dyn Fn() -> Checking + Send + Sync>;

tokio::task_local! {
    static CHECK: Option<ConnectionCheck>;
}

/// Has each connection that must be made for this request checked before the request is sent over it. Requests with a
/// check use only connections that were checked.
pub async fn with_connection_check<F: Future>(check: ConnectionCheck, request: F) -> F::Output {
    CHECK.scope(Some(check), request).await
}

/// The check of the request that is being made.
pub(crate) fn current() -> Option<ConnectionCheck> {
    CHECK.try_with(Clone::clone).ok().flatten()
}

/// Refused by the check, or not checked.
#[derive(Debug, thiserror::Error)]
#[error("the new connection may not be used")]
struct Unchecked;

/// Puts the check behind the making of a connection.
#[derive(Clone, Copy)]
pub(crate) struct CheckLayer;

impl<S> Layer<S> for CheckLayer {
    type Service = CheckedConnector<S>;

    fn layer(&self, connector: S) -> CheckedConnector<S> {
        CheckedConnector(connector)
    }
}

#[derive(Clone)]
pub(crate) struct CheckedConnector<S>(S);

impl<R, S> Service<R> for CheckedConnector<S>
where
    S: Service<R, Error = BoxError>,
    S::Future: Send + 'static,
    S::Response: Send,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, target: R) -> Self::Future {
        let connecting = self.0.call(target);
        Box::pin(async move {
            let connection = connecting.await?;
            // Without one the request has found another connection meanwhile, and this one is made in the background.
            let Some(check) = current() else { return Err(Unchecked.into()) };
            // What the check itself asks of the server is not checked.
            if CHECK.scope(None, check()).await { Ok(connection) } else { Err(Unchecked.into()) }
        })
    }
}
