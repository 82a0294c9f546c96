//! `find-tasks`: the tasks that a few words mean.

use std::collections::HashMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::effect::Shows;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::{TaskId, UserId};
use toolroom_contract::{
    Effect, Handler, HintsDraft, Priority, SuggestedAction, ToolContext, ToolDefinition, ToolError,
};
use toolroom_store::StoreError;
use toolroom_store::tasks::{self, Task as StoredTask};

use super::contract::{Contract, example, of_tasks, task, tasks_at};
use super::hints;
use super::task::{StatusFilter, Task};
use super::task_store::{Author, TaskStore};
use crate::fuzzy::{self, Prepared, Query, Verdict};

struct FindTasks(Arc<TaskStore>);

/// Candidates that are shown, unless all are asked for.
const MOST_SHOWN: usize = 50;
/// Candidates that are read one by one; more are cheaper to read all at once.
const MOST_READ: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Words of the title, in any order; small slips of the pen do not matter.
    #[schemars(length(min = 1, max = 500))]
    query: String,
    /// How well a title must fit, 0 to 1 (0.6 if not given).
    #[serde(default = "usual_threshold")]
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: f64,
    /// Whether they are done (all if not given).
    #[serde(default)]
    status: StatusFilter,
    /// All that fit in one answer, however many; for programs rather than models.
    #[serde(default)]
    whole: bool,
}

impl Params {
    fn most_shown(&self) -> usize {
        if self.whole { usize::MAX } else { MOST_SHOWN }
    }
}

fn usual_threshold() -> f64 {
    0.6
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// Whether the words mean one task, several, or none.
    match_type: MatchType,
    /// What fits, best first; at most 50 unless the whole is asked for.
    matches: Vec<Match>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MatchType {
    Single,
    Multiple,
    None,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    /// The task.
    task: Task,
    /// How well its title fits, 0 to 1.
    confidence: f64,
}

/// What was found, best first, and how many more there are.
#[derive(Default)]
struct Found {
    tasks: Vec<(StoredTask, f64)>,
    total: usize,
}

impl FindTasks {
    async fn find(&self, user: UserId, params: &Params) -> Result<Found, ToolError> {
        let query = Query::new(&params.query);
        let verdict = self.0.titles.rank(&self.0.store, user, query, params.threshold).await?;
        let wanted = params.status.completed();
        let hits = match verdict {
            Verdict::None => return Ok(Found::default()),
            Verdict::Single(id, score) => vec![(id, score)],
            Verdict::Multiple(hits) if wanted.is_some() && hits.len() > MOST_READ => {
                return self.find_among(user, params, wanted).await;
            }
            Verdict::Multiple(hits) => hits,
        };
        let (total, best) = (hits.len(), hits.first().copied());
        let looked_at = if wanted.is_some() { total } else { total.min(params.most_shown()) };
        let mut tasks = self.read(user, hits.into_iter().take(looked_at).collect()).await?;
        let gone = looked_at - tasks.len();
        tasks.retain(|(task, _)| wanted.is_none_or(|completed| completed == task.completed));
        // One exact title outshines lesser ones; if it has the wrong status, those may be meant.
        if total == 1 && gone == 0 && tasks.is_empty() && best.is_some_and(|(_, score)| score == 1.0) {
            return self.find_among(user, params, wanted).await;
        }
        let total = if wanted.is_some() { tasks.len() } else { total - gone };
        tasks.truncate(params.most_shown());
        Ok(Found { tasks, total })
    }

    /// Reads the tasks of some hits; one that was deleted a moment ago is left out.
    async fn read(
        &self,
        user: UserId,
        hits: Vec<(TaskId, f64)>,
    ) -> Result<Vec<(StoredTask, f64)>, ToolError> {
        if hits.len() > MOST_READ {
            let read = self.0.store.read_much(move |unit| {
                let all = tasks::list(unit, user, &tasks::Query::default())?.tasks;
                Ok::<_, StoreError>(pick(all, &hits))
            });
            return Ok(read.await?);
        }
        let read = self.0.store.read(move |unit| {
            let mut found = Vec::with_capacity(hits.len());
            for (id, score) in &hits {
                found.extend(tasks::get(unit, user, *id)?.map(|task| (task, *score)));
            }
            Ok::<_, StoreError>(found)
        });
        Ok(read.await?)
    }

    /// Ranks only the tasks of one status, past the index.
    async fn find_among(
        &self,
        user: UserId,
        params: &Params,
        completed: Option<bool>,
    ) -> Result<Found, ToolError> {
        let (query, threshold, most) = (Query::new(&params.query), params.threshold, params.most_shown());
        let read = self.0.store.read_much(move |unit| {
            let all = tasks::list(unit, user, &tasks::Query { completed, ..tasks::Query::default() })?.tasks;
            let prepared: Vec<_> = all.iter().map(|task| (task.id, Prepared::new(&task.title))).collect();
            let verdict = fuzzy::rank(&query, threshold, prepared.iter().map(|(id, title)| (*id, title)));
            let mut hits = match verdict {
                Verdict::None => Vec::new(),
                Verdict::Single(id, score) => vec![(id, score)],
                Verdict::Multiple(hits) => hits,
            };
            let total = hits.len();
            hits.truncate(most);
            Ok::<_, StoreError>(Found { tasks: pick(all, &hits), total })
        });
        Ok(read.await?)
    }
}

/// The tasks of the hits, in their order.
fn pick(all: Vec<StoredTask>, hits: &[(TaskId, f64)]) -> Vec<(StoredTask, f64)> {
    let mut by_id: HashMap<TaskId, StoredTask> = all.into_iter().map(|task| (task.id, task)).collect();
    hits.iter().filter_map(|(id, score)| Some((by_id.remove(id)?, *score))).collect()
}

impl NativeTool for FindTasks {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let author = Author::of(context);
        let Found { tasks, total } =
            if author.is_somebody() { self.find(author.user, &params).await? } else { Found::default() };
        let match_type = match tasks.as_slice() {
            [] => MatchType::None,
            [_] if total == 1 => MatchType::Single,
            [(_, first), (_, second), ..] if *first == 1.0 && *second < 1.0 => MatchType::Single,
            _ => MatchType::Multiple,
        };
        let shown = if match_type == MatchType::Single { 1 } else { tasks.len() };
        let hints = about(match_type, &tasks, total);
        let matches = tasks.into_iter().take(shown);
        let matches = matches.map(|(task, confidence)| Match { task: task.into(), confidence }).collect();
        Ok(Reply::new(Output { match_type, matches }, hints))
    }

    fn trimmed(&self) -> &'static [&'static str] {
        &["query"]
    }
}

