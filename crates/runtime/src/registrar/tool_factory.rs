//! Makes tools out of the entries of `tools.json`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use toolroom_contract::check::Stage;
use toolroom_contract::confidence::Source;
use toolroom_contract::entry::{EntryKind, EntryLimits, Isolation, ToolEntry};
use toolroom_contract::sandbox::{SandboxEntry, SandboxNetwork};
use toolroom_contract::{Handler, Policy, ToolDefinition};
use toolroom_profiles::executor::BUILT_IN;
use toolroom_worker::{self as worker, BadPath, Kind, Openings, ScriptSpec, Scripts};

use super::error::ChangeError;
use crate::Script;
use crate::catalogue::{Executor, NewTool};
use crate::http_tool::HttpClients;

/// A tool that comes with Toolroom and is there if an entry of `tools.json` says so.
pub struct Builtin {
    /// Its contract.
    pub definition: ToolDefinition,
    /// Its code, under the limits that the entry sets.
    pub handler: MakeHandler,
}

/// Makes the code of a built-in tool, given the limits of its entry.
pub type MakeHandler = Box<dyn Fn(&EntryLimits) -> Arc<dyn Handler> + Send + Sync>;

impl From<(ToolDefinition, Arc<dyn Handler>)> for Builtin {
    /// A tool that knows no limits.
    fn from((definition, handler): (ToolDefinition, Arc<dyn Handler>)) -> Self {
        Self { definition, handler: Box::new(move |_| Arc::clone(&handler)) }
    }
}

/// Makes tools out of entries.
pub(super) struct ToolFactory {
    /// The folder of the scripts.
    pub(super) tools: PathBuf,
    /// The folder of their working folders.
    pub(super) work: PathBuf,
    pub(super) scripts: Scripts,
    pub(super) builtins: BTreeMap<String, Builtin>,
    pub(super) http_clients: Arc<HttpClients>,
}

/// The name under which a tool is in the catalogue, given the name of its entry.
pub(super) fn canonical(name: &str) -> &str {
    BUILT_IN.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, ours)| ours)
}

impl ToolFactory {
    /// The tool of an entry, and how strictly its contract is read if it is not someone else's.
    pub(super) fn make(&self, entry: &ToolEntry) -> Result<(NewTool, Option<Stage>), ChangeError> {
        if let Some((name, range)) = entry.config.limits.as_ref().and_then(EntryLimits::out_of_range) {
            return Err(ChangeError::field(&format!("/config/limits/{name}"), format!("must be {range}")));
        }
        match entry.kind {
            EntryKind::Local => Ok((self.local(entry)?, None)),
            EntryKind::Builtin => Ok((self.builtin(entry)?, Some(Stage::Native))),
            EntryKind::Http => Ok((self.http(entry)?, None)),
        }
    }

    fn local(&self, entry: &ToolEntry) -> Result<NewTool, ChangeError> {
        free_name(entry)?;
        if entry.config.request.is_some() {
            let message = "only an entry of type \"http\" has one";
            return Err(ChangeError::field("/config/request", message));
        }
        let path = entry.config.script_path.as_deref().unwrap_or_default();
        let path = self.script_path(path)?;
        let (root, workdir) = (self.tools.clone(), self.work.join(&entry.name));
        self.script(entry, entry.name.clone(), root, path, workdir)
    }

    /// The tool of an entry that is not in the registry, with its script in a folder of its own.
    pub(super) fn draft(
        &self,
        entry: &ToolEntry,
        folder: &Path,
        file: &str,
        worker: String,
    ) -> Result<NewTool, ChangeError> {
        self.script(entry, worker, folder.to_owned(), folder.join(file), folder.join("work"))
    }

