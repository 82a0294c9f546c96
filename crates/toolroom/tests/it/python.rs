//! The client tests in Python, against a server of their own.

use std::process::Command;

use crate::programs::{generated_client, program, python_script};
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

#[test]
fn the_official_openai_package_has_responses_streaming_and_not() {
    pytest(PYTHON, "test_responses.py");
}

#[test]
fn promise_a_client_generated_from_the_openapi_document_in_python_works() {
    pytest(PYTHON, "test_generated_client.py");
}

#[test]
fn promise_a_client_generated_from_the_openapi_document_in_typescript_works() {
    let home = TestHome::new();
    let key = home.run(&["keys", "create", "--user", "first"]).line().to_owned();
    let served = home.serve();
    let node = |arguments: &[&str]| {
        let mut command = Command::new(program("TOOLROOM_TEST_NODE"));
        command.args(arguments).current_dir(generated_client("."));
        command.env("TOOLROOM_URL", format!("http://{}", served.address)).env("TOOLROOM_KEY", &key);
        let done = Done::of(command);
        assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
        assert!(!done.err.contains('⚠'), "{}", done.err);
    };
    let package = |file: &str| generated_client(&format!("node_modules/{file}"));
    let document = format!("http://{}/openapi.json", served.address);
    // Fields that have a default may be left out of a request.
    let types = ["-o", "api.d.ts", "--default-non-nullable=false"];
    node(&[&[&*package("openapi-typescript/bin/cli.js"), &document][..], &types].concat());
    node(&[&package("typescript/bin/tsc"), "-p", "."]);
    node(&["client.ts"]);
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
