//! What saving a script would mean, and a draft of it as a tool that is in no catalogue. Nothing is registered here.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use toolroom_contract::ToolDefinition;
use toolroom_contract::diff::{self, Change};
use toolroom_contract::entry::{EntryKind, Isolation, ToolEntry};
use toolroom_contract::sandbox::SandboxEntry;
use uuid::Uuid;

use super::error::ChangeError;
use super::header::{self, HeaderError};
use super::reload::unsound;
use super::script_file::{may_describe_itself, set_path};
use super::{Registrar, Registration, tool_factory};
use crate::catalogue::Tool;
use crate::registry_file::FileError;

/// A script that might be saved.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its text.
    pub script: String,
    /// The entry that it has, or is to have where its text does not say.
    pub entry: Option<ToolEntry>,
    /// The tool that it would replace.
    pub replaces: Option<String>,
}

/// What saving it would mean.
#[derive(Debug, Default)]
pub struct Plan {
    /// The entry, as far as the text can be read.
    pub entry: Option<ToolEntry>,
    pub definition: Option<ToolDefinition>,
    /// What is different for callers of the tool that it replaces.
    pub changes: Vec<Change>,
    /// Whether these changes would be refused.
    pub refused: bool,
    /// The name under which it could be published instead.
    pub next_name: Option<String>,
    /// What can be done about a refusal.
    pub ways_out: Option<String>,
    /// What must be fixed first.
    pub mistakes: Vec<Mistake>,
}

/// A mistake, and its place in the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub line: usize,
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Mistake {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line: line.max(1), message: message.into(), hint: None }
    }
}

impl From<HeaderError> for Mistake {
    fn from(error: HeaderError) -> Self {
        Self { hint: Some(error.remedy.clone()), ..Self::new(error.line, error.to_string()) }
    }
}

impl Registrar {
    /// What saving a draft would mean. A script that describes its tools is run for that, confined.
    pub async fn plan(&self, draft: &Draft) -> Result<Plan, ChangeError> {
        let replaces = draft.replaces.as_deref().map(tool_factory::canonical);
        let old = match replaces {
            None => None,
            Some(name) => {
                let entries = self.entries().await;
                let found = entries.into_iter().find(|entry| tool_factory::canonical(&entry.name) == name);
                Some(found.ok_or_else(|| ChangeError::NotFound(name.to_owned()))?)
            }
        };
        let mut plan = Plan::default();
        let entry = match self.read_draft(draft, old.as_ref()).await? {
            Ok(entry) => entry,
            Err(mistake) => {
                plan.mistakes.push(mistake);
                return Ok(plan);
            }
        };
        let same = old.filter(|old| old.name == entry.name);
        // A file that names no version keeps the one that was published.
        let mut entry = entry;
        entry.version = entry.version.or(same.as_ref().and_then(|old| old.version.clone()));
        let definition = entry.definition();
        if let Some(there) = self.entries.runtime.registry.get(&definition.name).filter(|_| same.is_some()) {
            plan.changes = diff::diff(there.definition(), &definition);
        }
        let ready = self.in_force(|state| {
            if same.is_none() && state.find(&definition.name).is_some() {
                return Err(ChangeError::Exists(definition.name.clone()));
            }
            self.entries.ready(state, &entry)
        });
        match ready.await {
            Ok(_) => {}
            Err(ChangeError::Breaking { name, .. }) => {
                (plan.refused, plan.next_name) = (true, Some(diff::next_name(&name)));
                plan.ways_out = Some(diff::ways_out(&name));
            }
            Err(ChangeError::Invalid(fields)) => plan.mistakes.extend(fields.into_iter().map(|field| {
                let name = field.pointer.trim_start_matches('/');
                Mistake::new(line_of(&draft.script, name), format!("{name}: {}", field.message))
            })),
            Err(error @ (ChangeError::Exists(_) | ChangeError::Taken(_))) => {
                let hint = Some("Choose another name, or edit that tool.".to_owned());
                let mistake = Mistake::new(line_of(&draft.script, "name"), error.to_string());
                plan.mistakes.push(Mistake { hint, ..mistake });
            }
            Err(error) => return Err(error),
        }
        (plan.entry, plan.definition) = (Some(entry), Some(definition));
        Ok(plan)
    }

