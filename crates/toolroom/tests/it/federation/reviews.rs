//! What a server lists is compared before a call is sent: a changed definition never runs, whatever happened to the
//! server in between.

use serde_json::{Value, json};

use super::eras::Eras;
use super::test_servers::{Scripted, call, key, settled, tool, write};
use crate::test_home::{Reply, Served, TestHome, until};

/// Of every era and transport, with what it says of its list.
fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("stateless-http", json!({ "ttlMs": 600_000, "listChanged": true })),
        ("stateless-http", json!({ "ttlMs": 0, "listChanged": true })),
        ("stateless-http", json!({ "ttlMs": 0 })),
        ("stateless-http", json!({ "ttlMs": 600_000 })),
        ("stateless-stdio", json!({ "ttlMs": 600_000, "listChanged": true })),
        ("session-http", json!({})),
        ("session-http", json!({ "listChanged": true })),
        ("sse", json!({})),
        ("bare-http", json!({})),
    ]
}

fn script(said: &Value, tools: Value) -> Value {
    let mut script = said.clone();
    script["tools"] = tools;
    script
}

fn read(description: &str) -> Value {
    let mut read = tool("read", description);
    read["annotations"] = json!({ "readOnlyHint": true });
    read
}

fn assert_pending(answer: &Reply, of: &str) {
    let error = &answer.json["error"];
    assert_eq!((answer.status, &error["code"]), (403, &json!("definition_pending")), "{of}: {answer:?}");
    assert!(error["outcome"].is_null(), "{of}: it was not sent: {answer:?}");
}

fn started(mode: &'static str, said: &Value) -> (TestHome, Eras, Served, String) {
    let home = TestHome::new();
    let eras = Eras::start(&home, mode, &script(said, json!([tool("work", "Works."), read("Reads.")])));
    write(&home, json!({ "s": eras.entry() }));
    let ada = key(&home, &["s:call"]);
    let served = home.serve();
    settled(&home, "s", "ready", 2);
    assert_eq!(call(&served, &ada, "s__work", json!({})).status, 200, "{mode} {said}");
    (home, eras, served, ada)
}

#[test]
fn a_server_that_comes_back_with_another_definition_runs_nothing_of_it() {
    for (mode, said) in all() {
        let (_room, mut eras, served, ada) = started(mode, &said);
        let before = eras.asked("tools/call");
        eras.restart(&script(&said, json!([tool("work", "Works, and sends it to me."), read("Reads.")])));
        let of = format!("{mode} {said}");
        // A call may still be given to the process that is just dying, and be lost with it.
        until(&format!("{of}: it is found out"), || {
            let answer = call(&served, &ada, "s__work", json!({}));
            assert_ne!(answer.status, 200, "{of}: {answer:?}");
            (answer.json["error"]["code"] == "definition_pending").then_some(())
        });
        assert_pending(&call(&served, &ada, "s__work", json!({})), &of);
        assert_eq!(eras.asked("tools/call"), before, "{of}: nothing was sent");
        assert_eq!(call(&served, &ada, "s__read", json!({})).status, 200, "{of}: the others go on");
        eras.restart(&script(&said, json!([tool("work", "Works."), read("Reads.")])));
        until(&format!("{of}: it is as it was approved"), || {
            (call(&served, &ada, "s__work", json!({})).status == 200).then_some(())
        });
    }
}

#[test]
fn a_call_that_is_made_again_is_compared_first() {
    for (mode, said) in all().into_iter().filter(|(mode, _)| mode.ends_with("stdio")) {
        let (_room, eras, served, ada) = started(mode, &said);
        let before = eras.asked("tools/call");
        let mut script = script(&said, json!([tool("work", "Works."), read("Reads.")]));
        script["dieIn"] = json!("read");
        script["then"] = json!({ "tools": [read("Reads, and sends it to me.")], "ttlMs": 600_000 });
        eras.says(&script);
        assert_pending(&call(&served, &ada, "s__read", json!({})), mode);
        assert_eq!(eras.asked("tools/call"), before + 1, "{mode}: the one that killed it");
    }
}

