//! What every request passes through before and after the router.

pub mod body_limit;
mod framed;
pub mod host_origin;
pub mod problem;
pub mod security_headers;
pub mod strict_json;
pub mod trace;
pub(crate) mod unique_keys;

pub use body_limit::BodyLimit;
pub use framed::{Framed, Lane};
pub use host_origin::{HostPolicy, is_forwarded};
pub use problem::{FieldProblem, Problem};
pub use strict_json::StrictJson;
