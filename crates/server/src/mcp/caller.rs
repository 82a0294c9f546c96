//! Who asks: as a request carries it, as sources of resources see it, and as what outlives a request remembers it.
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use toolroom_contract::ids::{KeyId, UserId};
use toolroom_contract::{Principal, TraceId};
use toolroom_runtime::Edge;

use crate::app::App;

/// Who asks, and under which profile: what the transport knows.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) principal: Arc<Principal>,
    pub(crate) profile: Cow<'static, str>,
    pub(crate) trace: TraceId,
    pub(crate) edge: Edge,
    /// The session, where the revision has one.
    pub(crate) session: Option<Arc<str>>,
    /// Whether the request's header asks that calls are only tried.
    pub(crate) dry_run: bool,
}

impl Caller {
    /// Who looks at resources and prompts.
    pub(crate) fn visitor<'a>(&'a self, app: &'a Arc<App>) -> Visitor<'a> {
        Visitor { app, principal: &self.principal, profile: &self.profile }
    }
}

/// Who looks, and under which profile.
#[derive(Clone, Copy)]
pub struct Visitor<'a> {
    /// The server that is asked.
    pub app: &'a Arc<App>,
    /// Who asks.
    pub principal: &'a Arc<Principal>,
    /// Under which profile.
    pub profile: &'a str,
}

/// Whose a session, a deferred call or a kept result is. What they may do is looked up again with every message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) user: UserId,
    key: Option<KeyId>,
    person: bool,
}

impl Owner {
    pub(crate) fn of(principal: &Principal) -> Self {
        Self { user: principal.user.id, key: principal.key, person: principal.person }
    }
}

/// As rows of the database name it.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.person { 'p' } else { 'a' };
        write!(f, "{}.{}.{kind}", self.user, self.key.map_or(0, |key| key.0))
    }
}
