//! MCP clients: servers that Toolroom draws on, over stdio, Streamable HTTP and HTTP+SSE, of every revision
//! from 2024-11-05 to 2026-07-28.
//!
//! [`config`] reads `mcp.json`; an [`Upstream`] is one server, connected when it is needed; [`contracts`]
//! turns its tools into definitions, and [`RemoteTool::definition_hash`] tells when one has changed. Results are passed on as the
//! text that they came as.

pub mod answers;
pub mod client;
pub mod config;
pub mod contracts;
mod error;
mod handshake;
mod health;
mod http;
mod identity;
pub mod items;
mod login;
pub mod names;
mod notices;
mod oauth;
mod outbox;
mod pending_calls;
mod results;
mod review;
mod session;
mod status;
mod supervisor;
mod transport;
mod upstream;

pub use answers::Answers;
pub use client::{CallOptions, InputRequired, Reply, Resumption, Target};
pub use error::UpstreamError;
pub use identity::Identity;
pub use items::{Listing, RemotePrompt, RemoteResource, RemoteTemplate, RemoteTool};
pub use login::{LIMIT as LOGIN_LIMIT, Login, OpenLogin};
pub use notices::Changes;
pub use oauth::{Consent, Credentials, TokenFolder, TokenStore, TokenTurn, Visit, client_credentials};
pub use results::{RemoteResult, ToolAnswer};
pub use review::{Review, Reviewing};
pub use session::{Era, Hello};
pub use status::{State, Status};
pub use toolroom_mcp::completion::{Completes, Completing};
pub use toolroom_mcp::{HeaderParam, Revision, RpcError};
pub use transport::stdio::SpawnEnv;
pub use upstream::Upstream;
