//! A disk that fails: never a success that is none, and no lasting harm.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::super::client::Client;
use super::super::figure;
use super::tracer::Tracer;
use super::{RegistryHome, entries, entry_with_script, stamp_of};
use crate::test_home::Served;

/// Tries until the fault was met; a thread may sync other things in between.
const TRIES: usize = 60;
const PAGE: u64 = 4096;

/// `strace` lets the Nth sync of a thread fail, once.
#[test]
fn promise_a_failing_sync_never_gives_a_false_success() {
    let registry = RegistryHome::open();
    let server = registry.serve();
    let mut faulty = FaultyHome {
        registry: &registry,
        server: &server,
        file: registry.tools_json(),
        number: 0,
        padding: 0,
    };
    let mut met = 0;
    let faults: Vec<usize> = if figure(0, 1) == 1 { (1..=40).collect() } else { vec![1, 2, 3, 5, 8] };
    for nth in &faults {
        let fault = format!("inject=fsync:error=EIO:when={nth}");
        let tracer = Tracer::attach(&registry.home, &server, &["trace=fsync", &fault]);
        for _ in 0..TRIES {
            faulty.attempt();
            if tracer.text().contains("(INJECTED)") {
                met += 1;
                break;
            }
        }
        drop(tracer);
        let status = faulty.attempt();
        assert!(matches!(status, 200 | 201), "after fault {nth} a good write must work: {status}");
    }
    eprintln!("{met} of {} faults were met, by {} registrations", faults.len(), faulty.number);
    assert!(met * 10 >= faults.len() * 9, "only {met} of {} faults were met", faults.len());
}

/// The scripts' folder is a small disk of its own, which is full but for N pages. (A fault in every `write` would
/// also hit those that wake threads, which cannot fail, and on which the async runtime ends the process.)
#[test]
fn promise_a_full_disk_never_gives_a_false_success() {
    let registry = RegistryHome::open();
    let tools = registry.home.home().join("tools");
    let server = Served::start(on_small_disk(&registry, &tools));
    let tools = PathBuf::from(format!("/proc/{}/root{}", server.id(), tools.display()));
    let file = tools.join("tools.json");
    let mut faulty = FaultyHome { registry: &registry, server: &server, file, number: 0, padding: 7000 };
    // Every tool is there before, so that the sizes stay as they are.
    assert!((0..5).all(|_| faulty.attempt() == 201));
    let (mut refused, mut applied) = (0, 0);
    let pages: Vec<u64> = if figure(0, 1) == 1 { (0..40).collect() } else { vec![0, 1, 2, 5, 9, 12, 30] };
    for free in pages {
        fill(&tools.join("filler"), free);
        match faulty.attempt() {
            200 | 201 => applied += 1,
            _ => refused += 1,
        }
        std::fs::remove_file(tools.join("filler")).unwrap();
        let status = faulty.attempt();
        assert!(
            matches!(status, 200 | 201),
            "with {free} pages free before, a good write must work: {status}"
        );
        let left = std::fs::read_dir(&tools)
            .unwrap()
            .flatten()
            .filter(|file| file.file_name().to_string_lossy().starts_with(".toolroom-"));
        assert_eq!(left.count(), 0, "unfinished files are left");
    }
    eprintln!("{refused} refused for want of space, {applied} applied");
    assert!(refused >= figure(4, 10) && applied > 0, "{refused} refused, {applied} applied");
}

/// Serves in a namespace of its own, where the folder is a file system of one megabyte.
fn on_small_disk(registry: &RegistryHome, tools: &Path) -> Command {
    let serve = registry.home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut command = Command::new("unshare");
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    command.arg(if root { "-m" } else { "-Urm" }).args(["sh", "-ec"]);
    command.arg(
        "cp -a \"$0\" \"$0.aside\"; mount -t tmpfs -o size=1m,mode=700 none \"$0\"; cp -a \"$0.aside/.\" \"$0\"; exec \"$@\"",
    );
    command.arg(tools).arg(serve.get_program()).args(serve.get_args());
    for (name, value) in serve.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Takes all the room but so many pages.
fn fill(path: &Path, free: u64) {
    let mut filler = File::create(path).unwrap();
    let mut length = 0;
    while filler.write_all(&[0; PAGE as usize]).is_ok() {
        length += PAGE;
    }
    filler.set_len(length.saturating_sub(free * PAGE)).unwrap();
}

struct FaultyHome<'a> {
    registry: &'a RegistryHome,
    server: &'a Served,
    file: PathBuf,
    number: usize,
    /// How much longer entries and scripts are made.
    padding: usize,
}

impl FaultyHome<'_> {
    /// Registers a tool, and fails unless file and catalogue hold what the answer says.
    fn attempt(&mut self) -> u16 {
        self.number += 1;
        let (name, stamp) = (format!("tool-{}", self.number % 5), self.number.to_string());
        let mut wanted = entry_with_script(&name, &stamp);
        wanted["config"]["env"]["PADDING"] = "x".repeat(self.padding).into();
        wanted["script"] =
            format!("{}# {}", wanted["script"].as_str().unwrap(), "x".repeat(self.padding * 5)).into();
        let before = self.shown(&name);
        let mut client = Client::new(self.server.address);
        let answer = self.registry.put(&mut client, &wanted).expect("the server answers");
        let stored = entries(&self.file).into_iter().find(|(one, _)| *one == name).map(|(_, stamp)| stamp);
        let script = std::fs::read_to_string(self.file.with_file_name(format!("{name}.sh"))).ok();
        let shown = self.shown(&name);
        match answer.status {
            200 | 201 => {
                assert_eq!((&shown, &stored), (&Some(stamp.clone()), &Some(stamp)), "a false success");
                assert_eq!(script.as_deref(), wanted["script"].as_str(), "a false success");
            }
            500.. => {
                assert_eq!(
                    (&shown, &stored),
                    (&before, &before),
                    "a failure that left something: {answer:?}"
                );
                let old = before.map(|stamp| format!("echo '\"{stamp}\"'"));
                let found = script.and_then(|text| Some(text.lines().next()?.to_owned()));
                assert_eq!(found, old, "a failure that left a script: {answer:?}");
            }
            _ => panic!("{answer:?}"),
        }
        answer.status
    }

    /// The stamp that the catalogue shows. A read may fail by the same fault, which is why it is tried again.
    fn shown(&self, name: &str) -> Option<String> {
        let path = format!("/api/v1/tools/{name}");
        let tool: Value = (0..5)
            .find_map(|_| {
                let mut client = Client::new(self.server.address);
                let answer = client.send("GET", &path, &self.registry.header, None).ok()?;
                matches!(answer.status, 200 | 404).then_some(answer.json)
            })
            .expect("the server goes on answering");
        tool.get("tags").map(|_| stamp_of(&tool))
    }
}
