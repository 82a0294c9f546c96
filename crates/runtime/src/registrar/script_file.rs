//! A script that says itself which tools it has: it is run once, confined, and its definitions become entries.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use toolroom_contract::entry::ToolEntry;
use toolroom_worker::{Described, ReadError, ScriptError, ScriptFile};

use super::error::ChangeError;
use super::{Registrar, Registration};
use crate::catalogue::Tool;

/// What registering a file did.
pub struct FileTools {
    /// The tools of the file.
    pub tools: Vec<Arc<Tool>>,
    /// Tools that the file had before.
    pub removed: Vec<String>,
}

impl Registrar {
    /// The entries of the tools that a script describes; none if it is one that only has a header.
    pub async fn read_script(&self, file: &str, text: &str) -> Result<Vec<ToolEntry>, ChangeError> {
        let factory = &self.entries.tool_factory;
        factory.script_path(file)?;
        if !is_read(file) {
            let message =
                "only scripts in Python (.py), TypeScript and JavaScript (.ts, .mts, .js, .mjs) are read";
            return Err(ChangeError::field("/file", message));
        }
        let script = ScriptFile {
            name: file.rsplit('/').next().unwrap_or(file).to_owned(),
            text: text.to_owned(),
            home: factory.tools.parent().unwrap_or(&factory.tools).to_owned(),
            packages: toolroom_worker::packages_in(&factory.tools),
            env: BTreeMap::new(),
        };
        self.scripts().install(&script.name, text).await.map_err(|error| unreadable(file, error.into()))?;
        let found = self.scripts().describe(&script).await.map_err(|error| unreadable(file, error))?;
        found.into_iter().map(|one| entry_of(file, one)).collect()
    }

    /// Installs the packages that the script of an entry asks for.
    pub(super) async fn install(&self, registration: &Registration) -> Result<(), ChangeError> {
        let path = registration.entry.config.script_path.as_deref().unwrap_or_default();
        let Some(text) = registration.script.as_deref().filter(|_| is_read(path)) else { return Ok(()) };
        self.scripts().install(path, text).await.map_err(|error| unreadable(path, error.into()))
    }

    /// Registers all tools of a script in one change, or replaces those that it had.
    pub async fn put_script(
        self: &Arc<Self>,
        file: &str,
        text: String,
        replace: bool,
    ) -> Result<FileTools, ChangeError> {
        let entries = self.read_script(file, &text).await?;
        if entries.is_empty() {
            let message = "describes no tool; mark its functions with @tool";
            return Err(ChangeError::Unreadable { place: file.to_owned(), message: message.to_owned() });
        }
        self.in_turn(move |me, turn| me.store_file(turn, entries, text, replace)).await
    }
}

/// Whether a script of that name can say itself what tools it has.
fn is_read(file: &str) -> bool {
    [".py", ".ts", ".mts", ".js", ".mjs"].iter().any(|ending| file.ends_with(ending))
}

/// Whether a script may say by its code what tools it has. A Python file with `run(params, context)` says it in its
/// header, and is not run.
pub fn may_describe_itself(file: &str, text: &str) -> bool {
    if [".ts", ".mts", ".js", ".mjs"].iter().any(|ending| file.ends_with(ending)) {
        return true;
    }
    let imports = |line: &str| {
        let line = line.trim_start();
        line.starts_with("from toolroom") || line.starts_with("import toolroom")
    };
    let is_run = |line: &str| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        let given = line.strip_prefix("def run(").unwrap_or_default();
        let names: Vec<&str> =
            given.split(')').next().unwrap_or_default().split(',').map(str::trim).collect();
        names[0].split([':', '=']).next().is_some_and(|name| name.trim() == "params")
            || (names.len() == 2 && names.iter().all(|name| !name.is_empty() && !name.contains(':')))
    };
    file.ends_with(".py") && (text.lines().any(imports) || !text.lines().any(is_run))
}

/// Says where the script of an entry is.
pub(super) fn set_path(entry: &mut ToolEntry, file: String) {
    entry.config.script_path = Some(file);
}

fn entry_of(file: &str, found: Described) -> Result<ToolEntry, ChangeError> {
    let Described { line, mut entry } = found;
    if let Some(config) = entry.get_mut("config").and_then(Value::as_object_mut) {
        config.insert("script_path".to_owned(), file.into());
    }
    serde_path_to_error::deserialize::<_, ToolEntry>(&entry).map_err(|error| {
        let message = format!("{}: {}", error.path(), error.inner());
        ChangeError::Unreadable { place: place(file, line), message }
    })
}

fn unreadable(file: &str, error: ReadError) -> ChangeError {
    match error {
        ReadError::Script(ScriptError::Unconfined { .. } | ScriptError::Interpreter { .. }) => {
            ChangeError::CannotRead { file: file.to_owned(), reason: error.to_string() }
        }
        ReadError::Script(ScriptError::Dependencies { .. } | ScriptError::PythonVersion { .. }) => {
            let message = error.to_string();
            ChangeError::NotInstalled { file: file.to_owned(), message, can_retry: false }
        }
        ReadError::Script(ScriptError::NoIndex { .. }) => {
            let message = format!(
                "{error}. Check the network, the proxy and the settings of the index, then try again"
            );
            ChangeError::NotInstalled { file: file.to_owned(), message, can_retry: true }
        }
        ReadError::Raised { line, .. } => {
            ChangeError::Unreadable { place: place(file, line), message: error.to_string() }
        }
        error => ChangeError::Unreadable { place: file.to_owned(), message: error.to_string() },
    }
}

fn place(file: &str, line: Option<u32>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}
