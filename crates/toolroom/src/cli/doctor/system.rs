//! What this system offers to hold scripts and code back, and whether there is a search engine.

use std::time::Duration;

use tokio::time::timeout;
use toolroom_packs::builtin::search::{SearchEngine, SearchSettings};
use toolroom_worker::{Containment, Sandbox, Scripts, Settings};

use super::finding::Finding;
use crate::config::Config;
use crate::home::Home;

/// How long the sandbox may take to be tried.
const PATIENCE: Duration = Duration::from_secs(10);

pub async fn look(home: &Home, config: Option<&Config>) -> Vec<Finding> {
    let mut findings = vec![containment(), sandbox(home).await];
    findings.extend(config.map(|config| search(config.search.as_ref())));
    findings
}

fn search(settings: Option<&SearchSettings>) -> Finding {
    let Some(settings) = settings else {
        return Finding::warn(
            "search",
            "no search engine is set up; search-web answers not_configured",
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

/// By which means nothing of a script is left behind.
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
            format!("{detail}; a process that makes a session of its own may be missed"),
            "Give the server a control group of its own, such as by systemd with Delegate=yes.",
        );
    }
    match missing.as_slice() {
        [] => Finding::ok("containment", detail),
        missing => Finding::warn(
            "containment",
            format!("{detail}; not bounded: {}", missing.join(", ")),
            "Give the server a control group of its own, such as by systemd with Delegate=yes.",
        ),
    }
}

/// What holds back code that nobody vouches for.
async fn sandbox(home: &Home) -> Finding {
    let remedy = "A kernel with Landlock (5.13 or later) and user namespaces holds code back; until then give \
                  code:execute only to those whom you trust.";
    let Ok(folder) = tempfile::tempdir_in(home.root()) else {
        return Finding::warn(
            "sandbox",
            "it could not be tried: the home cannot be written",
            "Mend the home first.",
        );
    };
    let scripts = Scripts::new(Settings::from_environment());
    let sandbox = Sandbox::new(scripts.clone(), folder.path());
    let finding = match timeout(PATIENCE, sandbox.probe()).await {
        Ok(Ok(found)) => {
            let part = |holds: bool, what: &str| format!("{what}: {}", if holds { "yes" } else { "no" });
            let detail = [
                format!("Landlock {}", found.landlock),
                part(found.files, "files held back"),
                part(found.no_network(), "no network"),
                part(found.signals, "no signals to others"),
                part(found.processes, "processes bounded"),
            ]
            .join(", ");
            match found.files && found.no_network() && found.processes {
                true => Finding::ok("sandbox", detail),
                false => Finding::warn("sandbox", detail, remedy),
            }
        }
        Ok(Err(error)) => Finding::warn("sandbox", error.to_string(), remedy),
        Err(_) => Finding::warn("sandbox", "it could not be tried in time", remedy),
    };
    scripts.shutdown().await;
    finding
}
