//! Whose secrets go where: those of a caller to no server, those of a server to nobody else.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::Listening;
use crate::federation::test_servers::{Scripted, headers, key, request, settled, tool, write};
use crate::test_home::{Served, TestHome};

/// Sees all that goes to a server, and passes it on.
struct Tap {
    port: u16,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Tap {
    fn before(server: &Listening) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (behind, seen) = (server.port, Arc::<Mutex<Vec<u8>>>::default());
        let log = Arc::clone(&seen);
        thread::spawn(move || {
            for inward in listener.incoming().map_while(Result::ok) {
                let Ok(outward) = TcpStream::connect(("127.0.0.1", behind)) else { return };
                let log = Arc::clone(&log);
                let (from, to) = (inward.try_clone().unwrap(), outward.try_clone().unwrap());
                thread::spawn(move || pass_on(from, to, Some(&log)));
                thread::spawn(move || pass_on(outward, inward, None));
            }
        });
        Self { port, seen }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, log: Option<&Mutex<Vec<u8>>>) {
    let mut part = [0; 8192];
    while let Ok(read @ 1..) = from.read(&mut part) {
        if let Some(log) = log {
            log.lock().unwrap().extend_from_slice(&part[..read]);
        }
        if to.write_all(&part[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn promise_no_credential_of_a_caller_reaches_a_server_and_no_secret_of_a_server_is_shown() {
    let home = TestHome::new();
    let (http, sse) = (Listening::start("streamable-http"), Listening::start("sse"));
    let (http_tap, sse_tap) = (Tap::before(&http), Tap::before(&sse));
    let program = Scripted::new(&home, "program", json!([tool("echo", "Gives nothing back.")]));
    let mut stdio = program.entry();
    stdio["env"] = json!({ "SECRET": "CANARY-own-env", "FROM": "${CANARY_VARIABLE}" });
    let secret = json!({ "Authorization": "Bearer CANARY-own-header", "X-From": "${CANARY_VARIABLE}" });
    let at = |port: u16, path: &str| json!({ "url": format!("http://127.0.0.1:{port}{path}?token=CANARY-own-query"), "headers": secret });
    // Nobody listens on port 1; a port that was free a moment ago may be another test's by now.
    let closed = 1;
    write(
        &home,
        json!({
            "stdio": stdio, "http": at(http_tap.port, "/mcp"), "sse": at(sse_tap.port, "/sse"),
            "down": at(closed, "/mcp"), "broken": { "command": "/nowhere/at/all", "args": ["--key=CANARY-own-argument"],
                "env": { "SECRET": "CANARY-own-env" } },
        }),
    );
    let ada = key(&home, &["stdio:call", "http:call", "sse:call", "servers:write"]);
    let served = serve_with_log(&home);
    settled(&home, "stdio", "ready", 1);
    settled(&home, "http", "ready", 7);
    settled(&home, "sse", "ready", 7);
    for server in ["stdio", "http", "sse"] {
        call_with_credentials(&served, &ada, &format!("{server}__echo"));
    }
    let told = [program.notes(), http_tap.text(), sse_tap.text()];
    for text in &told {
        assert!(text.contains("CANARY-own-variable"), "its own are given to it: {text}");
        assert!(text.contains("told by the caller"), "the calls came through here: {text}");
        assert!(!text.contains(&ada) && !text.contains("CANARY-caller"), "{text}");
    }
    assert!(told[1].contains("CANARY-own-header") && told[1].contains("CANARY-own-query"));
    let shown = all_that_is_shown(&home, &served, &ada);
    for (what, text) in &shown {
        assert!(!text.contains("CANARY-own") && !text.contains("CANARY-caller"), "{what}: {text}");
    }
    drop(served);
    let mut files = 0;
    look_through(&home.home(), &mut |path, text| {
        files += 1;
        let may_hold_them = path.file_name().is_some_and(|name| name == "mcp.json");
        assert!(may_hold_them || !text.contains("CANARY-own"), "{}", path.display());
        assert!(!text.contains("CANARY-caller") && !text.contains(&ada), "{}", path.display());
    });
    assert!(files > 3, "the home was looked through");
    let log = fs::read_to_string(home.path("log")).unwrap();
    assert!(log.contains("a server cannot be reached"), "the log is written: {log}");
    assert!(!log.contains("CANARY") && !log.contains(&ada), "{log}");
}

/// A server that logs all that it can, into a file.
fn serve_with_log(home: &TestHome) -> Served {
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("TOOLROOM_LOG", "debug").env("CANARY_VARIABLE", "CANARY-own-variable");
    Served::start_with(command, Stdio::from(fs::File::create(home.path("log")).unwrap()))
}

/// Calls a tool in every way in which a caller can show what it has.
fn call_with_credentials(served: &Served, ada: &str, tool: &str) {
    let others = "Cookie: session=CANARY-caller-cookie\r\nProxy-Authorization: Basic CANARY-caller-proxy\r\n\
                  X-Forwarded-Access-Token: CANARY-caller-header\r\n";
    let params = json!({ "text": "told by the caller" });
    for credential in [format!("X-API-Key: {ada}\r\n"), format!("Authorization: Bearer {ada}\r\n")] {
        let path = format!("/api/v1/tools/{tool}/call");
        let called = served.post(&path, &format!("{credential}{others}"), &json!({ "params": params }));
        assert_eq!(called.status, 200, "{called:?}");
        let call = json!({ "name": tool, "arguments": params });
        let head = format!("{}{credential}{others}", headers("", "tools/call", &call));
        let called = served.post("/mcp", &head, &request("tools/call", call, json!({})));
        assert!(called.json["result"]["content"].is_array(), "{called:?}");
    }
}

/// What people, programs and models can see.
fn all_that_is_shown(home: &TestHome, served: &Served, ada: &str) -> Vec<(String, String)> {
    let commands: [&[&str]; 10] = [
        &["servers", "list"],
        &["servers", "list", "--json"],
        &["servers", "show", "stdio"],
        &["servers", "show", "http", "--json"],
        &["servers", "show", "sse"],
        &["servers", "show", "down"],
        &["servers", "show", "broken", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["logs", "--json"],
    ];
    let printed = |command: &&[&str]| {
        let done = home.run(command);
        (command.join(" "), done.out + &done.err)
    };
    let mut shown: Vec<(String, String)> = commands.iter().map(printed).collect();
    let credential = format!("X-API-Key: {ada}\r\n");
    for path in
        ["/api/v1/servers", "/api/v1/servers/http", "/api/v1/servers/down", "/api/v1/tools", "/readyz"]
    {
        let reply = served.get(path, &credential);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        shown.push((path.to_owned(), reply.json.to_string()));
    }
    let refused = served.post("/api/v1/tools/down__x/call", &credential, &json!({}));
    shown.push(("a call".to_owned(), refused.json.to_string()));
    let list = request("tools/list", json!({}), json!({}));
    let listed = served.post("/mcp", &headers(ada, "tools/list", &Value::Null), &list);
    shown.push(("tools/list".to_owned(), listed.json.to_string()));
    shown
}

fn look_through(folder: &Path, look: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            look_through(&path, look);
        } else if kind.is_file() {
            look(&path, &String::from_utf8_lossy(&fs::read(&path).unwrap()));
        }
    }
}
