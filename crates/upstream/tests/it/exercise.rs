//! All that the test servers can do, asked of one of them.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_contract::Category;
use toolroom_upstream::answers::{Answering, Asked, Question};
use toolroom_upstream::contracts::catalogue;
use toolroom_upstream::{
    Answers, CallOptions, Era, RemotePrompt, RemoteResource, RemoteTemplate, RemoteTool, Reply, Resumption,
    State, Target, Upstream, UpstreamError,
};

use crate::test_servers::{Reports, call, call_with, text, until_async};

/// Says that Ada is there.
pub struct Ada;

impl Answers for Ada {
    fn answer(&self, asked: Asked) -> Answering<'_> {
        Box::pin(async move {
            assert_eq!(asked.question, Question::Elicitation);
            assert_eq!(asked.params["message"], "Who is there?");
            Ok(ada())
        })
    }
}

fn ada() -> Value {
    json!({ "action": "accept", "content": { "name": "Ada" } })
}

/// Asks a server for everything; `grows` if it can add a tool to its list.
pub async fn exercise(upstream: &Upstream, era: Era, grows: bool) {
    let changes = upstream.watch_changes();
    lists(upstream).await;
    let status = upstream.status();
    assert_eq!((status.state, status.era), (State::Ready, Some(era)), "{status:?}");
    assert!(status.hello.unwrap().server["name"].as_str().unwrap().starts_with("upstream-"));
    calls(upstream).await;
    progress(upstream).await;
    if era == Era::Stateless {
        input_required(upstream).await;
    } else {
        questions(upstream).await;
    }
    cancellation(upstream).await;
    resources_and_prompts(upstream).await;
    if grows {
        let before = changes.borrow().tools;
        assert_eq!(text(&call(upstream, "grow", json!({})).await.unwrap()), "grown");
        until_async("the change of the list is told", || changes.borrow().tools > before).await;
        let tools = upstream.list::<RemoteTool>().await.unwrap();
        assert!(tools.items.iter().any(|tool| tool.name == "grown"));
    }
    assert_eq!(upstream.status().connections, 1, "one connection did it all");
    upstream.shutdown().await;
    assert_eq!(upstream.status().state, State::Stopped);
}

async fn lists(upstream: &Upstream) {
    let tools = upstream.list::<RemoteTool>().await.unwrap();
    assert_eq!(tools.incomplete, None);
    let made = catalogue(upstream.config(), &tools.items);
    assert_eq!(made.rejected, [], "each tool fits the contract");
    let find = |name: &str| made.tools.iter().find(|tool| tool.remote.name == name).unwrap();
    let echo = &find("echo").definition;
    assert_eq!(echo.name, format!("{}__echo", upstream.name()));
    assert_eq!((echo.category, echo.destructive), (Category::Query, false));
    assert_eq!(find("add").definition.category, Category::Mutation);
    assert!(find("add").definition.output.is_some());
    let resources = upstream.list::<RemoteResource>().await.unwrap();
    assert_eq!(resources.items.iter().map(|one| one.uri.as_str()).collect::<Vec<_>>(), ["memo://note"]);
    let templates = upstream.list::<RemoteTemplate>().await.unwrap();
    assert_eq!(templates.items[0].uri_template, "memo://about/{name}");
    let prompts = upstream.list::<RemotePrompt>().await.unwrap();
    assert_eq!(prompts.items[0].name, "greet");
}

async fn calls(upstream: &Upstream) {
    assert_eq!(text(&call(upstream, "echo", json!({ "text": "żółw" })).await.unwrap()), "żółw");
    let sum = call(upstream, "add", json!({ "a": 2, "b": 3 })).await.unwrap();
    assert_eq!(sum["structuredContent"], json!({ "sum": 5 }));
    let failed = call(upstream, "fail", json!({})).await.unwrap();
    assert_eq!(failed["isError"], true, "{failed}");
    match call(upstream, "nonsense", json!({})).await {
        Ok(refused) => assert_eq!(refused["isError"], true),
        Err(error) => assert!(matches!(error, UpstreamError::Rpc(_)), "{error:?}"),
    }
    // Side by side, on one connection.
    let many = (0..20).map(|n| async move {
        let answer = call(upstream, "echo", json!({ "text": n.to_string() })).await.unwrap();
        assert_eq!(text(&answer), n.to_string());
    });
    futures_util::future::join_all(many).await;
}

