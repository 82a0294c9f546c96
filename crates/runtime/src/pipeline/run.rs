//! Step 6: the start record, a slot, the tool itself, its timeout.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::Value;
use toolroom_contract::commit_gate::Effect;
use toolroom_contract::error::Outcome;
use toolroom_contract::handler::Question;
use toolroom_contract::{Answer, ClientInput, CommitGate, Ending, ErrorCode, ToolContext, ToolError};

use super::admit::Admitted;
use super::call::Call;
use super::{Ended, Origin, approval, idempotency, output, slot};
use crate::Runtime;
use crate::cache::Kept;
use crate::catalogue::{Executor, Tool};
use crate::generations::Generations;
use crate::step_timer::step;

pub(super) async fn run(call: &mut Call, admitted: Admitted) -> Result<Ended, ToolError> {
    let Admitted { tool, params, resolved_params, mut context, keep_as, claim } = admitted;
    if let Err(error) = start(call) {
        idempotency::settle(call, claim.as_ref(), Err(&error)).await;
        return Err(error);
    }
    step("journal, start");
    let deadline = call.deadline(&tool);
    if let (Some(key), Some(ttl)) = (keep_as, tool.policy.cache) {
        tool.metrics.cache_misses.inc();
        let runtime = Arc::clone(&call.runtime);
        let kept = call
            .runtime
            .cache
            .get_or_run(key, || async move {
                let ran = attempt(&runtime, &tool, &params, &context, deadline).boxed().await;
                let answer = ran.map_err(Stop::into_error)?;
                Ok(Arc::new(Kept::new(answer, ttl)))
            })
            .boxed()
            .await?;
        return Ok(Ended::from_cache(&kept, Origin::Fresh));
    }
    let mut ran = run_once(&call.runtime, &tool, &params, &context, deadline).await;
    while let Err(Stop::Question(question)) = ran {
        // Who makes the same call again without the request's id finds the answer that was given meanwhile.
        // An answer is used up, so that this ends.
        ran = match approval::ask(call, &tool, &context, &params, &resolved_params, question).boxed().await {
            Ok(answer) => {
                context.answer = Some(answer);
                run_once(&call.runtime, &tool, &params, &context, deadline).boxed().await
            }
            Err(error) => Err(Stop::Failed(error)),
        };
    }
    step("output check");
    let ran = ran.map_err(Stop::into_error);
    idempotency::settle(call, claim.as_ref(), ran.as_ref()).await;
    ran.map(|answer| Ended::new(answer, Origin::Fresh))
}

async fn run_once(
    runtime: &Runtime,
    tool: &Tool,
    params: &Arc<Value>,
    context: &ToolContext,
    deadline: Instant,
) -> Result<Answer, Stop> {
    // An effect may be visible even if this future is dropped or fails: its generation moves on either way.
    let _moved = MoveOn(context);
    let _open = match &runtime.generations {
        Generations::Here(_) => None,
        shared => shared.begin_change(tool, context.execution_id.to_string()).boxed().await?,
    };
    attempt(runtime, tool, params, context, deadline).await
}

struct MoveOn<'a>(&'a ToolContext);

impl Drop for MoveOn<'_> {
    fn drop(&mut self) {
        self.0.committed.run();
    }
}

/// Why there is not an answer yet.
enum Stop {
    Failed(ToolError),
    Question(Question),
    Client(ClientInput),
}

impl From<ToolError> for Stop {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}

impl Stop {
    fn into_error(self) -> ToolError {
        match self {
            Stop::Failed(error) => error,
            // Only tools that change nothing are kept, and those ask nobody.
            Stop::Question(_) => ToolError::new(ErrorCode::ApprovalRequired, "A person is asked."),
            Stop::Client(input) => client_asked(input),
        }
    }
}

/// Only an edge that speaks with the client program can put the requests before it.
fn client_asked(input: ClientInput) -> ToolError {
    let methods: BTreeSet<&str> = input.requests.values().map(|request| request.method.as_str()).collect();
    let methods = methods.into_iter().collect::<Vec<_>>().join(", ");
    let message = format!(
        "The tool needs input from its client ({methods}). Call it over MCP with a client that supports that."
    );
    let mut error = ToolError::new(ErrorCode::InputRequired, message);
    error.client_input = Some(Box::new(input));
    error
}

/// No start record, no call.
fn start(call: &mut Call) -> Result<(), ToolError> {
    let written = call.with_start(|start| call.runtime.journal.start(start));
    match written {
        Ok(()) => {
            call.started = true;
            Ok(())
        }
        Err(error) => {
            call.runtime.metrics.journal_failures.inc();
            Err(unavailable().caused_by(error))
        }
    }
}

