//! Scripts that do not want to end, registered and called through a running server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::client::Client;
use super::super::figure;
use super::RegistryHome;
use crate::processes::{of_home, open_files, resident_kib, zombies_of};
use crate::test_home::until;

/// Of each tool, as its entry says.
const TIMEOUT: f64 = 0.5;
/// How much later the answer may come.
const GRACE: Duration = Duration::from_millis(500);

const SCRIPTS: [(&str, &str); 10] = [
    (
        "forks.py",
        "import os, time\ndef run(params, context):\n    for _ in range(5):\n        if os.fork() == 0:\n            \
         time.sleep(300)\n    time.sleep(300)\n",
    ),
    (
        "daemon.py",
        "import os, signal, sys, time\ndef run(params, context):\n    if os.fork() == 0:\n        os.setsid()\n        \
         if os.fork() == 0:\n            os.setsid()\n            os.chdir('/')\n            \
         signal.signal(signal.SIGTERM, signal.SIG_IGN)\n            \
         os.execve('/bin/sleep', [context['home'] if 'home' in context else __file__, '300'], {})\n        \
         os._exit(0)\n    time.sleep(300)\n",
    ),
    (
        "deaf.py",
        "import signal\ndef run(params, context):\n    for number in range(1, 32):\n        try:\n            \
         signal.signal(number, signal.SIG_IGN)\n        except OSError:\n            pass\n    while True:\n        pass\n",
    ),
    (
        "memory.py",
        "def run(params, context):\n    held = []\n    while True:\n        held.append(bytearray(16 << 20))\n",
    ),
    ("prints.py", "def run(params, context):\n    while True:\n        print('x' * 1000)\n"),
    (
        "closes.py",
        "import os, time\ndef run(params, context):\n    if os.fork() == 0:\n        time.sleep(300)\n    \
         os.closerange(0, 64)\n    time.sleep(300)\n",
    ),
    ("pipes.sh", "trap '' TERM HUP INT\n(trap '' TERM; sleep 300) & sleep 300 & wait\n"),
    ("output.sh", "yes\n"),
    ("stderr.sh", "yes >&2\n"),
    ("bomb.sh", "b() { b | b & }\nb\nsleep 300\n"),
];

fn entry(file: &str, script: &str) -> Value {
    json!({
        "name": file.replace('.', "-"),
        "description": "A script that does not want to end.",
        "timeout": TIMEOUT,
        "config": { "script_path": file, "limits": { "memory": 512 << 20, "processes": 40 } },
        "script": script,
    })
}

#[test]
fn promise_hostile_scripts_are_answered_in_time_and_nothing_of_them_is_left() {
    let registry = RegistryHome::open();
    let server = registry.serve();
    let mut client = Client::new(server.address);
    let mut gentle = entry("gentle.py", "def run(params, context):\n    return 1\n");
    gentle["timeout"] = json!(30);
    for wanted in SCRIPTS.iter().map(|(file, script)| entry(file, script)).chain([gentle]) {
        assert_eq!(registry.put(&mut client, &wanted).unwrap().status, 201, "{wanted}");
    }
    // The first call finds the interpreter, whose start counts for no tool after it.
    assert_eq!(client.call("gentle-py", &registry.header, &json!({})).unwrap().status, 200);
    let calm = of_home(&registry.home.home()).len();
    let (memory, files) = (resident_kib(server.id()), open_files(server.id()));
    let limit = Duration::from_secs_f64(TIMEOUT) + GRACE;
    for (file, _) in (0..figure(1, 5)).flat_map(|_| SCRIPTS) {
        let began = Instant::now();
        let answer = client.call(&file.replace('.', "-"), &registry.header, &json!({})).unwrap();
        let took = began.elapsed();
        let code = answer.json["error"]["code"].as_str().unwrap_or_default().to_owned();
        let honest = ["tool_timeout", "tool_execution_error", "output_too_large", "invalid_output"];
        assert!(honest.contains(&&*code), "{file}: {answer:?}");
        assert!(took < limit, "{file} was answered after {took:?}");
        let ended = Instant::now();
        until(&format!("{file} is gone"), || (of_home(&registry.home.home()).len() <= calm).then_some(()));
        assert!(ended.elapsed() < Duration::from_secs(1), "{file} lived on for {:?}", ended.elapsed());
    }
    let ended = Instant::now();
    until("the dead are taken away", || (zombies_of(server.id()) == 0).then_some(()));
    assert!(ended.elapsed() < Duration::from_secs(1), "the dead lay there for {:?}", ended.elapsed());
    until("files are closed", || (open_files(server.id()) <= files + 2).then_some(()));
    let grown = resident_kib(server.id()).saturating_sub(memory);
    eprintln!("the server grew by {grown} KiB");
    assert!(grown < 64 << 10, "the server grew by {grown} KiB");
    assert_eq!(client.call("gentle-py", &registry.header, &json!({})).unwrap().status, 200);
}
