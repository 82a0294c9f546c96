//! The way of every call, step by step. Each step is a file; each takes the type that the one before it
//! made, so that none can be left out.

mod admit;
mod answer;
mod approval;
mod call;
mod idempotency;
mod limit;
mod output;
mod params;
mod permit;
mod refused;
mod request;
mod resolve;
mod run;
mod slot;
mod standing;
mod validate;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use toolroom_contract::{Answer, Content, ErrorCode, HintsDraft, ToolError};
use tracing::Instrument;

use crate::Runtime;
use crate::cache::Kept;
use crate::catalogue::Tool;
use crate::step_timer::step;
use admit::Admission;
use call::Call;

pub use idempotency::Claims;
pub use request::{CallRequest, Edge, Reply};
pub use validate::Validated;

impl Runtime {
    /// Makes a call: validated, permitted, limited, logged, measured. Dropping the future cancels it.
    pub async fn call(self: &Arc<Self>, request: CallRequest) -> Reply {
        go(Call::begin(self, request)).await
    }

    /// Calls a tool that is in no catalogue, in the same way; the log says that it was a draft.
    pub async fn call_draft(self: &Arc<Self>, tool: &Arc<Tool>, request: CallRequest) -> Reply {
        let mut call = Call::begin(self, CallRequest { name: tool.name().to_owned(), ..request });
        call.is_draft = true;
        match self.registry.with(tool) {
            Ok(snapshot) => call.snapshot = Arc::new(snapshot),
            Err(error) => return answer::answer(call, Err(ToolError::internal(error).into())),
        }
        go(call).await
    }
}

async fn go(mut call: Box<Call>) -> Reply {
    step("begin");
    let span = call.span();
    // A panic in a handler is caught where it runs; this is for the maps and hooks around it.
    // Boxed: whatever wraps it moves it, and so does the holder of this call's future.
    let steps = AssertUnwindSafe(Box::pin(steps(&mut call)).instrument(span.clone()));
    let ending = steps.catch_unwind().await.unwrap_or_else(|panic| {
        Err(ToolError::internal(format!("a step panicked: {}", run::text_of(&*panic))).into())
    });
    if let Err(refusal) = &ending
        && call.by_standing
    {
        Box::pin(standing::take_back(&mut call, &refusal.error)).await;
    }
    span.in_scope(|| answer::answer(call, ending))
}

async fn steps(call: &mut Call) -> Result<Ended, Refusal> {
    let resolved = resolve::resolve(call)?;
    call.note_tool(&resolved);
    step("resolve");
    call.steps.now = "permission";
    let permitted = permit::permit(call, resolved)?;
    step("permission");
    call.steps.now = "parameters";
    let checked = params::check_in_time(call, permitted).await?;
    call.note_user(&checked);
    step("parameters");
    call.steps.now = "rate limit";
    if call.runtime.store.lease().is_some_and(|lease| !lease.is_held()) {
        return Err(fenced().into());
    }
    let limited = limit::limit(call, checked).await?;
    step("rate limit");
    call.next_timed("admission");
    let admission = admit::admit(call, limited).await?;
    step("admission");
    match admission {
        Admission::Answer(ended) => Ok(ended),
        Admission::Run(admitted) => {
            call.next_timed("run");
            let ended = run::run(call, admitted).await?;
            call.next_timed("answer");
            Ok(ended)
        }
    }
}

/// The other processes on the database believe that this one is gone, or soon will.
fn fenced() -> ToolError {
    ToolError::new(
        ErrorCode::ServiceUnavailable,
        "This server has not reached its database for a while, and does nothing until it does. Try again in a moment.",
    )
    .retry_after_ms(1000)
}

/// A call that ended well.
struct Ended {
    data: Arc<Value>,
    hints: HintsDraft,
    content: Option<Arc<Content>>,
    origin: Origin,
}

impl Ended {
    fn new(answer: Answer, origin: Origin) -> Self {
        Self { data: Arc::new(answer.data), hints: answer.hints, content: answer.content, origin }
    }

    fn from_cache(kept: &Kept, origin: Origin) -> Self {
        let (data, hints, content) = (Arc::clone(&kept.data), kept.hints.clone(), kept.content.clone());
        Self { data, hints, content, origin }
    }
}

/// Where the answer of a call came from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// The tool ran.
    Fresh,
    /// The cache, with the answer's age as a share of its time to live.
    Cached(f64),
    /// The record of an idempotency key.
    Replayed,
    /// Nothing ran: the call only asked what would happen.
    DryRun,
}

/// A call that ended badly.
struct Refusal {
    /// What the caller sees.
    error: ToolError,
    /// Whether the caller may not use the tool: the journal says so, the caller is told that there is no such tool.
    denied: bool,
}

impl Refusal {
    /// What is not yours does not exist: only the journal says why.
    fn forbidden(name: &str) -> Self {
        Self { error: resolve::not_found(name), denied: true }
    }
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        Self { error, denied: false }
    }
}
