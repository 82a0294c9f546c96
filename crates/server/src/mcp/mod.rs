//! MCP, as a server: every revision in use, on the types of [`toolroom_mcp`].
//!
//! The walk of a message:
//!
//!     transport -> read -> dispatch -> methods/<one> -> write -> transport
//!
//! | file | what is there |
//! | --- | --- |
//! | `http/`, `lines/` | the transports: Streamable HTTP and HTTP+SSE; a message per line, on pipes and the owner's socket |
//! | `read/` | from frames to typed requests |
//! | `dispatch`, `methods/` | the table of methods, and a file per method |
//! | `write/` | from replies to results on the wire |
//! | `caller`, `peer` | who asks; the way back to them: notifications, reports, questions to older clients |
//! | `mail` | what a client says to one of several servers, and another waits for |
//! | `session/` | what is remembered of clients of older revisions, and how their messages are served |
//! | `input`, `approval` | what a tool, or a call that waits for a person, asks of the client |
//! | `seal` | `requestState`: sealed, and bound to the caller, the call and a deadline |
//! | `jobs/` | calls that outlive their request: the tasks extension |
//! | `sources/` | where resources and prompts come from |
//! | `large/` | results that are too long: preview, and the whole as a resource |
//! | `name_index`, `names` | worked out once per catalogue: aliases of names, mirrored parameters |
//! | `change_detection` | what a caller is shown of prompts and resources, to be compared |
//!
//! A transport makes a [`caller::Caller`], a [`toolroom_mcp::Client`] and a [`peer::Peer`] and hands each message to
//! [`dispatch::dispatch`]. It drains the peer's queue into its own stream, hands responses of the client to
//! [`peer::Questions::answer`], and drops the future of a request to cancel it.

mod approval;
mod caller;
mod change_detection;
mod dispatch;
pub(crate) mod http;
mod input;
mod jobs;
mod large;
pub(crate) mod lines;
mod mail;
mod methods;
mod name_index;
mod names;
mod peer;
mod read;
mod seal;
mod session;
mod settings;
pub mod sources;
mod write;

use std::sync::Arc;

use jobs::Jobs;
use large::LargeResults;
use mail::{Expecting, Mailbox};
use name_index::Indexes;
use seal::Seals;
use session::Sessions;
use sources::{Source, Sources};
use write::tool_list::Listings;

use crate::app::App;

pub use jobs::{Takes, Worker};
pub use lines::{
    LINES_PROTOCOL, Line, LinesError, front, next_line, serve_lines, standard_input, standard_output,
};
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
    /// Where other servers leave what this one waits for.
    mailbox: Arc<Mailbox>,
    /// Results that were too long.
    large: Arc<LargeResults>,
    /// Where resources and prompts come from.
    pub(crate) sources: Sources,
}

impl Mcp {
    pub(crate) fn new(settings: McpSettings) -> Self {
        let large = Arc::new(LargeResults::new(settings.text_budget));
        let sources = Sources::default();
        sources.add(&(Arc::clone(&large) as Arc<dyn Source>));
        Self {
            listings: Listings::default(),
            indexes: Indexes::default(),
            sessions: Sessions::new(settings),
            seals: Seals::default(),
            jobs: Jobs::default(),
            mailbox: Arc::default(),
            sources,
            large,
        }
    }

    /// As long as this is held, what other servers have to say is heard; `None` if there are none.
    fn expect_mail(&self, app: &Arc<App>) -> Option<Expecting> {
        app.runtime.store.lease()?;
        self.mailbox.open(app);
        Some(self.mailbox.expect())
    }
}
