//! Runs an installer of packages, and tells an index that cannot be reached from a package that is not there.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::ScriptError;

/// How long one step of an installation may take.
const INSTALL_TIME: Duration = Duration::from_secs(300);

/// Runs one, called `name`, with the user's own settings, such as their index. `log` is where it writes down more than
/// it says.
pub(crate) fn run(name: &str, command: &mut Command, log: Option<&Path>) -> Result<(), ScriptError> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed(format!("{name} is not installed")),
        _ => failed(format!("{name}: {error}")),
    })?;
    let mut errors = child.stderr.take();
    let said = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = errors.as_mut().map(|errors| errors.read_to_end(&mut said));
        said
    });
    let began = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if began.elapsed() < INSTALL_TIME => std::thread::sleep(Duration::from_millis(20)),
            None => {
                // With whatever it started.
                let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                let _ = group.map(|group| kill_process_group(group, Signal::KILL));
                child.wait()?;
                let minutes = INSTALL_TIME.as_secs() / 60;
                return Err(failed(format!("{name} did not finish within {minutes} minutes")));
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    let said = said.join().unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let logged = log.and_then(|log| std::fs::read_to_string(log).ok()).unwrap_or_default();
    if let Some(why) = said.lines().chain(logged.lines()).find_map(out_of_reach) {
        return Err(ScriptError::NoIndex { installer: name.to_owned(), reason: why.to_owned() });
    }
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(6)..].join("\n");
    Err(failed(format!("{name} failed:\n{last}")))
}

pub(crate) fn failed(reason: String) -> ScriptError {
    ScriptError::Dependencies { reason }
}

/// What uv and pip write when an index did not answer, or not with a list of packages.
const NO_ANSWER: [&str; 8] = [
    "Failed to fetch:",
    "error sending request for url",
    "the network was disabled",
    "could not be queried",
    "returned a 403",
    "Could not fetch URL",
    "connection broken by",
    "is not a trusted or secure host",
];
/// The codes of npm for the same.
const NPM_CODES: [&str; 12] = [
    "ECONNREFUSED",
    "ECONNRESET",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ETIMEDOUT",
    "ERR_SOCKET_TIMEOUT",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTCACHED",
    "E401",
    "E403",
    "E407",
];

/// What a line says about an index that cannot be reached, if it does.
fn out_of_reach(line: &str) -> Option<&str> {
    let npm = line.strip_prefix("npm error code ").or_else(|| line.strip_prefix("npm ERR! code "));
    if let Some(code) = npm {
        let is_ours = NPM_CODES.contains(&code)
            || code.starts_with("E50")
            || code.contains("CERT")
            || code.contains("SIGNATURE");
        return is_ours.then_some(code);
    }
    // An index that answers 404 does not have the package.
    let is_ours = NO_ANSWER.iter().any(|words| line.contains(words)) && !line.contains(" 404 ");
    is_ours.then_some(line.trim())
}

#[cfg(test)]
mod tests {
    use super::out_of_reach;

    #[test]
    fn an_index_out_of_reach_is_told_from_a_package_that_is_not_there() {
        for line in [
            "  cause: Failed to fetch: http://127.0.0.1:9/simple/nosuch-abc/",
            "  ├─▶ Failed to fetch: `http://127.0.0.1:9/simple/nosuch-abc/`",
            "hint: An index URL (http://127.0.0.1:1/simple) could not be queried due to a lack of valid authentication credentials (401 Unauthorized)",
            "hint: An index (http://127.0.0.1:1/simple) returned a 403 Forbidden error. Check that the index URL is correct and the credentials are valid.",
            "hint: Packages were unavailable because the network was disabled. When the network is disabled, registry packages may only be read from the cache.",
            "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(…)': /simple/nosuch-abc/",
            "2026-11-16T17:00:00,000   Could not fetch URL http://127.0.0.1:1/simple/x/: 503 Server Error: Unavailable for url: http://… - skipping",
            "npm error code ECONNREFUSED",
            "npm ERR! code E503",
            "npm error code UNABLE_TO_VERIFY_LEAF_SIGNATURE",
        ] {
            assert!(out_of_reach(line).is_some(), "{line}");
        }
        for line in [
            "  cause: Because nosuch-abc was not found in the package registry and you require nosuch-abc, we can conclude that your requirements are unsatisfiable.",
            "ERROR: No matching distribution found for nosuch-abc",
            "2026-11-16T17:00:00,000   Could not fetch URL http://127.0.0.1:1/simple/x/: 404 Client Error: Not Found for url: http://… - skipping",
            "npm error code E404",
            "npm error code ETARGET",
        ] {
            assert_eq!(out_of_reach(line), None, "{line}");
        }
    }
}