    fn script(
        &self,
        entry: &ToolEntry,
        worker: String,
        root: PathBuf,
        path: PathBuf,
        workdir: PathBuf,
    ) -> Result<NewTool, ChangeError> {
        for name in entry.config.env.keys() {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(ChangeError::field("/config/env", format!("{name:?} is not a variable name")));
            }
        }
        let kind = match path.extension().and_then(|ending| ending.to_str()) {
            Some("py") => Kind::Python { entrypoint: entrypoint(entry)? },
            Some("ts" | "mts" | "js" | "mjs") => {
                let tool = entry.config.entrypoint.clone().unwrap_or_else(|| entry.name.clone());
                Kind::Node { tool }
            }
            _ if entry.config.entrypoint.is_some() => {
                let message = "only a script in Python, TypeScript or JavaScript has one";
                return Err(ChangeError::field("/config/entrypoint", message));
            }
            Some("sh") => Kind::Shell,
            _ => Kind::Executable,
        };
        let definition = entry.definition();
        let spec = ScriptSpec {
            name: worker,
            root,
            path,
            kind,
            env: entry.config.env.clone(),
            limits: limits(entry.config.limits.as_ref()),
            parallel: Policy::of(&definition, Source::Script).slots.unwrap_or(1),
            isolation: match entry.config.isolation.unwrap_or_default() {
                Isolation::Shared => worker::Isolation::Shared,
                Isolation::User => worker::Isolation::User,
                Isolation::Call => worker::Isolation::Call,
            },
            workdir,
            sandbox: self.openings(entry, false)?,
        };
        let executor = Executor::Script(Arc::new(Script::new(spec, self.scripts.clone())));
        Ok(NewTool { definition, executor })
    }

    /// What a confined script may reach, with every path resolved. A folder that is gone since the entry was made is an
    /// error of its calls alone, unless all of them must be there.
    pub(super) fn openings(
        &self,
        entry: &ToolEntry,
        all_there: bool,
    ) -> Result<Option<Openings>, ChangeError> {
        let Some(wanted) = entry.config.sandbox.as_ref().and_then(SandboxEntry::openings) else {
            return Ok(None);
        };
        if let Some((name, range)) = wanted.out_of_range() {
            return Err(ChangeError::field(&format!("/config/sandbox/{name}"), range));
        }
        let limits = entry.config.limits.as_ref();
        let openings = Openings {
            // The scripts are in a folder of the home.
            home: self.tools.parent().unwrap_or(&self.tools).to_owned(),
            host_network: wanted.network == Some(SandboxNetwork::Host),
            memory: wanted.memory.or(limits.and_then(|limits| limits.memory)).unwrap_or(Openings::MEMORY),
            disk: wanted.disk.unwrap_or(Openings::DISK),
            read: wanted.read.iter().map(PathBuf::from).collect(),
            write: wanted.write.iter().map(PathBuf::from).collect(),
            is_resolved: false,
        };
        let refuse = |bad: BadPath| {
            ChangeError::field(&format!("/config/sandbox/{}/{}", bad.list, bad.index), bad.message)
        };
        match openings.clone().resolve() {
            Err(bad) if bad.is_missing && !all_there => Ok(Some(openings)),
            resolved => resolved.map(Some).map_err(refuse),
        }
    }

    /// The file that a script's path names, which is in the folder of the scripts or below it.
    pub(super) fn script_path(&self, path: &str) -> Result<PathBuf, ChangeError> {
        let refuse = |message: &str| Err(ChangeError::field("/config/script_path", message));
        if path.is_empty() {
            return refuse("is missing: name the script, relative to the folder 'tools'");
        }
        let plain = |part: Component<'_>| match part {
            // Names with a dot in front are those of files that are being written.
            Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
            _ => false,
        };
        if path.contains(['\0', '\\']) || !Path::new(path).components().all(plain) {
            return refuse("must stay in the folder 'tools': a relative path without '..' or hidden names");
        }
        if path.ends_with('/') || path == "tools.json" {
            return refuse("must name a script");
        }
        if path.len() > LONGEST_PATH || path.split('/').any(|part| part.len() > LONGEST_NAME) {
            return refuse("is too long: at most 1024 bytes, and 200 for each name in it");
        }
        if leads_out(&self.tools, Path::new(path)) {
            return refuse("must stay in the folder 'tools': a link in its path leads out of it");
        }
        Ok(self.tools.join(path))
    }

    fn builtin(&self, entry: &ToolEntry) -> Result<NewTool, ChangeError> {
        let Some(builtin) = self.builtins.get(canonical(&entry.name)) else {
            let known: Vec<&str> = self.builtins.keys().map(String::as_str).collect();
            let message = match known.is_empty() {
                true => format!("'{}' is not part of this release", entry.name),
                false => format!("'{}' is not built in; these are: {}", entry.name, known.join(", ")),
            };
            return Err(ChangeError::field("/name", message));
        };
        let config = &entry.config;
        let fixed = [
            ("/config/script_path", config.script_path.is_some()),
            ("/config/entrypoint", config.entrypoint.is_some()),
            ("/config/env", !config.env.is_empty()),
            ("/config/isolation", config.isolation.is_some()),
            ("/config/sandbox", config.sandbox.is_some()),
            ("/config/request", config.request.is_some()),
            ("/permissions", entry.permissions.is_some()),
            ("/destructive", entry.destructive.is_some()),
            ("/cacheable", entry.cacheable.is_some()),
            ("/rateLimit", entry.rate_limit.is_some()),
        ];
        if let Some((pointer, _)) = fixed.iter().find(|(_, given)| *given) {
            let message = "a built-in tool has this already; its entry can set timeout and config.limits";
            return Err(ChangeError::field(pointer, message));
        }
        let mut definition = builtin.definition.clone();
        definition.timeout = entry.timeout.or(definition.timeout);
        definition.parallel = entry.parallel.or(definition.parallel);
        let handler = (builtin.handler)(&config.limits.clone().unwrap_or_default());
        Ok(NewTool { definition, executor: Executor::Native(handler) })
    }
}

