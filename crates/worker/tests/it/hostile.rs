//! Scripts that do not want to end.

use std::time::{Duration, Instant};

use serde_json::json;
use toolroom_worker::{Limits, ScriptSpec};

use crate::test_folder::{TestFolder, open_descriptors, resident_kib, until};

const TIMEOUT: Duration = Duration::from_millis(400);

const FORKS: &str = "
import os, time
def run(params, context):
    for _ in range(5):
        if os.fork() == 0:
            time.sleep(300)
    time.sleep(300)
";
const DAEMON: &str = "
import os, signal, sys, time
def run(params, context):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            os.chdir('/')
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.execve('/bin/sleep', [sys.argv[0], '300'], {})
        os._exit(0)
    time.sleep(300)
";
const DEAF: &str = "
import signal
def run(params, context):
    for number in range(1, 32):
        try:
            signal.signal(number, signal.SIG_IGN)
        except OSError:
            pass
    while True:
        pass
";
const MEMORY: &str = "
def run(params, context):
    held = []
    while True:
        held.append(bytearray(16 << 20))
";
const PRINTS: &str = "
def run(params, context):
    while True:
        print('x' * 1000)
";
const CLOSES: &str = "
import os, time
def run(params, context):
    if os.fork() == 0:
        time.sleep(300)
    os.closerange(0, 64)
    time.sleep(300)
";

fn hostile_scripts(folder: &TestFolder) -> Vec<ScriptSpec> {
    let mut scripts = vec![
        folder.python("forks", FORKS),
        folder.python("daemon", DAEMON),
        folder.python("deaf", DEAF),
        folder.python("memory", MEMORY),
        folder.python("prints", PRINTS),
        folder.python("closes", CLOSES),
        folder.shell("pipes", "trap '' TERM HUP INT\n(trap '' TERM; sleep 300) & sleep 300 & wait"),
        folder.shell("output", "yes"),
        folder.shell("stderr", "yes >&2"),
        folder.shell("bomb", "b() { b | b & }\nb\nsleep 300"),
    ];
    for spec in &mut scripts {
        spec.limits = Limits { memory: Some(512 << 20), processes: 40, ..Limits::default() };
    }
    scripts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_hostile_scripts_are_answered_in_time_and_leave_nothing() {
    let rounds = if std::env::var_os("TOOLROOM_SOAK").is_some() { 5 } else { 1 };
    let folder = TestFolder::new();
    let gentle = folder.shell("gentle", "echo 1");
    folder.data(&gentle, json!({})).await;
    folder.scripts.prepare().await.unwrap();
    folder.nothing_is_left_within(Duration::from_secs(1));
    let (descriptors, memory) = (open_descriptors(), resident_kib());
    for spec in (0..rounds).flat_map(|_| hostile_scripts(&folder)) {
        let started = Instant::now();
        let ended = tokio::time::timeout(TIMEOUT, folder.call(&spec, json!({}))).await;
        let took = started.elapsed();
        assert!(!matches!(ended, Ok(Ok(_))), "{} gave an answer", spec.name);
        assert!(took < TIMEOUT + Duration::from_secs(5), "{} took {took:?}", spec.name);
        folder.is_empty_within(Duration::from_secs(1), &spec.name);
    }
    folder.nothing_is_left_within(Duration::from_secs(1));
    until(Duration::from_secs(1), "descriptors are closed", || open_descriptors() <= descriptors);
    assert!(resident_kib() < memory + (64 << 10), "memory grew from {memory} to {} KiB", resident_kib());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_a_caller_that_goes_away_takes_its_process_with_it() {
    let folder = TestFolder::new();
    let spec = folder.python("daemon", DAEMON);
    let rounds = if std::env::var_os("TOOLROOM_SOAK").is_some() { 100 } else { 5 };
    for _ in 0..rounds {
        let (scripts, spec) = (folder.scripts.clone(), spec.clone());
        let call = tokio::spawn(async move { scripts.call(&spec, &json!({}), &json!({}), &()).await });
        until(Duration::from_secs(5), "the daemon runs beside the worker", || folder.survivors().len() >= 2);
        call.abort();
        folder.is_empty_within(Duration::from_secs(2), "daemon");
    }
}

#[tokio::test]
async fn a_memory_limit_fails_the_call_and_not_the_server() {
    let folder = TestFolder::new();
    let mut spec = folder.python("memory", MEMORY);
    spec.limits.memory = Some(256 << 20);
    let error = folder.call(&spec, json!({})).await.unwrap_err();
    assert!(error.to_string().contains("MemoryError"), "{error:?}");
}
