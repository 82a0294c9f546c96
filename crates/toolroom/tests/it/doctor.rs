//! What `toolroom doctor` finds in a home, and what it says to do.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::test_home::{Done, Reply, TestHome};

/// A home with these tools, and these files in its folder `tools`.
fn home(tools: &Value, files: &[(&str, &str, u32)]) -> TestHome {
    let home = TestHome::new();
    home.run(&["init"]);
    let folder = home.home().join("tools");
    fs::write(folder.join("tools.json"), json!({ "tools": tools }).to_string()).unwrap();
    for (name, text, mode) in files {
        fs::write(folder.join(name), text).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(*mode)).unwrap();
    }
    home
}

fn entry(name: &str, script: &str) -> Value {
    json!({ "name": name, "description": "A tool.", "config": { "script_path": script } })
}

/// The lines on one subject, each as its status, detail and remedy.
fn lines(report: &Value, check: &str) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter().filter(|one| one["check"] == check);
    checks
        .map(|one| {
            assert!(one["status"] == "ok" || one["remedy"].as_str().unwrap().len() > 5, "no remedy: {one}");
            format!("{} {} {}", one["status"], one["detail"], one["remedy"])
        })
        .collect()
}

fn examine(command: std::process::Command) -> Value {
    let done = Done::of(command);
    serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"))
}

#[test]
fn every_flaw_of_a_script_is_named_with_what_to_do() {
    let tools = json!([
        entry("missing", "missing.py"),
        entry("flawed", "flawed.py"),
        entry("empty", "empty.py"),
        entry("locked", "locked"),
        entry("foreign", "foreign"),
        entry("good", "good.py"),
        entry("shell", "shell.sh"),
    ]);
    let home = home(
        &tools,
        &[
            ("flawed.py", "def run(params, context):\n    return (\n", 0o600),
            ("empty.py", "x = 1\n", 0o600),
            ("locked", "#!/bin/sh\necho 1\n", 0o600),
            ("foreign", "#!/opt/no-such/interpreter\n", 0o700),
            ("good.py", "async def run(params, context):\n    return 1\n", 0o600),
            ("shell.sh", "echo 1\n", 0o600),
        ],
    );
    let report = examine(home.command(&["doctor", "--json"]));
    assert_eq!(report["healthy"], false);
    for (tool, words) in [
        ("missing", "missing.py is missing"),
        ("flawed", "flawed.py:2: "),
        ("empty", "no function 'run'"),
        ("locked", "chmod +x"),
        ("foreign", "/opt/no-such/interpreter, which is not installed"),
    ] {
        let found = lines(&report, &format!("tool {tool}"));
        assert!(found.len() == 1 && found[0].contains(words), "{tool}: {found:?}");
    }
    for tool in ["good", "shell"] {
        assert!(lines(&report, &format!("tool {tool}")).is_empty(), "{report}");
    }
}

#[test]
fn interpreters_that_are_not_there_are_missed() {
    let home =
        home(&json!([entry("snake", "snake.py")]), &[("snake.py", "def run(p, c): return 1\n", 0o600)]);
    let well = examine(home.command(&["doctor", "--json"]));
    assert!(lines(&well, "python3")[0].contains("Python 3."), "{well}");
    let mut command = home.command(&["doctor", "--json"]);
    command.env("PATH", home.path("nowhere"));
    let report = examine(command);
    assert!(lines(&report, "python3")[0].contains("Install Python 3"), "{report}");
    assert!(lines(&report, "tool snake")[0].contains("which is not installed"), "{report}");
}

#[test]
fn schema_problems_and_servers_that_cannot_start_are_named() {
    let home = TestHome::new();
    home.run(&["init"]);
    let mut bad = entry("bad", "x.sh");
    bad["input_schema"] = json!({ "type": "object", "properties": { "a": { "type": "strin" } } });
    fs::write(home.home().join("tools/tools.json"), json!({ "tools": [bad] }).to_string()).unwrap();
    let servers = json!({ "mcpServers": {
        "unset": { "command": "cat", "env": { "TOKEN": "${NO_SUCH_VARIABLE}" } },
        "default": { "command": "cat", "env": { "TOKEN": "${NO_SUCH_VARIABLE:-none}" } },
        "absent": { "command": "no-such-program" },
        "neither": {},
        "remote": { "url": "https://example.com/mcp" },
    } });
    fs::write(home.home().join("mcp.json"), servers.to_string()).unwrap();
    let report = examine(home.command(&["doctor", "--json"]));
    let tool = [lines(&report, "tool bad"), lines(&report, "tools.json")].concat().join("\n");
    assert!(tool.contains("fail") && tool.contains("strin"), "{report}");
    assert!(lines(&report, "server unset")[0].contains("NO_SUCH_VARIABLE is not set"), "{report}");
    assert!(lines(&report, "server absent")[0].contains("not on the PATH"), "{report}");
    assert!(lines(&report, "server neither")[0].contains("neither `command`"), "{report}");
    for sound in ["default", "remote"] {
        assert!(lines(&report, &format!("server {sound}")).is_empty(), "{report}");
    }
}

