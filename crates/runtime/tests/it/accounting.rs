//! Every call is accounted for, also when the process is killed in the middle.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::json;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_runtime::journal::{Execution, Reader, Status};

use crate::test_runtime::{TestRuntime, rows};
use crate::tools::{Gate, done, mutation, query};

/// Set in the child.
const CHILD: &str = "TOOLROOM_TEST_KILLED";
const CALLS: usize = 10_000;

fn runtime(gate: &Gate) -> TestRuntime {
    TestRuntime::new(vec![
        query("get-note").build(),
        query("get-kept").cached(60).build(),
        query("get-panic").runs(|_, _| async { panic!("again") }).build(),
        query("get-broken").fails(ToolError::internal("x")).build(),
        query("get-rule").fails(ToolError::new(ErrorCode::NotFound, "No.")).build(),
        mutation("set-note").runs(|params, _| async move { done(json!({ "echo": params })) }).build(),
        gate.before(mutation("set-slow").within(3600.0)).build(),
    ])
}

/// What the child does until it is killed: mixed calls on eight tasks, each told on stdout once answered.
async fn work() {
    std::panic::set_hook(Box::new(|_| {}));
    let gate = Gate::default();
    let runtime = Arc::new(runtime(&gate));
    // The harness has begun the line already.
    println!("\nlogs {}", runtime.logs().display());
    let who = runtime.owner().await;
    let nobody = runtime.user("nobody", &[]).await;
    let slow: Vec<_> = (0..8).map(|_| runtime.ask(&who, "set-slow").spawn()).collect();
    while gate.runs() < slow.len() {
        tokio::task::yield_now().await;
    }
    for task in 0..8_usize {
        let (runtime, who, nobody) = (Arc::clone(&runtime), Arc::clone(&who), Arc::clone(&nobody));
        tokio::spawn(async move {
            for turn in task.. {
                let (user, name) = match turn % 9 {
                    0 => (&who, "get-panic"),
                    1 => (&who, "get-broken"),
                    2 => (&who, "get-rule"),
                    3 => (&who, "no-such"),
                    4 => (&nobody, "get-note"),
                    5 => (&who, "get-kept"),
                    6 => (&who, "set-note"),
                    _ => (&who, "get-note"),
                };
                let params = if turn % 7 == 0 { json!({ "n": "bad" }) } else { json!({ "n": turn % 50 }) };
                let reply = runtime.call(user, name, params).await;
                let ended = reply.result.error().map_or("ok", |error| error.code.as_str());
                // One write: a line is whole or not there.
                let line = format!("{} {ended}\n", reply.execution_id);
                std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
            }
        });
    }
    std::future::pending::<()>().await;
}

/// One life of a child, killed after so many answers; gives the answers and the rows.
fn live_and_be_killed(after: usize) -> (HashMap<String, String>, Vec<Execution>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "accounting::the_killed_process", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        // Its scratch folder goes with ours.
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (mut answered, mut logs, mut line) = (HashMap::new(), None, Vec::new());
    let mut killed = false;
    loop {
        line.clear();
        if output.read_until(b'\n', &mut line).unwrap() == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        match text.trim_end().split_once(' ') {
            Some(("logs", path)) => logs = Some(path.to_owned()),
            Some((id, ended)) if id.len() == 36 && text.ends_with('\n') => {
                assert!(answered.insert(id.to_owned(), ended.to_owned()).is_none());
            }
            _ => {}
        }
        if answered.len() == after && !killed {
            child.kill().unwrap();
            killed = true;
        }
    }
    child.wait().unwrap();
    assert!(killed, "the child ended by itself");
    let reader = Reader::new(Path::new(&logs.unwrap()), None);
    let skipped = reader.page(&Default::default()).unwrap().skipped;
    (answered, rows(&reader), skipped)
}

#[test]
fn promise_every_call_is_accounted_for_after_kill_9() {
    let rounds = if std::env::var_os("TOOLROOM_SOAK").is_some() { 10 } else { 1 };
    for _ in 0..rounds {
        let (answered, rows, skipped) = live_and_be_killed(CALLS);
        assert!(answered.len() >= CALLS);
        assert!(skipped <= 4, "at most one torn record in each file: {skipped}");
        let mut by_id: HashMap<String, &Execution> = HashMap::new();
        for row in &rows {
            assert!(by_id.insert(row.execution_id.to_string(), row).is_none(), "two rows for one call");
        }
        for (id, ended) in &answered {
            let row = by_id.get(id).unwrap_or_else(|| panic!("{id} {ended} has no row"));
            let (status, code) = match ended.as_str() {
                "ok" => (Status::Ok, None),
                "tool_not_found" if row.tool != "no-such" => (Status::Error, Some("permission_denied")),
                code => (Status::Error, Some(code)),
            };
            assert_eq!((row.status, row.code.as_deref()), (status, code), "{id} {ended}");
        }
        // Those that were under way are named, and nothing reads as running.
        let slow: Vec<&Execution> = rows.iter().filter(|row| row.tool == "set-slow").collect();
        assert_eq!(slow.len(), 8);
        assert!(slow.iter().all(|row| row.status == Status::Interrupted));
        let unanswered = rows.iter().filter(|row| !answered.contains_key(&row.execution_id.to_string()));
        assert!(unanswered.count() <= 8 + 8 * 2, "each task has at most the call that it was making");
        assert!(rows.iter().all(|row| row.status != Status::Running));
    }
}

/// Not a promise of its own: the body of the child of the test above.
#[test]
fn the_killed_process() {
    if std::env::var_os(CHILD).is_some() {
        let tokio =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        tokio.block_on(work());
    }
}
