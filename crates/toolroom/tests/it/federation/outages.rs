//! Servers that are down hide nothing of the others, and nothing of them is left behind.

use std::path::Path;

use serde_json::json;

use super::test_servers::{Scripted, call, credential, key, mcp, names, settled, tool, write};
use crate::test_home::{TestHome, until};

#[test]
fn a_dead_server_delays_and_hides_nothing_and_is_named_everywhere() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([tool("work", "Works.")]));
    write(&home, json!({ "s": server.entry(), "dead": { "command": "/nowhere/at/all" } }));
    let ada = key(&home, &["s:call", "dead:call"]);
    let served = home.serve();
    settled(&home, "s", "ready", 1);
    assert_eq!(call(&served, &ada, "s__work", json!({})).status, 200);
    until("it is told", || {
        let ready = home.ready();
        assert_eq!(ready.status, 200, "{ready:?}");
        let reason = ready.json["checks"]["servers"]["reason"].as_str()?.to_owned();
        assert!(!reason.contains("/nowhere"), "no path is for everybody: {reason}");
        reason.contains("'dead'").then_some(())
    });
    let anybody = served.get("/readyz", "").json;
    assert!(!anybody.to_string().contains("dead"), "names and reasons are not for everybody: {anybody}");
    assert_eq!(anybody["checks"]["servers"]["ok"], false, "{anybody}");
    let listed = served.get("/api/v1/tools", &credential(&ada)).json;
    assert_eq!(listed["unavailable"][0]["server"], "dead", "{listed}");
    let listed = mcp(&served, &ada, "tools/list", json!({}), json!({}));
    assert_eq!(listed["_meta"]["dev.toolroom/unavailable"][0]["server"], "dead", "{listed}");
    let metrics = home.run(&["doctor"]).out;
    assert!(metrics.contains("'dead'"), "{metrics}");
}

#[test]
fn a_server_that_goes_down_keeps_its_tools_and_comes_back_without_a_restart() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([tool("work", "Works.")]));
    write(&home, json!({ "s": server.entry() }));
    let ada = key(&home, &["s:call"]);
    let served = home.serve();
    settled(&home, "s", "ready", 1);
    let first = *server.processes().last().unwrap();
    let killed = std::process::Command::new("kill").args(["-9", &first.to_string()]).status().unwrap();
    assert!(killed.success());
    assert!(names(&served, &ada).contains(&"s__work".to_owned()), "it stays listed");
    until("it is called again", || (call(&served, &ada, "s__work", json!({})).status == 200).then_some(()));
    assert_ne!(*server.processes().last().unwrap(), first);
    served.signal("-TERM");
    assert!(served.wait().success());
    for process in server.processes() {
        assert!(!Path::new(&format!("/proc/{process}")).exists(), "{process} is left behind");
    }
}

#[test]
fn promise_a_server_is_connected_anew_on_request() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([tool("work", "Works.")]));
    write(&home, json!({ "s": server.entry() }));
    let (admin, ada) = (key(&home, &["servers:write"]), key(&home, &["s:call"]));
    let served = home.serve();
    settled(&home, "s", "ready", 1);
    let first = *server.processes().last().unwrap();
    let path = "/api/v1/servers/s/reconnect";
    assert_eq!(served.post(path, &credential(&ada), &json!({})).status, 403);
    let again = served.post(path, &credential(&admin), &json!({}));
    assert_eq!((again.status, &again.json["name"]), (200, &json!("s")), "{again:?}");
    until("it is another process", || (*server.processes().last()? != first).then_some(()));
    until("it is called again", || (call(&served, &ada, "s__work", json!({})).status == 200).then_some(()));
    until("nothing is left of the first", || (!Path::new(&format!("/proc/{first}")).exists()).then_some(()));
}
