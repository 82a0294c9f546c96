//! What every request passes through before and after the router.

pub mod body_limit;
pub(crate) mod dry_run;
pub mod host_origin;
mod http_service;
pub mod problem;
pub mod security_headers;
pub mod strict_json;
pub mod trace;

pub use body_limit::BodyLimit;
pub use host_origin::{HostPolicy, is_forwarded};
pub use http_service::HttpService;
pub use problem::{FieldProblem, Problem};
pub use strict_json::{CallBody, StrictJson};
