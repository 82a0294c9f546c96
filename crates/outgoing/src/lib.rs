//! Requests to other servers. Nothing reaches this machine or its network unless
//! the administrator wrote it there.
//!
//! A name is looked up once for each connection, and the connection goes to the very address that was
//! checked. Every redirect is a new request and is checked like the first. Answers are bounded in size and
//! time, and are not unpacked. No proxy is taken from the environment: it would look names up itself.

mod address;
mod client;
mod connection_check;
mod error;
mod lookup;
mod request;

pub use address::is_public;
pub use client::{Limits, Outgoing};
pub use connection_check::{Checking, ConnectionCheck, with_connection_check};
pub use error::OutgoingError;
pub use lookup::{Looking, Lookup, SystemLookup};
pub use request::{Reply, Request};
pub use reqwest::{Response, Url};
