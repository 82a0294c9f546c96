//! The task tools on a fresh database of each engine, called as the pipeline calls them.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use postgres::{Client, NoTls};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolroom_contract::context::{Claim, CommitHook};
use toolroom_contract::ids::{ExecutionId, RunId};
use toolroom_contract::validator::Validator;
use toolroom_contract::{
    Answer, Ending, ErrorCode, Grants, Handler, Principal, ToolContext, ToolDefinition, ToolError, TraceId,
    User,
};
use toolroom_packs::cards;
use toolroom_packs::tasks::{TaskSettings, tools};
use toolroom_store::{Store, users};

pub struct Tool {
    pub definition: ToolDefinition,
    pub handler: Arc<dyn Handler>,
    params: Validator,
    output: Validator,
}

/// The task tools and a caller.
#[derive(Clone)]
pub struct TestTools {
    pub store: Store,
    pub tools: Arc<HashMap<String, Tool>>,
    pub context: ToolContext,
    pub commits: Arc<AtomicUsize>,
}

/// Sunday, 15 November 2026, 10:00 in Berlin.
pub const NOW: &str = "2026-11-15T09:00:00Z";

impl TestTools {
    pub async fn open(store: Store, settings: TaskSettings) -> Self {
        let compile = |(definition, handler): (ToolDefinition, Arc<dyn Handler>)| {
            let params = Validator::compile(&definition.parameters).unwrap();
            let output = Validator::compile(definition.output.as_ref().unwrap()).unwrap();
            (definition.name.clone(), Tool { definition, handler, params, output })
        };
        let all = tools(&store, settings).into_iter().chain(cards::tools(&store));
        let all: HashMap<_, _> = all.map(compile).collect();
        let commits = Arc::new(AtomicUsize::new(0));
        let context = context(user(&store, "anna").await, &commits);
        Self { store, tools: Arc::new(all), context, commits }
    }

    /// The same tools for another user.
    pub async fn for_user(&self, name: &'static str) -> Self {
        let context = context(user(&self.store, name).await, &self.commits);
        Self { context, ..self.clone() }
    }

    /// The same tools, with an idempotency key.
    pub fn with_key(&self, key: &str, body_hash: &str) -> Self {
        let user = self.context.user.as_ref().unwrap().id;
        let claim =
            Claim { user, key: key.to_owned(), body_hash: body_hash.to_owned(), run: RunId::default() };
        let context = ToolContext { claim: Some(Arc::new(claim)), ..self.context.clone() };
        Self { context, ..self.clone() }
    }

    pub async fn answer(&self, tool: &str, params: Value) -> Result<Answer, ToolError> {
        let tool = &self.tools[tool];
        let params = trim(params, tool.handler.trimmed());
        let refusals = tool.params.refusals(&params);
        if !refusals.is_empty() {
            let mut error = ToolError::new(ErrorCode::InvalidInput, "the schema refuses");
            error.details = refusals;
            return Err(error);
        }
        let answer = self.answer_unchecked(&tool.definition.name, params).await?;
        let broken = tool.output.refusals(&answer.data);
        assert!(broken.is_empty(), "{}: {broken:?} in {}", tool.definition.name, answer.data);
        Ok(answer)
    }

    /// Past the schema: the handler alone must hold the limits.
    pub async fn answer_unchecked(&self, tool: &str, params: Value) -> Result<Answer, ToolError> {
        match self.tools[tool].handler.call(&params, &self.context).await {
            Ending::Done(answer) => Ok(answer),
            Ending::Failed(error) => Err(error),
            asks @ (Ending::NeedsInput(_) | Ending::NeedsClient(_)) => panic!("{asks:?}"),
        }
    }

    /// A call that succeeds.
    pub async fn call(&self, tool: &str, params: Value) -> Value {
        self.answer(tool, params)
            .await
            .unwrap_or_else(|error| panic!("{tool}: {error} {:?}", error.details))
            .data
    }

    /// A call that fails.
    pub async fn refused(&self, tool: &str, params: Value) -> ToolError {
        match self.answer(tool, params.clone()).await {
            Ok(answer) => panic!("{tool} took {params}: {}", answer.data),
            Err(error) => error,
        }
    }

