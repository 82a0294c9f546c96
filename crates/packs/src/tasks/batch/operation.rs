//! One operation of a batch: the fields of the tool that it stands for.

use schemars::JsonSchema;
use serde::Deserialize;
use toolroom_contract::ToolError;
use toolroom_store::Unit;

use crate::deserialize::{nullable, present, some_whole};
use crate::tasks::TaskSettings;
use crate::tasks::complete::completion;
use crate::tasks::create::{self, Creation, title_of};
use crate::tasks::dates::DueRead;
use crate::tasks::restore;
use crate::tasks::task::{Priority, Status};
use crate::tasks::task_store::Author;
use crate::tasks::update::{self, Edit, Edited};

// The schema is wider than those of the tools: limits are checked for each operation alone, so that a bad one need
// not refuse the batch.
/// One change, with the fields and the limits of the tool that it stands for.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Operation {
    /// Which tool the operation stands for; the other fields are those of that tool.
    op: Op,
    /// Which task; for all but create.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    task_id: Option<i64>,
    /// As in update-task.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 4000))]
    title: Option<String>,
    /// As in update-task. Null clears.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = 10_000))]
    description: Option<Option<String>>,
    /// As in update-task.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Priority")]
    priority: Option<Priority>,
    /// As in update-task. Null clears.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = 1000))]
    due: Option<Option<String>>,
    /// As in update-task.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Status")]
    status: Option<Status>,
    /// As in update-task. Null clears.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>", length(max = 100))]
    tags: Option<Option<Vec<String>>>,
    /// As in update-task.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = 100))]
    add_tags: Option<Vec<String>>,
    /// As in update-task.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = 100))]
    remove_tags: Option<Vec<String>>,
    /// As in complete-task.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    completed: Option<bool>,
    /// As in update-task and complete-task.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    expected_version: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Op {
    Create,
    Update,
    Complete,
    Restore,
}

impl Op {
    fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Complete => "complete",
            Self::Restore => "restore",
        }
    }

    fn has(self, field: &str) -> bool {
        match self {
            Self::Create => matches!(field, "title" | "description" | "priority" | "due" | "status" | "tags"),
            Self::Update => field != "completed",
            Self::Complete => matches!(field, "taskId" | "completed" | "expectedVersion"),
            Self::Restore => field == "taskId",
        }
    }
}

/// An operation that passed every check that can be made without the task.
pub(super) enum Step {
    Create(Creation),
    Edit(Box<Edit>),
    Restore(i64),
}

impl Step {
    pub(super) fn check(operation: &Operation, author: &Author) -> Result<Self, ToolError> {
        operation.check_fields()?;
        match operation.op {
            Op::Create => Creation::check(&operation.as_create()?, author).map(Self::Create),
            Op::Update => Edit::check(&operation.as_update()?, author).map(|edit| Self::Edit(Box::new(edit))),
            Op::Complete => {
                let completed = operation.completed.unwrap_or(true);
                let edit = completion(operation.task_id()?, completed, operation.expected_version);
                Ok(Self::Edit(Box::new(edit)))
            }
            Op::Restore => operation.task_id().map(Self::Restore),
        }
    }

    pub(super) fn apply(
        &self,
        unit: &mut Unit<'_>,
        author: &Author,
        settings: &TaskSettings,
    ) -> Result<Edited, ToolError> {
        match self {
            Self::Create(creation) => {
                let task = creation.apply(unit, author)?;
                Ok(Edited { titles: vec![title_of(&task)], task, changed: Vec::new() })
            }
            Self::Edit(edit) => edit.apply(unit, author),
            Self::Restore(id) => restore::restore(unit, author, *id, settings),
        }
    }

    /// The due date that was given, as it was understood.
    pub(super) fn due(&self) -> Option<&DueRead> {
        match self {
            Self::Create(creation) => creation.due.as_ref(),
            Self::Edit(edit) => edit.due.as_ref(),
            Self::Restore(_) => None,
        }
    }

    /// Whether it says which fields differ.
    pub(super) fn is_edit(&self) -> bool {
        matches!(self, Self::Edit(_))
    }
}

impl Operation {
    /// Refuses fields that the operation does not have: what is given is never dropped.
    fn check_fields(&self) -> Result<(), ToolError> {
        let given = [
            ("taskId", self.task_id.is_some()),
            ("title", self.title.is_some()),
            ("description", self.description.is_some()),
            ("priority", self.priority.is_some()),
            ("due", self.due.is_some()),
            ("status", self.status.is_some()),
            ("tags", self.tags.is_some()),
            ("addTags", self.add_tags.is_some()),
            ("removeTags", self.remove_tags.is_some()),
            ("completed", self.completed.is_some()),
            ("expectedVersion", self.expected_version.is_some()),
        ];
        match given.iter().find(|(field, is_given)| *is_given && !self.op.has(field)) {
            None => Ok(()),
            Some((field, _)) => {
                let message = format!("unknown field '{field}' of the operation '{}'", self.op.name());
                Err(ToolError::invalid(format!("/{field}"), message))
            }
        }
    }

    fn task_id(&self) -> Result<i64, ToolError> {
        self.task_id.ok_or_else(|| ToolError::invalid("/taskId", "'taskId' is required"))
    }

    fn as_create(&self) -> Result<create::Params, ToolError> {
        let title = self.title.clone();
        Ok(create::Params {
            title: title.ok_or_else(|| ToolError::invalid("/title", "'title' is required"))?,
            description: self.description.clone().flatten(),
            priority: self.priority,
            due: self.due.clone().flatten(),
            tags: self.tags.clone().flatten(),
            status: self.status,
        })
    }

    fn as_update(&self) -> Result<update::Params, ToolError> {
        Ok(update::Params {
            task_id: self.task_id()?,
            title: self.title.clone(),
            description: self.description.clone(),
            priority: self.priority,
            due: self.due.clone(),
            status: self.status,
            tags: self.tags.clone(),
            add_tags: self.add_tags.clone(),
            remove_tags: self.remove_tags.clone(),
            expected_version: self.expected_version,
        })
    }
}