#[test]
fn folders_disk_and_what_holds_scripts_back_are_looked_at() {
    let home = TestHome::new();
    let well = home.json(&["doctor"]);
    for check in
        ["home", "tools", "logs", "disk", "settings", "containment", "code", "search", "database", "server"]
    {
        assert!(!lines(&well, check).is_empty(), "{check}: {well}");
    }
    assert!(lines(&well, "code")[0].contains("confined"), "{well}");
    assert!(lines(&well, "search")[0].contains("TOOLROOM_SEARCH_URL"), "{well}");
    let mut command = home.command(&["doctor", "--json"]);
    command.env("TOOLROOM_SEARCH_URL", "http://127.0.0.1:8888");
    assert!(lines(&examine(command), "search")[0].contains("SearXNG is set up"));
    fs::set_permissions(home.home().join("tools"), fs::Permissions::from_mode(0o777)).unwrap();
    let refused = home.run(&["doctor"]);
    assert_eq!(refused.code, 1, "what others can write is run as you: {refused:?}");
    assert!(refused.err.contains("chmod -R go-w"), "{refused:?}");
}

#[test]
fn a_health_check_asks_the_server_alone_and_fails_without_one() {
    let home = home(&json!([entry("gone", "gone.py")]), &[]);
    let done = home.run(&["doctor", "--server"]);
    assert!(done.code == 1 && done.out.contains("not running"), "{done:?}");
    let server = home.serve();
    let done = home.run(&["doctor", "--server"]);
    assert!(done.code == 0 && done.out.contains("running"), "a missing script does not count: {done:?}");
    assert_eq!(home.run(&["doctor"]).code, 1);
    drop(server);
}

#[test]
fn promise_code_is_not_said_to_be_confined_where_its_python_is_installed_around_the_home() {
    let home = TestHome::new();
    let venv = home.path("venv");
    let made =
        std::process::Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv).status();
    assert!(made.unwrap().success());
    let inside = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        let path = format!("{}:{}", venv.join("bin").display(), std::env::var("PATH").unwrap());
        command.env("TOOLROOM_HOME", venv.join("home")).env("PATH", path);
        command
    };
    assert_eq!(Done::of(inside(&["init"])).code, 0);
    let said = lines(&examine(inside(&["doctor", "--json"])), "code");
    assert!(
        said[0].starts_with("\"fail\"") && said[0].contains("the home or its database is there"),
        "{said:?}"
    );
    // That is what a call says, too.
    let call =
        Done::of(inside(&["call", "execute-code", "--params", r#"{"language":"python","code":"print(1)"}"#]));
    assert!(call.code != 0 && call.err.contains("the home or its database is there"), "{call:?}");
}

#[test]
fn promise_a_running_server_tells_its_owner_what_is_set_and_what_is_wrong() {
    let home = home(&json!([entry("gone", "gone.py")]), &[]);
    let settings =
        "[tasks]\nkeep_deleted_days = 7\n[search]\nengine = \"brave\"\napi_key = \"very-secret\"\n";
    fs::write(home.home().join("toolroom.toml"), settings).unwrap();
    let server = home.serve();
    let ask = |path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        Reply::over_socket(&home, &request).json
    };
    let told = ask("/api/v1/settings");
    let of = |name: &str| {
        let all = told["settings"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {told}")).clone()
    };
    assert_eq!(
        (&of("tasks.keep_deleted_days")["value"], &of("tasks.keep_deleted_days")["from"]),
        (&json!(7), &json!("file"))
    );
    assert_eq!(of("server.listen")["from"], "flag");
    assert_eq!(of("journal.keep_days")["from"], "default");
    assert_eq!(
        (&of("search.api_key")["value"], &of("search.api_key")["from"]),
        (&Value::Null, &json!("file"))
    );
    assert!(!told.to_string().contains("very-secret"));
    let report = ask("/api/v1/doctor");
    assert!(report["checks"].to_string().contains("gone.py"), "{report}");
    assert!(lines(&report, "server")[0].contains("running"), "{report}");
    let about = ask("/api/v1/about");
    assert_eq!(about["home"], home.home().display().to_string(), "{about}");
    assert_eq!(server.get("/api/v1/settings", "").status, 403);
}
