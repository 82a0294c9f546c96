//! What a call leaves in the log, the journal and the meters.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::json;
use toolroom_contract::definition::Deprecation;
use toolroom_contract::{ErrorCode, ToolError, TraceId};
use toolroom_runtime::journal::Status;
use tracing::Level;
use tracing::subscriber::DefaultGuard;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{mutation, query};

/// The lines that were logged on this thread.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn capture(level: Level) -> (Self, DefaultGuard) {
        let lines = Self::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_max_level(level)
            .with_writer(move || writer.clone())
            .finish();
        (lines, tracing::subscriber::set_default(subscriber))
    }

    fn take(&self) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
    }
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn runtime() -> TestRuntime {
    TestRuntime::new(vec![
        query("get-note").build(),
        query("get-kept").cached(60).build(),
        query("get-broken").fails(ToolError::internal("the pipe at /x is broken")).build(),
        query("get-panic").runs(|_, _| async { panic!("it fell over") }).build(),
        mutation("drop-note").destructive().build(),
        query("get-old")
            .is(|tool| {
                tool.deprecated = Some(Deprecation {
                    since: semver::Version::new(1, 0, 0),
                    replacement: "get-note".into(),
                    removal_date: "2999-01-01".parse().unwrap(),
                });
            })
            .build(),
    ])
}

#[tokio::test]
async fn the_trace_id_is_in_every_log_line_of_a_call() {
    let runtime = runtime();
    let who = runtime.owner().await;
    let trace: TraceId = TRACE.parse().unwrap();
    for level in [Level::INFO, Level::TRACE] {
        let (lines, _capturing) = Lines::capture(level);
        let mut seen = 0;
        for name in ["get-note", "get-kept", "get-broken", "get-panic", "drop-note", "get-old", "no-such"] {
            for params in [json!({}), json!({ "n": "bad" })] {
                let ask = runtime.ask(&who, name).params(params);
                ask.context(|context| context.trace_id = Some(trace)).send().await;
                for line in lines.take() {
                    assert!(line.contains(TRACE), "{line}");
                    seen += 1;
                }
            }
        }
        assert!(seen >= 4, "{level}: {seen} lines");
    }
}

#[tokio::test]
async fn errors_are_logged_with_their_cause_and_answered_without() {
    let runtime = runtime();
    let who = runtime.owner().await;
    let (lines, _capturing) = Lines::capture(Level::INFO);
    for (name, cause) in [("get-broken", "the pipe at /x is broken"), ("get-panic", "it fell over")] {
        let reply = runtime.call(&who, name, json!({})).await;
        let body = error(&reply, ErrorCode::Internal);
        assert!(!body.message.contains(cause));
        let logged = lines.take();
        let line = logged.iter().find(|line| line.contains(cause)).expect("the cause is in the log");
        for word in [name, "owner", "internal", &reply.execution_id.to_string()] {
            assert!(line.contains(word), "{word}: {line}");
        }
    }
}

#[tokio::test]
async fn use_of_a_deprecated_tool_is_logged_as_a_warning() {
    let runtime = runtime();
    let who = runtime.owner().await;
    let (lines, _capturing) = Lines::capture(Level::INFO);
    data(&runtime.call(&who, "get-old", json!({})).await);
    let logged = lines.take();
    let line: serde_json::Value = serde_json::from_str(&logged[0]).unwrap();
    assert_eq!(line["level"], "WARN");
    assert_eq!(line["fields"]["tool"], "get-old");
    assert_eq!(line["fields"]["replacement"], "get-note");
}

#[tokio::test]
async fn a_log_line_stays_one_line_whatever_the_caller_names() {
    let runtime = TestRuntime::new(vec![query("get-note").build()]);
    let who = runtime.owner().await;
    let (lines, _capturing) = Lines::capture(Level::TRACE);
    runtime.call(&who, "x\n{\"level\":\"ERROR\"}\u{1b}[31m", json!({})).await;
    let logged = lines.take();
    assert!(logged.iter().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    assert!(logged.iter().all(|line| !line.contains('\u{1b}')));
}

#[tokio::test]
async fn the_start_is_logged_with_the_input_before_the_tool_runs() {
    let runtime = Arc::new(std::sync::OnceLock::<TestRuntime>::new());
    let inside = Arc::clone(&runtime);
    let tool = query("get-note").runs(move |_, context| {
        let row = inside.get().unwrap().row(context.execution_id);
        async move {
            crate::tools::done(json!({
                "status": row.status.as_str(), "input": row.input.get(), "user": row.user, "agent": row.agent_id
            }))
        }
    });
    assert!(runtime.set(TestRuntime::new(vec![tool.build()])).is_ok());
    let runtime = runtime.get().unwrap();
    let who = runtime.owner().await;
    let ask = runtime.ask(&who, "get-note").params(json!({ "n": 5 }));
    let reply = ask.context(|context| context.agent_id = Some("tester".into())).send().await;
    assert_eq!(
        *data(&reply),
        json!({ "status": "running", "input": "{\"n\":5}", "user": "owner", "agent": "tester" })
    );
}

#[tokio::test]
async fn the_end_is_logged_with_the_result() {
    let runtime = runtime();
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "get-note", json!({})).await;
    let row = runtime.row(reply.execution_id);
    assert_eq!((row.status, row.output.unwrap().get()), (Status::Ok, r#"{"ok":true}"#));
    assert!(row.ended_at.is_some() && row.duration_ms.is_some());
    let reply = runtime.call(&who, "get-broken", json!({})).await;
    let row = runtime.row(reply.execution_id);
    assert_eq!((row.status, row.code.as_deref()), (Status::Error, Some("internal")));
    assert!(!runtime.journal_text().contains("pipe"));
}

#[tokio::test]
async fn executions_durations_errors_and_cache_hits_are_measured() {
    let runtime = runtime();
    let who = runtime.owner().await;
    for _ in 0..3 {
        runtime.call(&who, "get-kept", json!({})).await;
        runtime.call(&who, "get-broken", json!({})).await;
        runtime.call(&who, "no-such", json!({})).await;
    }
    runtime.call(&who, "get-broken", json!({ "n": "bad" })).await;
    for (line, value) in [
        ("toolroom_executions_total{tool=\"get-kept\",status=\"ok\"}", 3.0),
        ("toolroom_executions_total{tool=\"get-broken\",status=\"error\"}", 4.0),
        ("toolroom_execution_duration_seconds_count{tool=\"get-kept\"}", 3.0),
        ("toolroom_errors_total{tool=\"get-broken\",code=\"internal\"}", 3.0),
        ("toolroom_errors_total{tool=\"get-broken\",code=\"invalid_input\"}", 1.0),
        ("toolroom_cache_hits_total{tool=\"get-kept\"}", 2.0),
        ("toolroom_cache_misses_total{tool=\"get-kept\"}", 1.0),
        ("toolroom_unknown_tools_total", 3.0),
        ("toolroom_running", 0.0),
    ] {
        assert_eq!(runtime.meter(line), value, "{line}");
    }
}
