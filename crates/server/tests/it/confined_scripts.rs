//! Scripts with `config.sandbox`, by the front door: what they reach, and that they never run without it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolroom_worker::SandboxLevel;

use crate::test_server::{Answer, TestServer};

/// Tries all that it is told to, and says how each went.
const PROBE: &str = r#"
import os, socket

calls = 0

def tried(act):
    try:
        return act()
    except Exception as error:
        return type(error).__name__

def write(path):
    with open(path, "a") as file:
        file.write("written")
    return "written"

def connect(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        return "connected"

def run(params, context):
    global calls
    calls += 1
    write("kept-" + str(calls))
    return {
        "read": {path: tried(lambda: open(path).read()) for path in params.get("read", [])},
        "list": {path: tried(lambda: sorted(os.listdir(path))) for path in params.get("list", [])},
        "write": {path: tried(lambda: write(path)) for path in params.get("write", [])},
        "network": tried(lambda: connect(params["port"])) if "port" in params else None,
        "calls": calls, "cwd": os.getcwd(), "here": sorted(os.listdir(".")), "home": os.environ["HOME"],
    }
"#;

const SHELL: &str = "#!/bin/sh\n[ -e \"$CANARY\" ] && seen=true || seen=false\n\
                     printf '{\"seen\": %s, \"cwd\": \"%s\"}' \"$seen\" \"$PWD\"\n";

async fn register(server: &TestServer, name: &str, script: &str, mut config: Value) -> Answer {
    let admin = server.key(json!({ "user": "admin", "grants": ["registry:write"] })).await;
    let ending = if script.starts_with("#!") { "" } else { ".py" };
    config["script_path"] = json!(format!("{name}{ending}"));
    let entry = json!({
        "name": name, "description": "Does what a test needs.", "permissions": ["shop:call"],
        "input_schema": { "type": "object" }, "config": config, "script": script,
    });
    server.ask("POST", "/api/v1/tools").key(&admin).body(entry).send().await
}

async fn call(server: &TestServer, name: &str, params: Value) -> Answer {
    let key = server.key(json!({ "user": "ann", "grants": ["shop:call"] })).await;
    server.call(&key, name, params).await
}

async fn data(server: &TestServer, name: &str, params: Value) -> Value {
    let called = call(server, name, params).await;
    assert_eq!(called.status, 200, "{}", called.text);
    called.json()["data"].clone()
}

/// A folder that anyone may read or write, with a file in it.
fn folder(mode: u32) -> (TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "content").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode & 0o666)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    let real = folder.path().canonicalize().unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    (folder, text(&real), text(&real.join("file")))
}

async fn reaches_only_its_openings(level: SandboxLevel) {
    let server = TestServer::confining_at_most(level);
    let secret = server.folder.path().join("secret");
    fs::write(&secret, "canary").unwrap();
    let secret = secret.to_str().unwrap().to_owned();
    let home = server.folder.path().to_str().unwrap().to_owned();
    let (_others, _, other) = folder(0o755);
    let (_readable, readable, shown) = folder(0o755);
    let (_writable, writable, changed) = folder(0o777);
    let config = json!({ "sandbox": { "read": [readable], "write": [writable] } });
    let made = register(&server, "probe", PROBE, config).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let listening = TcpListener::bind("127.0.0.1:0").unwrap();
    listening.set_nonblocking(true).unwrap();
    let script = format!("{home}/tools/probe.py");
    let params = json!({
        "read": [secret, other, shown, script], "list": [home, readable],
        "write": [shown, other, secret, changed, format!("{writable}/new"), "/usr/new"],
        "port": listening.local_addr().unwrap().port(),
    });
    let got = data(&server, "probe", params.clone()).await;
    let absent = |value: &Value| value == "FileNotFoundError" || value == "PermissionError";
    for path in [&secret, &other, &script] {
        assert!(absent(&got["read"][path]), "{path}: {got}");
    }
    assert_eq!(got["read"][&shown], "content", "{got}");
    assert!(absent(&got["list"][&home]), "{got}");
    assert_eq!(got["list"][&readable], json!(["file"]), "{got}");
    for path in [&shown, &other, &secret, &"/usr/new".to_owned()] {
        assert_ne!(got["write"][path], "written", "{path}: {got}");
    }
    assert_eq!(got["write"][&changed], "written", "{got}");
    assert_eq!(fs::read_to_string(&changed).unwrap(), "contentwritten");
    assert_eq!(fs::read_to_string(format!("{writable}/new")).unwrap(), "written");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "canary");
    assert_ne!(got["network"], "connected", "{got}");
    assert!(listening.accept().is_err(), "nobody called");
    // A warm worker keeps its world.
    let again = data(&server, "probe", json!({})).await;
    assert_eq!((&again["calls"], &again["here"]), (&json!(2), &json!(["kept-1", "kept-2"])), "{again}");
    assert_eq!(again["home"], again["cwd"], "{again}");
    assert!(!server.folder.path().join("work/probe").exists(), "it has no working folder in the home");
    let listed = fs::read_dir(server.folder.path().join("tools")).unwrap().count();
    assert_eq!(listed, 2, "tools.json and the script");
}

