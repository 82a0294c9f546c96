//! Tools for the tests: a sound contract, changed where a test says so, around a closure.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::Notify;
use toolroom_contract::definition::{Example, NextAction, RateLimit};
use toolroom_contract::{
    Answer, Category, Ending, ErrorCode, Handler, HandlerFuture, ResponseTime, ToolContext, ToolDefinition,
    ToolError,
};
use toolroom_runtime::catalogue::{Executor, NewTool};
use toolroom_store::Store;
use toolroom_store::idempotency::{self, Finished};

type Ends = Pin<Box<dyn Future<Output = Ending> + Send>>;
type Body = Box<dyn Fn(Value, ToolContext) -> Ends + Send + Sync>;

/// A handler made of a closure.
struct Fixture {
    body: Body,
    trimmed: &'static [&'static str],
    records_claim: bool,
    resolve: Option<fn(&Value) -> Value>,
    preview: Option<Value>,
}

impl Handler for Fixture {
    fn call<'a>(&'a self, params: &'a Value, context: &'a ToolContext) -> HandlerFuture<'a> {
        (self.body)(params.clone(), context.clone())
    }

    fn trimmed(&self) -> &'static [&'static str] {
        self.trimmed
    }

    fn records_claim(&self) -> bool {
        self.records_claim
    }

    fn resolve(&self, params: &Value, _: &ToolContext) -> Option<Value> {
        self.resolve.map(|resolve| resolve(params))
    }

    fn preview(&self, _: &Value, _: &ToolContext) -> Option<Value> {
        self.preview.clone()
    }
}

/// A tool in the making.
pub struct Tool {
    pub definition: ToolDefinition,
    fixture: Fixture,
}

/// A query that needs `notes:read` and answers `{"ok": true}`.
pub fn query(name: &str) -> Tool {
    Tool::new(name, Category::Query, "notes:read")
}

/// A mutation that needs `notes:write` and answers `{"ok": true}`.
pub fn mutation(name: &str) -> Tool {
    Tool::new(name, Category::Mutation, "notes:write")
}

impl Tool {
    fn new(name: &str, category: Category, permission: &str) -> Self {
        let definition = ToolDefinition {
            name: name.into(),
            description:
                "Does what a test needs. Use it when a promise is put to the test. Returns a small object."
                    .into(),
            version: semver::Version::new(1, 2, 3),
            permissions: vec![permission.parse().unwrap()],
            parameters: json!({
                "type": "object",
                "properties": { "n": {
                    "type": "integer", "description": "A number.", "minimum": 0, "maximum": 1_000_000
                } },
                "additionalProperties": false
            }),
            output: Some(json!({ "type": "object" })),
            category,
            response_time: ResponseTime::Fast,
            cacheable: false,
            cache_ttl: None,
            idempotent: category == Category::Query,
            examples: vec![Example {
                description: "The simplest call".into(),
                params: Default::default(),
                expected_result: json!({ "ok": true }),
                varies: Default::default(),
            }],
            tags: vec!["test".into()],
            rate_limit: None,
            deprecated: None,
            timeout: None,
            parallel: None,
            destructive: false,
            next_actions: Vec::new(),
            effect: None,
            derived: Vec::new(),
        };
        let fixture = Fixture {
            body: Box::new(|_, _| Box::pin(async { done(json!({ "ok": true })) })),
            trimmed: &[],
            records_claim: false,
            resolve: None,
            preview: None,
        };
        Self { definition, fixture }
    }

