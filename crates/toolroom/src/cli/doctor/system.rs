//! What this system offers to hold scripts and code back, and whether there is a search engine.

use std::time::Duration;

use tokio::time::timeout;
use toolroom_packs::builtin::search::{SearchEngine, SearchSettings};
use toolroom_worker::{
    By, CodeRequest, Confinement, Containment, Found, Language, Sandbox, SandboxLevel, ScriptError,
};

use super::finding::Finding;
use crate::config::Config;
use crate::home::Home;
use crate::wiring;

/// How long the sandbox may take to be tried.
const PATIENCE: Duration = Duration::from_secs(10);

pub async fn look(home: &Home, config: Option<&Config>) -> Vec<Finding> {
    let mut findings = vec![containment()];
    findings.extend(code(home, config).await);
    findings.extend(config.map(|config| search(config.search.as_ref())));
    findings
}

fn search(settings: Option<&SearchSettings>) -> Finding {
    let Some(settings) = settings else {
        return Finding::warn(
            "search",
            "no search engine is set up; web search answers not_configured",
            "Set TOOLROOM_SEARCH_URL to a SearXNG server, or fill in [search] in toolroom.toml.",
        );
    };
    let name = settings.engine.name();
    match settings.engine {
        SearchEngine::Brave | SearchEngine::Tavily if settings.api_key.is_none() => {
            let remedy = "Set api_key or api_key_env in [search] of toolroom.toml.";
            Finding::warn("search", format!("{name} is set up, but its key is missing"), remedy)
        }
        _ => Finding::ok("search", format!("{name} is set up")),
    }
}

/// How script processes are cleaned up.
fn containment() -> Finding {
    let found = Containment::probe();
    let mut means = vec!["sessions and process groups"];
    means.extend(found.cgroup_kill.then_some("control groups"));
    means.extend(found.marked.then_some("marks that children inherit"));
    let detail = format!("script processes are ended by {}", means.join(", "));
    let mut missing = Vec::new();
    missing.extend((!found.bounds_processes()).then_some("the number of processes"));
    missing
        .extend((!found.tree_memory_bounded).then_some("the memory of a script with its children together"));
    if !(found.cgroup_kill || found.marked) {
        return Finding::warn(
            "containment",
            format!("{detail}; a process that starts its own session may be missed"),
            "Give the server its own control group, for example with Delegate=yes in systemd.",
        );
    }
    match missing.as_slice() {
        [] => Finding::ok("containment", detail),
        missing => Finding::warn(
            "containment",
            format!("{detail}; not limited: {}", missing.join(", ")),
            "Give the server its own control group, for example with Delegate=yes in systemd.",
        ),
    }
}

/// How callers' code is confined, found out by trying.
async fn code(home: &Home, config: Option<&Config>) -> Vec<Finding> {
    let Ok(folder) = tempfile::tempdir_in(home.root()) else {
        let detail = "not tried: the home is not writable";
        return vec![Finding::warn("code", detail, "Fix the permissions of the home first.")];
    };
    let scripts = wiring::scripts(home, config.and_then(|config| config.database.sqlite_path()));
    let sandbox = Sandbox::new(scripts.clone(), folder.path());
    let nothing = CodeRequest::new(Language::Python, "");
    let tried = async {
        let found = sandbox.probe().await?;
        // Where the box would show the home, because Python is installed around it, no code is run.
        if found.level != SandboxLevel::None
            && let Err(error @ ScriptError::Unconfined { .. }) = sandbox.run_code(&nothing).await
        {
            return Err(error);
        }
        Ok((found, sandbox.confinement(&nothing.limits).await?))
    };
    let findings = match timeout(PATIENCE, tried).await {
        Ok(Ok((found, confinement))) => {
            let allowed = config.is_some_and(|config| config.allow_unconfined);
            confined(&found, &confinement, allowed)
        }
        Ok(Err(ScriptError::Unconfined { reason })) => {
            let remedy = "Move the home out of there (--home, TOOLROOM_HOME), or use a python3 that is installed elsewhere.";
            vec![Finding::fail("code", format!("off. No sandbox for Python: {reason}"), remedy)]
        }
        Ok(Err(error)) => vec![Finding::fail("code", format!("off. {error}"), NAMESPACES)],
        Err(_) => {
            vec![Finding::warn("code", "the test timed out", "Try again when the machine is less busy.")]
        }
    };
    scripts.shutdown().await;
    findings
}

const NAMESPACES: &str = "Allow the server to create namespaces: on Ubuntu by an AppArmor profile for this program with \
    'userns,'; in a container by a seccomp profile that allows unshare and mount; under systemd without \
    RestrictNamespaces. A kernel with Landlock 6 confines code in part without them.";

fn confined(found: &Found, confinement: &Confinement, allowed: bool) -> Vec<Finding> {
    let means = confinement.means();
    let mut findings = match found.level {
        SandboxLevel::Full => vec![Finding::ok("code", means)],
        SandboxLevel::Partial => {
            let detail = format!(
                "{means}; it sees names and processes of the host. No namespaces: {}",
                found.reason()
            );
            vec![Finding::warn("code", detail, NAMESPACES)]
        }
        SandboxLevel::None if allowed => {
            let detail = format!("runs unconfined, as allow_unconfined says. {}", found.reason());
            return vec![Finding::warn("code", detail, NAMESPACES)];
        }
        SandboxLevel::None => {
            return vec![Finding::fail("code", format!("off. {}", found.reason()), NAMESPACES)];
        }
    };
    if confinement.memory.by == By::Watched {
        let detail = "memory is checked every 20 ms, not limited by the kernel";
        findings.push(Finding::warn(
            "code",
            detail,
            "Under systemd, add Delegate=memory pids to the service.",
        ));
    }
    findings
}