    /// The entry that a draft's text describes; what it does not describe is as it was given.
    async fn read_draft(
        &self,
        draft: &Draft,
        old: Option<&ToolEntry>,
    ) -> Result<Result<ToolEntry, Mistake>, ChangeError> {
        let given = draft.entry.as_ref().or(old);
        let known = given.and_then(|entry| entry.config.script_path.clone());
        let named = known.is_some();
        let file = known.unwrap_or_else(|| format!("draft.{}", ending(&draft.script)));
        let mut entry = None;
        if may_describe_itself(&file, &draft.script) {
            match self.read_script(&file, &draft.script).await {
                Ok(found) => {
                    let wanted = given.map(|given| given.name.as_str());
                    let at = found.iter().position(|one| Some(one.name.as_str()) == wanted).unwrap_or(0);
                    entry = found.into_iter().nth(at);
                }
                Err(ChangeError::Unreadable { place, message }) => {
                    let line = place.rsplit_once(':').and_then(|(_, line)| line.parse().ok()).unwrap_or(1);
                    return Ok(Err(Mistake::new(line, message)));
                }
                Err(ChangeError::NotInstalled { message, .. }) => {
                    return Ok(Err(Mistake::new(
                        line_with(&draft.script, ["/// script", "// @deps"]),
                        message,
                    )));
                }
                Err(error) => return Err(error),
            }
        }
        let mut entry = match (entry, given) {
            (Some(entry), _) => entry,
            (None, given) => {
                let name = file.rsplit('/').next().unwrap_or(&file);
                match (header::entry_of(name, &draft.script), given) {
                    (Ok(entry), _) => serde_json::from_value(entry)
                        .map_err(|error| FileError::Aborted(error.to_string()))?,
                    // A script without a header is described by its entry alone.
                    (Err(error), Some(given)) if error.no_header => given.clone(),
                    (Err(error), _) => return Ok(Err(error.into())),
                }
            }
        };
        let file = match named {
            true => file,
            false => format!("{}.{}", entry.name.replace('-', "_"), ending(&draft.script)),
        };
        set_path(&mut entry, file);
        Ok(Ok(entry))
    }

    /// A draft as a tool, to be called once and then dropped: confined, whatever its entry says, and for whoever may
    /// register it. Where a person calls it, nobody else is asked.
    pub async fn draft(
        &self,
        mut entry: ToolEntry,
        script: String,
        by_person: bool,
    ) -> Result<DraftTool, ChangeError> {
        if entry.kind == EntryKind::Builtin {
            return Err(ChangeError::field("/entry/type", "a built-in tool has no script"));
        }
        let path = entry.config.script_path.take().unwrap_or_else(|| format!("draft.{}", ending(&script)));
        let file = path.rsplit('/').next().unwrap_or_default().to_owned();
        self.entries.tool_factory.script_path(&file)?;
        set_path(&mut entry, file.clone());
        let registration = Registration { entry, script: Some(script) };
        self.install(&registration).await?;
        let Registration { mut entry, script } = registration;
        entry.permissions = Some(Vec::new());
        entry.cacheable = Some(false);
        entry.config.isolation = Some(Isolation::Call);
        if entry.config.sandbox.as_ref().and_then(SandboxEntry::openings).is_none() {
            entry.config.sandbox = Some(SandboxEntry::Switch(true));
        }
        if by_person {
            entry.destructive = Some(false);
        }
        let id = Uuid::now_v7();
        let folder = DraftFolder(self.entries.tool_factory.work.join(format!(".draft-{id}")));
        folder.write(&file, script.unwrap_or_default().as_bytes()).map_err(FileError::Disk)?;
        let new = self.entries.tool_factory.draft(&entry, &folder.0, &file, format!("draft-{id}"))?;
        let tool = self.entries.runtime.registry.draft(new).map_err(unsound)?;
        Ok(DraftTool { tool, _folder: folder })
    }
}

/// A draft that can be called, for as long as it is kept.
pub struct DraftTool {
    pub tool: Arc<Tool>,
    _folder: DraftFolder,
}

/// Where the script of a draft is; gone with it.
struct DraftFolder(PathBuf);

impl DraftFolder {
    fn write(&self, file: &str, text: &[u8]) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let mut script =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(self.0.join(file))?;
        script.write_all(text)
    }
}

impl Drop for DraftFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, folder = %self.0.display(), "the folder of a draft was not removed");
        }
    }
}

/// The language of a script that has no name yet, as the ending of its name.
fn ending(script: &str) -> &'static str {
    let first = script.lines().next().unwrap_or_default();
    if first.starts_with("#!") && first.ends_with("sh") {
        "sh"
    } else if script.contains("defineTool") {
        "ts"
    } else {
        "py"
    }
}

/// The first line that has one of these words; the first of all if there is none.
fn line_with(script: &str, words: [&str; 2]) -> usize {
    script.lines().position(|line| words.iter().any(|word| line.contains(word))).map_or(1, |at| at + 1)
}

/// The line of the header that has this field; the first if there is none.
fn line_of(script: &str, field: &str) -> usize {
    let named = |line: &str| {
        let line = line.trim_start_matches(['#', '/', '-', ' ', '\t']);
        line.strip_prefix(field).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    script.lines().position(|line| !field.is_empty() && named(line)).map_or(1, |at| at + 1)
}
