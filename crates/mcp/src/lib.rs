//! The Model Context Protocol as data, for both sides of it: what is read from bytes and written to bytes. No I/O.
//! `server` speaks it to clients, `upstream` to other servers; nothing else knows it.
//!
//! | file | what is there |
//! | --- | --- |
//! | `revision` | the revisions, and what each of them has |
//! | `method` | the names of requests and notifications, and the revisions that have them |
//! | `frame/` | JSON-RPC messages, read strictly from clients and leniently from servers, and written |
//! | `id`, `error` | ids of requests; error codes, and their HTTP status |
//! | `client` | what a client says about itself and can be asked for |
//! | `tool`, `items` | tools with their annotations; resources and prompts |
//! | `content` | results: blocks, structured content, `_meta` |
//! | `completion` | what an argument could be |
//! | `meta` | the keys of `_meta` |
//! | `headers`, `header_params` | the headers of requests, and the arguments that they repeat |

pub mod client;
pub mod completion;
pub mod content;
pub mod error;
pub mod frame;
mod header_params;
pub mod headers;
mod id;
pub mod items;
pub mod meta;
pub mod method;
mod revision;
mod tool;

pub use client::{Capabilities, Client, Implementation, LogLevel};
pub use error::{Code, RpcError};
pub use frame::{Frame, Malformed, Message, Params, Text};
pub use header_params::{HeaderParam, without_header_params};
pub use id::Id;
pub use method::Method;
pub use revision::Revision;
pub use tool::{Annotations, Tool};
