//! Every method, the revisions that have it, and the file that answers it.

use super::error::RpcError;
use super::methods::{discover, listen, ping, tools_call, tools_list};
use super::request::Request;
use super::revision::Revision;
use Revision::{V2024_11_05, V2025_11_25, V2026_07_28};

/// The methods that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Discover,
    Listen,
    Ping,
    ToolsCall,
    ToolsList,
}

/// Name, method, first and last revision that has it. What is not here is not found, and not declared.
const METHODS: &[(&str, Method, Revision, Revision)] = &[
    ("tools/call", Method::ToolsCall, V2024_11_05, V2026_07_28),
    ("tools/list", Method::ToolsList, V2024_11_05, V2026_07_28),
    ("server/discover", Method::Discover, V2026_07_28, V2026_07_28),
    ("subscriptions/listen", Method::Listen, V2026_07_28, V2026_07_28),
    ("ping", Method::Ping, V2024_11_05, V2025_11_25),
];

impl Method {
    /// The method of that name in that revision.
    pub(crate) fn find(name: &str, revision: Revision) -> Result<Self, RpcError> {
        METHODS
            .iter()
            .find(|(known, _, first, last)| *known == name && (*first..=*last).contains(&revision))
            .map(|(_, method, ..)| *method)
            .ok_or_else(RpcError::method_not_found)
    }

    /// The parameter that `Mcp-Name` repeats.
    pub(crate) fn named_by(self) -> Option<NamedBy> {
        match self {
            Method::ToolsCall => Some(NamedBy::Name),
            Method::Discover | Method::Listen | Method::Ping | Method::ToolsList => None,
        }
    }

    /// Whether the answer is a stream, whatever happens.
    pub(crate) fn always_streams(self) -> bool {
        self == Method::Listen
    }
}

/// Which parameter names what a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedBy {
    /// `name`: a tool or a prompt.
    Name,
}

/// Answers a request: the text of its result, or an error.
pub(crate) async fn dispatch(method: Method, request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    match method {
        Method::Discover => discover::answer(request),
        Method::Listen => listen::answer(request).await,
        Method::Ping => ping::answer(request),
        Method::ToolsCall => tools_call::answer(request).await,
        Method::ToolsList => tools_list::answer(request),
    }
}