#[tokio::test]
async fn promise_a_confined_script_reaches_nothing_but_what_its_entry_opens() {
    reaches_only_its_openings(SandboxLevel::Full).await;
}

#[tokio::test]
async fn promise_a_confined_script_reaches_nothing_but_what_its_entry_opens_at_the_partial_level() {
    reaches_only_its_openings(SandboxLevel::Partial).await;
}

#[tokio::test]
async fn promise_a_confined_script_has_a_network_only_if_its_entry_says_host() {
    let server = TestServer::new();
    let listening = TcpListener::bind("127.0.0.1:0").unwrap();
    let params = json!({ "port": listening.local_addr().unwrap().port() });
    for (name, sandbox, reaches) in [
        ("plain", json!(true), false),
        ("none", json!({ "network": "none" }), false),
        ("host", json!({ "network": "host" }), true),
    ] {
        let made = register(&server, name, PROBE, json!({ "sandbox": sandbox })).await;
        assert_eq!(made.status, 201, "{}", made.text);
        let got = data(&server, name, params.clone()).await;
        assert_eq!(got["network"] == "connected", reaches, "{name}: {got}");
    }
}

#[tokio::test]
async fn programs_and_scripts_with_a_limit_of_cpu_time_are_confined_too() {
    let server = TestServer::new();
    let canary = server.folder.path().join("canary");
    fs::write(&canary, "canary").unwrap();
    let config = json!({ "sandbox": true, "env": { "CANARY": canary } });
    let made = register(&server, "program", SHELL, config).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let got = data(&server, "program", json!({})).await;
    assert_eq!(got, json!({ "seen": false, "cwd": "/box/work" }));
    let spin = "def run(params, context):\n    while params.get('spin'):\n        pass\n    return {}\n";
    let config = json!({ "sandbox": true, "limits": { "cpu_seconds": 1 } });
    let made = register(&server, "spin", spin, config).await;
    assert_eq!(made.status, 201, "{}", made.text);
    for _ in 0..2 {
        data(&server, "spin", json!({})).await;
    }
    let ended = call(&server, "spin", json!({ "spin": true })).await;
    assert_eq!(ended.code(), "tool_execution_error", "{}", ended.text);
    assert!(ended.text.contains("CPU time"), "{}", ended.text);
    let grow = "def run(params, context):\n    return {'size': len(bytes(1 << 30))}\n";
    let made = register(&server, "grow", grow, json!({ "sandbox": { "memory": 64 << 20 } })).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(call(&server, "grow", json!({})).await.code(), "tool_execution_error");
}

