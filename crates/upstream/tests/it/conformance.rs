//! The official conformance suite, run against the client in `examples/conformance.rs`: every scenario that
//! needs no authorization.

use std::process::Command;

use crate::room::{node_package, program};

/// A test for each scenario: the suite, its name for the scenario, and the revision.
macro_rules! passes {
    ($($test:ident: $suite:literal $scenario:literal $revision:expr;)+) => {$(
        #[test]
        fn $test() {
            run($suite, $scenario, $revision);
        }
    )+};
}

const OLDER: Option<&str> = Some("2025-11-25");
const NEWEST: Option<&str> = Some("2026-07-28");

passes! {
    the_released_suite_sees_us_initialize: "conformance-0.1" "initialize" None;
    the_released_suite_sees_us_call_tools: "conformance-0.1" "tools_call" None;
    the_released_suite_sees_us_answer_with_defaults: "conformance-0.1" "elicitation-sep1034-client-defaults" None;
    the_released_suite_sees_us_take_streams_up_again: "conformance-0.1" "sse-retry" None;
    the_suite_of_2025_11_25_sees_us_initialize: "conformance-0.2" "initialize" OLDER;
    the_suite_of_2025_11_25_sees_us_call_tools: "conformance-0.2" "tools_call" OLDER;
    the_suite_of_2025_11_25_sees_us_answer_with_defaults: "conformance-0.2" "elicitation-sep1034-client-defaults" OLDER;
    the_suite_of_2025_11_25_sees_us_take_streams_up_again: "conformance-0.2" "sse-retry" OLDER;
    the_suite_of_2025_11_25_sees_us_keep_schemas_whole: "conformance-0.2" "json-schema-2020-12-preservation" OLDER;
    the_suite_of_2026_07_28_sees_us_call_tools: "conformance-0.2" "tools_call" NEWEST;
    the_suite_of_2026_07_28_sees_our_metadata: "conformance-0.2" "request-metadata" NEWEST;
    the_suite_of_2026_07_28_sees_us_give_state_back: "conformance-0.2" "sep-2322-client-request-state" NEWEST;
    the_suite_of_2026_07_28_sees_our_headers: "conformance-0.2" "http-standard-headers" NEWEST;
    the_suite_of_2026_07_28_sees_arguments_in_headers: "conformance-0.2" "http-custom-headers" NEWEST;
    the_suite_of_2026_07_28_sees_us_drop_tools_with_bad_headers: "conformance-0.2" "http-invalid-tool-headers" NEWEST;
    the_suite_of_2026_07_28_sees_us_fetch_no_schema: "conformance-0.2" "json-schema-ref-no-deref" NEWEST;
    the_suite_of_2026_07_28_sees_us_keep_schemas_whole: "conformance-0.2" "json-schema-2020-12-preservation" NEWEST;
}

fn run(suite: &str, scenario: &str, revision: Option<&str>) {
    let results = tempfile::tempdir().unwrap();
    let tests = std::env::current_exe().unwrap();
    let client = tests.parent().unwrap().join("../examples/conformance").canonicalize().unwrap();
    let mut command = Command::new(program("TOOLROOM_TEST_NODE"));
    command.arg(node_package(&format!("{suite}/dist/index.js"))).args(["client", "--scenario", scenario]);
    // A busy machine is no failure.
    command.args(["--timeout", "150000"]);
    command.arg("--command").arg(client).arg("-o").arg(results.path());
    command.args(revision.iter().flat_map(|revision| ["--spec-version", revision]));
    let output = command.output().unwrap();
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && said.contains("0 failed, 0 warnings"), "{scenario}: {said}");
}
