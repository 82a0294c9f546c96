//! Any number of clients, servers and commands on one home, in any order.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp_host::Mcp;
use crate::test_home::{Served, TestHome, until};

/// What works on the home, as it says itself.
fn holder(home: &TestHome) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(home.home().join("lock")).ok()?).ok()
}

fn engine(home: &TestHome) -> Option<u64> {
    holder(home).filter(|holder| holder["role"] == "engine")?["pid"].as_u64()
}

fn kill(pid: u64) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

fn is_alive(pid: u64) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

fn titles(listed: &Value) -> Vec<String> {
    let tasks = listed["result"]["structuredContent"]["data"]["tasks"].as_array();
    let tasks = tasks.unwrap_or_else(|| panic!("{listed}"));
    tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

/// A tool that says when it runs, and then takes its time.
fn add_slow_tool(home: &TestHome) {
    let script = "import time\n\ndef run(params, context):\n    open(params['mark'], 'a').write('x')\n    \
                  time.sleep(600)\n";
    home.write_tool("take-time", script, json!({ "mark": { "type": "string" } }));
}

#[test]
fn promise_clients_go_on_when_their_engine_is_killed() {
    let home = TestHome::new();
    let (mut first, mut second) = (Mcp::begin(&home, &[]), Mcp::begin(&home, &[]));
    for round in 0..3 {
        let pid = engine(&home).expect("an engine");
        kill(pid);
        let made = first.call("create-task", json!({ "title": format!("Round {round}") }));
        assert!(made.get("error").is_none() && made["result"]["isError"] != true, "{made}");
        assert_eq!(titles(&second.call("list-tasks", json!({}))).len(), round + 1);
        assert_ne!(engine(&home), Some(pid));
    }
    assert_eq!((first.end(), second.end()), (Some(0), Some(0)));
}

#[test]
fn promise_a_request_that_was_half_written_when_the_engine_was_killed_is_answered_by_the_next() {
    let home = TestHome::new();
    let mut host = Mcp::begin(&home, &[]);
    for (at, part) in [1, 40, 80].into_iter().enumerate() {
        let params = json!({ "name": "create-task", "arguments": { "title": format!("Half {at}") } });
        let request =
            json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string();
        let pid = engine(&home).expect("an engine");
        host.send_part(&request[..part]);
        kill(pid);
        // The client's side has noticed when there is another.
        until("another engine", || engine(&home).filter(|next| *next != pid));
        host.send_part(&request[part..]);
        host.send_part("\n");
        let answer = host.next();
        assert!(answer["id"] == 7 && answer["result"]["isError"] != true, "{answer}");
    }
    assert_eq!(titles(&host.call("list-tasks", json!({}))).len(), 3);
}

#[test]
fn promise_a_call_that_an_engine_died_under_says_what_is_known_and_is_not_made_twice() {
    let home = TestHome::new();
    add_slow_tool(&home);
    let mark = home.path("mark");
    let mut host = Mcp::begin(&home, &[]);
    let params = json!({ "name": "take-time", "arguments": { "mark": mark } });
    host.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }).to_string());
    until("the tool runs", || mark.exists().then_some(()));
    kill(engine(&home).unwrap());
    let answer = host.next();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(2), &json!(true)), "{answer}");
    assert!(answer.to_string().contains("interrupted"), "{answer}");
    assert!(!answer.to_string().contains("this idempotency key"), "nobody gave one: {answer}");
    assert_eq!(std::fs::read_to_string(&mark).unwrap(), "x", "it ran once");
    assert_eq!(host.call("get-status", json!({}))["result"]["structuredContent"]["data"]["status"], "ok");
}

#[test]
fn promise_a_server_takes_the_home_over_at_once_and_clients_go_on_with_it_and_without_it() {
    let home = TestHome::new();
    add_slow_tool(&home);
    let mut host = Mcp::begin(&home, &[]);
    host.call("create-task", json!({ "title": "Before" }));
    let mut busy = Mcp::begin(&home, &[]);
    let params = json!({ "name": "take-time", "arguments": { "mark": home.path("mark") } });
    busy.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }).to_string());
    until("the tool runs", || home.path("mark").exists().then_some(()));
    let old = engine(&home).unwrap();
    let server = home.serve();
    assert!(!is_alive(old), "the engine has ended");
    assert_eq!(holder(&home).unwrap()["address"], format!("http://{}", server.address));
    let told = busy.next();
    assert_eq!(told["result"]["isError"], true, "what it was doing is told: {told}");
    assert_eq!(titles(&host.call("list-tasks", json!({}))), ["Before"]);
    let seen = server.post("/api/v1/tools/list-tasks/call", "", &json!({}));
    assert!(seen.json.to_string().contains("Before"), "{seen:?}");

    let second = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(second.code == 1 && second.err.contains(&server.address.to_string()), "{second:?}");
    assert!(second.err.contains(&format!("pid {}", server.id())), "{second:?}");
    server.signal("-9");
    assert_eq!(titles(&host.call("list-tasks", json!({}))), ["Before"]);
    assert!(engine(&home).is_some_and(is_alive));
    assert_eq!(home.json(&["call", "list-tasks"])["data"]["tasks"][0]["title"], "Before");
}

