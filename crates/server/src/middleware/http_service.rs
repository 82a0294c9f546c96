//! The frame around the router. It also covers the fallback, so no route escapes it.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::StatusCode;
use toolroom_runtime::metrics::HttpMetrics;
use toolroom_store::Lease;
use tower::ServiceExt;

use super::{BodyLimit, HostPolicy, Problem, security_headers, trace};
use crate::openai;

/// A router and what is done around it. Cheap to clone.
///
/// One function instead of a layer for each concern: layers of axum are copied and boxed for every request, each
/// with all those inside it.
#[derive(Clone)]
pub struct HttpService(Arc<Inner>);

struct Inner {
    router: Router,
    hosts: HostPolicy,
    limit: BodyLimit,
    metrics: HttpMetrics,
    lease: Option<Arc<Lease>>,
}

impl HttpService {
    pub fn new(router: Router, hosts: HostPolicy, limit: BodyLimit, metrics: HttpMetrics) -> Self {
        Self::with_lease(router, hosts, limit, metrics, None)
    }

    /// The same, for one of several servers on a database: it serves while it holds its lease.
    pub fn with_lease(
        router: Router,
        hosts: HostPolicy,
        limit: BodyLimit,
        metrics: HttpMetrics,
        lease: Option<Arc<Lease>>,
    ) -> Self {
        Self(Arc::new(Inner { router, hosts, limit, metrics, lease }))
    }

    /// A trace, headers for browsers, panics, Host and Origin, the size of the body; then the router.
    pub fn answer(&self, mut request: Request) -> impl Future<Output = Response> + Send + use<> {
        let (running, began) = (self.0.metrics.begin(request.uri().path()), Instant::now());
        let followed = trace::Followed::begin(&mut request);
        let is_api = security_headers::is_api(&request);
        let is_openai = request.uri().path().starts_with(openai::PREFIX);
        // Boxed: hyper and whatever wraps it move it.
        let inside = AssertUnwindSafe(Box::pin(self.clone().admit(request))).catch_unwind();
        async move {
            let mut response = inside.await.unwrap_or_else(answer_panic);
            if is_openai {
                response = openai::shape_error(response);
            }
            security_headers::add(response.headers_mut(), is_api);
            followed.end(&mut response);
            running.end(response.status().as_u16(), began.elapsed().as_secs_f64());
            response
        }
    }

    async fn admit(self, request: Request) -> Response {
        let Inner { router, hosts, limit, lease, .. } = &*self.0;
        if let Err(problem) = hosts.check(&request) {
            return problem.into_response();
        }
        let is_fenced = lease.as_ref().is_some_and(|lease| !lease.is_held());
        if is_fenced && !WITHOUT_LEASE.contains(&request.uri().path()) {
            return fenced().into_response();
        }
        let request = match limit.enforce(request) {
            Ok(request) => request,
            Err(problem) => return problem.into_response(),
        };
        let routed = router.clone().oneshot(request).boxed();
        routed.await.unwrap_or_else(|never| match never {})
    }
}

/// What a server answers that the others believe to be gone.
const WITHOUT_LEASE: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

fn fenced() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "service_unavailable")
        .detail("This server has not reached its database for a while, and does nothing until it does. Try again in a moment.")
        .retry_after(Duration::from_secs(1))
}

/// The panic's text stays out of answer and log: it may hold what a caller sent.
fn answer_panic(_panic: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a request handler panicked");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal")
        .detail("The server failed on this request.")
        .into_response()
}
