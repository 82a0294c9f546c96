//! The files in `deploy` that run several servers: read by the programs that they are for, and tried with real servers.

use std::process::Command;

use crate::programs::{deploy_test, program};
use crate::promises::cluster::Cluster;
use crate::test_home::Done;

#[test]
fn compose_reads_its_file_and_a_container_of_it_serves() {
    pytest("test_compose.py");
}

#[test]
fn the_chart_renders_to_what_kubernetes_takes_and_a_pod_of_it_serves() {
    pytest("test_chart.py");
}

#[test]
fn promise_a_rolling_restart_of_all_replicas_behind_haproxy_fails_no_request() {
    pytest("test_haproxy.py");
}

/// Runs a file of `tests/deploy`, with an empty database of its own.
fn pytest(file: &str) {
    let cluster = Cluster::start();
    let mut tests = Command::new(program("TOOLROOM_TEST_PYTHON_DEPLOY"));
    tests
        .args(["-m", "pytest", &deploy_test(file)])
        .current_dir(deploy_test("."))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TOOLROOM_PROGRAM", assert_cmd::cargo::cargo_bin!("toolroom"))
        .env("TOOLROOM_TEST_DATABASE", cluster.url());
    let done = Done::of(tests);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
}
