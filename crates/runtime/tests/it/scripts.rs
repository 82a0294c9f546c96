//! Scripts as tools: what they are told, what they answer, what they say meanwhile, who shares them.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolroom_contract::report::{Level, Progress, Report};
use toolroom_contract::{ErrorCode, Reporter};
use toolroom_runtime::journal::Stream;

use crate::test_runtime::{data, error};
use crate::test_scripts::{TestScripts, entry, registration, write_script};

const ECHO_PY: &str = "def run(params, context):\n    return {'got': params}\n";

#[tokio::test]
async fn python_shell_and_any_executable_answer_through_the_pipeline() {
    let scripts = TestScripts::new(
        &[
            ("sum.py", "async def add(params, context):\n    return {'sum': params['a'] + params['b']}\n"),
            ("echo.sh", "printf '{\"got\": %s}' \"$(cat)\"\n"),
            (
                "echo",
                "#!/usr/bin/env python3\nimport json, sys\njson.dump({'got': json.load(sys.stdin)}, sys.stdout)\n",
            ),
        ],
        json!([
            entry("sum", "sum.py", json!({ "config": { "entrypoint": "add" } })),
            entry("echo_shell", "echo.sh", json!({})),
            entry("echo_program", "echo", json!({})),
        ]),
    );
    let who = scripts.runtime.owner().await;
    assert_eq!(
        data(&scripts.runtime.call(&who, "sum", json!({ "a": 2, "b": 3 })).await),
        &json!({ "sum": 5 })
    );
    for tool in ["echo_shell", "echo_program"] {
        let hostile = json!({ "text": "; touch pwned; $(touch pwned) `touch pwned` --flag ../\n\u{202e}" });
        let reply = scripts.runtime.call(&who, tool, hostile.clone()).await;
        assert_eq!(data(&reply), &json!({ "got": hostile }), "{tool}");
        assert!(!scripts.work(tool).join("pwned").exists());
    }
}

#[tokio::test]
async fn parameters_and_answers_are_checked_by_the_schemas_of_the_entry() {
    let schema = json!({
        "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
        "additionalProperties": false
    });
    let wants_text = json!({
        "type": "object", "properties": { "got": { "type": "string" } }, "required": ["got"]
    });
    let scripts = TestScripts::new(
        &[("echo.py", ECHO_PY), ("none.py", "def run(params, context):\n    pass\n")],
        json!([
            entry("strict", "echo.py", json!({ "input_schema": schema })),
            entry("breaks", "echo.py", json!({ "output_schema": wants_text })),
            entry("nothing", "none.py", json!({ "category": "query" })),
        ]),
    );
    let who = scripts.runtime.owner().await;
    let refused = scripts.runtime.call(&who, "strict", json!({ "n": "one" })).await;
    assert_eq!(error(&refused, ErrorCode::InvalidInput).details[0].pointer, "/n");
    assert_eq!(
        data(&scripts.runtime.call(&who, "strict", json!({ "n": 1 })).await),
        &json!({ "got": { "n": 1 } })
    );
    let broken = scripts.runtime.call(&who, "breaks", json!({})).await;
    let body = error(&broken, ErrorCode::InvalidOutput);
    assert_eq!(body.outcome, Some(toolroom_contract::error::Outcome::Applied), "a mutation has run");
    let nothing = scripts.runtime.call(&who, "nothing", json!({})).await;
    assert_eq!(error(&nothing, ErrorCode::InvalidOutput).outcome, None, "a query changes nothing");
}

