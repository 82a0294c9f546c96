//! What becomes of script processes when the process that started them is killed.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use toolroom_worker::{CodeRequest, Containment, Kind, Language, Sandbox, Scripts, Settings};

use crate::test_folder::{TestFolder, processes, until};

const SCRIPT: &str = "VICTIM_SCRIPT";

const DAEMON: &str = "
import os, time
def run(params, context):
    if os.fork() == 0:
        os.setsid()
        open('daemon', 'w').write(str(os.getpid()))
        time.sleep(300)
    open('worker', 'w').write(str(os.getpid()))
    time.sleep(300)
";

#[tokio::test]
async fn a_killed_toolroom_takes_its_workers_along_and_the_next_one_ends_their_daemons() {
    if let Some(path) = std::env::var_os(SCRIPT) {
        // In the process that is to be killed.
        let folder = TestFolder::new();
        let path = PathBuf::from(path);
        let mut spec = folder.spec("daemon", Kind::Python { entrypoint: "run".to_owned() }, path.clone());
        spec.workdir = path.parent().unwrap().join("work");
        folder.call(&spec, json!({})).await.unwrap();
        return;
    }
    let folder = TestFolder::new();
    let script = folder.python("daemon", DAEMON).path;
    let name = "crash::a_killed_toolroom_takes_its_workers_along_and_the_next_one_ends_their_daemons";
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(SCRIPT, &script)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let work = folder.path().join("work");
    let pid = |name: &str| std::fs::read_to_string(work.join(name)).unwrap_or_default();
    let runs = |pid: String| folder.survivors().contains(&pid);
    until(Duration::from_secs(10), "worker and daemon run", || runs(pid("worker")) && runs(pid("daemon")));
    victim.kill().unwrap();
    victim.wait().unwrap();
    until(Duration::from_secs(1), "the worker is gone", || !runs(pid("worker")));

    // This process has a reaper already; the next Toolroom is another process.
    let next = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::a_new_toolroom_ends_what_an_earlier_one_left"])
        .status()
        .unwrap();
    assert!(next.success());
    until(Duration::from_secs(1), "the daemon is gone", || !runs(pid("daemon")));
}

#[tokio::test]
async fn a_new_toolroom_ends_what_an_earlier_one_left() {
    let folder = TestFolder::new();
    let scripts = Scripts::new(Settings::from_environment());
    // The reaper looks for strays before it does anything else, so that a call that has ended proves it.
    let spec = folder.shell("one", "echo 1");
    scripts.call(&spec, &json!({}), &json!({}), &()).await.unwrap();
    scripts.shutdown().await;
    assert!(Containment::probe().marked, "strays are found by their mark");
}

const BOXED: &str = "VICTIM_OF_A_BOX";

/// State and parent of a process that is there and no zombie.
fn parent(pid: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let alive = fields.next().is_some_and(|state| state != "Z" && state != "X");
    fields.next().filter(|_| alive).map(str::to_owned)
}

/// All that descends from a process.
fn descendants(of: u32) -> Vec<String> {
    let mut found = vec![of.to_string()];
    let all: Vec<(String, String)> =
        processes().into_iter().filter_map(|pid| Some((pid.clone(), parent(&pid)?))).collect();
    let mut at = 0;
    while let Some(next) = found.get(at).cloned() {
        found.extend(all.iter().filter(|(_, parent)| *parent == next).map(|(pid, _)| pid.clone()));
        at += 1;
    }
    found.split_off(1)
}

#[tokio::test]
async fn promise_nothing_of_a_box_is_left_a_second_after_the_server_was_killed() {
    if std::env::var_os(BOXED).is_some() {
        // In the process that is to be killed.
        let folder = TestFolder::new();
        let sandbox = Sandbox::new(folder.scripts.clone(), folder.path().join("code"));
        let code = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\ntime.sleep(300)";
        sandbox.run_code(&CodeRequest::new(Language::Python, code)).await.unwrap();
        return;
    }
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::promise_nothing_of_a_box_is_left_a_second_after_the_server_was_killed"])
        .env(BOXED, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The helper, the first process, the program, and two that it started.
    until(Duration::from_secs(20), "the box runs", || descendants(victim.id()).len() >= 5);
    let members = descendants(victim.id());
    victim.kill().unwrap();
    victim.wait().unwrap();
    until(Duration::from_secs(1), "nothing of the box is left", || {
        members.iter().all(|pid| parent(pid).is_none())
    });
}
