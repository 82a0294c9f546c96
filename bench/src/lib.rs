//! What the benchmarks share: runtimes in a scratch folder, trivial tools, servers as child processes, medians, a
//! table of figures.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

pub mod calls;
pub mod figures;
pub mod ours;
pub mod sdk;
pub mod served;
pub mod task_handlers;

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::context::ContextFields;
use toolroom_contract::definition::Example;
use toolroom_contract::handler::{NativeTool, Reply, Shapes, Typed};
use toolroom_contract::ids::{RunId, UserId};
use toolroom_contract::{Grants, Principal, ToolContext, ToolDefinition, ToolError, User};
use toolroom_runtime::catalogue::{Executor, NewTool};
use toolroom_runtime::clock::SystemClock;
use toolroom_runtime::journal::Journal;
use toolroom_runtime::registrar::{Registrar, Setup};
use toolroom_runtime::{CallRequest, Edge, Parts, Runtime, Settings};
use toolroom_store::{DatabaseUrl, Store};
use toolroom_worker::Scripts;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Adds two numbers.
pub struct AddNumbers;

/// The parameters of the trivial tool.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The first number.
    #[schemars(range(min = -1_000_000, max = 1_000_000))]
    a: i64,
    /// The second number.
    #[schemars(range(min = -1_000_000, max = 1_000_000))]
    b: i64,
}

/// The answer of the trivial tool.
#[derive(Serialize, JsonSchema)]
pub struct Sum {
    sum: i64,
}

impl NativeTool for AddNumbers {
    type Params = Params;
    type Output = Sum;

    async fn run(&self, params: Params, _: &ToolContext) -> Result<Reply<Sum>, ToolError> {
        Ok(Sum { sum: params.a + params.b }.into())
    }
}

/// The trivial tool, cached or not.
pub fn add_numbers(name: &str, cached: bool) -> NewTool {
    let definition = ToolDefinition {
        permissions: vec!["numbers:add".parse().unwrap_or_else(|_| unreachable!("a sound permission"))],
        parameters: Shapes::<AddNumbers>::parameters(),
        output: Some(Shapes::<AddNumbers>::output()),
        cacheable: cached,
        cache_ttl: cached.then_some(3600),
        examples: vec![Example::new("One and two", &json!({ "a": 1, "b": 2 }), json!({ "sum": 3 }))],
        tags: vec!["bench".into()],
        ..ToolDefinition::query(
            name,
            "Adds two numbers. Use it to measure what a call costs. Returns their sum as data.",
        )
    };
    NewTool { definition, executor: Executor::Native(Arc::new(Typed(AddNumbers))) }
}

/// A runtime with the trivial tools, on a scratch folder that goes with it.
pub fn runtime(folder: &std::path::Path) -> anyhow::Result<Arc<Runtime>> {
    Ok(Runtime::new(Parts {
        store: Store::open(&DatabaseUrl::sqlite(folder.join("bench.db")))?,
        journal: Journal::open(&folder.join("logs"), RunId::new(), Default::default())?,
        tools: vec![add_numbers("add-numbers", false), add_numbers("add-cached", true)],
        // The published task profiles need the task tools, which this runtime goes without.
        profiles: toolroom_profiles::built_in().into_iter().filter(|one| one.name == "default").collect(),
        clock: Arc::new(SystemClock),
        settings: Settings::default(),
    })?)
}

/// The tools of a `tools.json` with this text, in the folder `tools` of a scratch folder.
pub fn registrar(
    folder: &std::path::Path,
    runtime: &Arc<Runtime>,
    text: &str,
) -> anyhow::Result<Arc<Registrar>> {
    let tools = folder.join("tools");
    std::fs::create_dir_all(&tools)?;
    std::fs::write(tools.join("tools.json"), text)?;
    let own = toolroom_worker::Settings::from_environment();
    let workers = toolroom_worker::Settings { cache: Some(folder.join("cache")), ..own };
    let setup = Setup { scripts: Scripts::new(workers), ..Setup::new_in(folder, runtime)? };
    Ok(Registrar::open(setup)?)
}

/// Someone who may call everything.
pub fn principal() -> Arc<Principal> {
    principal_of(User { id: UserId(1), key: "bench".into() })
}

/// This user, with every right.
pub fn principal_of(user: User) -> Arc<Principal> {
    Arc::new(Principal {
        user,
        grants: Grants::all(),
        profiles: None,
        person: false,
        key: None,
        time_zone: None,
        revoked: Default::default(),
    })
}

/// A call of a trivial tool.
pub fn request(name: &str, principal: &Arc<Principal>, a: i64) -> CallRequest {
    call_of(name, json!({ "a": a, "b": 2 }), principal)
}

/// A call of a canonical tool.
pub fn call_of(tool: &str, params: Value, caller: &Arc<Principal>) -> CallRequest {
    CallRequest {
        profile: "default".into(),
        name: tool.into(),
        params,
        principal: Arc::clone(caller),
        context: ContextFields {
            agent_id: Some("bench-agent".into()),
            agent_version: Some("1.0.0".into()),
            ..ContextFields::default()
        },
        edge: Edge::Rest,
        reporter: toolroom_contract::Reporter::default(),
    }
}

/// The middle of the times.
pub fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
