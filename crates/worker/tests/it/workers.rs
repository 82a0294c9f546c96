//! Warm Python workers: one import, many calls.

use std::time::Duration;

use serde_json::{Value, json};
use toolroom_worker::{Kind, Level, Progress, ScriptError, Settings};

use crate::test_folder::{Recorder, TestFolder, until};

const COUNT: &str = "
import os
calls = 0
def run(params, context):
    global calls
    calls += 1
    return {'calls': calls, 'pid': os.getpid()}
";

#[tokio::test]
async fn a_worker_imports_once_and_takes_the_next_call() {
    let folder = TestFolder::new();
    let spec = folder.python("count", COUNT);
    let first = folder.data(&spec, json!({})).await;
    let second = folder.data(&spec, json!({})).await;
    assert_eq!((&first["calls"], &second["calls"]), (&json!(1), &json!(2)));
    assert_eq!(first["pid"], second["pid"]);
    assert_eq!((folder.scripts.stats()[0].busy, folder.scripts.stats()[0].idle), (0, 1));
}

#[tokio::test]
async fn progress_log_lines_and_prints_reach_the_caller_and_never_the_frames() {
    let folder = TestFolder::new();
    let spec = folder.python(
        "report",
        "import os, subprocess, sys\nasync def run(params, context):\n    context.progress(1, 2, 'half')\n    \
         context.log('looked up', level='debug')\n    print('printed', context.user_id, context['userId'])\n    \
         os.write(1, b'raw\\n')\n    subprocess.run(['echo', 'child'])\n    print('é end', end='')\n    return 'done'",
    );
    let recorder = Recorder::default();
    let output = folder.scripts.call(&spec, &json!({}), &json!({"userId": "ann"}), &recorder).await.unwrap();
    assert_eq!(output.data, json!("done"));
    let half = Progress { progress: 1.0, total: Some(2.0), message: Some("half".to_owned()) };
    assert_eq!(*recorder.progress.lock().unwrap(), [half]);
    let lines = recorder.lines.lock().unwrap();
    for line in [(Level::Debug, "looked up"), (Level::Info, "printed ann ann"), (Level::Info, "é end")] {
        assert!(lines.contains(&(line.0, line.1.to_owned())), "{line:?} in {lines:?}");
    }
    assert_eq!(*recorder.stderr.lock().unwrap(), ["raw", "child"]);
}

#[tokio::test]
async fn an_exception_fails_the_call_and_keeps_the_worker() {
    let folder = TestFolder::new();
    let spec = folder.python(
        "raise",
        "import os\ndef run(params, context):\n    if params:\n        raise ValueError('no such card')\n    return os.getpid()",
    );
    let before = folder.data(&spec, json!({})).await;
    let error = folder.call(&spec, json!({"x": 1})).await.unwrap_err();
    let ScriptError::Raised { kind, message, traceback } = error else { panic!("{error:?}") };
    assert_eq!((kind.as_str(), message.as_str()), ("ValueError", "no such card"));
    assert!(traceback.contains("Traceback"));
    assert_eq!(folder.data(&spec, json!({})).await, before);
}

#[tokio::test]
async fn a_crash_costs_one_call_and_one_worker() {
    let folder = TestFolder::new();
    let spec = folder.python(
        "crash",
        "import os\ndef run(params, context):\n    if params:\n        os.kill(os.getpid(), 11)\n    return os.getpid()",
    );
    let before = folder.data(&spec, json!({})).await;
    let error = folder.call(&spec, json!({"x": 1})).await.unwrap_err();
    assert!(matches!(error, ScriptError::Ended { .. }), "{error:?}");
    assert_ne!(folder.data(&spec, json!({})).await, before);
}

#[tokio::test]
async fn a_worker_that_died_while_idle_is_replaced_without_a_failed_call() {
    let folder = TestFolder::new();
    let spec = folder.python("count", COUNT);
    let pid = folder.data(&spec, json!({})).await["pid"].as_i64().unwrap();
    let process = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    until(Duration::from_secs(2), "the worker is dead", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
    assert_eq!(folder.data(&spec, json!({})).await["calls"], json!(1));
}

#[tokio::test]
async fn a_changed_script_a_changed_entry_and_the_number_of_calls_each_replace_the_worker() {
    let mut settings = Settings::from_environment();
    settings.calls_per_worker = 3;
    let folder = TestFolder::with(settings);
    let mut spec = folder.python("count", COUNT);
    let mut calls = Vec::new();
    for _ in 0..4 {
        calls.push(folder.data(&spec, json!({})).await["calls"].clone());
    }
    assert_eq!(calls, [1, 2, 3, 1]);
    folder.python("count", "def run(params, context):\n    return 'new'");
    assert_eq!(folder.data(&spec, json!({})).await, json!("new"));
    spec.kind = Kind::Python { entrypoint: "other".to_owned() };
    let error = folder.call(&spec, json!({})).await.unwrap_err();
    assert!(format!("{error:?}").contains("no function 'other'"), "{error:?}");
    std::fs::remove_file(&spec.path).unwrap();
    assert!(matches!(folder.call(&spec, json!({})).await, Err(ScriptError::Missing)));
}

#[tokio::test]
async fn answers_that_are_no_json_or_too_large_are_refused() {
    let folder = TestFolder::new();
    let spec = folder.python(
        "odd",
        "def run(params, context):\n    return {'nan': float('nan'), 'object': object(), 'surrogate': '\\ud800', \
         'large': 'x' * (2 << 20)}[params['what']]",
    );
    for what in ["nan", "object", "surrogate"] {
        let error = folder.call(&spec, json!({"what": what})).await.unwrap_err();
        assert!(matches!(error, ScriptError::BadOutput { .. }), "{what}: {error:?}");
    }
    let error = folder.call(&spec, json!({"what": "large"})).await.unwrap_err();
    assert!(matches!(error, ScriptError::TooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn large_parameters_and_answers_pass_unharmed() {
    let folder = TestFolder::new();
    let spec = folder.python("same", "def run(params, context):\n    return params");
    let params = json!({"text": "ä\u{0}\n".repeat(100_000)});
    assert_eq!(folder.data(&spec, params.clone()).await, params);
    assert_eq!(folder.data(&spec, json!(null)).await, Value::Null);
}

#[tokio::test]
async fn an_idle_worker_is_ended_after_its_time() {
    let mut settings = Settings::from_environment();
    settings.idle_timeout = Duration::from_millis(100);
    let folder = TestFolder::with(settings);
    let spec = folder.python("count", COUNT);
    folder.data(&spec, json!({})).await;
    while folder.scripts.stats()[0].idle > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    folder.nothing_is_left_within(Duration::from_secs(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_ends_running_calls_and_idle_workers_and_lets_none_start() {
    let folder = TestFolder::new();
    let idle = folder.python("count", COUNT);
    folder.data(&idle, json!({})).await;
    let busy = folder.shell("sleep", "sleep 300");
    let (scripts, spec) = (folder.scripts.clone(), busy.clone());
    let running = tokio::spawn(async move { scripts.call(&spec, &json!({}), &json!({}), &()).await });
    until(Duration::from_secs(5), "both run", || folder.survivors().len() >= 2);
    folder.scripts.shutdown().await;
    assert!(matches!(running.await.unwrap(), Err(ScriptError::Stopped)));
    assert!(folder.survivors().is_empty());
    assert!(matches!(folder.call(&idle, json!({})).await, Err(ScriptError::Stopped)));
}
