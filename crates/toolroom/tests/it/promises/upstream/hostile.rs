//! Servers that mean harm with what they list.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Hostile;
use crate::federation::test_servers::{Scripted, call, key, settled, tool, write};
use crate::processes::resident_kib;
use crate::test_home::{TestHome, until};

/// How long the look at parameters may take, with a call around it.
const SOON: Duration = Duration::from_secs(3);

#[test]
fn promise_lists_without_end_stop_at_the_limits_and_disturb_nobody() {
    let home = TestHome::new();
    let calm = Scripted::new(&home, "calm", json!([tool("work", "Works.")]));
    let manners = ["endless-pages", "circling-pages", "many-tools"];
    let mut servers = json!({ "calm": calm.entry() });
    write(&home, servers.clone());
    let ada = key(&home, &["calm:call"]);
    let served = home.serve();
    settled(&home, "calm", "ready", 1);
    let before = resident_kib(served.id());
    for manner in manners {
        servers[manner] = Hostile::new(&home, manner).entry();
    }
    write(&home, servers);
    for (manner, most) in [("endless-pages", 200), ("circling-pages", 1), ("many-tools", 2_000)] {
        let view = until("its list has ended", || {
            let done = home.run(&["servers", "show", manner, "--json"]);
            let view: Value = serde_json::from_str(&done.out).ok()?;
            (view["open"] == most).then_some(view)
        });
        assert!(view["incomplete"].is_string(), "it says that something is missing: {}", view["incomplete"]);
        assert_eq!(call(&served, &ada, "calm__work", json!({})).status, 200);
    }
    let grown = resident_kib(served.id()).saturating_sub(before);
    eprintln!("{grown} KiB more with 2,201 tools");
    assert!(grown < 64 << 10, "it grew by {grown} KiB");
}

#[test]
fn promise_poisoned_schemas_are_refused_or_harmless_and_reach_out_to_nobody() {
    let home = TestHome::new();
    let canary = TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let there = format!("http://{}/schema.json", canary.local_addr().unwrap());
    let with =
        |name: &str, schema: Value| json!({ "name": name, "description": "Is bad.", "inputSchema": schema });
    let property = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    let wide: serde_json::Map<String, Value> = (0..100_000)
        .map(|at| (format!("property-{at}-{}", "x".repeat(60)), json!({ "type": "string" })))
        .collect();
    let huge = json!({ "type": "object", "properties": wide });
    assert!(huge.to_string().len() > 9 << 20);
    let server = Scripted::new(
        &home,
        "s",
        json!([
            with("reaches-out", property(json!({ "$ref": there }))),
            with(
                "reaches-out-by-id",
                json!({ "$id": there, "type": "object", "properties": { "a": { "$ref": "other.json" } } })
            ),
            with("speaks-elsewhere", json!({ "$schema": there, "type": "object" })),
            with("goes-round", json!({ "type": "object", "properties": { "a": { "$ref": "#" } } })),
            with(
                "bites-its-tail",
                json!({ "type": "object", "$defs": { "x": { "$ref": "#/$defs/x" } }, "properties": { "a": { "$ref": "#/$defs/x" } } })
            ),
            with("backtracks", property(json!({ "type": "string", "pattern": "(a+)+$" }))),
            tool("good", "Is good."),
        ]),
    );
    let large = Scripted::new(&home, "large", json!([with("huge", huge), tool("good", "Is good.")]));
    write(&home, json!({ "s": server.entry(), "large": large.entry() }));
    let ada = key(&home, &["s:call", "large:call"]);
    let served = home.serve();
    let view = listed(&home, "s");
    assert_eq!(call(&served, &ada, "s__good", json!({})).status, 200);
    for one in view["tools"].as_array().unwrap() {
        let (name, standing) = (one["tool"].as_str().unwrap(), one["standing"].as_str().unwrap());
        eprintln!("{name}: {standing} {}", one["reason"]);
        if standing == "rejected" {
            assert!(!one["reason"].as_str().unwrap_or_default().is_empty(), "{one}");
            continue;
        }
        let deep = (0..60).fold(json!({}), |inner, _| json!({ "a": inner }));
        for a in [deep, json!("a".repeat(5_000) + "!")] {
            let began = Instant::now();
            let answer = call(&served, &ada, &format!("s__{name}"), json!({ "a": a }));
            assert!(began.elapsed() < SOON, "{name} took {:?}", began.elapsed());
            assert!(matches!(answer.status, 200 | 400), "{name}: {answer:?}");
        }
    }
    let large = listed(&home, "large");
    assert!(large["incomplete"].as_str().unwrap().contains("too large"), "{large}");
    assert!(!large.to_string().contains("property-1-"), "nothing of it is kept");
    assert_eq!(call(&served, &ada, "large__good", json!({})).status, 200);
    assert!(canary.accept().is_err(), "nothing was fetched");
}

/// Waits until the tools of a server are known.
fn listed(home: &TestHome, name: &str) -> Value {
    until("it is listed", || {
        let view = home.json(&["servers", "show", name]);
        (view["state"] == "ready" && view["open"].as_u64()? > 0).then_some(view)
    })
}