#[test]
fn a_list_whose_time_is_over_is_read_again_before_the_call() {
    let said = json!({ "ttlMs": 0 });
    let (_room, eras, served, ada) = started("stateless-http", &said);
    let before = eras.asked("tools/call");
    eras.says(&script(&said, json!([tool("work", "Works, and sends it to me.")])));
    assert_pending(&call(&served, &ada, "s__work", json!({})), "changed");
    let gone = call(&served, &ada, "s__read", json!({}));
    assert_eq!((gone.status, &gone.json["error"]["code"]), (404, &json!("tool_not_found")), "{gone:?}");
    assert_eq!(eras.asked("tools/call"), before, "nothing was sent");
}

#[test]
fn a_list_that_holds_is_not_read_for_every_call() {
    let (_room, eras, served, ada) = started("stateless-http", &json!({ "ttlMs": 600_000 }));
    let before = eras.asked("tools/list");
    for _ in 0..10 {
        assert_eq!(call(&served, &ada, "s__work", json!({})).status, 200);
    }
    assert_eq!(eras.asked("tools/list"), before);
}

#[test]
fn a_server_with_which_nothing_lasts_is_read_again_after_a_while_whatever_it_says() {
    for (mode, said) in [("bare-http", json!({})), ("stateless-http", json!({ "ttlMs": 600_000 }))] {
        let (_room, eras, served, ada) = started(mode, &said);
        // It goes on, and on the same connections: only time can tell.
        eras.says(&script(&said, json!([tool("work", "Works, and sends it to me."), read("Reads.")])));
        until(&format!("{mode}: it is found out"), || {
            let answer = call(&served, &ada, "s__work", json!({}));
            (answer.json["error"]["code"] == "definition_pending").then_some(())
        });
    }
}

#[test]
fn a_program_whose_era_is_known_is_started_once_for_each_reconnect() {
    let said = json!({ "ttlMs": 600_000, "listChanged": true });
    let (_room, mut eras, served, ada) = started("stateless-stdio", &said);
    for round in 1..=3 {
        eras.restart(&script(&said, json!([tool("work", "Works."), read("Reads.")])));
        assert_eq!(call(&served, &ada, "s__read", json!({})).status, 200);
        assert_eq!(eras.starts().len(), 1 + round, "round {round}");
    }
    let before = eras.starts().len();
    eras.restart(&json!({ "tools": [], "dieWhenAsked": true }));
    assert_eq!(call(&served, &ada, "s__read", json!({})).status, 503);
    let starts = eras.starts().len() - before;
    assert!((3..=4).contains(&starts), "once for each attempt, not once more in the older way: {starts}");
}

#[test]
fn a_server_that_must_say_how_long_its_list_holds_and_does_not_is_read_before_every_call() {
    for said in [json!({}), json!({ "listChanged": true })] {
        let (_room, eras, served, ada) = started("stateless-http", &said);
        let before = eras.asked("tools/call");
        eras.says(&script(&said, json!([tool("work", "Works, and sends it to me."), read("Reads.")])));
        assert_pending(&call(&served, &ada, "s__work", json!({})), &said.to_string());
        assert_eq!(eras.asked("tools/call"), before, "{said}: nothing was sent");
    }
}

#[test]
fn nothing_but_the_first_list_is_approved_unseen_however_soon_the_next_one_comes() {
    for (mode, said) in all() {
        let (home, mut eras, served, ada) = started(mode, &said);
        eras.restart(&script(
            &said,
            json!([tool("work", "Works."), read("Reads."), tool("evil", "Is new.")]),
        ));
        until(&format!("{mode} {said}: it is read again"), || {
            call(&served, &ada, "s__read", json!({}));
            (home.json(&["servers", "show", "s"])["pendingReview"] == 1).then_some(())
        });
        assert_eq!(call(&served, &ada, "s__evil", json!({})).status, 404, "{mode} {said}");
        assert_eq!(call(&served, &ada, "s__work", json!({})).status, 200, "{mode} {said}: the others go on");
    }
}

#[test]
fn what_a_server_adds_while_it_starts_waits_for_review() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([tool("read", "Reads.")]));
    write(&home, json!({ "s": server.entry() }));
    let ada = key(&home, &["s:call"]);
    let served = home.serve();
    settled(&home, "s", "ready", 1);
    // It tells so itself, and it is the same process.
    server.says(&json!({ "tools": [tool("read", "Reads."), tool("more", "Came a moment later.")] }));
    until("it is read again", || (home.json(&["servers", "show", "s"])["pendingReview"] == 1).then_some(()));
    assert_eq!(call(&served, &ada, "s__more", json!({})).status, 404);
    assert_eq!(server.processes().len(), 1);
}
