//! Servers with `sandbox` in mcp.json: they work, and reach nothing but what their entry opens.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::test_servers::{call, key, settled, write};
use crate::test_home::TestHome;

/// A server with one tool, which tries to read and to write files and to reach a port. Needs no packages.
const SERVER: &str = r#"
import json, os, socket, sys

def tried(act):
    try:
        return act()
    except Exception as error:
        return type(error).__name__

def save(path):
    with open(path, "w") as file:
        file.write("written")
    return "written"

def reach(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        return "connected"

def probe(given):
    return {
        "read": {path: tried(lambda: open(path).read()) for path in given.get("read", [])},
        "write": {path: tried(lambda: save(path)) for path in given.get("write", [])},
        "network": tried(lambda: reach(given["port"])),
        "cwd": os.getcwd(), "home": os.environ.get("HOME"),
    }

def answer(method, params):
    if method == "initialize":
        info = {"name": "probe", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": "probe", "description": "Tries.", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        got = probe(params.get("arguments", {}))
        return {"content": [{"type": "text", "text": json.dumps(got)}], "structuredContent": got}
    return {} if method == "ping" else None

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    said = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)
"#;

/// A Python interpreter past any wrapper, and the folder that it needs.
fn python() -> (String, String) {
    let ask = "import os, sys; print(os.path.realpath(sys.executable), os.path.realpath(sys.base_prefix), sep='\\n')";
    let told = Command::new("python3").args(["-I", "-c", ask]).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let mut lines = told.lines().map(str::to_owned);
    (lines.next().unwrap(), lines.next().unwrap())
}

fn open_folder(home: &TestHome, name: &str, mode: u32) -> PathBuf {
    let folder = home.path(name);
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    folder.canonicalize().unwrap()
}

#[test]
fn promise_a_confined_server_works_and_reaches_nothing_but_what_its_entry_opens() {
    let home = TestHome::new();
    let (program, library) = python();
    let (code, data) = (open_folder(&home, "code", 0o755), open_folder(&home, "data", 0o777));
    fs::write(code.join("server.py"), SERVER).unwrap();
    fs::write(home.path("canary"), "canary").unwrap();
    let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let entry = |network: &str| {
        let sandbox = json!({ "read": [library, code], "write": [data], "network": network });
        json!({ "command": program, "args": [code.join("server.py")], "sandbox": sandbox })
    };
    write(&home, json!({ "shut": entry("none"), "open": entry("host") }));
    fs::write(home.home().join("canary"), "canary").unwrap();
    let ada = key(&home, &["shut:call", "open:call"]);
    let served = home.serve();
    let canaries = [home.path("canary"), home.home().join("canary"), home.home().join("mcp.json")];
    let port = listening.local_addr().unwrap().port();
    for (name, network) in [("shut", false), ("open", true)] {
        settled(&home, name, "ready", 1);
        // Each is a user of its own, so that neither can change what the other wrote.
        let own = data.join(name);
        let params =
            json!({ "read": canaries, "write": [own, code.join("new"), home.path("new")], "port": port });
        let got = call(&served, &ada, &format!("{name}__probe"), params);
        assert_eq!(got.status, 200, "{got:?}");
        let got = &got.json["data"];
        let of = |kind: &str, path: &PathBuf| got[kind][path.to_str().unwrap()].clone();
        for canary in &canaries {
            let read = of("read", canary);
            assert!(read == "FileNotFoundError" || read == "PermissionError", "{got}");
        }
        assert_eq!(of("write", &own), "written", "{got}");
        assert_eq!(fs::read_to_string(&own).unwrap(), "written");
        for path in [code.join("new"), home.path("new")] {
            assert_ne!(of("write", &path), "written", "{got}");
            assert!(!path.exists());
        }
        assert_eq!(got["network"] == "connected", network, "{got}");
        assert_eq!(got["cwd"], got["home"], "{got}");
        assert!(!got["home"].as_str().unwrap().starts_with(home.home().to_str().unwrap()), "{got}");
    }
}

#[test]
fn promise_a_sandbox_that_opens_the_home_is_refused_in_mcp_json_and_over_the_api() {
    let home = TestHome::new();
    home.run(&["init"]);
    let tools = home.home().join("tools");
    let entry = |sandbox: Value| json!({ "command": "true", "sandbox": sandbox });
    write(
        &home,
        json!({
            "home": entry(json!({ "read": ["/usr", home.home()] })),
            "tools": entry(json!({ "write": [tools] })),
            "typo": entry(json!({ "reed": [] })),
            "small": entry(json!({ "disk": 1 })),
            "place": { "command": "true", "cwd": "/usr/lib", "sandbox": true },
            "url": { "url": "http://127.0.0.1:1/mcp", "sandbox": true },
        }),
    );
    let listed = home.json(&["servers", "list"]);
    for (name, field, says) in [
        ("home", "sandbox.read[1]", "Toolroom home"),
        ("tools", "sandbox.write[0]", "Toolroom home"),
        ("typo", "sandbox", "reed"),
        ("small", "sandbox.disk", "1048576"),
        ("place", "cwd", "sandbox.read"),
        ("url", "sandbox", "command"),
    ] {
        let servers = listed["servers"].as_array().unwrap();
        let shown = servers.iter().find(|server| server["name"] == name).unwrap();
        assert_eq!(shown["state"], "invalid", "{shown}");
        let reason = shown["reason"].as_str().unwrap();
        assert!(reason.contains(field) && reason.contains(says), "{reason}");
    }
    let admin = key(&home, &["*"]);
    let served = home.serve();
    let body = json!({ "name": "api", "command": "true", "sandbox": { "read": [tools] } });
    let refused = served.post("/api/v1/servers", &format!("X-API-Key: {admin}\r\n"), &body);
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.json.to_string().contains("Toolroom home"), "{refused:?}");
}

#[test]
fn a_confined_server_whose_program_is_not_open_to_it_says_what_to_open() {
    let home = TestHome::new();
    let code = open_folder(&home, "code", 0o755);
    let program = code.join("server");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    write(&home, json!({ "lost": { "command": program, "sandbox": true } }));
    let _served = home.serve();
    let shown = crate::test_home::until("it is told", || {
        let server = home.json(&["servers", "show", "lost"]);
        server["reason"].is_string().then_some(server)
    });
    assert!(shown["reason"].as_str().unwrap().contains("sandbox.read"), "{shown}");
}
