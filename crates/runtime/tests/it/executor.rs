//! Profile `executor`: a catalogue that changes under it, and answers in one shape.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_contract::check::Stage;
use toolroom_contract::handler::Question;
use toolroom_contract::ids::PendingId;
use toolroom_contract::{Ending, Handler, HandlerFuture, Principal, ToolContext};
use toolroom_profiles::executor;
use toolroom_runtime::Script;
use toolroom_runtime::catalogue::{Executor, NewTool, RegistryError};
use toolroom_store::pending::Decision;
use toolroom_worker::{Isolation, Kind, Limits, ScriptSpec, Scripts, Settings};

use crate::test_runtime::TestRuntime;
use crate::tools::{Tool, done, mutation, query};

/// Asks which colour, and answers with what was said.
struct AsksColour;

impl Handler for AsksColour {
    fn call<'a>(&'a self, _: &'a Value, context: &'a ToolContext) -> HandlerFuture<'a> {
        Box::pin(async move {
            match &context.answer {
                Some(answer) => done(json!({ "answer": answer })),
                None => Ending::NeedsInput(Question {
                    text: "Which colour?".into(),
                    choices: Vec::new(),
                    schema: None,
                    timeout: 60.0,
                }),
            }
        })
    }

    fn asks(&self) -> bool {
        true
    }
}

fn runtime(tools: Vec<NewTool>) -> TestRuntime {
    TestRuntime::with_profiles(tools, vec![executor::profile()])
}

/// The tool as a script that answers with its parameters.
fn script(runtime: &TestRuntime, tool: Tool) -> NewTool {
    let path = runtime.folder.path().join("echo.sh");
    std::fs::write(&path, "cat\n").unwrap();
    let spec = ScriptSpec {
        name: tool.definition.name.clone(),
        root: runtime.folder.path().to_owned(),
        path,
        kind: Kind::Shell,
        env: BTreeMap::new(),
        limits: Limits::default(),
        parallel: 1,
        isolation: Isolation::Shared,
        workdir: runtime.folder.path().join("work"),
        sandbox: None,
    };
    let scripts = Scripts::new(Settings::from_environment());
    NewTool {
        definition: tool.is(|tool| tool.output = None).definition,
        executor: Executor::Script(Arc::new(Script::new(spec, scripts))),
    }
}

fn change(runtime: &TestRuntime, come: Vec<NewTool>, go: &[&str]) {
    let registry = &runtime.runtime.registry;
    let come = come.into_iter().map(|new| registry.prepare(new, Stage::Loaded).unwrap()).collect();
    let go: Vec<String> = go.iter().map(|name| (*name).to_owned()).collect();
    registry.change(come, &go, || Ok::<(), RegistryError>(())).unwrap();
}

fn shown(runtime: &TestRuntime) -> Vec<String> {
    let snapshot = runtime.runtime.registry.snapshot();
    snapshot.profiles["executor"].order.iter().map(|bound| bound.name().to_owned()).collect()
}

async fn respond(runtime: &TestRuntime, who: &Arc<Principal>, name: &str, params: Value) -> Value {
    let reply = runtime.ask(who, name).profile("executor").params(params).send().await;
    let response = reply.published.expect("every answer is a ToolResponse");
    assert_eq!(response["execution_id"], json!(reply.execution_id), "{response}");
    response
}

#[tokio::test]
async fn tools_come_and_go_and_our_own_stay_out() {
    let runtime = runtime(vec![query("get-note").build()]);
    let who = runtime.owner().await;
    assert!(shown(&runtime).is_empty(), "built-in tools are shown while they are there");
    change(&runtime, vec![script(&runtime, query("zip_it")), script(&runtime, query("ask_it"))], &[]);
    change(&runtime, vec![query("search-web").build()], &[]);
    assert_eq!(shown(&runtime), ["web_search", "ask_it", "zip_it"]);

    let response = respond(&runtime, &who, "zip_it", json!({ "n": 7 })).await;
    assert_eq!((&response["status"], &response["data"]), (&json!("success"), &json!({ "n": 7 })));
    let id = serde_json::from_value(response["execution_id"].clone()).unwrap();
    let row = runtime.row(id);
    assert_eq!((row.tool.as_str(), row.profile.as_str()), ("zip_it", "executor"));

    change(&runtime, Vec::new(), &["zip_it", "search-web"]);
    assert_eq!(shown(&runtime), ["ask_it"]);
    for name in ["zip_it", "web_search", "get-note", "search-tools", "nothing"] {
        let response = respond(&runtime, &who, name, json!({})).await;
        assert_eq!(
            (&response["status"], &response["error"]["code"]),
            (&json!("error"), &json!("ToolNotFound")),
            "{name}"
        );
    }
}

