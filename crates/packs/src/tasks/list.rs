//! `list-tasks`: the tasks of a user, filtered, sorted and paged.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::definition::Varies;
use toolroom_contract::effect::Shows;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::{
    Effect, Handler, HintsDraft, Priority as Urgency, SuggestedAction, ToolContext, ToolDefinition, ToolError,
};
use toolroom_store::tasks::{self, Cursor, Order, Page, Query, Sort};
use toolroom_store::{StoreError, Unit};

use super::contract::{Contract, example, of_tasks, task, tasks_at};
use super::task::{FieldName, PickedTask, Priority, StatusFilter};
use super::task_store::{Author, TaskStore};
use super::{dates, hints};
use crate::deserialize::{present, some_whole};
use crate::text;

struct ListTasks(Arc<TaskStore>);

const USUAL_LIMIT: i64 = 20;
const MOST: i64 = 100;

#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[schemars(default)]
struct Params {
    /// Whether they are done (all if not given).
    status: StatusFilter,
    /// Only tasks of this priority.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Priority")]
    priority: Option<Priority>,
    /// Only tasks with this label, spelled as it is.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 50))]
    tag: Option<String>,
    /// Only tasks due then or later: a date, an instant, or words ("today").
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 200))]
    due_from: Option<String>,
    /// Only tasks due then or earlier: a date, an instant, or words ("end of month").
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 200))]
    due_to: Option<String>,
    /// Only tasks with this text in the title or the description, ignoring case.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 255))]
    text: Option<String>,
    /// What to sort by (createdAt if not given). Tasks without a due date come last.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "SortBy")]
    sort_by: Option<SortBy>,
    /// The direction: newest and most important first if not given, for due and title ascending.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "SortOrder")]
    sort_order: Option<SortOrder>,
    /// At most this many tasks (20 if not given).
    #[serde(deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 100))]
    limit: Option<i64>,
    /// Where to continue: nextCursor of the page before, with the same sortBy and sortOrder.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 2000))]
    cursor: Option<String>,
    /// The fields to answer with (all if not given); taskId is always there.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<FieldName>", length(max = 11))]
    fields: Option<Vec<FieldName>>,
    /// All tasks in one answer, whatever the limit; for programs rather than models.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    whole: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum SortBy {
    CreatedAt,
    UpdatedAt,
    Due,
    Priority,
    Title,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SortOrder {
    Asc,
    Desc,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// The tasks of this page.
    tasks: Vec<PickedTask>,
    /// How many tasks fit the filter, on this page or not.
    total: u64,
    /// Where the next page begins; null on the last.
    next_cursor: Option<String>,
}

impl Params {
    fn query(&self, author: &Author) -> Result<Query, ToolError> {
        for (pointer, text) in [("/tag", &self.tag), ("/text", &self.text), ("/cursor", &self.cursor)] {
            text::no_controls(pointer, text.as_deref().unwrap_or_default())?;
        }
        let cursor = self.cursor.as_deref().map(read_cursor).transpose()?;
        let limit = self.limit.unwrap_or(USUAL_LIMIT);
        let limit = u32::try_from(limit).ok().filter(|_| (1..=MOST).contains(&limit));
        let limit = limit.ok_or_else(|| ToolError::invalid("/limit", format!("must be from 1 to {MOST}")))?;
        let due_from = self.due_from.as_deref().map(|text| dates::due_from(text, author.now, &author.zone));
        let due_to = self.due_to.as_deref().map(|text| dates::due_to(text, author.now, &author.zone));
        Ok(Query {
            completed: self.status.completed(),
            priority: self.priority.map(Into::into),
            tags: self.tag.as_deref().map(str::trim).map(str::to_owned).into_iter().collect(),
            due_from: due_from.transpose()?,
            due_before: due_to.transpose()?,
            text: self.text.as_deref().map(str::trim).map(str::to_owned),
            sort: self.sort(),
            order: self.order(),
            cursor,
            limit: (!self.whole).then_some(limit),
        })
    }

    fn sort(&self) -> Sort {
        match self.sort_by {
            None | Some(SortBy::CreatedAt) => Sort::CreatedAt,
            Some(SortBy::UpdatedAt) => Sort::UpdatedAt,
            Some(SortBy::Due) => Sort::Due,
            Some(SortBy::Priority) => Sort::Priority,
            Some(SortBy::Title) => Sort::Title,
        }
    }

    fn order(&self) -> Order {
        match (self.sort_order, self.sort()) {
            (Some(SortOrder::Asc), _) | (None, Sort::Due | Sort::Title) => Order::Asc,
            (Some(SortOrder::Desc), _) | (None, Sort::CreatedAt | Sort::UpdatedAt | Sort::Priority) => {
                Order::Desc
            }
        }
    }

