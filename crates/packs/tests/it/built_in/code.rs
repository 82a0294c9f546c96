//! `execute-code`.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolroom_contract::ErrorCode;
use toolroom_contract::entry::EntryLimits;
use toolroom_contract::hints::Severity;
use toolroom_worker::SandboxLevel;

use super::test_tools::TestTools;

#[tokio::test]
async fn every_example_gives_its_expected_result() {
    let tools = TestTools::new(None);
    let examples = tools.tools["execute-code"].0.examples.clone();
    for example in examples {
        let mut data = tools.call("execute-code", Value::Object(example.params)).await.data;
        data["sandbox"] = example.expected_result["sandbox"].clone();
        assert_eq!(data, example.expected_result, "{}", example.description);
    }
}

#[tokio::test]
async fn promise_code_that_fails_is_a_failed_call_that_says_how_to_fix_it() {
    let tools = TestTools::new(None);
    let error = tools.refused("execute-code", json!({ "code": "print('before')\nprint(1 / 0)" })).await;
    assert_eq!(error.code, ErrorCode::ToolExecutionError);
    assert!(error.message.contains("exit code 1: ZeroDivisionError"), "{}", error.message);
    assert_eq!(error.next[0].action, "execute-code");
    let data = error.data.unwrap();
    assert_eq!((&data["stdout"], &data["exitCode"]), (&json!("before\n"), &json!(1)));
    assert!(data["stderr"].as_str().unwrap().contains("ZeroDivisionError"));
    let shell = json!({ "code": "echo no >&2; exit 7", "language": "shell" });
    assert_eq!(tools.refused("execute-code", shell).await.data.unwrap()["exitCode"], 7);
}

#[tokio::test]
async fn promise_a_traceback_shows_no_path_of_the_home() {
    let tools = TestTools::new(None);
    let data =
        tools.refused("execute-code", json!({ "code": "def f():\n    1 / 0\nf()" })).await.data.unwrap();
    let stderr = data["stderr"].as_str().unwrap();
    assert!(stderr.contains("File \"/box/code.py\", line 2"), "{stderr}");
    assert!(!stderr.contains(tools.folder.path().to_str().unwrap()), "{stderr}");
}

#[tokio::test]
async fn promise_where_code_cannot_be_confined_the_tool_is_off_unless_the_owner_allows_it() {
    let off = TestTools::confined(|sandbox| sandbox.at_most(SandboxLevel::None));
    let error = off.refused("execute-code", json!({ "code": "print(1)" })).await;
    assert_eq!(error.code, ErrorCode::NotConfigured);
    assert!(error.message.contains("toolroom doctor"), "{}", error.message);
    let allowed = TestTools::confined(|sandbox| sandbox.at_most(SandboxLevel::None).allow_unconfined(true));
    let answer = allowed.call("execute-code", json!({ "code": "print(1)" })).await;
    assert_eq!((&answer.data["stdout"], &answer.data["sandbox"]["level"]), (&json!("1\n"), &json!("none")));
    assert_eq!(answer.data["sandbox"]["files"], "none");
    let warning = &answer.hints.warnings[0];
    assert!(warning.message.contains("unconfined") && warning.severity == Severity::High, "{warning:?}");
}

#[tokio::test]
async fn files_go_in_and_come_out_as_text_or_base64() {
    let tools = TestTools::new(None);
    let code = "data = open('in/bytes', 'rb').read()\nopen('out.bin', 'wb').write(data[::-1])\nopen('note.txt', 'w').write('hi')";
    let params = json!({ "code": code, "files": [{ "path": "in/bytes", "base64": "AAH/" }] });
    let data = tools.call("execute-code", params).await.data;
    assert_eq!(
        data["files"],
        json!([
            { "path": "note.txt", "size": 2, "content": "hi" },
            { "path": "out.bin", "size": 3, "base64": "/wEA" },
        ])
    );
    // Nothing is kept: the next run finds neither.
    let data = tools.call("execute-code", json!({ "code": "import os; print(os.listdir())" })).await.data;
    assert!(!data["stdout"].as_str().unwrap().contains("note.txt"), "{data}");
}

