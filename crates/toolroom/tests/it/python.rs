//! The client tests in Python, against a server of their own.

use std::process::Command;

use crate::programs::{program, python_script};
use crate::test_home::{Done, TestHome};

const PYTHON: &str = "TOOLROOM_TEST_PYTHON";

#[test]
fn the_contract_tests_that_the_assistant_profile_publishes_pass_over_http() {
    pytest(PYTHON, "test_seed_003.py");
}

#[test]
fn the_official_openai_package_takes_the_functions_and_their_answers() {
    pytest(PYTHON, "test_openai_tools.py");
}

#[test]
fn the_official_openai_package_chats_streaming_and_not() {
    pytest(PYTHON, "test_chat_completions.py");
}

/// Runs a file of tests in the environment that the variable names, against a server of its own.
pub fn pytest(variable: &str, file: &str) {
    let home = TestHome::new();
    let users = ["first", "second"];
    let keys = users.map(|user| home.run(&["keys", "create", "--user", user]).line().to_owned());
    let served = home.serve();
    let mut tests = Command::new(program(variable));
    tests
        .args(["-m", "pytest", &python_script(file)])
        .current_dir(python_script("."))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TOOLROOM_URL", format!("http://{}", served.address))
        .env("TOOLROOM_KEYS", keys.join(","))
        .env("TOOLROOM_USERS", users.join(","));
    let done = Done::of(tests);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
}