    /// Makes a task and gives its id.
    pub async fn create(&self, title: &str) -> i64 {
        self.call("create-task", json!({ "title": title })).await["task"]["taskId"].as_i64().unwrap()
    }

    pub async fn total(&self) -> i64 {
        self.call("list-tasks", json!({})).await["total"].as_i64().unwrap()
    }
}

/// The pointer and the message of the first bad field.
pub fn first_detail(error: &ToolError) -> (&str, &str) {
    assert_eq!(error.code, ErrorCode::InvalidInput, "{error}");
    let detail = error.details.first().expect("a bad field");
    (&detail.pointer, &detail.message)
}

async fn user(store: &Store, name: &'static str) -> User {
    let user = store.write(move |unit| users::ensure(unit, name)).await.unwrap();
    User { id: user.id, key: user.key.as_str().into() }
}

fn context(user: User, commits: &Arc<AtomicUsize>) -> ToolContext {
    let commits = Arc::clone(commits);
    let caller = Principal {
        user: user.clone(),
        grants: Grants::all(),
        profiles: None,
        person: false,
        key: None,
        time_zone: None,
        revoked: Default::default(),
    };
    ToolContext {
        profile: "default".into(),
        execution_id: ExecutionId::default(),
        user: Some(user),
        caller: Arc::new(caller),
        session_id: None,
        correlation_id: "test".into(),
        trace_id: TraceId::new(),
        agent_id: "test".into(),
        agent_version: "1".into(),
        timestamp: NOW.parse::<Timestamp>().unwrap(),
        time_zone: TimeZone::get("Europe/Berlin").unwrap(),
        metadata: Map::new(),
        answer: None,
        client: None,
        claim: None,
        committed: CommitHook::new(move || {
            commits.fetch_add(1, Ordering::Relaxed);
        }),
        gate: Default::default(),
        reporter: toolroom_contract::Reporter::default(),
    }
}

fn trim(mut params: Value, names: &[&str]) -> Value {
    for name in names {
        if let Some(Value::String(text)) = params.get_mut(*name) {
            *text = text.trim().to_owned();
        }
    }
    params
}

/// Runs a test on both engines, one after the other.
pub async fn on_both<F: Future<Output = ()>>(test: impl Fn(TestTools) -> F) {
    on_both_with(TaskSettings::default(), test).await;
}

pub async fn on_both_with<F: Future<Output = ()>>(settings: TaskSettings, test: impl Fn(TestTools) -> F) {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite:{}", folder.path().join("toolroom.db").display());
    eprintln!("on {url}");
    test(TestTools::open(Store::open(&url.parse().unwrap()).unwrap(), settings.clone()).await).await;

    let database = ServerDatabase::new();
    eprintln!("on PostgreSQL, {}", database.name);
    let store = Store::open(&database.url().parse().unwrap()).unwrap();
    test(TestTools::open(store, settings).await).await;
}

struct ServerDatabase {
    name: String,
}

impl ServerDatabase {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolroom_packs_{}_{number}", std::process::id());
        administer(&format!("CREATE DATABASE {name}"));
        Self { name }
    }

    fn url(&self) -> String {
        let server = server_url();
        let (address, query) = server.split_once('?').unwrap_or((&server, ""));
        let (scheme, rest) = address.split_once("://").expect("TOOLROOM_TEST_POSTGRES is a URL");
        let authority = rest.split('/').next().unwrap_or(rest);
        format!("{scheme}://{authority}/{}?{query}", self.name)
    }
}

impl Drop for ServerDatabase {
    fn drop(&mut self) {
        administer(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

fn server_url() -> String {
    std::env::var("TOOLROOM_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!("TOOLROOM_TEST_POSTGRES is not set: run these tests by `cargo xtask test`, which starts PostgreSQL")
    })
}

// The driver brings its own runtime, which cannot start inside that of a test.
fn administer(sql: &str) {
    let run = || Client::connect(&server_url(), NoTls).unwrap().batch_execute(sql).unwrap();
    std::thread::scope(|scope| scope.spawn(run).join().unwrap());
}