#[tokio::test]
async fn bad_files_are_refused_with_a_pointer() {
    let tools = TestTools::new(None);
    for (file, pointer) in [
        (json!({ "path": "../x", "content": "" }), "/files/0/path"),
        (json!({ "path": "/etc/x", "content": "" }), "/files/0/path"),
        (json!({ "path": "x" }), "/files/0"),
        (json!({ "path": "x", "content": "", "base64": "" }), "/files/0"),
        (json!({ "path": "x", "base64": "???" }), "/files/0/base64"),
    ] {
        let error = tools.refused("execute-code", json!({ "code": "1", "files": [file] })).await;
        assert_eq!((error.code, error.details[0].pointer.as_str()), (ErrorCode::InvalidInput, pointer));
    }
    for bad in [
        json!({}),
        json!({ "code": "" }),
        json!({ "code": "1", "language": "ruby" }),
        json!({ "code": "1", "timeout": 0 }),
    ] {
        assert_eq!(tools.refused("execute-code", bad).await.code, ErrorCode::InvalidInput);
    }
}

#[tokio::test]
async fn code_that_takes_too_long_is_ended_and_what_it_wrote_is_told() {
    let tools = TestTools::new(None);
    let started = Instant::now();
    let params = json!({ "code": "import time\nprint('so far')\ntime.sleep(60)", "timeout": 1 });
    let error = tools.refused("execute-code", params).await;
    assert_eq!((error.code, error.outcome), (ErrorCode::ToolTimeout, None));
    assert_eq!(error.data.unwrap()["stdout"], "so far\n");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn promise_output_without_end_is_cut_and_flagged() {
    let tools = TestTools::new(None);
    let error = tools.refused("execute-code", json!({ "code": "yes", "language": "shell" })).await;
    assert_eq!(error.code, ErrorCode::OutputTooLarge);
    let data = error.data.unwrap();
    assert_eq!((&data["truncated"], &data["endedBy"]), (&json!(true), &json!("output")));
    assert_eq!(data["stdout"].as_str().unwrap().len(), 64 << 10);
}

#[tokio::test]
async fn promise_code_sees_no_secret_and_no_network_and_the_answer_says_what_holds_it() {
    let tools = TestTools::new(None);
    let secret = tools.folder.path().join("toolroom.db");
    std::fs::write(&secret, "CANARY").unwrap();
    let canary = TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let code = format!(
        "import os, socket\n\
         print(sorted(os.environ))\n\
         def attempt(f):\n    try:\n        f()\n        print('DONE')\n    except OSError:\n        print('refused')\n\
         attempt(lambda: open('/proc/%d/environ' % os.getppid()).read())\n\
         attempt(lambda: open({secret:?}).read())\n\
         attempt(lambda: os.read(3, 1))\n\
         attempt(lambda: socket.create_connection(('127.0.0.1', {}), 1))",
        canary.local_addr().unwrap().port()
    );
    let data = tools.call("execute-code", json!({ "code": code })).await.data;
    let text = data["stdout"].as_str().unwrap();
    assert!(!text.contains("DONE") && text.matches("refused").count() == 4, "{data}");
    assert!(!text.contains("CARGO") && !text.contains("TOOLROOM"), "{text}");
    assert!(canary.accept().is_err(), "nobody called");
    let sandbox = &data["sandbox"];
    assert_eq!(sandbox["level"], "full", "{data}");
    for promise in ["files", "network", "processes", "end"] {
        assert_eq!(sandbox[promise], "kernel", "{promise}: {data}");
    }
    assert_eq!(sandbox["disk"], json!({ "limit": 256 << 20, "files": 20_000, "by": "kernel" }));
    assert_eq!(sandbox["memory"]["limit"], 1 << 30);
    assert!(["kernel", "watched"].contains(&sandbox["memory"]["by"].as_str().unwrap()), "{data}");
    assert_eq!(sandbox["visible"], json!([]));
}

#[tokio::test]
async fn limits_of_the_entry_hold() {
    let limits = EntryLimits { output: Some(100), ..EntryLimits::default() };
    let tools = TestTools::limited(None, &limits);
    let data = tools.refused("execute-code", json!({ "code": "print('x' * 1000)" })).await.data.unwrap();
    assert_eq!((data["stdout"].as_str().unwrap().len(), &data["truncated"]), (100, &json!(true)));
}
