//! Why a script gave no answer, in words that its caller can use.

use std::path::Path;

use serde_json::json;
use toolroom_contract::error::Outcome;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_worker::{Kind, ScriptError, ScriptSpec};

use super::secrets::Secrets;
use crate::catalogue::Tool;

/// The error of the call. Paths and stacks go to the log, with the cause.
pub(super) fn of(tool: &Tool, spec: &ScriptSpec, secrets: &Secrets<'_>, error: ScriptError) -> ToolError {
    let name = tool.name();
    let (code, message, outcome) = match &error {
        ScriptError::Missing => (
            ErrorCode::ToolExecutionError,
            format!("The script of '{name}' is missing. Its owner must put it back or register it anew."),
            None,
        ),
        ScriptError::NotExecutable => (
            ErrorCode::ToolExecutionError,
            format!(
                "The script of '{name}' cannot be executed. Its owner must make it executable, with a first line that names its interpreter."
            ),
            None,
        ),
        ScriptError::Interpreter { .. } => {
            let program = match spec.kind {
                Kind::Python { .. } => "Python",
                Kind::Shell => "A shell",
                Kind::Executable => "The program that its first line names",
            };
            let message = format!(
                "{program} could not be started for '{name}'. Its owner must install it, or see 'toolroom doctor'."
            );
            (ErrorCode::ToolExecutionError, message, None)
        }
        ScriptError::Failed { message, .. } => {
            let said = without_paths(&secrets.hide(message), spec);
            let end = if said.ends_with(['.', '!', '?']) { "" } else { "." };
            let message = format!("'{name}' failed: {said}{end}");
            (ErrorCode::ToolExecutionError, message, Some(Outcome::Unknown))
        }
        // It came to its end: what it does, it has done.
        ScriptError::BadOutput { reason } => (
            ErrorCode::InvalidOutput,
            format!(
                "'{name}' gave an answer that is not JSON: {reason}. Only its answer may go to its output; log lines belong on stderr."
            ),
            Some(Outcome::Applied),
        ),
        ScriptError::TooLarge { limit, .. } => (
            ErrorCode::OutputTooLarge,
            format!(
                "The answer of '{name}' is larger than {limit} bytes, and was cut off. Ask for less, or have its owner raise config.limits.output."
            ),
            Some(Outcome::Unknown),
        ),
        ScriptError::Stopped => (
            ErrorCode::ServiceUnavailable,
            "The server is stopping. Try again when it is back.".to_owned(),
            Some(Outcome::Unknown),
        ),
        ScriptError::System(_) => (
            ErrorCode::ServiceUnavailable,
            format!("The system had no process for '{name}'. Try again in a moment."),
            Some(Outcome::Unknown),
        ),
        ScriptError::Sandbox(failed) => (
            ErrorCode::NotConfigured,
            format!(
                "The sandbox of '{name}' could not be set up ({failed}), and nothing was run. See 'toolroom doctor'."
            ),
            None,
        ),
        ScriptError::Unconfined { reason } => (
            ErrorCode::NotConfigured,
            format!(
                "This system cannot confine '{name}', so that it does not run: {reason}. See 'toolroom doctor'."
            ),
            None,
        ),
        ScriptError::BadFileName { .. } => return ToolError::internal(error),
    };
    let mut failed = ToolError::new(code, message);
    if let ScriptError::TooLarge { limit, .. } = &error {
        failed = failed.with_data(json!({ "truncated": true, "limitBytes": limit }));
    }
    if code == ErrorCode::ServiceUnavailable {
        failed = failed.retry_after_ms(1000);
    }
    failed.outcome = outcome.filter(|_| !tool.policy.read_only);
    failed.caused_by(cause(secrets, error))
}

/// What the log is told: with the traceback or the end of stderr.
fn cause(secrets: &Secrets<'_>, error: ScriptError) -> Box<dyn std::error::Error + Send + Sync> {
    match error {
        ScriptError::Failed { message, detail, .. } => {
            secrets.hide(&format!("{message}\n{detail}")).trim_end().to_owned().into()
        }
        other => other.into(),
    }
}

/// Where the parts of a system lie; what begins so is a path of this machine.
const ROOTS: &[&str] = &[
    "bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "nix", "opt", "private", "proc",
    "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var", "Users", "Library",
];

/// The text with each path of this machine cut down to its last part.
fn without_paths(text: &str, spec: &ScriptSpec) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let path_ends = |c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | ':' | ')' | ']' | '>' | '|')
        };
        let (before, from) = rest.split_at(at);
        let path = &from[..from.find(path_ends).unwrap_or(from.len())];
        let joined = before.chars().next_back().or_else(|| clean.chars().next_back());
        let begins = !joined.is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~'));
        clean.push_str(before);
        if begins && is_of_this_machine(path, spec) {
            clean.push_str(path.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
            rest = &from[path.len()..];
        } else {
            clean.push('/');
            rest = &from[1..];
        }
    }
    clean.push_str(rest);
    clean
}

fn is_of_this_machine(path: &str, spec: &ScriptSpec) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    let ours = |known: Option<&Path>| known.is_some_and(|known| Path::new(path).starts_with(known));
    ROOTS.contains(&first) || ours(spec.path.parent()) || ours(spec.workdir.parent())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_machine_lose_all_but_their_last_part_and_other_slashes_stay() {
        let spec = ScriptSpec {
            name: "x".into(),
            path: "/rooms/one/tools/x.py".into(),
            kind: Kind::Shell,
            env: Default::default(),
            limits: Default::default(),
            parallel: 1,
            isolation: Default::default(),
            workdir: "/rooms/one/desk/x".into(),
        };
        for (said, told) in [
            ("No such file or directory: '/etc/ann/data.csv'", "No such file or directory: 'data.csv'"),
            ("/rooms/one/tools/x.py: 3: foo: not found", "x.py: 3: foo: not found"),
            ("see https://example.com/home/page", "see https://example.com/home/page"),
            ("/items/0/city is unknown", "/items/0/city is unknown"),
            ("give km/h or m/s", "give km/h or m/s"),
            ("(/etc/passwd)", "(passwd)"),
            ("/", "/"),
        ] {
            assert_eq!(without_paths(said, &spec), told);
        }
    }
}
