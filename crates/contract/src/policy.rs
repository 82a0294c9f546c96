//! What follows from a definition: retry, caching, parallelism, approval, MCP annotations.
//!
//! Derived here and nowhere else, so that no edge or step can disagree with the contract.

use std::time::Duration;

use crate::confidence::Source;
use crate::definition::{Category, ResponseTime, ToolDefinition};
use crate::permission::Permission;

/// The rules that a tool runs under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether the tool changes nothing.
    pub read_only: bool,
    /// Whether a call that may have run can be repeated without harm.
    pub repeatable: bool,
    /// How long an answer may be given again; `None` is never.
    pub cache: Option<Duration>,
    /// How many calls may run side by side; `None` is as many as come.
    pub slots: Option<usize>,
    /// Whether a person must agree first.
    pub needs_approval: bool,
    /// Whether a person may agree to all its calls of one caller for some hours. Never where the parameters are a program.
    pub standing_approval: bool,
    /// How long a call may take, waiting included.
    pub timeout: Duration,
    /// Whether calls reach beyond this system.
    pub open_world: bool,
    /// Whether an answer may hold what anybody wrote: a web page, or the output of a script, code or another server.
    pub untrusted_output: bool,
}

impl Policy {
    /// How many calls of one script tool run at the same time, if it is parallel-capable.
    pub const SCRIPTS_SIDE_BY_SIDE: usize = 16;

    /// The rules for a definition that is run by that kind of executor.
    pub fn of(definition: &ToolDefinition, source: Source) -> Self {
        let read_only = definition.category != Category::Mutation;
        let cache = match definition.cache_ttl {
            Some(seconds) if definition.cacheable && read_only => Some(Duration::from_secs(seconds)),
            _ => None,
        };
        // A script must declare that its calls can run in parallel; native code and servers can.
        let parallel = definition.parallel.unwrap_or(source != Source::Script);
        Self {
            read_only,
            repeatable: read_only || definition.idempotent,
            cache,
            slots: match (parallel, source) {
                (false, _) => Some(1),
                // Each call of a script is its own process.
                (true, Source::Script) => Some(Self::SCRIPTS_SIDE_BY_SIDE),
                (true, _) => None,
            },
            needs_approval: definition.destructive,
            standing_approval: definition.destructive && !definition.permissions.iter().any(is_of_code),
            timeout: timeout(definition),
            open_world: source != Source::Native || definition.permissions.iter().any(is_of_the_web),
            untrusted_output: source != Source::Native
                || definition.permissions.iter().any(|one| is_of_the_web(one) || is_of_code(one)),
        }
    }
}

/// Native code stays on this system, unless its permission says that it asks the web.
fn is_of_the_web(permission: &Permission) -> bool {
    permission.resource() == "web"
}

/// What may run any code is agreed to call by call.
fn is_of_code(permission: &Permission) -> bool {
    permission.resource() == "code"
}

fn timeout(definition: &ToolDefinition) -> Duration {
    match definition.timeout {
        Some(seconds) => Duration::from_secs_f64(seconds.clamp(0.001, 3600.0)),
        None => Duration::from_secs(match definition.response_time {
            ResponseTime::Fast => 5,
            ResponseTime::Medium => 30,
            ResponseTime::Slow => 120,
        }),
    }
}