async fn progress(upstream: &Upstream) {
    let reports = Arc::<Reports>::default();
    let options =
        CallOptions { reporter: reports.reporter(), log_level: Some("info"), ..CallOptions::default() };
    let done = call_with(upstream, "steps", json!({ "count": 3 }), &options).await.unwrap();
    assert_eq!(text(&done), "done");
    let progress = reports.progress.lock().unwrap();
    let steps: Vec<f64> = progress.iter().map(|one| one.progress).collect();
    assert_eq!(steps, [1.0, 2.0, 3.0]);
    assert_eq!((progress[1].total, progress[1].message.as_deref()), (Some(3.0), Some("step 2")));
    let logs = reports.logs.lock().unwrap();
    assert_eq!(logs.len(), 3, "{logs:?}");
    assert!(logs[2].1.contains("did step 3"), "{logs:?}");
}

async fn questions(upstream: &Upstream) {
    let options = CallOptions { answers: Some(Arc::new(Ada)), ..CallOptions::default() };
    assert_eq!(text(&call_with(upstream, "ask", json!({}), &options).await.unwrap()), "accept: Ada");
    let nobody = call(upstream, "ask", json!({})).await.unwrap();
    assert_eq!(text(&nobody), "cancel: ", "a call that nobody can be asked about goes on");
}

async fn input_required(upstream: &Upstream) {
    let target = Target::Tool { name: "ask", arguments: &json!({}), headers: &[] };
    let capabilities = Some(json!({ "elicitation": { "form": {} } }));
    let mut options = CallOptions { capabilities, ..CallOptions::default() };
    let Reply::InputRequired(wanted) = upstream.reach(target, &options).await.unwrap() else {
        panic!("no input was asked for");
    };
    let (key, request) = wanted.requests.into_iter().next().unwrap();
    assert_eq!(request.method, "elicitation/create");
    let responses = [(key, ada())].into_iter().collect();
    options.resumption = Some(Resumption { responses, state: wanted.state });
    assert_eq!(text(&call_with(upstream, "ask", json!({}), &options).await.unwrap()), "accept: Ada");
}

async fn cancellation(upstream: &Upstream) {
    let folder = tempfile::tempdir().unwrap();
    let [started, ended] = ["started", "ended"].map(|name| folder.path().join(name));
    let running = tokio::spawn({
        let (upstream, arguments) = (upstream.clone(), json!({ "started": started, "ended": ended }));
        async move { call(&upstream, "wait", arguments).await }
    });
    until_async("the call has begun", || started.exists()).await;
    assert!(!ended.exists());
    running.abort();
    until_async("the server has given the call up", || ended.exists()).await;
    assert_eq!(text(&call(upstream, "echo", json!({ "text": "still here" })).await.unwrap()), "still here");
}

async fn resources_and_prompts(upstream: &Upstream) {
    let options = CallOptions::default();
    for (uri, expected) in [("memo://note", "remember"), ("memo://about/Ada", "about Ada")] {
        let read = upstream.reach(Target::Resource(uri), &options).await.unwrap().complete().unwrap();
        let read: Value = serde_json::from_str(read.text()).unwrap();
        assert_eq!(read["contents"][0]["text"], expected);
    }
    let missing = upstream.reach(Target::Resource("memo://nothing"), &options).await;
    assert!(matches!(missing, Err(UpstreamError::Rpc(_))), "{missing:?}");
    let target = Target::Prompt { name: "greet", arguments: &json!({ "name": "Ada" }) };
    let prompt = upstream.reach(target, &options).await.unwrap().complete().unwrap();
    assert!(prompt.text().contains("Say hello to Ada."), "{prompt:?}");
}
