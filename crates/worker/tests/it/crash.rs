//! What becomes of script processes when the process that started them is killed.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use toolroom_worker::{Containment, Kind, Scripts, Settings};

use crate::room::{Room, until};

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
        let room = Room::new();
        let path = PathBuf::from(path);
        let mut spec = room.spec("daemon", Kind::Python { entrypoint: "run".to_owned() }, path.clone());
        spec.workdir = path.parent().unwrap().join("work");
        room.call(&spec, json!({})).await.unwrap();
        return;
    }
    let room = Room::new();
    let script = room.python("daemon", DAEMON).path;
    let name = "crash::a_killed_toolroom_takes_its_workers_along_and_the_next_one_ends_their_daemons";
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(SCRIPT, &script)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let work = room.path().join("work");
    let pid = |name: &str| std::fs::read_to_string(work.join(name)).unwrap_or_default();
    let runs = |pid: String| room.survivors().contains(&pid);
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
    let room = Room::new();
    let scripts = Scripts::new(Settings::from_environment());
    // The reaper looks for strays before it does anything else, so that a call that has ended proves it.
    let spec = room.shell("one", "echo 1");
    scripts.call(&spec, &json!({}), &json!({}), &()).await.unwrap();
    scripts.shutdown().await;
    assert!(Containment::probe().marked, "strays are found by their mark");
}
