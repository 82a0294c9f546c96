//! `update-task`: changes what is named, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::TaskId;
use toolroom_contract::{Effect, EffectKind, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::Unit;
use toolroom_store::tasks::{self, Changed, Field, Patch, Task as StoredTask};

use super::contract::{Contract, example, next_for_task, of_tasks, task, the_task};
use super::create::title_of;
use super::dates::{self, DueRead};
use super::task::{Priority, Status, Task, changed_name};
use super::task_store::{Author, Done, TaskStore};
use super::titles::TitleChange;
use super::{hints, refusal};
use crate::deserialize::{nullable, present, some_whole, whole};
use crate::text;

struct UpdateTask(Arc<TaskStore>);

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// Which task.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    pub task_id: i64,
    /// A new title, on one line: tabs and line ends become a space, other control characters are refused.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 255))]
    pub title: Option<String>,
    /// New details. Null clears them.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = 2000))]
    pub description: Option<Option<String>>,
    /// How important it is.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Priority")]
    pub priority: Option<Priority>,
    /// A date, an instant (2026-11-20T15:00:00+01:00) or words ("next friday 3pm"). Null clears it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = 200))]
    pub due: Option<Option<String>>,
    /// Whether it is done.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Status")]
    pub status: Option<Status>,
    /// The labels instead of all that the task has. Null or an empty list clears them.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>", length(max = 20))]
    pub tags: Option<Option<Vec<String>>>,
    /// Labels to add to those that the task has, after removeTags.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = 20))]
    pub add_tags: Option<Vec<String>>,
    /// Labels to remove, ignoring case.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = 20))]
    pub remove_tags: Option<Vec<String>>,
    /// Change it only if it still has this version.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    pub expected_version: Option<i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// The task as it is now.
    task: Task,
    /// The fields that differ from before; empty if everything was so already.
    changed: Vec<String>,
    /// The due date as it was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_echo: Option<String>,
}

/// A change that passed every check that can be made without the task.
pub(super) struct Edit {
    pub id: TaskId,
    pub patch: Patch,
    pub add_tags: Vec<String>,
    pub remove_tags: Vec<String>,
    pub expected_version: Option<i64>,
    pub due: Option<DueRead>,
}

/// What an edit came to.
pub(super) struct Edited {
    pub task: StoredTask,
    pub changed: Vec<String>,
    pub titles: Vec<TitleChange>,
}

impl Edit {
    pub(super) fn check(params: &Params, author: &Author) -> Result<Self, ToolError> {
        let read = |text: &String| dates::due("due", text, author.now, &author.zone);
        let due = params.due.as_ref().and_then(Option::as_ref).map(read).transpose()?;
        let description = match &params.description {
            None => None,
            Some(given) => Some(given.as_deref().map(text::description).transpose()?.flatten()),
        };
        let tags = match &params.tags {
            None => None,
            Some(given) => Some(text::tags("tags", given.as_deref().unwrap_or_default())?),
        };
        let patch = Patch {
            title: params.title.as_deref().map(text::title).transpose()?,
            description,
            priority: params.priority.map(Into::into),
            due: params.due.as_ref().map(|_| due.as_ref().map(|read| read.due)),
            tags,
            completed: params.status.map(|status| status == Status::Completed),
        };
        Ok(Self {
            id: TaskId(params.task_id),
            patch,
            add_tags: text::tags("addTags", params.add_tags.as_deref().unwrap_or_default())?,
            remove_tags: text::tags("removeTags", params.remove_tags.as_deref().unwrap_or_default())?,
            expected_version: params.expected_version,
            due,
        })
    }

    /// Nothing is written unless the edit is applied as a whole.
    pub(super) fn apply(&self, unit: &mut Unit<'_>, author: &Author) -> Result<Edited, ToolError> {
        let changed = if self.add_tags.is_empty() && self.remove_tags.is_empty() {
            tasks::update(unit, author.user, self.id, &self.patch, self.expected_version, &author.actor)?
        } else {
            self.apply_to_tags(unit, author)?
        };
        match changed {
            Changed::Applied { task, fields } => {
                let titles = if fields.contains(&Field::Title) { vec![title_of(&task)] } else { Vec::new() };
                Ok(Edited { task, changed: fields.into_iter().map(changed_name).collect(), titles })
            }
            Changed::NoChange(task) => Ok(Edited { task, changed: Vec::new(), titles: Vec::new() }),
            Changed::NotFound => Err(refusal::not_found()),
            Changed::Conflict { current } => {
                Err(refusal::version_conflict(&current, self.expected_version.unwrap_or_default()))
            }
        }
    }

