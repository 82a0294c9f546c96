//! Programs that read JSON and write JSON.

use std::time::{Duration, Instant};

use serde_json::json;
use toolroom_worker::{Kind, ScriptError, Settings};

use crate::test_folder::{Recorder, TestFolder};

#[tokio::test]
async fn an_executable_reads_parameters_on_stdin_and_the_context_in_its_environment() {
    let folder = TestFolder::new();
    let spec = folder.executable(
        "echo",
        "#!/usr/bin/env python3\nimport json, os, sys\n\
         print(json.dumps({'params': json.load(sys.stdin), 'context': json.loads(os.environ['TOOLROOM_CONTEXT'])}))",
    );
    let data = folder.data(&spec, json!({"n": 1})).await;
    assert_eq!(data, json!({"params": {"n": 1}, "context": {"userId": "ann"}}));
}

#[tokio::test]
async fn a_failing_shell_script_says_how_it_ended_and_keeps_its_words_for_the_log() {
    let folder = TestFolder::new();
    let spec = folder.shell("fail", "echo first >&2; echo 'no such card' >&2; exit 3");
    let recorder = Recorder::default();
    let error = folder.scripts.call(&spec, &json!({}), &json!({}), &recorder).await.unwrap_err();
    let ScriptError::Ended { how, stderr } = error else { panic!("{error:?}") };
    assert_eq!(how, "The script ended with exit code 3.");
    assert_eq!(stderr, "first\nno such card\n");
    assert_eq!(recorder.stderr.lock().unwrap()[0], "first");
}

#[tokio::test]
async fn each_way_to_be_unable_to_run_has_its_own_error() {
    let folder = TestFolder::new();
    let absent = folder.spec("absent", Kind::Shell, folder.path().join("absent.sh"));
    assert!(matches!(folder.call(&absent, json!({})).await, Err(ScriptError::Missing)));

    let plain = folder.executable("plain", "#!/bin/sh\necho 1");
    std::fs::set_permissions(&plain.path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    assert!(matches!(folder.call(&plain, json!({})).await, Err(ScriptError::NotExecutable)));

    let orphan = folder.executable("orphan", "#!/no/such/interpreter\n");
    assert!(matches!(folder.call(&orphan, json!({})).await, Err(ScriptError::Interpreter { .. })));

    let mut settings = Settings::from_environment();
    settings.python = "no-such-python".into();
    let bare = TestFolder::with(settings);
    let script = bare.python("script", "def run(params, context):\n    return 1");
    assert!(matches!(bare.call(&script, json!({})).await, Err(ScriptError::Interpreter { .. })));

    let chatty = folder.shell("chatty", "echo hello");
    assert!(matches!(folder.call(&chatty, json!({})).await, Err(ScriptError::BadOutput { .. })));
}

#[tokio::test]
async fn output_without_end_is_cut_off_at_its_limit() {
    let folder = TestFolder::new();
    let spec = folder.shell("yes", "yes");
    let started = Instant::now();
    let error = folder.call(&spec, json!({})).await.unwrap_err();
    assert!(matches!(error, ScriptError::TooLarge { limit: 1_048_576, .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(20), "it would never end by itself");
    folder.nothing_is_left_within(Duration::from_secs(1));
}

#[tokio::test]
async fn a_background_child_that_holds_the_pipes_does_not_hold_the_answer() {
    let folder = TestFolder::new();
    let spec = folder.shell("background", "sleep 300 &\necho '{\"ok\": true}'");
    let started = Instant::now();
    assert_eq!(folder.data(&spec, json!({})).await, json!({"ok": true}));
    assert!(started.elapsed() < Duration::from_secs(20), "it would never end by itself");
    folder.nothing_is_left_within(Duration::from_secs(1));
}

#[tokio::test]
async fn a_program_that_ignores_a_large_input_still_answers() {
    let folder = TestFolder::new();
    let spec = folder.shell("deaf", "exec 0<&-; echo 1");
    assert_eq!(folder.data(&spec, json!({"text": "x".repeat(1 << 20)})).await, json!(1));
}