/// The names of built-in tools are theirs.
pub(super) fn free_name(entry: &ToolEntry) -> Result<(), ChangeError> {
    if !BUILT_IN.iter().any(|(alias, ours)| entry.name == *alias || entry.name == *ours) {
        return Ok(());
    }
    let message = format!(
        "'{}' is reserved for the built-in tool of that name; choose another, or write \"type\": \"builtin\"",
        entry.name
    );
    Err(ChangeError::field("/name", message))
}

/// Bytes of a path, and of each name in it: below what file systems take, so that a name for writing aside fits too.
const LONGEST_PATH: usize = 1024;
const LONGEST_NAME: usize = 200;

/// Whether a link on the way to the script leads to somewhere else. What is not there yet leads nowhere.
fn leads_out(tools: &Path, path: &Path) -> bool {
    let Ok(root) = tools.canonicalize() else { return false };
    let mut way = tools.to_owned();
    path.components().any(|part| {
        way.push(part);
        match way.canonicalize() {
            Ok(place) => !place.starts_with(&root),
            // A link to nothing would be followed once there is something.
            Err(_) => way.is_symlink(),
        }
    })
}

fn entrypoint(entry: &ToolEntry) -> Result<String, ChangeError> {
    let name = entry.config.entrypoint.as_deref().unwrap_or("run");
    let letters = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if name.is_empty() || !letters || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(ChangeError::field("/config/entrypoint", "must be the name of a Python function"));
    }
    Ok(name.to_owned())
}

fn limits(given: Option<&EntryLimits>) -> worker::Limits {
    let usual = worker::Limits::default();
    let Some(given) = given else { return usual };
    worker::Limits {
        memory: given.memory.or(usual.memory),
        cpu_seconds: given.cpu_seconds.or(usual.cpu_seconds),
        open_files: given.open_files.unwrap_or(usual.open_files),
        processes: given.processes.unwrap_or(usual.processes),
        file_size: given.file_size.or(usual.file_size),
        output: given.output.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usual.output),
    }
}
