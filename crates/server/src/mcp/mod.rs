//! MCP, as a server: every revision in use, on structs of our own. Nothing outside this folder knows its types.
//!
//! The walk of a message:
//!
//!     transport -> wire -> request (who, which client) -> dispatch -> methods/<one> -> wire -> transport
//!
//! | file | what is there |
//! | --- | --- |
//! | `wire`, `scanner` | JSON-RPC frames: read from bytes, written to bytes; a first look over their text |
//! | `error` | JSON-RPC errors and their HTTP status |
//! | `revision` | the revisions, and what each has |
//! | `request` | one request: caller, client, `_meta`, and how it becomes the context of a call |
//! | `peer` | the way back to the client: notifications, reports, questions to older clients |
//! | `dispatch` | the table of methods by revision |
//! | `methods/` | a file per method |
//! | `result` | results as each revision frames them |
//! | `outcome` | the reply of a tool as content, structured content and `_meta` |
//! | `input` | what a tool asks of the client: as a result (stateless), or as requests to it |
//! | `approval` | forms for what waits for a person, and what their answers decide |
//! | `seal` | `requestState`: sealed, and bound to the caller, the call and a deadline |
//! | `sources/` | where resources and prompts come from |
//! | `large/` | results that are too long: preview, and the whole as a resource |
//! | `jobs/` | calls that outlive their request: the tasks extension |
//! | `lists` | what a caller is shown of prompts and resources, to be compared |
//! | `listing` | tools as clients are shown them, rendered once per catalogue, profile and grants |
//! | `index`, `names` | worked out once per catalogue: aliases of names, mirrored parameters |
//! | `session/` | what is remembered of clients of older revisions, and how their messages are served |
//! | `http/` | Streamable HTTP: headers, the stateless exchange, sessions, event streams; the HTTP+SSE of 2024-11-05 |
//! | `lines/` | a message per line, on pipes and the owner's socket |
//!
//! A transport makes a [`request::Caller`], a [`request::Client`] and a [`peer::Peer`] and hands each message to
//! [`dispatch::dispatch`]. It drains the peer's queue into its own stream, hands responses of the client to
//! [`peer::Questions::answer`], and drops the future of a request to cancel it.

mod approval;
mod change_detection;
mod dispatch;
pub(crate) mod http;
mod input;
mod jobs;
mod large;
pub(crate) mod lines;
mod methods;
mod name_index;
mod names;
mod outcome;
mod peer;
mod request;
mod result;
mod seal;
mod session;
mod settings;
pub mod sources;
mod tool_list;

use std::sync::Arc;

use jobs::Jobs;
use large::LargeResults;
use name_index::Indexes;
use seal::Seals;
use session::Sessions;
use sources::Sources;
use tool_list::Listings;

pub use lines::{LINES_PROTOCOL, LinesError, serve_lines, standard_input, standard_output};
pub use settings::McpSettings;

/// What the edge keeps between requests.
pub(crate) struct Mcp {
    /// Tools as they are shown.
    listings: Listings,
    /// What is worked out from the catalogue.
    indexes: Indexes,
    /// Clients of older revisions.
    sessions: Sessions,
    /// What keeps request states from being changed.
    seals: Seals,
    /// Calls that outlive their requests.
    jobs: Jobs,
    /// Results that were too long.
    large: Arc<LargeResults>,
    /// Where resources and prompts come from.
    pub(crate) sources: Sources,
}

impl Mcp {
    pub(crate) fn new(settings: McpSettings) -> Self {
        let large = Arc::new(LargeResults::new(settings.text_budget));
        Self {
            listings: Listings::default(),
            indexes: Indexes::default(),
            sessions: Sessions::new(settings),
            seals: Seals::default(),
            jobs: Jobs::default(),
            sources: Sources::new(Arc::clone(&large)),
            large,
        }
    }
}
