//! mcp.json changes while the server runs: by hand, by the API, by the command.

use std::fs;

use serde_json::{Value, json};

use super::test_servers::{Scripted, call, credential, key, names, settled, tool, write};
use crate::test_home::{Reply, Served, TestHome, until};

#[test]
fn an_edit_of_the_file_starts_and_stops_servers_and_leaves_the_others_alone() {
    let home = TestHome::new();
    let (one, two) = (
        Scripted::new(&home, "one", json!([tool("a", "Is a.")])),
        Scripted::new(&home, "two", json!([tool("b", "Is b.")])),
    );
    write(&home, json!({ "one": one.entry() }));
    let _served = home.serve();
    settled(&home, "one", "ready", 1);
    write(&home, json!({ "one": one.entry(), "two": two.entry() }));
    until("it is taken up", || home.run(&["servers", "show", "two"]).out.contains("two__b").then_some(()));
    assert_eq!(one.processes().len(), 1, "not restarted");
    fs::write(home.home().join("mcp.json"), "{ \"mcpServers\": { \"one\": ").unwrap();
    until("a bad edit is told", || {
        let ready = home.ready();
        assert_eq!(ready.status, 200);
        ready.json["checks"]["servers"]["reason"]
            .as_str()
            .filter(|text| text.contains("mcp.json"))
            .map(|_| ())
    });
    let owner = |tool: &str| home.run(&["call", tool]).code;
    assert_eq!((owner("one__a"), owner("two__b")), (0, 0), "the old ones are in force");
    let refused = home.run(&["servers", "remove", "two"]);
    assert!(refused.code == 1 && refused.err.contains("Fix it first"), "{refused:?}");
    write(&home, json!({ "two": two.entry() }));
    until("the other is gone", || (owner("one__a") != 0).then_some(()));
    let process = *one.processes().last().unwrap();
    until("its process is gone", || {
        (!std::path::Path::new(&format!("/proc/{process}")).exists()).then_some(())
    });
    assert_eq!(owner("two__b"), 0);
}

#[test]
fn servers_are_added_replaced_and_removed_by_the_api_and_other_bytes_stay() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([tool("work", "Works.")]));
    home.run(&["init"]);
    let by_hand = "{\n  \"note\":   \"mine\",\n  \"mcp_servers\": {\n    \"off\": {\"url\":\"https://example.com\",   \"enabled\": false}\n  }\n}\n";
    fs::write(home.home().join("mcp.json"), by_hand).unwrap();
    let plain = key(&home, &["tasks:*"]);
    let admin =
        ["keys", "create", "--user", "ada", "--person", "--grant", "servers:write", "--grant", "s:call"];
    let admin = home.run(&admin).line().to_owned();
    let served = home.serve();
    let mut body = server.entry();
    body["name"] = json!("s");
    assert_eq!(served.post("/api/v1/servers", &credential(&plain), &body).status, 403);
    let made = served.post("/api/v1/servers?wait=20", &credential(&admin), &body);
    assert_eq!(
        (made.status, &made.json["state"], &made.json["open"]),
        (201, &json!("ready"), &json!(1)),
        "{made:?}"
    );
    assert!(names(&served, &admin).contains(&"s__work".to_owned()));
    assert_eq!(served.post("/api/v1/servers", &credential(&admin), &body).status, 409);
    let text = fs::read_to_string(home.home().join("mcp.json")).unwrap();
    assert!(text.starts_with(by_hand.split("\n  }").next().unwrap()), "{text}");
    body["prefix"] = json!("t");
    let put = request(&served, "PUT", "/api/v1/servers/s?wait=20", &admin, &body);
    assert_eq!(put.status, 200, "{put:?}");
    assert_eq!(call(&served, &admin, "t__work", json!({})).status, 200);
    assert_eq!(call(&served, &admin, "s__work", json!({})).status, 404);
    assert_eq!(request(&served, "DELETE", "/api/v1/servers/s", &admin, &Value::Null).status, 204);
    assert_eq!(call(&served, &admin, "t__work", json!({})).status, 404);
    assert_eq!(fs::read_to_string(home.home().join("mcp.json")).unwrap(), by_hand);
    let wrong =
        served.post("/api/v1/servers", &credential(&admin), &json!({ "name": "x", "url": "ftp://x" }));
    assert_eq!((wrong.status, &wrong.json["errors"][0]["pointer"]), (400, &json!("/url")), "{wrong:?}");
}

#[test]
fn an_address_of_this_machine_set_by_the_api_is_refused_unless_it_is_allowed() {
    let home = TestHome::new();
    home.run(&["init"]);
    let admin = key(&home, &["servers:write"]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let served = home.serve();
    let made =
        served.post("/api/v1/servers?wait=5", &credential(&admin), &json!({ "name": "inside", "url": url }));
    assert_eq!(made.status, 201, "{made:?}");
    assert!(made.json["reason"].as_str().unwrap().contains("allow_private"), "{made:?}");
    assert!(listener.accept().is_err(), "nothing was sent there");
    let text = fs::read_to_string(home.home().join("mcp.json")).unwrap();
    assert!(text.contains("\"allow_private\": false"), "it stays so when the file is read again: {text}");
}

fn request(served: &Served, method: &str, path: &str, key: &str, body: &Value) -> Reply {
    let text = crate::test_home::post(path, &credential(key), body).replacen("POST", method, 1);
    Reply::over(std::net::TcpStream::connect(served.address).unwrap(), &text)
}
