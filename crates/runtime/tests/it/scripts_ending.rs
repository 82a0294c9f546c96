//! Scripts that end badly: what their callers learn, and that nothing of them is left.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::json;
use toolroom_contract::ErrorCode;
use toolroom_contract::error::Outcome;
use toolroom_runtime::journal::Status;

use crate::test_runtime::{data, error};
use crate::test_scripts::{TestScripts, entry, runs, until};

/// Starts a child in a session of its own that ignores signals, notes both, and never ends.
const STUBBORN: &str = r"
import os, signal, subprocess, time
def run(params, context):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(['sh', '-c', 'trap \'\' TERM INT HUP; while :; do sleep 1; done'], start_new_session=True)
    with open('pids.part', 'w') as note:
        note.write('%d %d' % (os.getpid(), child.pid))
    os.rename('pids.part', 'pids')
    time.sleep(600)
";

async fn all_gone(scripts: &TestScripts, tool: &str) {
    let pids = std::fs::read_to_string(scripts.work(tool).join("pids")).unwrap();
    until("the tree is gone", || !pids.split(' ').any(runs)).await;
}

#[tokio::test]
async fn at_the_timeout_the_caller_is_answered_and_the_whole_tree_is_ended() {
    let scripts = TestScripts::new(
        &[("stubborn.py", STUBBORN)],
        json!([
            entry("set-never", "stubborn.py", json!({ "timeout": 3 })),
            entry("get-never", "stubborn.py", json!({ "timeout": 3, "category": "query" })),
        ]),
    );
    let who = scripts.runtime.owner().await;
    for (tool, outcome) in [("set-never", Some(Outcome::Unknown)), ("get-never", None)] {
        let began = Instant::now();
        let reply = scripts.runtime.call(&who, tool, json!({})).await;
        // The script itself would go on for ten minutes.
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        let body = error(&reply, ErrorCode::ToolTimeout);
        assert_eq!((body.outcome, body.retryable), (outcome, outcome.is_none()));
        assert_eq!(scripts.runtime.row(reply.execution_id).status, Status::Timeout);
        all_gone(&scripts, tool).await;
    }
}

#[tokio::test]
async fn a_call_that_its_caller_leaves_ends_the_whole_tree_and_is_journaled_as_cancelled() {
    let cached = json!({ "category": "query", "cacheable": true, "cacheTTL": 60 });
    let scripts = TestScripts::new(
        &[("stubborn.py", STUBBORN)],
        json!([entry("set-never", "stubborn.py", json!({})), entry("get-kept", "stubborn.py", cached)]),
    );
    let who = scripts.runtime.owner().await;
    for tool in ["set-never", "get-kept"] {
        let call = scripts.runtime.ask(&who, tool).spawn();
        let noted = scripts.work(tool).join("pids");
        until("the script runs", || noted.exists()).await;
        call.abort();
        assert!(call.await.is_err());
        all_gone(&scripts, tool).await;
        let row = scripts.runtime.rows().into_iter().find(|row| row.tool == tool).unwrap();
        assert_eq!(row.status, Status::Cancelled);
    }
}