#[test]
fn promise_clients_of_an_engine_that_hangs_are_told_its_process_and_what_to_do_and_go_on_after_its_end() {
    let home = TestHome::new();
    let mut host = Mcp::begin(&home, &[]);
    let pid = engine(&home).expect("an engine");
    assert!(Command::new("kill").args(["-STOP", &pid.to_string()]).status().unwrap().success());
    let kept = json!({ "name": "create-task", "arguments": { "title": "Lost" } });
    host.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": kept }).to_string());
    let told = host.next();
    let message = told["error"]["message"].as_str().unwrap_or_else(|| panic!("{told}"));
    assert_eq!(told["id"], 5);
    assert!(
        message.contains(&format!("(pid {pid})")) && message.contains(&format!("kill -9 {pid}")),
        "{message}"
    );
    // A server that would take the home over says the same.
    let refused = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(refused.code == 1 && refused.err.contains(&format!("kill -9 {pid}")), "{refused:?}");
    kill(pid);
    assert_eq!(titles(&host.call("list-tasks", json!({}))), Vec::<String>::new());
    assert_eq!(host.end(), Some(0));
}

#[test]
fn an_engine_ends_when_no_client_is_left_or_its_home_is_gone() {
    let home = TestHome::new();
    let quick = |home: &TestHome| {
        let mut command = home.command(&["mcp"]);
        command.env("TOOLROOM_ENGINE_IDLE", "0.2");
        Mcp::of(command)
    };
    let mut host = quick(&home);
    host.initialize();
    let pid = engine(&home).unwrap();
    std::fs::remove_file(home.home().join("toolroom.sock")).unwrap();
    let mut other = until("the socket is there again", || {
        home.home().join("toolroom.sock").exists().then(|| quick(&home))
    });
    other.initialize();
    assert_eq!(engine(&home), Some(pid), "the same engine");
    assert_eq!((host.end(), other.end()), (Some(0), Some(0)));
    until("the engine ends", || (!is_alive(pid)).then_some(()));

    let mut last = Mcp::begin(&home, &[]);
    let pid = engine(&home).unwrap();
    assert!(!last.tools().is_empty());
    std::fs::remove_dir_all(home.home()).unwrap();
    until("it does not outlive its home", || (!is_alive(pid)).then_some(()));
}

#[test]
fn a_client_waits_for_a_command_that_works_on_the_home_and_says_for_whom() {
    let home = TestHome::new();
    let mark = home.path("mark");
    let script = "import os, time\n\ndef run(params, context):\n    open(params['mark'], 'w').close()\n    \
                  while os.path.exists(params['mark']):\n        time.sleep(0.02)\n    return {}\n";
    home.write_tool("wait-long", script, json!({ "mark": { "type": "string" } }));
    let params = json!({ "mark": mark }).to_string();
    let mut command = home.command(&["call", "wait-long", "--params", &params]).spawn().unwrap();
    until("the tool runs", || mark.exists().then_some(()));
    let mut client = home.command(&["mcp"]);
    let mut client =
        client.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(client.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains(&format!("another command (pid {})", command.id())), "{said}");
    std::fs::remove_file(&mark).unwrap();
    assert!(command.wait().unwrap().success());
    drop(client.stdin.take());
    assert!(client.wait().unwrap().success(), "it went on when the command had ended");
}

#[test]
fn a_home_whose_settings_are_wrong_is_told_at_once() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    std::fs::write(home.home().join("toolroom.toml"), "nonsense = 1\n").unwrap();
    let done = home.run(&["mcp"]);
    assert!(done.code != 0 && done.err.contains("nonsense") && done.out.is_empty(), "{done:?}");
}

