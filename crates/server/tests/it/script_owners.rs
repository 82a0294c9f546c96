//! Scripts by the front door: what one of them does stays out of the others, and what it says stays with its owner.

use serde_json::{Value, json};

use crate::test_server::{Answer, TestServer};

/// A server with scripts, and a key for each user that may call them all but read nobody's log.
struct Shop {
    server: TestServer,
}

impl Shop {
    async fn new(scripts: &[(&str, &str, Value)]) -> Self {
        let shop = Self { server: TestServer::new() };
        let admin = shop.server.key(json!({ "user": "admin", "grants": ["registry:write"] })).await;
        for (name, script, config) in scripts {
            let ending = if script.starts_with("#!") { "" } else { ".py" };
            let mut config = config.clone();
            config["script_path"] = json!(format!("{name}{ending}"));
            let entry = json!({
                "name": name.replace('/', "-"), "description": "Does what a test needs.", "permissions": ["shop:call"],
                "input_schema": { "type": "object" }, "config": config, "script": script,
            });
            let made = shop.server.ask("POST", "/api/v1/tools").key(&admin).body(entry).send().await;
            assert_eq!(made.status, 201, "{}", made.text);
        }
        shop
    }

    async fn user(&self, name: &str) -> String {
        self.server.key(json!({ "user": name, "grants": ["shop:call"] })).await
    }

    async fn auditor(&self) -> String {
        self.server.key(json!({ "user": "auditor", "grants": ["executions:read"] })).await
    }

    async fn row(&self, key: &str, called: &Answer) -> Value {
        let id = called.json()["metadata"]["executionId"].as_str().unwrap().to_owned();
        let row = self.server.ask("GET", format!("/api/v1/executions/{id}")).key(key).send().await;
        assert_eq!(row.status, 200, "{}", row.text);
        row.json()
    }
}

#[tokio::test]
async fn a_tool_named_like_a_module_of_python_breaks_no_other_tool() {
    let shop = Shop::new(&[
        ("asyncio", "def run(params, context):\n    return {'mine': True}\n", json!({})),
        ("traceback", "raise RuntimeError('not yours')\n", json!({})),
        ("resource", "raise RuntimeError('not yours')\n", json!({})),
        (
            "wait",
            "import asyncio\nasync def run(params, context):\n    await asyncio.sleep(0)\n    return {}\n",
            json!({ "limits": { "cpu_seconds": 60 } }),
        ),
        ("lazy", "async def run(params, context):\n    return {}\n", json!({})),
        ("fail", "def run(params, context):\n    raise KeyError('x')\n", json!({})),
        ("shared_words", "WORD = 'yes'\n", json!({})),
        (
            "helped",
            "import shared_words\ndef run(params, context):\n    return {'word': shared_words.WORD}\n",
            json!({}),
        ),
    ])
    .await;
    let ann = shop.user("ann").await;
    for tool in ["wait", "lazy", "asyncio"] {
        let called = shop.server.call(&ann, tool, json!({})).await;
        assert_eq!(called.status, 200, "{tool}: {}", called.text);
    }
    let helped = shop.server.call(&ann, "helped", json!({})).await;
    assert_eq!(helped.json()["data"]["word"], "yes", "a file beside the script can still be imported");
    let failed = shop.server.call(&ann, "fail", json!({})).await;
    assert!(failed.text.contains("failed with KeyError"), "{}", failed.text);
}

const LEAVES: &str = r#"
import os, signal, subprocess, sys, threading, time

def later(params, context):
    while not os.path.exists('go'):
        time.sleep(0.002)
    for _ in range(50):
        print('ANN-SECRET printed')
        print('ANN-SECRET erred', file=sys.stderr)
        os.write(2, b'ANN-SECRET raw\n')
        context.log('ANN-SECRET logged')
        context.progress(1, 2, 'ANN-SECRET progress')
        time.sleep(0.002)

def ring(*_):
    print('ANN-SECRET rang')

def run(params, context):
    if params.get('leave') == 'thread':
        threading.Thread(target=later, args=(params, context), daemon=True).start()
    elif params.get('leave') == 'process':
        subprocess.Popen(['sh', '-c', 'while ! test -e go; do sleep 0.01; done; while :; do echo ANN-SECRET child >&2; sleep 0.005; done'])
    elif params.get('leave') == 'daemon':
        subprocess.run(['sh', '-c', '(setsid sh -c "while ! test -e go; do sleep 0.01; done; while :; do echo ANN-SECRET daemon >&2; sleep 0.005; done") &'])
    elif params.get('leave') == 'timer':
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.01)
    else:
        open('go', 'w').close()
        time.sleep(0.2)
        os.unlink('go')
        print('bob printed')
    return {'pid': os.getpid()}
