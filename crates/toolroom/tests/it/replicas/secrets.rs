//! Secrets of tools over several replicas: sealed in the database, and in force everywhere when the command ends.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{Replica, path, write_script};
use crate::promises::cluster::Cluster;
use crate::secrets::typed;
use crate::test_home::{Done, TestHome};

const KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const SCRIPT: &str = "import os\ndef run(params, context):\n    return {'length': len(os.environ['KEY'])}\n";

fn home_with_tool() -> TestHome {
    let home = TestHome::new();
    let config = json!({ "script_path": "tell-length.py", "env": { "KEY": "secret:MY_KEY" } });
    write_script(&home, "tell-length", SCRIPT, json!({ "config": config, "category": "query" }));
    home
}

fn replicas(url: &str) -> Vec<Replica> {
    let first = Replica::start_sealed(home_with_tool(), url, KEY);
    let later = (0..2).map(|_| Replica::start_sealed(TestHome::new(), url, KEY));
    [first].into_iter().chain(later).collect()
}

fn set(home: &TestHome, arguments: &[&str], value: &str) -> Done {
    let mut command = home.command(&[&["secrets", "set", "MY_KEY"], arguments].concat());
    command.env("TOOLROOM_SEAL_KEY", KEY).stdin(Stdio::piped());
    typed(&mut command, value)
}

fn refusal(replica: &Replica) -> String {
    let refused = replica.server.post(&path("tell-length"), "", &json!({ "params": {} }));
    assert_eq!(refused.json["error"]["code"], "not_configured", "{refused:?}");
    refused.json["error"]["message"].to_string()
}

fn length(replica: &Replica) -> Value {
    replica.call("tell-length", &json!({}))["length"].clone()
}

#[test]
fn promise_a_secret_that_is_set_at_one_replica_is_in_force_at_every_replica() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let replicas = replicas(&url);
    for length_now in 1..=6 {
        let done = set(&replicas[length_now % 3].home, &[], &"x".repeat(length_now));
        assert_eq!(done.code, 0, "{done:?}");
        for replica in &replicas {
            assert_eq!(length(replica), length_now);
        }
    }
    for replica in &replicas {
        let kept = std::fs::read_to_string(replica.home.home().join("secrets.json")).unwrap();
        assert!(!kept.contains("xxxxxx"), "{kept}");
        assert!(!replica.home.home().join("secrets.key").exists());
    }
    // A command in a home without a server changes them too.
    let elsewhere = TestHome::new();
    let done = set(&elsewhere, &["--database", &url], "from elsewhere");
    assert_eq!(done.code, 0, "{done:?}");
    for replica in &replicas {
        assert_eq!(length(replica), "from elsewhere".len());
    }
    let removed = replicas[1].home.run(&["secrets", "remove", "MY_KEY"]);
    assert_eq!(removed.code, 0, "{removed:?}");
    for replica in &replicas {
        assert!(refusal(replica).contains("toolroom secrets set MY_KEY"));
    }
}

#[test]
fn a_replica_without_the_right_key_refuses_tools_with_secrets_and_changes_none() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let right = Replica::start_sealed(home_with_tool(), &url, KEY);
    assert_eq!(set(&right.home, &[], "four").code, 0);
    let other = Replica::start_sealed(TestHome::new(), &url, &"f".repeat(64));
    assert!(refusal(&other).contains("TOOLROOM_SEAL_KEY is not the key"));
    let none = Replica::start(&url);
    assert!(refusal(&none).contains("set TOOLROOM_SEAL_KEY"));
    for (home, says) in [(&other.home, "is not the key"), (&none.home, "openssl rand -hex 32")] {
        let mut command = home.command(&["secrets", "set", "SECOND"]);
        let refused = typed(&mut command, "value");
        assert!(refused.code != 0 && refused.err.contains(says), "{refused:?}");
        assert!(!home.home().join("secrets.key").exists());
    }
    assert_eq!(length(&right), 4);
    assert_eq!(right.home.run(&["secrets", "list"]).out, "MY_KEY\n");
}
