//! The client tests in Python, against a server of their own.

use std::path::Path;
use std::process::Command;

use crate::room::{Done, Room};

#[test]
fn the_contract_tests_that_the_assistant_profile_publishes_pass_over_http() {
    pytest("test_seed_003.py");
}

#[test]
fn the_official_openai_package_takes_the_functions_and_their_answers() {
    pytest("test_openai_tools.py");
}

fn pytest(file: &str) {
    let python = std::env::var_os("TOOLROOM_TEST_PYTHON")
        .unwrap_or_else(|| panic!("TOOLROOM_TEST_PYTHON is not set: run cargo xtask test"));
    let room = Room::new();
    let users = ["first", "second"];
    let keys = users.map(|user| room.run(&["keys", "create", "--user", user]).line().to_owned());
    let served = room.serve();
    let mut tests = Command::new(python);
    tests
        .args(["-m", "pytest", file])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TOOLROOM_URL", format!("http://{}", served.address))
        .env("TOOLROOM_KEYS", keys.join(","))
        .env("TOOLROOM_USERS", users.join(","));
    let done = Done::of(tests);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
}