#[tokio::test]
async fn a_missing_script_fails_its_own_tool_and_no_other() {
    let scripts = TestScripts::new(
        &[("here.py", "def run(params, context):\n    return {'ok': True}\n"), ("plain", "echo {}\n")],
        json!([
            entry("gone", "gone.py", json!({})),
            entry("here", "here.py", json!({})),
            entry("plain", "plain", json!({})),
        ]),
    );
    let who = scripts.runtime.owner().await;
    let reply = scripts.runtime.call(&who, "gone", json!({})).await;
    let body = error(&reply, ErrorCode::ToolExecutionError);
    assert!(body.message.contains("'gone' is missing") && !body.message.contains('/'), "{}", body.message);
    assert_eq!(body.outcome, None, "nothing has run");
    data(&scripts.runtime.call(&who, "here", json!({})).await);
    std::fs::set_permissions(scripts.tools().join("plain"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let reply = scripts.runtime.call(&who, "plain", json!({})).await;
    let body = error(&reply, ErrorCode::ToolExecutionError);
    assert!(body.message.contains("cannot be executed"), "{}", body.message);
    // Put back, it works without a restart.
    std::fs::copy(scripts.tools().join("here.py"), scripts.tools().join("gone.py")).unwrap();
    data(&scripts.runtime.call(&who, "gone", json!({})).await);
}

#[tokio::test]
async fn how_a_script_failed_is_told_and_nothing_that_it_said() {
    let scripts = TestScripts::new(
        &[
            ("raise.py", "def run(params, context):\n    return open('/etc/no-such-file')\n"),
            (
                "die.py",
                "import os, signal\ndef run(params, context):\n    os.kill(os.getpid(), signal.SIGSEGV)\n",
            ),
            ("fail.sh", "echo 'no route to the depot' >&2; exit 3\n"),
            ("broken.py", "def run(params, context)\n"),
        ],
        json!([
            entry("raise", "raise.py", json!({})),
            entry("die", "die.py", json!({})),
            entry("fail", "fail.sh", json!({ "category": "query" })),
            entry("broken", "broken.py", json!({})),
        ]),
    );
    let who = scripts.runtime.owner().await;
    for (tool, said, outcome) in [
        ("raise", "'raise' failed with FileNotFoundError. Its owner ", Some(Outcome::Unknown)),
        ("die", "'die' failed. The script was ended by signal 11. ", Some(Outcome::Unknown)),
        ("fail", "'fail' failed. The script ended with exit code 3. ", None),
        ("broken", "'broken' failed with SyntaxError. ", Some(Outcome::Unknown)),
    ] {
        let reply = scripts.runtime.call(&who, tool, json!({})).await;
        let body = error(&reply, ErrorCode::ToolExecutionError);
        assert!(body.message.starts_with(said), "{}", body.message);
        for said in ["Traceback", "no-such-file", "depot", scripts.tools().to_str().unwrap()] {
            assert!(!body.message.contains(said), "{}", body.message);
        }
        assert_eq!(body.outcome, outcome, "{tool}");
        assert!(!body.retryable);
    }
}

#[tokio::test]
async fn an_answer_beyond_its_limit_is_cut_off_and_flagged() {
    let scripts = TestScripts::new(
        &[("much.py", "def run(params, context):\n    return 'x' * 5000\n"), ("yes.sh", "yes\n")],
        json!([
            entry("much", "much.py", json!({ "config": { "limits": { "output": 1000 } } })),
            entry("endless", "yes.sh", json!({ "category": "query" })),
        ]),
    );
    let who = scripts.runtime.owner().await;
    for (tool, limit) in [("much", 1000), ("endless", 1 << 20)] {
        let reply = scripts.runtime.call(&who, tool, json!({})).await;
        let body = error(&reply, ErrorCode::OutputTooLarge);
        assert_eq!(body.data, Some(json!({ "truncated": true, "limitBytes": limit })), "{tool}");
        let row = scripts.runtime.row(reply.execution_id);
        assert!(row.truncated && serde_json::to_string(&row).unwrap().len() < 4096);
    }
}

#[tokio::test]
async fn an_answer_that_is_no_json_is_invalid_output_and_a_mutation_counts_as_applied() {
    let scripts = TestScripts::new(
        &[("words.sh", "echo hello\n"), ("set.py", "def run(params, context):\n    return {1, 2}\n")],
        json!([
            entry("words", "words.sh", json!({ "category": "query" })),
            entry("set", "set.py", json!({})),
        ]),
    );
    let who = scripts.runtime.owner().await;
    for (tool, outcome) in [("words", None), ("set", Some(Outcome::Applied))] {
        let reply = scripts.runtime.call(&who, tool, json!({})).await;
        let body = error(&reply, ErrorCode::InvalidOutput);
        assert!(body.message.contains("not JSON"), "{}", body.message);
        assert_eq!(body.outcome, outcome, "{tool}");
    }
}

#[tokio::test]
async fn a_crash_costs_one_call_and_one_worker() {
    let py = "import os\ncalls = 0\ndef run(params, context):\n    global calls\n    calls += 1\n    if params.get('die'):\n        os._exit(9)\n    return {'calls': calls}\n";
    let scripts = TestScripts::new(&[("frail.py", py)], json!([entry("frail", "frail.py", json!({}))]));
    let who = scripts.runtime.owner().await;
    let calls = async || data(&scripts.runtime.call(&who, "frail", json!({})).await)["calls"].clone();
    assert_eq!((calls().await, calls().await), (json!(1), json!(2)), "the worker stays warm");
    error(&scripts.runtime.call(&who, "frail", json!({ "die": true })).await, ErrorCode::ToolExecutionError);
    assert_eq!(calls().await, 1);
}

#[tokio::test]
async fn scripts_that_run_when_the_server_stops_are_ended_and_say_so() {
    let scripts =
        TestScripts::new(&[("stubborn.py", STUBBORN)], json!([entry("slow", "stubborn.py", json!({}))]));
    let who = scripts.runtime.owner().await;
    let call = scripts.runtime.ask(&who, "slow").spawn();
    let noted = scripts.work("slow").join("pids");
    until("the script runs", || noted.exists()).await;
    scripts.registrar.scripts().shutdown().await;
    let reply = call.await.unwrap();
    assert_eq!(error(&reply, ErrorCode::ServiceUnavailable).outcome, Some(Outcome::Unknown));
    all_gone(&scripts, "slow").await;
}