#[tokio::test]
async fn a_script_is_told_the_published_context_and_has_a_clean_environment() {
    let tell_py = "import os\ndef run(params, context):\n    return {'context': dict(context), 'env': dict(os.environ), 'cwd': os.getcwd()}\n";
    // Not Python: what stands for it on the PATH may set variables of its own.
    let tell = "#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ > env\nprintf '{\"context\": %s, \"cwd\": \"%s\"}' \"$TOOLROOM_CONTEXT\" \"$(pwd)\"\n";
    let scripts = TestScripts::new(
        &[("tell.py", tell_py), ("tell", tell)],
        json!([
            entry("tell_python", "tell.py", json!({ "config": { "env": { "CITY": "Seoul" } } })),
            entry("tell_program", "tell", json!({ "config": { "env": { "CITY": "Seoul" } } })),
        ]),
    );
    let who = scripts.runtime.owner().await;
    for tool in ["tell_python", "tell_program"] {
        let ask = scripts.runtime.ask(&who, tool).context(|context| {
            context.session_id = Some("s1".into());
            context.correlation_id = Some("c1".into());
            context.agent_id = Some("agent".into());
            context.agent_version = Some("2.0".into());
            context.timestamp = Some("2026-03-04T05:06:07Z".parse().unwrap());
            context.timezone = Some("Asia/Seoul".into());
            context.idempotency_key = Some(format!("key of {tool}"));
            context.metadata.insert("room".into(), json!(7));
        });
        let reply = ask.send().await;
        let mut told = data(&reply).clone();
        let trace = told["context"].as_object_mut().unwrap().remove("traceId").unwrap();
        assert_eq!(trace.as_str().unwrap().len(), 36);
        let expected = json!({
            "userId": "owner", "sessionId": "s1", "correlationId": "c1", "agentId": "agent",
            "agentVersion": "2.0", "timestamp": "2026-03-04T05:06:07Z", "timezone": "Asia/Seoul",
            "metadata": { "room": 7 }, "idempotencyKey": format!("key of {tool}"),
        });
        assert_eq!(told["context"], expected, "{tool}");
        let names: Vec<String> = match told["env"].as_object() {
            Some(env) => env.keys().cloned().collect(),
            None => {
                let env = std::fs::read_to_string(scripts.work(tool).join("env")).unwrap();
                env.lines().map(|line| line.split('=').next().unwrap().to_owned()).collect()
            }
        };
        assert!(names.iter().any(|name| name == "CITY"));
        // LC_CTYPE is what the interpreter sets itself.
        let known = ["PATH", "HOME", "LANG", "TZ", "CITY", "LC_CTYPE", "TOOLROOM_CONTEXT"];
        let strange: Vec<&String> = names.iter().filter(|name| !known.contains(&name.as_str())).collect();
        assert!(strange.is_empty(), "{tool}: {strange:?}");
        let folder = scripts.work(tool).canonicalize().unwrap();
        assert_eq!(told["cwd"], folder.to_str().unwrap(), "a working folder of its own");
    }
}

/// Keeps what a call reports.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Report for Heard {
    fn progress(&self, progress: &Progress) {
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {:?} {:?}", progress.progress, progress.total, progress.message));
    }

    fn log(&self, level: Level, text: &str) {
        self.0.lock().unwrap().push(format!("{level:?} {text}"));
    }
}

#[tokio::test]
async fn progress_and_lines_reach_the_caller_and_the_journal_and_secrets_neither() {
    let py = "def run(params, context):\n    context.progress(1, 3, 'began')\n    print('with', params['api_key'])\n    context.log('look', level='error')\n    raise ValueError('no entry for ' + params['api_key'])\n";
    let scripts = TestScripts::new(
        &[("talk.py", py), ("talk.sh", "echo one >&2; echo two >&2; echo '{}'\n")],
        json!([entry("talk", "talk.py", json!({})), entry("talk_shell", "talk.sh", json!({}))]),
    );
    let who = scripts.runtime.owner().await;
    let heard = Arc::new(Heard::default());
    let mut ask = scripts.runtime.ask(&who, "talk").params(json!({ "api_key": "CANARY-5e1f" }));
    ask.request.reporter = Reporter::new(Arc::clone(&heard) as Arc<dyn Report>);
    let reply = ask.send().await;
    let told = ["1 Some(3.0) Some(\"began\")", "Info with [masked]", "Error look"];
    assert_eq!(*heard.0.lock().unwrap(), told);
    let body = error(&reply, ErrorCode::ToolExecutionError);
    let id = reply.execution_id;
    let told = format!(
        "'talk' failed with ValueError. Its owner can find the reason in the log, under execution {id}."
    );
    assert_eq!(body.message, told);
    let row = scripts.runtime.reader().get(reply.execution_id).unwrap().unwrap();
    let lines: Vec<&str> = row.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines, ["progress 1 of 3: began", "with [masked]", "look"]);
    assert!(row.detail.unwrap().ends_with("ValueError: no entry for [masked]"));
    assert!(!scripts.runtime.journal_text().contains("CANARY"));

    let reply = scripts.runtime.call(&who, "talk_shell", json!({})).await;
    data(&reply);
    let row = scripts.runtime.reader().get(reply.execution_id).unwrap().unwrap();
    let lines: Vec<(Stream, &str)> = row.lines.iter().map(|line| (line.stream, line.text.as_str())).collect();
    assert_eq!(lines, [(Stream::Stderr, "one"), (Stream::Stderr, "two")]);
}

