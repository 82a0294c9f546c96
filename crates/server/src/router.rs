//! Every route, in tables by what it is about. The OpenAPI document is made of them.

mod chat;
mod mcp;
mod pages;
mod people;
mod profiles;
mod route;
mod servers;
mod tools;
mod watching;

use std::sync::Arc;

use axum::Router;
use axum::response::IntoResponse;
use http::StatusCode;
use toolroom_contract::ErrorCode;

use crate::app::App;
use crate::middleware::{BodyLimit, HostPolicy, HttpService, Problem};
use crate::problems::problem;
pub(crate) use route::{Body, Route};

/// The routes. All need a principal but those marked `Open`, and `OpenLocally` on this machine.
pub(crate) fn routes() -> impl Iterator<Item = Route> {
    let tables = [
        tools::routes,
        profiles::routes,
        servers::routes,
        watching::routes,
        chat::routes,
        people::routes,
        pages::routes,
        mcp::routes,
    ];
    tables.into_iter().flat_map(|table| table())
}

/// The router with everything around it.
pub fn router(app: &Arc<App>, hosts: HostPolicy) -> HttpService {
    let mut router = Router::new();
    for route in routes() {
        router = router.route(route.path, route.handler);
    }
    let router = router
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_input")
                .detail("This path takes another method; /docs lists them.")
                .into_response()
        })
        .fallback(|| async {
            problem(ErrorCode::NotFound, "There is nothing at this path; /docs lists what there is.")
        })
        .with_state(Arc::clone(app));
    let (metrics, lease) = (app.runtime.metrics.http.clone(), app.runtime.store.lease().cloned());
    HttpService::with_lease(router, hosts, BodyLimit::default(), metrics, lease)
}
