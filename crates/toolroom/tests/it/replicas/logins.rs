//! Logins at other MCP servers, used by several replicas: one for all of them, and renewed by one at a time.

use std::thread;

use serde_json::{Value, json};

use super::Replica;
use crate::federation::test_servers::{call, write};
use crate::logins::{Guarded, log_in};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::test_home::{Reply, TestHome};

pub(super) const KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn replicas(cluster: &Cluster, guarded: &Guarded, count: usize) -> Vec<Replica> {
    let home = TestHome::new();
    write(&home, json!({ "docs": guarded.entry() }));
    let first = Replica::start_sealed(home, &cluster.url(), KEY);
    let later = (1..count).map(|_| Replica::start_sealed(TestHome::new(), &cluster.url(), KEY));
    [first].into_iter().chain(later).collect()
}

fn work(replica: &Replica) -> Reply {
    call(&replica.server, "", "docs__work", json!({}))
}

fn shown(replica: &Replica) -> Value {
    let text = "GET /api/v1/servers/docs?wait=20 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    Reply::over_socket(&replica.home, text).json
}

/// The tool is known once somebody has listed it.
pub(super) fn works(replica: &Replica) {
    crate::test_home::until("the server can be used", || (work(replica).status == 200).then_some(()));
}

#[test]
fn promise_a_login_whose_refresh_tokens_rotate_is_renewed_by_one_replica_at_a_time() {
    let (cluster, guarded) = (Cluster::start(), Guarded::with_tokens_of(2));
    let replicas = replicas(&cluster, &guarded, 3);
    log_in(&replicas[0].home, "docs");
    replicas.iter().for_each(works);
    // A token is renewed every second and a half.
    let wanted = figure(4, 400) as u64;
    let calls: usize = thread::scope(|scope| {
        let callers: Vec<_> = replicas
            .iter()
            .flat_map(|replica| [replica, replica])
            .map(|replica| {
                let guarded = &guarded;
                scope.spawn(move || {
                    let mut calls = 0;
                    while guarded.report().0 < wanted {
                        let done = work(replica);
                        assert_eq!(done.status, 200, "{done:?}");
                        calls += 1;
                    }
                    calls
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    });
    let (renewed, ended) = guarded.report();
    assert_eq!(ended, 0, "after {renewed} renewals and {calls} calls");
    // Not one of them for each replica.
    assert!(renewed < wanted + 3, "{renewed} renewals for {wanted} lives of a token");
}

#[test]
fn promise_a_login_at_one_replica_is_one_at_all_and_so_is_a_logout() {
    let (cluster, guarded) = (Cluster::start(), Guarded::with_tokens_of(3600));
    let replicas = replicas(&cluster, &guarded, 3);
    for replica in &replicas {
        let reason = shown(replica)["reason"].to_string();
        assert!(reason.contains("toolroom servers login docs"), "{reason}");
    }
    log_in(&replicas[0].home, "docs");
    replicas.iter().for_each(works);
    assert!(!replicas[0].home.home().join("logins").exists(), "no token is in a home");
    let out = replicas[1].home.run(&["servers", "logout", "docs"]);
    assert_eq!(out.code, 0, "{out:?}");
    for replica in &replicas {
        let refused = work(replica);
        assert_ne!(refused.status, 200, "{refused:?}");
    }
    log_in(&replicas[2].home, "docs");
    replicas.iter().for_each(works);
    // Who comes later finds it.
    works(&Replica::start_sealed(TestHome::new(), &cluster.url(), KEY));
}

#[test]
fn a_replica_without_the_seal_key_of_the_others_says_what_to_do() {
    let (cluster, guarded) = (Cluster::start(), Guarded::with_tokens_of(3600));
    let right = replicas(&cluster, &guarded, 1);
    log_in(&right[0].home, "docs");
    works(&right[0]);
    let other = Replica::start_sealed(TestHome::new(), &cluster.url(), &"f".repeat(64));
    let reason = shown(&other)["reason"].to_string();
    assert!(
        reason.contains("TOOLROOM_SEAL_KEY is not the key") && reason.contains("servers login docs"),
        "{reason}"
    );
    let none = Replica::start(&cluster.url());
    let reason = shown(&none)["reason"].to_string();
    assert!(reason.contains("set TOOLROOM_SEAL_KEY") && reason.contains("openssl rand -hex 32"), "{reason}");
    // Nor can one of them take the login from the others.
    let refused = call(&other.server, "", "docs__work", json!({}));
    assert_ne!(refused.status, 200, "{refused:?}");
    works(&right[0]);
}

#[test]
fn the_first_replica_brings_the_logins_of_its_home() {
    let (cluster, guarded) = (Cluster::start(), Guarded::with_tokens_of(3600));
    let home = TestHome::new();
    write(&home, json!({ "docs": guarded.entry() }));
    log_in(&home, "docs");
    assert!(home.home().join("logins/docs.json").exists());
    let first = Replica::start_sealed(home, &cluster.url(), KEY);
    assert!(
        !first.home.home().join("logins/docs.json").exists(),
        "a token that is used elsewhere is not used here"
    );
    works(&first);
    works(&Replica::start_sealed(TestHome::new(), &cluster.url(), KEY));
}