fn about(match_type: MatchType, tasks: &[(StoredTask, f64)], total: usize) -> HintsDraft {
    let best = tasks.first().map_or(0.0, |(_, score)| *score);
    let mut hints = HintsDraft::default().matched(best);
    match (match_type, tasks.first()) {
        (MatchType::Single, Some((task, _))) if !task.completed => hints.next(hints::complete(task)),
        (MatchType::Multiple, _) => {
            hints.context_needed.push(format!("which of the {total} tasks is meant; ask, and do not guess"));
            hints.complete(tasks.len(), total)
        }
        (MatchType::None, _) => {
            let look =
                SuggestedAction::new("list-tasks", Priority::Medium).described("See which tasks there are.");
            hints.next(look)
        }
        _ => hints,
    }
}

pub(super) fn tool(tasks: &Arc<TaskStore>) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "find-tasks",
        description: "Finds tasks by the words of their titles, with room for typing errors and \
                      half-remembered names. Use it to search for or look up a task that the user names in \
                      words, when you need its taskId. Returns matchType single, multiple or none, and the \
                      matches with their confidence; if there are several, ask the user which one is meant \
                      before you change anything.",
        action: "read",
        effect: Some(Effect::shows(Shows::Matches, tasks_at(["/data/matches/*/task/taskId"]))),
        examples: vec![example(
            "A task named by one word",
            &json!({ "query": "milk" }),
            json!({
                "matchType": "single",
                "matches": [{
                    "task": task(json!({
                        "status": "completed", "tags": ["shopping", "home"], "version": 4,
                        "updatedAt": "2030-01-05T09:00:00Z", "completedAt": "2030-01-05T09:00:00Z"
                    })),
                    "confidence": 0.95
                }]
            }),
            &["/matches/0/task"],
        )],
        ..of_tasks()
    }
    .tool(FindTasks(Arc::clone(tasks)))
}