/// A few rounds here, a hundred under `cargo xtask soak`.
#[test]
fn promise_clients_survive_any_order_of_starts_ends_and_kills() {
    let rounds = if std::env::var_os("TOOLROOM_SOAK").is_some() { 100 } else { 8 };
    let home = TestHome::new();
    let mut hosts: Vec<Mcp> = (0..3).map(|_| Mcp::begin(&home, &[])).collect();
    let mut server: Option<Served> = None;
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..rounds {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let which = usize::try_from(chance >> 33).unwrap();
        // A change is under way while something happens to whoever makes it.
        let title = format!("Round {round}");
        let params = json!({ "name": "create-task", "arguments": { "title": title } });
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        hosts[which % 3].send(&request.to_string());
        match (which / 3) % 6 {
            0 => engine(&home).filter(|pid| is_alive(*pid)).into_iter().for_each(kill),
            1 if server.is_none() => server = Some(home.serve()),
            1 | 2 => {
                if let Some(server) = server.take() {
                    server.signal("-9");
                }
            }
            3 => {
                if let Some(server) = server.take() {
                    server.signal("-TERM");
                    server.wait();
                }
            }
            4 => {
                let (at, new) = ((which + 1) % 3, Mcp::begin(&home, &[]));
                hosts[at] = new;
            }
            _ => {
                let listed = home.run(&["call", "list-tasks", "--json"]);
                assert!(listed.code == 0 || listed.err.contains("stopped"), "{listed:?}");
            }
        }
        let began = Instant::now();
        let answer = hosts[which % 3].next();
        assert_eq!(answer["id"], 7, "{answer}");
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
        assert!(began.elapsed() < Duration::from_secs(20), "{:?} after round {round}", began.elapsed());
        for host in &mut hosts {
            let listed = host.call("list-tasks", json!({ "limit": 1 }));
            let total = &listed["result"]["structuredContent"]["data"]["total"];
            assert_eq!(*total, round + 1, "each change once, for every client: {listed}");
        }
    }
    drop(server);
    let logged = home.run(&["logs", "--tool", "create-task", "--limit", "500", "--json"]);
    let rows: Vec<Value> = logged.out.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let succeeded = rows.iter().filter(|row| row["status"] == "ok" && row["replayed"] != true).count();
    assert!(succeeded <= rounds && rows.len() >= rounds, "{} rows, {succeeded} effects", rows.len());
}

#[test]
fn promise_a_server_that_may_not_listen_refuses_before_anybody_ends_for_it() {
    let home = TestHome::new();
    let mut host = Mcp::begin(&home, &[]);
    let pid = engine(&home).expect("an engine");
    let refused = home.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("toolroom keys create --user NAME"), "{refused:?}");
    assert_eq!(engine(&home), Some(pid));
    assert!(is_alive(pid), "the engine is left alone");
    assert!(host.call("get-status", json!({})).get("error").is_none());
    assert_eq!(home.run(&["keys", "create", "--user", "ada"]).code, 0);
    let server = Served::start(home.command(&["serve", "--listen", "0.0.0.0:0"]));
    assert!(server.address.ip().is_unspecified());
    assert!(host.call("get-status", json!({})).get("error").is_none());
}

#[test]
fn a_client_that_uses_one_id_twice_or_ids_like_ours_gets_an_answer_to_each() {
    let home = TestHome::new();
    let mut host = Mcp::begin(&home, &[]);
    let ask = |id: Value, title: &str| {
        let params = json!({ "name": "create-task", "arguments": { "title": title } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    for title in ["One", "Two"] {
        host.send(&ask(json!(7), title));
    }
    // The second is refused while the first runs; it may have ended by then.
    let answers = [host.next(), host.next()];
    assert!(answers.iter().all(|answer| answer["id"] == 7), "{answers:?}");
    let refused = answers.iter().filter(|answer| answer["error"]["code"] == -32600).count();
    let done = answers.iter().filter(|answer| answer.get("result").is_some()).count();
    assert!(done >= 1 && done + refused == 2, "{answers:?}");
    kill(engine(&home).expect("an engine"));
    host.send(&ask(json!("toolroom-front-1"), "Three"));
    assert_eq!(host.next()["id"], "toolroom-front-1");
    let made = titles(&host.call("list-tasks", json!({})));
    assert_eq!(made.len(), done + 1, "{made:?}");
}

/// A call may take longer than anybody waits for a process that should only start.
#[test]
fn promise_a_server_and_commands_wait_for_a_command_however_long_its_call_takes() {
    let home = TestHome::new();
    let gate = home.path("gate");
    let script = format!(
        "import os, time\ndef run(params, context):\n    while not os.path.exists({:?}):\n        time.sleep(0.05)\n    return {{}}\n",
        gate.display().to_string()
    );
    home.write_tool("wait-long", &script, json!({}));
    let start = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut long = start(&["call", "wait-long"]);
    until("the call has the home", || holder(&home).filter(|holder| holder["pid"] == long.id()));
    let mut others = [start(&["call", "list-tasks"]), start(&["serve", "--listen", "127.0.0.1:0"])];
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(11) {
        assert!(others.iter_mut().all(|one| one.try_wait().unwrap().is_none()), "one gave up");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::fs::write(gate, "").unwrap();
    assert!(long.wait().unwrap().success() && others[0].wait().unwrap().success());
    until("the server is there", || holder(&home).filter(|holder| holder["pid"] == others[1].id()));
    others[1].kill().unwrap();
    others[1].wait().unwrap();
}
