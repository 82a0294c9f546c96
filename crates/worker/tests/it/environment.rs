//! What a script gets of us: nothing but what it is given.

use std::collections::BTreeSet;
use std::os::fd::AsRawFd;

use serde_json::{Value, json};
use toolroom_worker::Limits;

use crate::test_folder::TestFolder;

const LOOK: &str = r"
import os, resource
def run(params, context):
    return {
        'env': sorted(os.environ),
        'fds': sorted(int(name) for name in os.listdir('/proc/self/fd')),
        'cwd': os.getcwd(),
        'session': os.getsid(0) == os.getpid(),
        'core': resource.getrlimit(resource.RLIMIT_CORE)[1],
        'files': resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        'memory': resource.getrlimit(resource.RLIMIT_AS)[1],
    }
";

#[tokio::test]
async fn a_script_gets_a_clean_environment_its_own_folder_and_session_and_its_limits() {
    let folder = TestFolder::new();
    let leak = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let mut spec = folder.python("look", LOOK);
    spec.env.insert("CARD_KEY".to_owned(), "k".to_owned());
    spec.limits = Limits { open_files: 77, memory: Some(1 << 30), ..Limits::default() };
    let seen = folder.data(&spec, json!({})).await;

    let allowed: BTreeSet<&str> = ["PATH", "HOME", "LANG", "TZ", "CARD_KEY", "LC_CTYPE"].into();
    let env: Vec<&str> = seen["env"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(env.iter().all(|name| allowed.contains(name)) && env.contains(&"CARD_KEY"), "{env:?}");
    // Its own three, the two frame pipes, and the folder that it lists.
    let fds = seen["fds"].as_array().unwrap();
    assert!(fds.len() <= 6 && !fds.contains(&json!(leak.as_raw_fd())), "{fds:?}");
    assert_eq!(seen["cwd"], json!(folder.path().join("work")));
    assert_eq!((&seen["session"], &seen["core"], &seen["files"]), (&json!(true), &json!(0), &json!(77)));
    assert_eq!(seen["memory"], json!(1 << 30));
}

#[tokio::test]
async fn hostile_strings_reach_a_script_as_strings_and_run_nothing() {
    let folder = TestFolder::new();
    let canary = folder.path().join("pwned");
    let touch = format!("touch {}", canary.display());
    let shell = folder.shell("cat", "cat");
    let python = folder.python("same", "def run(params, context):\n    return params");
    let strings = [
        format!("; {touch}"),
        format!("$({touch})"),
        format!("`{touch}`"),
        format!("x\n{touch}\n"),
        "--help".to_owned(),
        "../../etc/passwd".to_owned(),
        "'\"\\ \u{0}\u{1b}[2J".to_owned(),
    ];
    for text in strings {
        let params = json!({"text": text});
        assert_eq!(folder.data(&shell, params.clone()).await, params);
        assert_eq!(folder.data(&python, params.clone()).await, params);
    }
    assert!(!canary.exists());
}

#[tokio::test]
async fn the_cpu_limit_is_for_each_call_and_costs_one_worker() {
    let folder = TestFolder::new();
    let mut spec = folder
        .python("spin", "def run(params, context):\n    while params['spin']:\n        pass\n    return 1");
    spec.limits.cpu_seconds = Some(1);
    assert_eq!(folder.data(&spec, json!({"spin": false})).await, json!(1));
    let error = folder.call(&spec, json!({"spin": true})).await.unwrap_err();
    assert!(error.to_string().contains("CPU time"), "{error:?}");
    assert_eq!(folder.data(&spec, json!({"spin": false})).await, json!(1));
}
