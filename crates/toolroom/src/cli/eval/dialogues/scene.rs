//! Scenes: the tasks that are there, what a person says, and what must have come of it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The project's own scenes; `eval/README.md` says what was seen of them.
pub const TEST: &str = include_str!("../../../../../../eval/dialogues.jsonl");
/// Sentences that ask for no change.
pub const NOT_COMMANDS: &str = include_str!("../../../../../../eval/not-commands.txt");

/// A conversation from its beginning.
pub struct Scene {
    pub tasks: Vec<Setup>,
    pub turns: Vec<String>,
    /// Any of these is right.
    pub right: Vec<Right>,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Prompt,
    Dialogue,
    NotACommand,
}

/// A task that is there at the beginning.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(from = "Written")]
pub struct Setup {
    pub title: String,
    pub due: Option<String>,
    pub priority: Option<String>,
    pub tags: Vec<String>,
    pub done: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Title(String),
    Fields {
        title: String,
        due: Option<String>,
        priority: Option<String>,
        #[serde(default)]
        tags: Vec<String>,
        #[serde(default)]
        done: bool,
    },
}

/// What must have come of it: these changes and no others.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Right {
    pub added: Vec<Added>,
    pub done: Vec<String>,
    pub reopened: Vec<String>,
    pub deleted: Vec<String>,
    /// By title: the fields with their new values.
    pub changed: BTreeMap<String, Map<String, Value>>,
    /// Words of the last answer; `a|b` is one or the other.
    pub says: Vec<String>,
    /// Words that must not be in it.
    pub silent: Vec<String>,
    /// Whether it must end in a question.
    pub asks: bool,
}

/// A task that must be new.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Added {
    pub title: String,
    /// A day, or a day with a time; `*` is any, or none.
    pub due: Option<String>,
    pub priority: Option<String>,
    /// Words of its description.
    #[serde(alias = "note")]
    pub description: Option<String>,
    /// Its labels, in any order.
    #[serde(default)]
    pub tags: Vec<String>,
}

impl From<Written> for Setup {
    fn from(written: Written) -> Self {
        match written {
            Written::Title(title) => Self { title, due: None, priority: None, tags: Vec::new(), done: false },
            Written::Fields { title, due, priority, tags, done } => Self { title, due, priority, tags, done },
        }
    }
}

/// The scenes of a text: one JSON object a line, or a plain sentence that must change nothing. A line with
/// `tasks_of_all` has the tasks of the scenes behind it that bring none.
pub fn scenes(text: &str) -> Result<Vec<Scene>> {
    let (mut tasks, mut found) = (Vec::new(), Vec::new());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let scene = scene(line, &mut tasks).with_context(|| format!("line {}", at + 1))?;
        found.extend(scene);
    }
    if found.is_empty() {
        bail!(
            "no dialogues found; write one JSON object per line, such as {{\"turns\": [\"add buy milk\"], \"added\": [{{\"title\": \"buy milk\"}}]}}"
        );
    }
    Ok(found)
}

/// One line; nothing if it only brings tasks.
fn scene(line: &str, tasks_of_all: &mut Vec<Setup>) -> Result<Option<Scene>> {
    if !line.starts_with('{') {
        let turns = vec![line.to_owned()];
        let (tasks, right) = (tasks_of_all.clone(), vec![Right::default()]);
        return Ok(Some(Scene { tasks, turns, right, kind: Kind::NotACommand }));
    }
    let mut fields: Map<String, Value> = serde_json::from_str(line)?;
    if let Some(tasks) = fields.remove("tasks_of_all") {
        *tasks_of_all = serde_json::from_value(tasks)?;
        return Ok(None);
    }
    let turns: Vec<String> = serde_json::from_value(fields.remove("turns").context("\"turns\" is missing")?)?;
    let tasks = match fields.remove("tasks") {
        Some(tasks) => serde_json::from_value(tasks)?,
        None => tasks_of_all.clone(),
    };
    let right = match fields.remove("any") {
        Some(any) => serde_json::from_value(any)?,
        None => vec![serde_json::from_value(Value::Object(fields))?],
    };
    let kind = if turns.len() == 1 { Kind::Prompt } else { Kind::Dialogue };
    Ok(Some(Scene { tasks, turns, right, kind }))
}