    /// The call for the page behind this one.
    fn next_page(&self, cursor: &str) -> Option<SuggestedAction> {
        let next = Self { cursor: Some(cursor.to_owned()), ..self.clone() };
        let Ok(Value::Object(params)) = serde_json::to_value(next) else { return None };
        let mut action = SuggestedAction::new("list-tasks", Urgency::Medium).described("Read the next page.");
        action.data = Some(params);
        Some(action)
    }
}

fn read_cursor(text: &str) -> Result<Cursor, ToolError> {
    toolroom_work::step(text.len());
    text.parse().map_err(bad_cursor)
}

fn bad_cursor(error: StoreError) -> ToolError {
    match error {
        StoreError::InvalidCursor => ToolError::invalid(
            "/cursor",
            "must be a nextCursor of this tool, given with the sortBy and sortOrder of the page that it came with",
        ),
        other => other.into(),
    }
}

impl NativeTool for ListTasks {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let author = Author::of(context);
        let query = params.query(&author)?;
        let user = author.user;
        let is_page = query.limit.is_some();
        let read = move |unit: &mut Unit<'_>| tasks::list(unit, user, &query);
        let store = &self.0.store;
        let read = if is_page { store.read(read).await } else { store.read_much(read).await };
        let Page { tasks, total, next } = read.map_err(bad_cursor)?;
        let next_cursor = next.map(|cursor| cursor.to_string());
        let whole = usize::try_from(total).unwrap_or(usize::MAX);
        let mut hints = HintsDraft::default().complete(tasks.len(), whole);
        hints = hints::overdue(hints, &tasks, author.now, &author.zone);
        hints.next.extend(next_cursor.as_deref().and_then(|cursor| params.next_page(cursor)));
        let fields = params.fields.as_deref();
        let tasks = tasks.into_iter().map(|task| PickedTask::new(task, fields)).collect::<Result<_, _>>()?;
        Ok(Reply::new(Output { tasks, total, next_cursor }, hints))
    }

    fn trimmed(&self) -> &'static [&'static str] {
        &["text", "tag"]
    }

    fn echoes(&self, params: &Value, context: &ToolContext) -> Vec<(String, String)> {
        dates::echoes(params, context, &["dueFrom", "dueTo"])
    }

    fn resolve(&self, params: &Value, context: &ToolContext) -> Option<Value> {
        dates::compared(params, context)
    }
}

pub(super) fn tool(tasks: &Arc<TaskStore>) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "list-tasks",
        description: "Lists the user's tasks, newest first. Use it to see what there is to do, what is done, what \
                      is due in a range of dates, or what carries a label; name the fields that you need to keep \
                      the answer short. Returns a page of tasks, how many there are in all, and nextCursor for the \
                      next page.",
        action: "read",
        effect: Some(Effect::shows(Shows::List, tasks_at(["/data/tasks/*/taskId"]))),
        examples: vec![
            example(
                "The tasks with a label, in short",
                &json!({ "tag": "shopping", "fields": ["title", "priority"] }),
                json!({
                    "tasks": [{ "taskId": 1, "title": "Buy milk", "priority": "high" }],
                    "total": 1,
                    "nextCursor": null
                }),
                &["/tasks/0"],
            ),
            example(
                "What is open and due by the end of next month, the most urgent first",
                &json!({ "status": "pending", "dueTo": "end of next month", "sortBy": "due", "limit": 5 }),
                json!({
                    "tasks": [task(json!({
                        "taskId": 2, "title": "Call mom", "priority": "medium", "due": "2030-01-11T15:00:00Z", "tags": []
                    }))],
                    "total": 1,
                    "nextCursor": null
                }),
                &["/tasks/0"],
            )
            .varying([("/tasks/0/due", Varies::Time)]),
        ],
        ..of_tasks()
    }
    .tool(ListTasks(Arc::clone(tasks)))
}

#[cfg(test)]
mod tests {
    use super::read_cursor;

    #[test]
    fn promise_any_cursor_takes_work_that_grows_with_its_length_alone_and_stands_where_it_says() {
        let target = toolroom_work::fuzz::Target {
            name: "cursors of task lists",
            words: &[
                "createdAt",
                "title",
                "due",
                "priority",
                "asc",
                "desc",
                ":",
                "::",
                "-1",
                "7",
                "9223372036854775807",
                "99999999999999999999",
                "x",
                " ",
            ],
            sample: 2_000,
            longest: 5_000,
            fixed: 40,
            per_byte: 4,
        };
        target.run(|text| {
            for text in [text.to_owned(), format!("title:asc:7:{text}")] {
                if let Ok(cursor) = read_cursor(&text) {
                    assert!(
                        read_cursor(&cursor.to_string())
                            .is_ok_and(|again| again.to_string() == cursor.to_string())
                    );
                }
            }
        });
        assert_eq!(
            read_cursor("title:asc:7:a:b").map(|cursor| cursor.to_string()).ok().as_deref(),
            Some("title:asc:7:a:b")
        );
    }
}