#[tokio::test]
async fn promise_the_home_and_sockets_are_refused_as_openings_with_the_field_and_the_repair() {
    let server = TestServer::new();
    let home = server.folder.path().to_str().unwrap().to_owned();
    let outside = tempfile::tempdir().unwrap();
    let socket = outside.path().join("socket");
    let _listening = UnixListener::bind(&socket).unwrap();
    let link = outside.path().join("link");
    std::os::unix::fs::symlink(server.folder.path().join("tools"), &link).unwrap();
    for (sandbox, pointer, says) in [
        (json!({ "read": ["/usr", home] }), "/config/sandbox/read/1", "Toolroom home"),
        (json!({ "write": [format!("{home}/tools")] }), "/config/sandbox/write/0", "Toolroom home"),
        (json!({ "read": [link] }), "/config/sandbox/read/0", "Toolroom home"),
        (json!({ "read": ["/"] }), "/config/sandbox/read/0", "contains the Toolroom home"),
        (json!({ "read": [socket] }), "/config/sandbox/read/0", "not a socket"),
        (json!({ "read": ["/proc"] }), "/config/sandbox/read/0", "remove it from the list"),
        (json!({ "write": ["/etc"] }), "/config/sandbox/write/0", "system folder"),
        (json!({ "read": ["data"] }), "/config/sandbox/read/0", "absolute"),
        (json!({ "read": ["/no/such/folder"] }), "/config/sandbox/read/0", "create it"),
        (json!({ "disk": 1 }), "/config/sandbox/disk", "1048576"),
    ] {
        let refused = register(&server, "refused", PROBE, json!({ "sandbox": sandbox })).await;
        assert_eq!(refused.code(), "invalid_input", "{sandbox}: {}", refused.text);
        assert!(refused.text.contains(pointer) && refused.text.contains(says), "{sandbox}: {}", refused.text);
    }
    for sandbox in [json!({ "red": [] }), json!("yes"), json!({ "network": "lan" })] {
        let refused = register(&server, "refused", PROBE, json!({ "sandbox": sandbox })).await;
        assert_eq!(refused.code(), "invalid_input", "{sandbox}: {}", refused.text);
        assert!(refused.text.contains("/config/sandbox"), "{sandbox}: {}", refused.text);
    }
}

#[tokio::test]
async fn promise_a_script_that_cannot_be_confined_does_not_run_and_says_why() {
    let server = TestServer::confining_at_most(SandboxLevel::None);
    let ran = server.folder.path().join("ran");
    let script = format!("open({ran:?}, 'w').close()\ndef run(params, context):\n    return {{}}\n");
    assert_eq!(register(&server, "confined", &script, json!({ "sandbox": true })).await.status, 201);
    let refused = call(&server, "confined", json!({})).await;
    assert_eq!(refused.code(), "not_configured", "{}", refused.text);
    assert!(refused.text.contains("'confined' was not run"), "{}", refused.text);
    assert!(refused.text.contains("toolroom doctor"), "{}", refused.text);
    assert!(!ran.exists(), "nothing of it ran");
    assert_eq!(register(&server, "free", &script, json!({ "sandbox": false })).await.status, 201);
    assert_eq!(call(&server, "free", json!({})).await.status, 200);
    assert!(ran.exists());
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_since_it_was_loaded_is_not_followed() {
    let server = TestServer::new();
    fs::write(server.folder.path().join("file"), "canary").unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let data_folder = outside.path().canonicalize().unwrap().join("data");
    fs::create_dir(&data_folder).unwrap();
    let made = register(&server, "probe", PROBE, json!({ "sandbox": { "read": [data_folder] } })).await;
    assert_eq!(made.status, 201, "{}", made.text);
    fs::remove_dir(&data_folder).unwrap();
    std::os::unix::fs::symlink(server.folder.path(), &data_folder).unwrap();
    let refused = call(&server, "probe", json!({ "read": [data_folder.join("file")] })).await;
    assert_eq!(refused.code(), "not_configured", "{}", refused.text);
    assert!(!refused.text.contains("canary"), "{}", refused.text);
}