#[tokio::test]
async fn isolation_says_who_shares_a_worker() {
    let count =
        "seen = []\ndef run(params, context):\n    seen.append(context.user_id)\n    return {'seen': seen}\n";
    let isolated = |name: &str, isolation: &str| {
        entry(name, "count.py", json!({ "config": { "isolation": isolation } }))
    };
    let scripts = TestScripts::new(
        &[("count.py", count)],
        json!([isolated("shared", "shared"), isolated("user", "user"), isolated("call", "call")]),
    );
    let ann = scripts.runtime.user("ann", &["*"]).await;
    let bob = scripts.runtime.user("bob", &["*"]).await;
    for (tool, last_of_ann) in
        [("shared", json!(["ann", "bob", "ann"])), ("user", json!(["ann", "ann"])), ("call", json!(["ann"]))]
    {
        scripts.runtime.call(&ann, tool, json!({})).await;
        scripts.runtime.call(&bob, tool, json!({})).await;
        let reply = scripts.runtime.call(&ann, tool, json!({})).await;
        assert_eq!(data(&reply)["seen"], last_of_ann, "{tool}");
    }
}

#[tokio::test]
async fn scripts_run_one_at_a_time_unless_they_are_parallel_capable() {
    let alone = "import os, time\ndef run(params, context):\n    os.close(os.open('busy', os.O_CREAT | os.O_EXCL))\n    time.sleep(0.02)\n    os.unlink('busy')\n    return {}\n";
    // Answers only once three of them run.
    let together = "import os, time\ndef run(params, context):\n    open('here%d' % params['n'], 'w').close()\n    while len(os.listdir('.')) < 3:\n        time.sleep(0.005)\n    return {}\n";
    let scripts = TestScripts::new(
        &[("alone.py", alone), ("together.py", together)],
        json!([
            entry("alone", "alone.py", json!({})),
            entry("together", "together.py", json!({ "parallel_capable": true })),
        ]),
    );
    let who = scripts.runtime.owner().await;
    for tool in ["alone", "together"] {
        let calls: Vec<_> =
            (0..3).map(|n| scripts.runtime.ask(&who, tool).params(json!({ "n": n })).spawn()).collect();
        for call in calls {
            data(&call.await.unwrap());
        }
    }
}

#[tokio::test]
async fn one_at_a_time_holds_across_an_update_of_the_tool() {
    let alone = "import os, time\ndef run(params, context):\n    os.close(os.open('busy', os.O_CREAT | os.O_EXCL))\n    while params['wait'] and not os.path.exists('go'):\n        time.sleep(0.005)\n    os.unlink('busy')\n    return {}\n";
    let scripts = TestScripts::new(&[("alone.py", alone)], json!([entry("alone", "alone.py", json!({}))]));
    let who = scripts.runtime.owner().await;
    let first = scripts.runtime.ask(&who, "alone").params(json!({ "wait": true })).spawn();
    let busy = scripts.work("alone").join("busy");
    crate::test_scripts::until("the first call runs", || busy.exists()).await;
    let again = entry("alone", "alone.py", json!({ "description": "Another text." }));
    scripts.registrar.put(registration(again, None)).await.unwrap();
    let second = scripts.runtime.ask(&who, "alone").params(json!({ "wait": false })).spawn();
    let waits = || scripts.runtime.meter("toolroom_queue_depth{tool=\"alone\"}") == 1.0;
    crate::test_scripts::until("the second waits", waits).await;
    std::fs::write(scripts.work("alone").join("go"), "").unwrap();
    data(&first.await.unwrap());
    data(&second.await.unwrap());
}

#[tokio::test]
async fn an_edited_script_is_taken_up_by_the_next_call_even_if_answers_are_cached() {
    let version = |n: u32| format!("def run(params, context):\n    return {{'version': {n}}}\n");
    let cached = json!({ "category": "query", "cacheable": true, "cacheTTL": 600 });
    let scripts = TestScripts::new(&[("v.py", &version(1))], json!([entry("get-version", "v.py", cached)]));
    let who = scripts.runtime.owner().await;
    let ask = async || {
        let reply = scripts.runtime.call(&who, "get-version", json!({})).await;
        (data(&reply)["version"].clone(), reply.result.metadata.cached)
    };
    assert_eq!(ask().await, (json!(1), Some(false)));
    assert_eq!(ask().await, (json!(1), Some(true)));
    // Put in its place at once, as editors do.
    write_script(&scripts.tools().join("new.py"), &version(2));
    std::fs::rename(scripts.tools().join("new.py"), scripts.tools().join("v.py")).unwrap();
    assert_eq!(ask().await, (json!(2), Some(false)));
    let _: Value = data(&scripts.runtime.call(&who, "get-version", json!({})).await).clone();
}
