//! A runtime with the task tools on a database of one's choice, and its callers.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use toolroom_contract::context::CommitHook;
use toolroom_contract::ids::{ExecutionId, RunId};
use toolroom_contract::{Ending, Handler, Principal, ToolContext, TraceId, User};
use toolroom_packs::tasks::{TaskSettings, tools};
use toolroom_runtime::catalogue::{Executor, NewTool};
use toolroom_runtime::clock::SystemClock;
use toolroom_runtime::journal::Journal;
use toolroom_runtime::{Parts, Runtime, Settings};
use toolroom_store::{Store, users};

use crate::principal_of;

/// The task tools under the whole pipeline, journal on.
pub fn task_runtime(store: Store, logs: &Path) -> Result<Arc<Runtime>> {
    let native = |(definition, handler)| NewTool { definition, executor: Executor::Native(handler) };
    Ok(Runtime::new(Parts {
        tools: tools(&store, TaskSettings::default()).into_iter().map(native).collect(),
        store,
        journal: Journal::open(logs, RunId::new(), Default::default())?,
        profiles: toolroom_profiles::built_in(),
        clock: Arc::new(SystemClock),
        settings: Settings::default(),
    })?)
}

/// The user of this name, made if need be, with every right.
pub async fn caller(store: &Store, name: &'static str) -> Result<Arc<Principal>> {
    let user = store.write(move |unit| users::ensure(unit, name)).await?;
    Ok(principal_of(User { id: user.id, key: user.key.as_str().into() }))
}

/// The handlers alone, without the pipeline and its cache.
pub struct Handlers {
    handlers: HashMap<String, Arc<dyn Handler>>,
    context: ToolContext,
}

impl Handlers {
    pub fn new(store: &Store, caller: &Arc<Principal>) -> Self {
        let named = tools(store, TaskSettings::default()).into_iter();
        let handlers = named.map(|(definition, handler)| (definition.name, handler)).collect();
        let context = ToolContext {
            profile: "default".into(),
            execution_id: ExecutionId::default(),
            user: Some(caller.user.clone()),
            caller: Arc::clone(caller),
            session_id: None,
            correlation_id: "bench".into(),
            trace_id: TraceId::new(),
            agent_id: "bench-agent".into(),
            agent_version: "1.0.0".into(),
            timestamp: Timestamp::now(),
            time_zone: TimeZone::UTC,
            metadata: Map::new(),
            answer: None,
            client: None,
            claim: None,
            committed: CommitHook::new(|| ()),
            gate: toolroom_contract::CommitGate::default(),
            reporter: toolroom_contract::Reporter::default(),
        };
        Self { handlers, context }
    }

    /// The data of a call that must succeed.
    pub async fn call(&self, tool: &str, params: &Value) -> Result<Value> {
        let handler = self.handlers.get(tool).with_context(|| format!("there is no tool {tool}"))?;
        match handler.call(params, &self.context).await {
            Ending::Done(answer) => Ok(answer.data),
            other => bail!("{tool} {params}: {other:?}"),
        }
    }
}