"#;

#[tokio::test]
async fn what_one_users_call_leaves_running_never_shows_in_anothers_row() {
    let shop = Shop::new(&[("leave", LEAVES, json!({}))]).await;
    let (ann, bob, auditor) = (shop.user("ann").await, shop.user("bob").await, shop.auditor().await);
    for left in ["thread", "process", "daemon", "timer"] {
        let first = shop.server.call(&ann, "leave", json!({ "leave": left })).await;
        assert_eq!(first.status, 200, "{left}: {}", first.text);
        let second = shop.server.call(&bob, "leave", json!({})).await;
        assert_eq!(second.status, 200, "{left}: {}", second.text);
        let row = shop.row(&auditor, &second).await;
        assert!(row.to_string().contains("bob printed"), "{left}: {row}");
        assert!(!row.to_string().contains("ANN-SECRET"), "{left}: {row}");
    }
}

#[tokio::test]
async fn a_worker_whose_calls_leave_nothing_is_used_again() {
    let script = "import os, subprocess, threading\ndef run(params, context):\n    subprocess.run(['true'])\n    t = threading.Thread(target=print, args=('in time',))\n    t.start()\n    t.join()\n    return {'pid': os.getpid()}\n";
    let shop = Shop::new(&[("tidy", script, json!({}))]).await;
    let ann = shop.user("ann").await;
    let first = shop.server.call(&ann, "tidy", json!({})).await;
    assert!(shop.row(&ann, &first).await["lines"].to_string().contains("in time"));
    let second = shop.server.call(&ann, "tidy", json!({})).await;
    assert_eq!(first.json()["data"]["pid"], second.json()["data"]["pid"]);
}

const RAISES: &str = r#"
import os, sys, traceback

class QueryFailed(Exception):
    pass

def run(params, context):
    try:
        open('/etc/no-such-CANARY-path')
    except OSError:
        traceback.print_exc()
    raise QueryFailed('SELECT * FROM cards WHERE key = ' + os.environ['SHOP_KEY'] + ' -- CANARY-SQL')
"#;
const DIES: &str = "#!/bin/sh\necho \"CANARY-SQL in $0 with $SHOP_KEY\" >&2\nexit 3\n";
const ODD: &str = "class Leaky:\n    pass\ndef run(params, context):\n    class E(ValueError):\n        pass\n    class D(dict):\n        def items(self):\n            raise ValueError('CANARY-SQL in the answer')\n    return D(a=1)\n";

#[tokio::test]
async fn a_scripts_exception_tells_its_caller_the_type_and_the_execution_and_its_owner_the_rest() {
    let env = json!({ "env": { "SHOP_KEY": "CANARY-ENV-5ec2e7" } });
    let shop =
        Shop::new(&[("raises", RAISES, env.clone()), ("dies", DIES, env.clone()), ("odd", ODD, env.clone())])
            .await;
    let (ann, auditor) = (shop.user("ann").await, shop.auditor().await);
    for (tool, told) in [("raises", "failed with QueryFailed"), ("dies", "exit code 3"), ("odd", "not JSON")]
    {
        let called = shop.server.call(&ann, tool, json!({})).await;
        let id = called.json()["metadata"]["executionId"].as_str().unwrap().to_owned();
        let message = called.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(told) && message.contains(&id), "{message}");
        let own = shop.row(&ann, &called).await;
        let list = shop.server.ask("GET", "/api/v1/executions").key(&ann).send().await;
        for seen in [&called.text, &own.to_string(), &list.text] {
            for canary in ["CANARY", "Traceback", "SELECT", shop.server.folder.path().to_str().unwrap()] {
                assert!(!seen.contains(canary), "{tool}: {canary} in {seen}");
            }
        }
        let whole = shop.row(&auditor, &called).await;
        let detail = whole["detail"].as_str().unwrap();
        assert!(detail.contains("CANARY-SQL"), "{tool}: {whole}");
        assert!(!whole.to_string().contains("CANARY-ENV"), "{tool}: {whole}");
        if tool == "raises" {
            assert!(detail.contains("Traceback") && detail.contains("raises.py"), "{detail}");
            assert!(whole["lines"].to_string().contains("no-such-CANARY-path"), "{whole}");
        }
    }
}