    /// What the tags become depends on what they are, so that the version in between must not move.
    fn apply_to_tags(&self, unit: &mut Unit<'_>, author: &Author) -> Result<Changed, ToolError> {
        loop {
            let Some(current) = tasks::get(unit, author.user, self.id)? else { return Ok(Changed::NotFound) };
            if self.expected_version.is_some_and(|expected| expected != current.version) {
                return Ok(Changed::Conflict { current });
            }
            let patch = Patch { tags: Some(self.tags_after(&current)?), ..self.patch.clone() };
            let version = Some(current.version);
            match tasks::update(unit, author.user, self.id, &patch, version, &author.actor)? {
                Changed::Conflict { .. } => {}
                changed => return Ok(changed),
            }
        }
    }

    fn tags_after(&self, current: &StoredTask) -> Result<Vec<String>, ToolError> {
        let mut tags = self.patch.tags.clone().unwrap_or_else(|| current.tags.clone());
        tags.retain(|tag| !self.remove_tags.iter().any(|gone| text::is_same_tag(tag, gone)));
        for tag in &self.add_tags {
            text::add_tag(&mut tags, tag);
        }
        text::at_most_tags("addTags", &tags)?;
        Ok(tags)
    }
}

impl NativeTool for UpdateTask {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let author = Author::of(context);
        let edit = Edit::check(&params, &author)?;
        let alike = match &edit.patch.title {
            Some(title) => self.0.titles.alike(&self.0.store, author.user, title).await?,
            None => Vec::new(),
        };
        let change = move |unit: &mut Unit<'_>, author: &Author| {
            let Edited { task, changed, titles } = edit.apply(unit, author)?;
            let mut hints = hints::about_due(HintsDraft::default(), &task, edit.due.as_ref(), author);
            if !titles.is_empty() {
                hints.warnings.extend(hints::duplicates(unit, author, &task, &alike)?);
            }
            if changed.is_empty() {
                hints = hints.because("Everything was already so; nothing was changed.");
            }
            let due_echo = edit.due.as_ref().map(|read| read.echo.clone());
            Ok(Done { data: Output { task: task.into(), changed, due_echo }, hints, titles })
        };
        self.0.change(context, change).await
    }

    fn trimmed(&self) -> &'static [&'static str] {
        &["title", "description"]
    }

    fn echoes(&self, params: &Value, context: &ToolContext) -> Vec<(String, String)> {
        dates::echoes(params, context, &["due"])
    }

    async fn rehearse(&self, params: Params, context: &ToolContext) -> Result<(), ToolError> {
        let author = Author::of(context);
        Edit::check(&params, &author)?;
        self.0.rehearse(&author, params.task_id, params.expected_version).await
    }

    fn records_claim(&self) -> bool {
        true
    }
}

/// How receipts word the fields of the task below this pointer that were changed.
pub(super) fn field_words(root: &str) -> BTreeMap<String, Vec<String>> {
    let words = |field: &str, templates: &[&str]| {
        let placed = templates.iter().map(|template| template.replace('@', root));
        (field.to_owned(), placed.collect())
    };
    BTreeMap::from([
        words("title", &["new title"]),
        words("description", &["new description{@/task/description:}", "no description"]),
        words("priority", &["priority {@/task/priority}"]),
        words("due", &["due {@/dueEcho|@/task/due}", "no due date"]),
        words("status", &["status {@/task/status}"]),
        words("tags", &["tags {@/task/tags}", "tags none"]),
    ])
}

pub(super) fn tool(tasks: &Arc<TaskStore>) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "update-task",
        description: "Changes the named fields of a task and leaves the others. Use it to edit, rename, \
                      reschedule, postpone, reword or label a task whose taskId you know, or to raise or \
                      lower its priority. null clears a description, a due date or the tags; give \
                      expectedVersion so as not to overwrite what somebody else changed. Returns the task \
                      and the names of the fields that changed.",
        action: "write",
        idempotent: true,
        effect: Some(Effect {
            words: field_words("/data"),
            ..Effect::new(EffectKind::Update, the_task()).receipts([
                "Changed {target}: {/data/changed}.",
                "{target} is so already; nothing was changed.",
            ])
        }),
        examples: vec![
            example(
                "A due date and one more tag",
                &json!({ "taskId": 1, "due": "2030-01-31", "addTags": ["home"] }),
                json!({
                    "task": task(json!({ "due": "2030-01-31", "tags": ["shopping", "home"], "version": 2 })),
                    "changed": ["due", "tags"],
                    "dueEcho": "Thursday 2030-01-31"
                }),
                &["/task"],
            ),
            example(
                "Clear the due date",
                &json!({ "taskId": 1, "due": null }),
                json!({
                    "task": task(json!({ "tags": ["shopping", "home"], "version": 3 })),
                    "changed": ["due"]
                }),
                &["/task"],
            ),
        ],
        next_actions: vec![next_for_task("get-task", "Read the task as it is now.")],
        ..of_tasks()
    }
    .tool(UpdateTask(Arc::clone(tasks)))
}
