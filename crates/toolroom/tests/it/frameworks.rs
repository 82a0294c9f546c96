//! Agent frameworks of others: each makes its own tools of ours, and calls one as its agents do, on `default` and `plain`.

use std::process::Command;

use serde_json::{Value, json};

use crate::programs::{node_script, program, python_script};
use crate::test_home::{Done, TestHome};

const FRAMEWORKS: &str = "TOOLROOM_TEST_PYTHON_FRAMEWORKS";

#[test]
fn langchain_mcp_adapters_lists_and_calls() {
    lists_and_calls(&python(FRAMEWORKS, "langchain_mcp_adapters"));
}

#[test]
fn pydantic_ai_lists_and_calls() {
    lists_and_calls(&python(FRAMEWORKS, "pydantic_ai"));
}

#[test]
fn llama_index_lists_and_calls() {
    lists_and_calls(&python(FRAMEWORKS, "llama_index"));
}

#[test]
fn openai_agents_lists_and_calls() {
    lists_and_calls(&python(FRAMEWORKS, "openai_agents"));
}

#[test]
fn smolagents_lists_and_calls() {
    lists_and_calls(&python(FRAMEWORKS, "smolagents"));
}

#[test]
fn mcp_use_lists_and_calls() {
    lists_and_calls(&python(FRAMEWORKS, "mcp_use"));
}

#[test]
fn the_vercel_ai_sdk_lists_and_calls() {
    lists_and_calls(&[program("TOOLROOM_TEST_NODE"), node_script("ai_sdk.mjs")]);
}

#[test]
fn the_inspector_lists_and_calls() {
    let home = TestHome::new();
    let served = home.serve();
    let inspect = |profile: &str, asked: &[&str]| {
        let mut command = Command::new(program("TOOLROOM_TEST_NODE"));
        command
            .arg(node_script("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
            .args(["--cli", "--transport", "http", &format!("http://{}/mcp/{profile}", served.address)])
            .args(asked)
            .args(["--format", "json", "-q"])
            // It keeps a catalogue of servers at home.
            .env("HOME", home.path("inspector"))
            .env("MCP_CATALOG_PATH", home.path("catalog.json"));
        let done = Done::of(command);
        assert_eq!(done.code, 0, "{profile}: {done:?}");
        done.out
    };
    for profile in ["default", "plain"] {
        assert!(inspect(profile, &["--method", "tools/list", "--strict"]).contains("create-task"));
        let call = ["--method", "tools/call", "--tool-name", "create-task", "--tool-arg", "title=Buy milk"];
        assert!(inspect(profile, &call).contains("Buy milk"));
    }
}

/// Those that take long to install are tried by `soak` alone.
#[test]
fn promise_every_framework_lists_and_calls() {
    let large = "TOOLROOM_TEST_PYTHON_FRAMEWORKS_LARGE";
    let all: &[(&str, &str)] = match std::env::var_os("TOOLROOM_SOAK") {
        None => &[(FRAMEWORKS, "langchain_mcp_adapters")],
        Some(_) => &[
            (FRAMEWORKS, "langchain_mcp_adapters"),
            (FRAMEWORKS, "pydantic_ai"),
            (FRAMEWORKS, "llama_index"),
            (FRAMEWORKS, "openai_agents"),
            (FRAMEWORKS, "smolagents"),
            (FRAMEWORKS, "mcp_use"),
            (large, "google_adk"),
            ("TOOLROOM_TEST_PYTHON_AG2", "ag2"),
            (large, "autogen_ext"),
            (large, "semantic_kernel"),
            ("TOOLROOM_TEST_PYTHON_CREWAI", "crewai"),
        ],
    };
    for (variable, name) in all {
        lists_and_calls(&python(variable, name));
    }
}

fn python(variable: &str, framework: &str) -> Vec<String> {
    vec![program(variable), python_script("frameworks.py"), framework.to_owned()]
}

fn lists_and_calls(command: &[String]) {
    let home = TestHome::new();
    let served = home.serve();
    for (profile, found) in [("default", 1), ("plain", 2)] {
        let mut use_it = Command::new(&command[0]);
        use_it
            .args(&command[1..])
            .arg(format!("http://{}/mcp/{profile}", served.address))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // They report their use to their makers where they can.
            .envs([("MCP_USE_ANONYMIZED_TELEMETRY", "false"), ("CREWAI_DISABLE_TELEMETRY", "true")])
            .envs([("OTEL_SDK_DISABLED", "true"), ("ANONYMIZED_TELEMETRY", "false")]);
        let done = Done::of(use_it);
        assert_eq!(done.code, 0, "{profile}: {done:?}");
        let said: Value = serde_json::from_str(done.out.lines().last().unwrap_or_default())
            .unwrap_or_else(|_| panic!("{profile}: {done:?}"));
        let functions = served.get(&format!("/api/v1/profiles/{profile}/functions"), "").json;
        let plainly = |name: &Value| name.as_str().unwrap().replace('-', "_");
        let listed: Vec<String> =
            functions.as_array().unwrap().iter().map(|one| plainly(&one["function"]["name"])).collect();
        let seen: Vec<String> = said["tools"].as_array().unwrap().iter().map(plainly).collect();
        assert!(listed.iter().all(|name| seen.contains(name)), "{profile}: {listed:?} {seen:?}");
        let answer = said["answer"].as_str().unwrap();
        assert!(answer.contains("Buy milk"), "{profile}: {answer}");
        let tasks = served.post("/api/v1/tools/list-tasks/call", "", &json!({})).json;
        assert_eq!(tasks["data"]["tasks"].as_array().unwrap().len(), found, "{profile}: {tasks}");
    }
}