#[tokio::test]
async fn what_a_caller_may_not_use_answers_like_what_is_not_there() {
    let runtime = runtime(Vec::new());
    change(&runtime, vec![script(&runtime, query("zip_it"))], &[]);
    let nobody = runtime.user("nobody", &[]).await;
    let mut answers = Vec::new();
    for name in ["zip_it", "nothing"] {
        let mut response = respond(&runtime, &nobody, name, json!({})).await;
        response["execution_id"] = json!(null);
        answers.push(response);
    }
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test]
async fn bad_parameters_are_refused_by_the_tools_own_schema() {
    let runtime = runtime(Vec::new());
    change(&runtime, vec![script(&runtime, query("zip_it"))], &[]);
    let who = runtime.owner().await;
    let response = respond(&runtime, &who, "zip_it", json!({ "n": "seven", "m": 1 })).await;
    assert_eq!(response["error"]["code"], "InvalidInput");
    assert_eq!(response["data"]["details"].as_array().unwrap().len(), 2, "{response}");
}

#[tokio::test]
async fn a_destructive_tool_is_pending_until_a_person_agrees() {
    let runtime = runtime(Vec::new());
    change(&runtime, vec![script(&runtime, mutation("wipe_it").destructive())], &[]);
    let who = runtime.owner().await;
    let response = respond(&runtime, &who, "wipe_it", json!({ "n": 1 })).await;
    assert_eq!(
        (&response["status"], &response["data"]["pending"]["kind"]),
        (&json!("pending"), &json!("approval"))
    );
    runtime.decide(pending_id(&response), Decision::Approve).await;
    let response = respond(&runtime, &who, "wipe_it", json!({ "n": 1 })).await;
    assert_eq!((&response["status"], &response["data"]), (&json!("success"), &json!({ "n": 1 })));
}

fn pending_id(response: &Value) -> PendingId {
    serde_json::from_value(response["data"]["pending"]["id"].clone()).unwrap()
}

fn asking(name: &str) -> NewTool {
    NewTool { definition: mutation(name).definition, executor: Executor::Native(Arc::new(AsksColour)) }
}

#[tokio::test]
async fn a_question_asked_again_is_the_same_question_and_then_its_answer() {
    let runtime = runtime(vec![asking("ask-colour")]);
    let who = runtime.owner().await;
    let ask = |n: u32| runtime.ask(&who, "ask-colour").params(json!({ "n": n })).send();
    let id = |reply: &toolroom_runtime::Reply| reply.result.error().unwrap().pending.as_ref().unwrap().id;
    let first = id(&ask(1).await);
    assert_eq!(id(&ask(1).await), first, "nobody is asked twice");
    assert_ne!(id(&ask(2).await), first);
    runtime.decide(first, Decision::Answer(json!("blue"))).await;
    assert_eq!(ask(1).await.result.data().unwrap()["answer"], "blue");
    assert_ne!(id(&ask(1).await), first, "an answer is used once");
}

#[tokio::test]
async fn a_question_that_nobody_answers_lapses_and_says_so() {
    let runtime = runtime(vec![asking("ask-colour")]);
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "ask-colour", json!({})).await;
    let id = reply.result.error().unwrap().pending.as_ref().unwrap().id;
    // The store has its own clock: the request is closed as the sweep would close it.
    let swept = runtime.runtime.store.write(move |unit| {
        unit.now += jiff::SignedDuration::from_secs(61);
        toolroom_store::pending::expire_old(unit)
    });
    let lapsed: Result<u64, toolroom_store::StoreError> = swept.await;
    assert_eq!(lapsed.unwrap(), 1);
    let reply = runtime.ask(&who, "ask-colour").approval(id).send().await;
    let error = reply.result.error().unwrap();
    assert_eq!(error.code.as_str(), "approval_expired");
    assert!(error.message.contains("Nobody answered in time"), "{}", error.message);
}
