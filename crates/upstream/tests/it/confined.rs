//! A server that is to be confined is not started where it cannot be.

use std::sync::Arc;

use serde_json::json;
use toolroom_upstream::config::{Author, Standing, read_server};
use toolroom_upstream::{CallOptions, Identity, SpawnEnv, Target, Upstream};
use toolroom_worker::{Confiner, SandboxLevel};

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_server_that_cannot_be_confined_is_not_started_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let ran = folder.path().join("ran");
    let entry = json!({ "command": "touch", "args": [ran], "sandbox": { "network": "none" } });
    let environment = |name: &str| std::env::var(name).ok();
    let mut read = read_server("boxed", &entry, &environment, Author::File).unwrap();
    read.resolve_sandbox(&home).unwrap();
    let Standing::Enabled(config) = read.standing else { panic!("{:?}", read.standing) };
    let spawn_env = SpawnEnv {
        confiner: Confiner::default().at_most(SandboxLevel::None),
        ..SpawnEnv::of_this_process(&home)
    };
    let server = Upstream::new(*config, Arc::new(Identity::toolroom()), spawn_env);
    let options = CallOptions { repeatable: true, ..CallOptions::default() };
    let target = Target::Resource("any:thing");
    let refused = server.reach(target, &options).await.unwrap_err().to_string();
    assert!(refused.contains("sandbox") && refused.contains("toolroom doctor"), "{refused}");
    assert!(!ran.exists(), "nothing of it ran");
}
