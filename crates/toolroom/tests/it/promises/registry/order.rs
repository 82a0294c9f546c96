//! Power can fail at any moment: what is acknowledged must be on the disk before.

use super::super::client::Client;
use super::super::figure;
use super::tracer::{Call, Tracer};
use super::{RegistryHome, entry_with_script};

const WATCHED: &str = "trace=fsync,fdatasync,rename,renameat,renameat2,write,sendto,writev,sendmsg";

#[test]
fn promise_a_registration_is_on_the_disk_before_it_is_acknowledged() {
    let registry = RegistryHome::open();
    let server = registry.serve();
    let mut client = Client::new(server.address);
    registry.put(&mut client, &entry_with_script("warm-up", "0")).unwrap();
    let tracer = Tracer::attach(&registry.home, &server, &[WATCHED]);
    let updates = figure(10, 100);
    for update in 0..updates {
        // New tools, replaced tools, with and without a script.
        let name = format!("tool-{}", update % 7);
        let mut wanted = entry_with_script(&name, &update.to_string());
        if update % 3 == 0 {
            wanted.as_object_mut().unwrap().remove("script");
        }
        let answer = registry.put(&mut client, &wanted).unwrap();
        assert!(matches!(answer.status, 200 | 201), "{answer:?}");
    }
    let calls = tracer.calls();
    let answers: Vec<usize> = (0..calls.len()).filter(|at| is_answer(&calls[*at])).collect();
    assert_eq!(answers.len(), updates, "every answer was seen");
    let mut from = 0;
    for answer in answers {
        check(&calls[from..=answer]);
        from = answer + 1;
    }
}

fn is_answer(call: &Call) -> bool {
    call.text.contains("\"HTTP/1.1 20") && matches!(&*call.name, "write" | "sendto" | "writev" | "sendmsg")
}

/// Filled and synced, then renamed, then the folder synced, then answered: for `tools.json` and for a script.
fn check(calls: &[Call]) {
    let answer = calls.last().unwrap();
    let renames: Vec<&Call> = calls.iter().filter(|call| call.name.starts_with("rename")).collect();
    let registry = renames.iter().filter(|call| call.text.contains("/tools.json\"")).count();
    assert_eq!(registry, 1, "tools.json is replaced once for each answer: {calls:#?}");
    for rename in renames {
        let temporary = rename.text.split('"').nth(1).unwrap().rsplit('/').next().unwrap();
        let synced = calls.iter().find(|call| {
            call.name.ends_with("sync") && call.text.contains(temporary) && call.text.ends_with("= 0")
        });
        let synced = synced.unwrap_or_else(|| panic!("{temporary} is never synced: {calls:#?}"));
        assert!(synced.ended < rename.began, "the file has its name before its text: {calls:#?}");
        let written = calls.iter().rfind(|call| call.name == "write" && call.text.contains(temporary));
        assert!(
            written.is_some_and(|written| written.ended < synced.began),
            "written after the sync: {calls:#?}"
        );
        let folder = calls.iter().find(|call| {
            call.name.ends_with("sync") && call.text.contains("/tools>") && call.began > rename.ended
        });
        let folder = folder.unwrap_or_else(|| panic!("the folder is never synced: {calls:#?}"));
        assert!(
            folder.text.ends_with("= 0") && folder.ended < answer.began,
            "acknowledged too early: {calls:#?}"
        );
    }
}
