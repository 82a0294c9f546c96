//! Figures over the execution log: of your own calls, or of everybody's with `executions:read`.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::ErrorCode;
use toolroom_runtime::journal::figures::{Group, Sum, Wanted};

use super::Caller;
use super::executions::of_failure;
use crate::app::App;
use crate::middleware::Problem;
use crate::problems::{bad_query, problem};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// From then on; an hour ago if not given.
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    /// The length of a step, in seconds: 60 or more.
    step: Option<i64>,
    #[serde(default)]
    by: By,
}

/// What calls are grouped by.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "StatsBy")]
enum By {
    #[default]
    Tool,
    User,
    Agent,
    Code,
    Edge,
    Server,
}

/// Calls over time, and in groups.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Stats {
    /// When the first step begins.
    from: Timestamp,
    until: Timestamp,
    /// The length of a step, in seconds.
    step: i64,
    total: Total,
    times: Times,
    /// Those that took the most time first.
    groups: Vec<Shown>,
    /// The log is long, and some of it was not read yet: ask again for the rest.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    incomplete: bool,
}

/// A number for each step.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "StatsTotal")]
struct Total {
    calls: Vec<u64>,
    errors: Vec<u64>,
    held: Vec<u64>,
    cached: Vec<u64>,
    /// Milliseconds; 0 where there were no calls.
    p50: Vec<f64>,
    p99: Vec<f64>,
}

/// How long all calls together took, in milliseconds; that does not follow from the steps.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StatsTimes")]
struct Times {
    p50: f64,
    p99: f64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StatsGroup")]
struct Shown {
    key: String,
    calls: u64,
    /// Failed, or timed out.
    errors: u64,
    /// Waiting for a person.
    held: u64,
    cached: u64,
    /// The time of all together.
    ms: f64,
    p50: f64,
    p99: f64,
    /// The size of all answers as JSON.
    bytes_out: u64,
    /// An estimate: a fourth of the size.
    tokens_out: u64,
}

/// The most steps of an answer.
const MOST_STEPS: i64 = 2000;

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<Stats>, Problem> {
    let Query(asked) = asked.map_err(bad_query)?;
    let until = asked.until.unwrap_or_else(|| app.runtime.clock.now());
    let since = asked.since.unwrap_or(until - SignedDuration::from_hours(1));
    let step = asked.step.unwrap_or(60);
    let seconds = until.as_second() - since.as_second();
    if step < 60 || seconds < 0 || seconds / step > MOST_STEPS {
        let detail = format!(
            "step must be 60 seconds or more, until must not be before since, and there may be {MOST_STEPS} steps between them."
        );
        return Err(problem(ErrorCode::InvalidInput, detail));
    }
    let sees_all = caller.grants.hold("executions", "read");
    let wanted = Wanted {
        since,
        until,
        step,
        user: (!sees_all).then(|| caller.user.key.to_string()),
        profiles: caller.profiles.clone(),
    };
    let (by, figures, snapshot) =
        (asked.by, Arc::clone(&app.figures), Arc::clone(&app.runtime.registry.snapshot()));
    let server = move |tool: &str| {
        let server = snapshot.tools.get(tool).and_then(|tool| tool.executor.origin().server);
        server.unwrap_or("toolroom").to_owned()
    };
    let counted = app.read_log(move |_| {
        figures.count(&wanted, |group: Group<'_>| match by {
            By::Tool => group.tool.to_owned(),
            By::User => group.user.to_owned(),
            By::Agent => group.agent.to_owned(),
            By::Code if group.code.is_empty() => "ok".to_owned(),
            By::Code => group.code.to_owned(),
            By::Edge => group.edge.to_owned(),
            By::Server => server(group.tool),
        })
    });
    let counted = counted.await.map_err(of_failure)?;
    let (mut total, mut all) = (Total::default(), Sum::default());
    for sum in &counted.steps {
        all.add(sum);
        total.calls.push(sum.calls);
        total.errors.push(sum.errors);
        total.held.push(sum.held);
        total.cached.push(sum.cached);
        total.p50.push(rounded(sum.quantile(0.5)));
        total.p99.push(rounded(sum.quantile(0.99)));
    }
    let mut groups: Vec<Shown> = counted.groups.iter().map(|(key, sum)| shown(key, sum)).collect();
    groups.sort_by(|one, other| other.ms.total_cmp(&one.ms).then_with(|| one.key.cmp(&other.key)));
    let incomplete = counted.incomplete;
    let times = Times { p50: rounded(all.quantile(0.5)), p99: rounded(all.quantile(0.99)) };
    Ok(Json(Stats { from: counted.from, until, step, total, times, groups, incomplete }))
}

fn shown(key: &str, sum: &Sum) -> Shown {
    Shown {
        key: key.to_owned(),
        calls: sum.calls,
        errors: sum.errors,
        held: sum.held,
        cached: sum.cached,
        ms: rounded(sum.ms),
        p50: rounded(sum.quantile(0.5)),
        p99: rounded(sum.quantile(0.99)),
        bytes_out: sum.bytes,
        tokens_out: sum.tokens(),
    }
}

/// To microseconds.
fn rounded(ms: f64) -> f64 {
    (ms * 1000.0).round() / 1000.0
}
