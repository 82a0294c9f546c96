//! Every method, the revisions that have it, and the file that answers it.

use futures_util::FutureExt;

use super::error::RpcError;
use super::methods::{complete, discover, listen, ping, prompts, resources, tasks, tools_call, tools_list};
use super::request::Request;
use super::revision::Revision;
use Revision::{V2024_11_05, V2025_11_25, V2026_07_28};

/// The methods that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Complete,
    Discover,
    Listen,
    Ping,
    PromptsGet,
    PromptsList,
    ResourcesList,
    ResourcesRead,
    ResourceTemplates,
    TasksCancel,
    TasksGet,
    TasksUpdate,
    ToolsCall,
    ToolsList,
}

/// Name, method, first and last revision that has it. What is not here is not found, and not declared.
const METHODS: &[(&str, Method, Revision, Revision)] = &[
    ("tools/call", Method::ToolsCall, V2024_11_05, V2026_07_28),
    ("tools/list", Method::ToolsList, V2024_11_05, V2026_07_28),
    ("resources/list", Method::ResourcesList, V2024_11_05, V2026_07_28),
    ("resources/templates/list", Method::ResourceTemplates, V2024_11_05, V2026_07_28),
    ("resources/read", Method::ResourcesRead, V2024_11_05, V2026_07_28),
    ("prompts/list", Method::PromptsList, V2024_11_05, V2026_07_28),
    ("prompts/get", Method::PromptsGet, V2024_11_05, V2026_07_28),
    ("completion/complete", Method::Complete, V2024_11_05, V2026_07_28),
    ("tasks/get", Method::TasksGet, V2026_07_28, V2026_07_28),
    ("tasks/update", Method::TasksUpdate, V2026_07_28, V2026_07_28),
    ("tasks/cancel", Method::TasksCancel, V2026_07_28, V2026_07_28),
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
            Method::ToolsCall | Method::PromptsGet => Some(NamedBy::Name),
            Method::ResourcesRead => Some(NamedBy::Uri),
            Method::TasksGet | Method::TasksUpdate | Method::TasksCancel => Some(NamedBy::TaskId),
            Method::Complete
            | Method::Discover
            | Method::Listen
            | Method::Ping
            | Method::PromptsList
            | Method::ResourcesList
            | Method::ResourceTemplates
            | Method::ToolsList => None,
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
    /// `uri`: a resource.
    Uri,
    /// `taskId`: a deferred call.
    TaskId,
}

/// Answers a request: the text of its result, or an error.
pub(crate) async fn dispatch(method: Method, request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    match method {
        Method::ToolsCall => tools_call::answer(request).await,
        // Behind a pointer, so that calls of tools carry neither its room nor its stack.
        _ => any(method, request).boxed().await,
    }
}

async fn any(method: Method, request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    match method {
        Method::Complete => complete::answer(request).await,
        Method::Discover => discover::answer(request),
        Method::Listen => listen::answer(request).await,
        Method::Ping => ping::answer(request),
        Method::PromptsGet => prompts::get(request).await,
        Method::PromptsList => prompts::list(request).await,
        Method::ResourcesList => resources::list(request).await,
        Method::ResourcesRead => resources::read(request).await,
        Method::ResourceTemplates => resources::templates(request),
        Method::TasksCancel => tasks::cancel(request),
        Method::TasksGet => tasks::get(request),
        Method::TasksUpdate => tasks::update(request),
        Method::ToolsCall => tools_call::answer(request).boxed().await,
        Method::ToolsList => tools_list::answer(request),
    }
}
