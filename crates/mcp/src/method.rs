//! The names of requests and notifications, both ways, and the revisions that have them.

use Revision::{V2024_11_05, V2025_11_25, V2026_07_28};

use crate::Revision;

/// What a client asks of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Complete,
    Discover,
    Initialize,
    Listen,
    Ping,
    PromptsGet,
    PromptsList,
    ResourcesList,
    ResourcesRead,
    ResourcesSubscribe,
    ResourcesUnsubscribe,
    ResourceTemplates,
    SetLogLevel,
    TasksCancel,
    TasksGet,
    TasksUpdate,
    ToolsCall,
    ToolsList,
}

/// Method, its name, first and last revision that has it. The one that is called most comes first.
const METHODS: &[(Method, &str, Revision, Revision)] = &[
    (Method::ToolsCall, "tools/call", V2024_11_05, V2026_07_28),
    (Method::ToolsList, "tools/list", V2024_11_05, V2026_07_28),
    (Method::ResourcesList, "resources/list", V2024_11_05, V2026_07_28),
    (Method::ResourceTemplates, "resources/templates/list", V2024_11_05, V2026_07_28),
    (Method::ResourcesRead, "resources/read", V2024_11_05, V2026_07_28),
    (Method::ResourcesSubscribe, "resources/subscribe", V2024_11_05, V2025_11_25),
    (Method::ResourcesUnsubscribe, "resources/unsubscribe", V2024_11_05, V2025_11_25),
    (Method::PromptsList, "prompts/list", V2024_11_05, V2026_07_28),
    (Method::PromptsGet, "prompts/get", V2024_11_05, V2026_07_28),
    (Method::Complete, "completion/complete", V2024_11_05, V2026_07_28),
    (Method::TasksGet, "tasks/get", V2026_07_28, V2026_07_28),
    (Method::TasksUpdate, "tasks/update", V2026_07_28, V2026_07_28),
    (Method::TasksCancel, "tasks/cancel", V2026_07_28, V2026_07_28),
    (Method::Discover, "server/discover", V2026_07_28, V2026_07_28),
    (Method::Listen, "subscriptions/listen", V2026_07_28, V2026_07_28),
    (Method::Initialize, "initialize", V2024_11_05, V2025_11_25),
    (Method::SetLogLevel, "logging/setLevel", V2024_11_05, V2025_11_25),
    (Method::Ping, "ping", V2024_11_05, V2025_11_25),
];

impl Method {
    /// The method of that name in that revision.
    pub fn find(name: &str, revision: Revision) -> Option<Self> {
        METHODS
            .iter()
            .find(|(_, known, first, last)| *known == name && (*first..=*last).contains(&revision))
            .map(|(method, ..)| *method)
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        METHODS.iter().find(|(method, ..)| *method == self).map_or("", |(_, name, ..)| name)
    }

    /// The parameter that `Mcp-Name` repeats.
    pub fn named_by(self) -> Option<NamedBy> {
        match self {
            Method::ToolsCall | Method::PromptsGet => Some(NamedBy::Name),
            Method::ResourcesRead => Some(NamedBy::Uri),
            Method::TasksGet | Method::TasksUpdate | Method::TasksCancel => Some(NamedBy::TaskId),
            _ => None,
        }
    }

    /// Whether the answer is a stream, whatever happens.
    pub fn always_streams(self) -> bool {
        self == Method::Listen
    }
}

/// Which parameter names what a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// `name`: a tool or a prompt.
    Name,
    /// `uri`: a resource.
    Uri,
    /// `taskId`: a deferred call.
    TaskId,
}

/// What a server asks of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Something of the user.
    Elicitation,
    /// Something of the caller's model.
    Sampling,
    /// The caller's folders.
    Roots,
}

impl Question {
    const ALL: [Self; 3] = [Self::Elicitation, Self::Sampling, Self::Roots];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// The capability that a client has who can be asked this.
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    /// The question of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|question| question.name() == name)
    }
}

/// Notifications.
pub mod notification {
    /// A request is no longer wanted; either side says so.
    pub const CANCELLED: &str = "notifications/cancelled";
    /// The handshake is over.
    pub const INITIALIZED: &str = "notifications/initialized";
    /// A line of a log.
    pub const MESSAGE: &str = "notifications/message";
    /// How far a request is.
    pub const PROGRESS: &str = "notifications/progress";
    /// The prompts are others.
    pub const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
    /// The resources are others.
    pub const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
    /// What is behind an address has changed.
    pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";
    /// A subscription is in use.
    pub const SUBSCRIBED: &str = "notifications/subscriptions/acknowledged";
    /// A deferred call has changed.
    pub const TASKS: &str = "notifications/tasks";
    /// The tools are others.
    pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
}
