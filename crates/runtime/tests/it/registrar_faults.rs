//! Many writers at once, and disks that fail: no change is lost, none is told that was not made.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use toolroom_contract::ErrorCode;
use toolroom_contract::error::Retry;
use toolroom_runtime::registrar::Disk;

use crate::test_scripts::{TestScripts, entry, refusal, registration, render};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_writers_lose_nothing_and_no_reader_sees_half_a_change() {
    const WRITERS: usize = 16;
    const CHANGES: usize = 20;
    let scripts = Arc::new(TestScripts::new(&[], json!([])));
    let before = scripts.version();
    let done = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let (scripts, done) = (Arc::clone(&scripts), Arc::clone(&done));
        move || {
            let (mut last, mut looks) = (0, 0_u32);
            while !done.load(Ordering::SeqCst) {
                // Always whole on the disk, and never going back in the catalogue.
                let names = scripts.names_on_disk();
                assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
                let snapshot = Arc::clone(&scripts.runtime.runtime.registry.snapshot());
                assert!(snapshot.version >= last);
                last = snapshot.version;
                for (name, tool) in &snapshot.tools {
                    assert_eq!(name, tool.name());
                }
                looks += 1;
            }
            looks
        }
    });
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let scripts = Arc::clone(&scripts);
            tokio::spawn(async move {
                let mut made = 0;
                for change in 0..CHANGES {
                    let timeout = if change % 10 == 9 { -1.0 } else { 1.0 + change as f64 };
                    let entry = entry(&format!("w{writer}"), "w.py", json!({ "timeout": timeout }));
                    match scripts.registrar.put(registration(entry, None)).await {
                        Ok((tool, _)) => {
                            assert_eq!(tool.definition().timeout, Some(timeout));
                            // What was answered is what the next reader sees: nobody else writes this tool.
                            let seen = scripts.runtime.runtime.registry.get(tool.name()).unwrap();
                            assert!(Arc::ptr_eq(&seen, &tool));
                            made += 1;
                        }
                        refused => {
                            refusal(refused, ErrorCode::InvalidInput);
                        }
                    }
                }
                made
            })
        })
        .collect();
    let mut made = 0;
    for writer in writers {
        made += writer.await.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    assert!(reader.join().unwrap() > 0);
    assert_eq!(made, WRITERS * CHANGES * 9 / 10);
    assert_eq!(scripts.version(), before + made as u64, "each change is one");
    assert_eq!(scripts.names_on_disk().len(), WRITERS);
    assert_eq!(scripts.files(), ["tools.json"]);
    for entry in scripts.registrar.entries().await {
        assert_eq!(entry.timeout, Some(19.0), "the last good change of {}", entry.name);
    }
}

/// Fails at the step that is set, so many times.
#[derive(Default)]
struct Failing {
    step: AtomicUsize,
    times: AtomicUsize,
    /// The steps that were taken.
    taken: std::sync::Mutex<Vec<&'static str>>,
}

const STEPS: [&str; 4] = ["write", "sync", "rename", "sync folder"];

impl Failing {
    fn set(&self, step: usize, times: usize) {
        self.step.store(step, Ordering::SeqCst);
        self.times.store(times, Ordering::SeqCst);
        self.taken.lock().unwrap().clear();
    }

    fn pass(&self, step: usize) -> io::Result<()> {
        self.taken.lock().unwrap().push(STEPS[step]);
        let due = self.step.load(Ordering::SeqCst) == step
            && self
                .times
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                .is_ok();
        if due { Err(io::Error::from_raw_os_error([28, 5, 5, 5][step])) } else { Ok(()) }
    }
}

impl Disk for Failing {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        use io::Write;
        // A full disk takes a part.
        file.write_all(&bytes[..bytes.len() / 2])?;
        self.pass(0)?;
        file.write_all(&bytes[bytes.len() / 2..])
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.pass(1)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass(2)?;
        std::fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.pass(3)?;
        File::open(folder)?.sync_all()
    }
}