#[tokio::test]
async fn the_end_of_a_long_traceback_is_never_cut() {
    let script = "def deep(n):\n    if n == 0:\n        raise ValueError('x' * 5000 + 'THE-END')\n    return deep(n - 1)\ndef other(n):\n    return deep(n) if n == 0 else other2(n - 1)\ndef other2(n):\n    return other(n)\ndef run(params, context):\n    other(300)\n";
    let shop = Shop::new(&[("deep", script, json!({}))]).await;
    let (ann, auditor) = (shop.user("ann").await, shop.auditor().await);
    let called = shop.server.call(&ann, "deep", json!({})).await;
    let whole = shop.row(&auditor, &called).await;
    let detail = whole["detail"].as_str().unwrap();
    assert!(detail.len() >= 8192 && detail.ends_with("THE-END"), "{} {}", detail.len(), &detail[..200]);
}

#[tokio::test]
async fn the_log_has_what_was_sent_and_returned_whole() {
    let script = "def run(params, context):\n    return {'text': params['text'], 'more': 'y' * 300000}\n";
    let shop = Shop::new(&[("large", script, json!({}))]).await;
    let ann = shop.user("ann").await;
    let text = "é".repeat(200_000);
    let called = shop.server.call(&ann, "large", json!({ "text": text })).await;
    assert_eq!(called.status, 200, "{:.300}", called.text);
    let row = shop.row(&ann, &called).await;
    assert_eq!(row["input"]["text"].as_str().unwrap(), text);
    assert_eq!(row["output"], called.json()["data"]);
    assert_eq!(row["truncated"], json!(false));
    for _ in 0..14 {
        shop.server.call(&ann, "large", json!({ "text": text })).await;
    }
    // A page of large rows is short, and says that there are more.
    let mut seen = 0;
    let mut cursor = String::new();
    loop {
        let path = format!("/api/v1/executions?limit=1000{cursor}");
        let page = shop.server.ask("GET", path).key(&ann).send().await;
        assert!(page.text.len() < 9 << 20, "{}", page.text.len());
        let page = page.json();
        seen += page["executions"].as_array().unwrap().len();
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, 15);
}

#[tokio::test]
async fn a_secret_in_the_name_of_an_exception_stays_with_the_owner() {
    let script = "import os\ndef run(params, context):\n    raise type('E_' + os.environ['API_TOKEN'], (Exception,), {})('x')\n";
    let shop = Shop::new(&[("leak", script, json!({ "env": { "API_TOKEN": "s3cr3tvalue" } }))]).await;
    let key = shop.user("ann").await;
    let failed = shop.server.call(&key, "leak", json!({})).await;
    assert_eq!(failed.code(), "tool_execution_error", "{}", failed.text);
    assert!(!failed.text.contains("s3cr3tvalue"), "{}", failed.text);
    let message = failed.json()["error"]["message"].clone();
    assert!(message.as_str().unwrap().contains("failed with an exception"), "{message}");
    let row = shop.row(&shop.auditor().await, &failed).await;
    assert!(!row.to_string().contains("s3cr3tvalue"), "{row}");
}

#[tokio::test]
async fn a_script_below_a_folder_that_others_can_write_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let shop = Shop::new(&[(
        "outer/inner/say",
        "def run(params, context):\n    return {'said': True}\n",
        json!({}),
    )])
    .await;
    let key = shop.user("ann").await;
    let name = "outer-inner-say";
    let said = shop.server.call(&key, name, json!({})).await;
    assert_eq!(said.json()["data"]["said"], true, "{}", said.text);
    let outer = shop.server.folder.path().join("tools/outer");
    let allow = |mode| std::fs::set_permissions(&outer, std::fs::Permissions::from_mode(mode)).unwrap();
    allow(0o777);
    let refused = shop.server.call(&key, name, json!({})).await;
    assert_eq!(refused.code(), "tool_execution_error", "{}", refused.text);
    assert!(refused.text.contains("another user owns or can write"), "{}", refused.text);
    allow(0o755);
    assert_eq!(shop.server.call(&key, name, json!({})).await.status, 200);
}