    /// What the tool does.
    pub fn runs<F>(mut self, body: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Ending> + Send + 'static,
    {
        self.fixture.body = Box::new(move |params, context| Box::pin(body(params, context)));
        self
    }

    /// What the tool does, and how often it did.
    pub fn counts(self, runs: &Arc<AtomicUsize>) -> Self {
        let runs = Arc::clone(runs);
        self.runs(move |_, _| {
            let run = runs.fetch_add(1, Ordering::SeqCst) + 1;
            async move { done(json!({ "run": run })) }
        })
    }

    pub fn fails(self, error: ToolError) -> Self {
        self.runs(move |_, _| {
            let error = error.clone();
            async move { Ending::Failed(error) }
        })
    }

    pub fn is(mut self, change: impl FnOnce(&mut ToolDefinition)) -> Self {
        change(&mut self.definition);
        self
    }

    pub fn params(self, properties: Value, required: &[&str], example: Value) -> Self {
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        });
        self.is(|tool| {
            tool.parameters = schema;
            tool.examples[0].params = example.as_object().cloned().unwrap();
        })
    }

    pub fn needs(self, permission: &str) -> Self {
        self.is(|tool| tool.permissions = vec![permission.parse().unwrap()])
    }

    pub fn cached(self, seconds: u64) -> Self {
        self.is(|tool| (tool.cacheable, tool.cache_ttl) = (true, Some(seconds)))
    }

    pub fn limited(self, max_calls: u32, window_ms: u64) -> Self {
        self.is(|tool| tool.rate_limit = Some(RateLimit { max_calls, window_ms }))
    }

    pub fn within(self, seconds: f64) -> Self {
        self.is(|tool| tool.timeout = Some(seconds))
    }

    pub fn one_at_a_time(self) -> Self {
        self.is(|tool| tool.parallel = Some(false))
    }

    pub fn destructive(self) -> Self {
        self.is(|tool| tool.destructive = true)
    }

    pub fn then(self, next: NextAction) -> Self {
        self.is(|tool| tool.next_actions.push(next))
    }

    pub fn trims(mut self, names: &'static [&'static str]) -> Self {
        self.fixture.trimmed = names;
        self
    }

    pub fn resolves(mut self, resolve: fn(&Value) -> Value) -> Self {
        self.fixture.resolve = Some(resolve);
        self
    }

    pub fn previews(mut self, preview: Value) -> Self {
        self.fixture.preview = Some(preview);
        self
    }

    /// Writes its idempotency record in the transaction of its effect, which is counted on commit.
    pub fn stores(mut self, store: &Store, effects: &Arc<AtomicUsize>) -> Self {
        let (store, effects) = (store.clone(), Arc::clone(effects));
        self = self.runs(move |params, context| {
            let (store, effects) = (store.clone(), Arc::clone(&effects));
            async move {
                let answer = Answer::new(json!({ "stored": params })).unwrap();
                let record = answer.to_record().unwrap();
                let (claim, hook, gate) =
                    (context.claim.clone(), context.committed.clone(), context.gate.clone());
                let unit = move |unit: &mut toolroom_store::Unit<'_>| match &claim {
                    None => Ok(()),
                    Some(claim) => match idempotency::finish(unit, claim, &record)? {
                        Finished::Recorded => Ok(()),
                        Finished::Exists(_) => {
                            Err(ToolError::new(ErrorCode::InProgress, "The key is taken."))
                        }
                    },
                };
                let committed = move || {
                    effects.fetch_add(1, Ordering::SeqCst);
                    hook.run();
                };
                match store.write_then(&gate, unit, committed).await {
                    Ok(()) => Ending::Done(answer),
                    Err(error) => Ending::Failed(error),
                }
            }
        });
        self.fixture.records_claim = true;
        self
    }

    pub fn build(self) -> NewTool {
        NewTool { definition: self.definition, executor: Executor::Native(Arc::new(self.fixture)) }
    }
}

/// An ending with this data.
pub fn done(data: Value) -> Ending {
    Ending::Done(Answer::new(data).unwrap())
}

pub fn counter() -> Arc<AtomicUsize> {
    Arc::default()
}

pub fn count(counter: &Arc<AtomicUsize>) -> usize {
    counter.load(Ordering::SeqCst)
}

/// A tool's body that a test holds in its hand: it tells when it began, waits, and tells when it was dropped.
#[derive(Clone, Default)]
pub struct Gate {
    pub begun: Arc<Notify>,
    pub release: Arc<Notify>,
    pub dropped: Arc<Notify>,
    pub runs: Arc<AtomicUsize>,
}

impl Gate {
    /// Puts the gate before a tool's answer.
    pub fn before(&self, tool: Tool) -> Tool {
        let gate = self.clone();
        tool.runs(move |_, _| {
            let gate = gate.clone();
            async move {
                let _leaving = Leaving(Arc::clone(&gate.dropped));
                gate.runs.fetch_add(1, Ordering::SeqCst);
                gate.begun.notify_one();
                gate.release.notified().await;
                done(json!({ "ok": true }))
            }
        })
    }

    pub fn runs(&self) -> usize {
        count(&self.runs)
    }
}

struct Leaving(Arc<Notify>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