#[tokio::test]
async fn a_disk_that_fails_at_any_step_never_gives_a_false_success_and_the_queue_goes_on() {
    let disk = Arc::new(Failing::default());
    let script = "def run(params, context):\n    return {}\n";
    let file = render(&json!([entry("old", "old.py", json!({}))]));
    let scripts =
        TestScripts::open(&[("old.py", script)], &file, Vec::new(), disk.clone() as Arc<dyn Disk>).unwrap();
    for (step, name) in STEPS.iter().enumerate() {
        // With a script the first file is the script, the second tools.json: each fails in turn.
        for with_script in [false, true] {
            let (text, version) = (scripts.text(), scripts.version());
            disk.set(step, 1);
            let update = entry("old", "old.py", json!({ "description": format!("{name} {with_script}") }));
            let changed = scripts
                .registrar
                .put(registration(update.clone(), with_script.then_some("def run(p, c): pass\n")))
                .await;
            let refused = refusal(changed, ErrorCode::ServiceUnavailable);
            assert!(refused.code.retry() == Retry::Yes && refused.retry_after.is_some(), "{name}");
            assert!(refused.message.contains("disk") && !refused.message.contains("os error"), "{refused}");
            disk.set(step, 1);
            refusal(scripts.registrar.remove("old").await, ErrorCode::ServiceUnavailable);
            assert_eq!((scripts.text(), scripts.version()), (text, version), "{name}");
            assert_eq!(scripts.files(), ["old.py", "tools.json"], "{name}: nothing unfinished is left");
            assert_eq!(std::fs::read_to_string(scripts.tools().join("old.py")).unwrap(), script, "{name}");
            // The next one is made.
            scripts.registrar.put(registration(update, None)).await.unwrap();
            assert_eq!(scripts.version(), version + 1);
        }
    }
}

#[tokio::test]
async fn a_script_is_put_back_if_tools_json_cannot_be_written_after_it() {
    struct SecondFails(Failing);
    impl Disk for SecondFails {
        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            if to.ends_with("tools.json") {
                self.0.pass(2)?
            }
            std::fs::rename(from, to)
        }
    }
    let disk = Arc::new(SecondFails(Failing::default()));
    let scripts = TestScripts::open(
        &[("old.py", "first\n")],
        &render(&json!([entry("old", "old.py", json!({}))])),
        Vec::new(),
        disk.clone() as Arc<dyn Disk>,
    )
    .unwrap();
    for (name, script) in [("old", "old.py"), ("new", "new.py")] {
        disk.0.set(2, 1);
        let change = registration(entry(name, script, json!({})), Some("second\n"));
        refusal(scripts.registrar.put(change).await, ErrorCode::ServiceUnavailable);
    }
    assert_eq!(std::fs::read_to_string(scripts.tools().join("old.py")).unwrap(), "first\n");
    assert_eq!(scripts.files(), ["old.py", "tools.json"]);
}

#[tokio::test]
async fn a_change_is_synced_renamed_and_its_folder_synced_before_it_is_answered() {
    let disk = Arc::new(Failing::default());
    let scripts =
        TestScripts::open(&[], &render(&json!([])), Vec::new(), disk.clone() as Arc<dyn Disk>).unwrap();
    disk.set(0, 0);
    scripts.registrar.add(registration(entry("one", "1.py", json!({})), Some("x\n"))).await.unwrap();
    assert_eq!(*disk.taken.lock().unwrap(), [STEPS, STEPS].concat(), "the script, then tools.json");
    disk.set(0, 0);
    scripts.registrar.add(registration(entry("two", "a/b/2.py", json!({})), Some("x\n"))).await.unwrap();
    let folders = ["sync folder", "sync folder"];
    assert_eq!(*disk.taken.lock().unwrap(), [&folders[..], &STEPS, &STEPS].concat(), "new folders, too");
}

#[tokio::test]
async fn what_a_killed_process_left_unfinished_is_cleared_at_the_next_start() {
    let scripts = TestScripts::open(
        &[(".toolroom-Xy12", "{\"tools\": [")],
        &render(&json!([])),
        Vec::new(),
        Arc::new(toolroom_runtime::registrar::RealDisk),
    )
    .unwrap();
    assert_eq!(scripts.files(), ["tools.json"]);
}