pub(super) fn unavailable() -> ToolError {
    ToolError::new(ErrorCode::JournalUnavailable, "The execution log cannot be written, so nothing was run.")
        .retry_after_ms(1000)
}

async fn attempt(
    runtime: &Runtime,
    tool: &Tool,
    params: &Arc<Value>,
    context: &ToolContext,
    deadline: Instant,
) -> Result<Answer, Stop> {
    let ran = AtomicBool::new(false);
    let work = async {
        let slot = slot::acquire(&runtime.store, tool, context).await?;
        ran.store(true, Ordering::Relaxed);
        if !slot.is_shared() {
            return execute(runtime, tool, params, context).await;
        }
        tokio::select! {
            ended = execute(runtime, tool, params, context).boxed() => ended,
            () = slot.lost() => {
                let mut error = super::fenced();
                error.outcome = tool.outcome(&context.gate);
                Err(Stop::Failed(error))
            }
        }
    };
    let limit = deadline.saturating_duration_since(Instant::now());
    let ended = timely(limit, work, tool, context).await;
    step("run");
    match ended {
        Some(ended) => output::check(tool, ended?).await.map_err(Stop::Failed),
        None if ran.load(Ordering::Relaxed) => {
            Err(Stop::Failed(timed_out(tool, tool.outcome(&context.gate))))
        }
        // It never left the queue, so that nothing happened.
        None => Err(Stop::Failed(timed_out(tool, None))),
    }
}

/// How long a commit that began before the deadline is waited for after it: its end is known in a moment.
const COMMIT_GRACE: Duration = Duration::from_millis(300);

/// Ends the work at its deadline. From then on it commits nothing, unless it is doing so already.
async fn timely<T>(
    limit: Duration,
    work: impl Future<Output = T>,
    tool: &Tool,
    context: &ToolContext,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    // The timer is only armed for work that does not end at once.
    if let Some(done) = work.as_mut().now_or_never() {
        return Some(done);
    }
    if let Ok(done) = tokio::time::timeout(limit, work.as_mut()).await {
        return Some(done);
    }
    if context.gate.close() == Effect::None || !tool.commits_by_gate() {
        return None;
    }
    tokio::time::timeout(COMMIT_GRACE, work).await.ok()
}

async fn execute(
    runtime: &Runtime,
    tool: &Tool,
    params: &Arc<Value>,
    context: &ToolContext,
) -> Result<Answer, Stop> {
    let ending = match &tool.executor {
        Executor::Native(handler) => {
            // The call itself is inside too: a handler may panic before it has made its future.
            AssertUnwindSafe(async { handler.call(params, context).await }).catch_unwind().await
        }
        // Boxed, so that calls of native tools need not carry its room.
        Executor::Script(script) => {
            Ok(script.run(runtime, tool, params, context).boxed().await.unwrap_or_else(Ending::Failed))
        }
        Executor::Http(http) => Ok(http.run(tool, params, context).boxed().await),
        Executor::Upstream(federated) => Ok(federated.run(tool, params, context).boxed().await),
        Executor::Forward => {
            return Err(Stop::Failed(ToolError::internal("a forwarding tool was run instead of resolved")));
        }
    };
    match ending {
        Ok(Ending::Done(answer)) => Ok(answer),
        Ok(Ending::NeedsInput(question)) => Err(Stop::Question(question)),
        Ok(Ending::NeedsClient(input)) => Err(Stop::Client(input)),
        Ok(Ending::Failed(error)) => Err(Stop::Failed(error)),
        Err(panic) => Err(Stop::Failed(panicked(tool, &context.gate, &*panic))),
    }
}

fn panicked(tool: &Tool, gate: &CommitGate, panic: &(dyn std::any::Any + Send)) -> ToolError {
    let error = ToolError::internal(format!("'{}' panicked: {}", tool.name(), text_of(panic)));
    match tool.outcome(gate) {
        Some(outcome) => error.with_outcome(outcome),
        None => error,
    }
}

/// What a panic says.
pub(super) fn text_of(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

/// What was stopped in the middle may have had its effect; what is known of that is said.
pub(super) fn timed_out(tool: &Tool, outcome: Option<Outcome>) -> ToolError {
    let seconds = tool.policy.timeout.as_secs_f64();
    let mut message = format!("The tool did not answer within {seconds} s and was stopped.");
    message.push_str(match outcome {
        None if tool.policy.read_only => "",
        None => " Nothing was changed.",
        Some(Outcome::Applied) => " The change was made.",
        Some(Outcome::Unknown) => " Check whether the change was made before you repeat it.",
    });
    let mut error = ToolError::new(ErrorCode::ToolTimeout, message);
    error.outcome = outcome;
    error
}
