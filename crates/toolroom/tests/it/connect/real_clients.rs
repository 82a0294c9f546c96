//! The real programs: connected as a person would, each calls a tool. Their model is a stand-in.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::success;
use crate::programs::{client_file, program};
use crate::test_home::{Done, TestHome};

/// The model's process, which ends with the test.
struct StandIn {
    child: Child,
    url: String,
}

impl StandIn {
    fn start(title: &str) -> Self {
        let mut command = Command::new(program("TOOLROOM_TEST_NODE"));
        command.args([&client_file("stand_in_model.mjs"), title]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: line.trim().to_owned() }
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program of this machine among a client's packages.
fn installed(for_machines: [&str; 2]) -> String {
    client_file(&format!("node_modules/{}", for_machines[usize::from(cfg!(target_arch = "aarch64"))]))
}

impl TestHome {
    /// Runs a client in the folder of a user who has nothing else.
    fn client(&self, program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
        let project = self.path("project");
        fs::create_dir_all(&project).unwrap();
        let mut command = Command::new(program);
        let node = crate::programs::program("TOOLROOM_TEST_NODE");
        let path = format!("{}:/usr/bin:/bin", Path::new(&node).parent().unwrap().display());
        command.args(arguments).env_clear().env("PATH", path).env("HOME", self.path("")).current_dir(project);
        // The engine that a client's `toolroom mcp` starts ends soon after the test.
        command.env("TOOLROOM_ENGINE_IDLE", "1");
        command.envs(variables.iter().copied()).stdin(Stdio::null());
        Done::of(command)
    }

    fn titles(&self) -> Vec<String> {
        let found = self.json(&["call", "list-tasks"]);
        let tasks = found["data"]["tasks"].as_array().unwrap().iter();
        tasks.map(|task| task["title"].as_str().unwrap().to_owned()).collect()
    }

    /// A server on a port that the home's settings name, so that `connect --http` finds it.
    fn serve_as_set(&self) -> crate::test_home::Served {
        success(self.run(&["init"]));
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        fs::write(self.home().join("toolroom.toml"), format!("[server]\nlisten = \"{port}\"\n")).unwrap();
        crate::test_home::Served::start(self.command(&["serve"]))
    }
}

fn claude(home: &TestHome, model: &StandIn, key: &str) -> Done {
    let program = installed([
        "@anthropic-ai/claude-code-linux-x64/claude",
        "@anthropic-ai/claude-code-linux-arm64/claude",
    ]);
    let variables = [
        ("ANTHROPIC_BASE_URL", model.url.as_str()),
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        // It would begin without its servers, and look for tools only when the model asks.
        ("MCP_CONNECTION_NONBLOCKING", "0"),
        ("ENABLE_TOOL_SEARCH", "false"),
        ("TOOLROOM_KEY", key),
    ];
    home.client(&program, &["-p", "add a task", "--allowedTools", "mcp__toolroom__create-task"], &variables)
}

#[test]
fn claude_code_calls_a_tool_by_stdio_and_by_http() {
    let home = TestHome::new();
    success(home.connect(&["claude-code", "--yes"]));
    success(claude(&home, &StandIn::start("from Claude Code"), ""));
    assert_eq!(home.titles(), ["from Claude Code"]);
    let _server = home.serve_as_set();
    let connected = success(home.connect(&["claude-code", "--yes", "--http", "--env"]));
    let key = connected.err.split("TOOLROOM_KEY=").nth(1).unwrap().trim().to_owned();
    success(claude(&home, &StandIn::start("by its address"), &key));
    assert_eq!(home.titles(), ["by its address", "from Claude Code"]);
}

fn codex(home: &TestHome) -> Done {
    let program = installed([
        "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
    ]);
    let arguments =
        ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "add a task"];
    home.client(&program, &arguments, &[])
}

#[test]
fn codex_calls_a_tool_by_stdio_and_by_http() {
    let home = TestHome::new();
    let settings = |model: &StandIn| {
        format!(
            "model = \"stand-in\"\nmodel_provider = \"stand-in\"\n\n[model_providers.stand-in]\nname = \"stand-in\"\n\
             base_url = \"{}/v1\"\nwire_api = \"responses\"\n",
            model.url
        )
    };
    let model = StandIn::start("from Codex");
    home.put_file(".codex/config.toml", &settings(&model));
    success(home.connect(&["codex", "--yes"]));
    success(codex(&home));
    assert_eq!(home.titles(), ["from Codex"]);
    success(home.disconnect(&["codex"]));
    let _server = home.serve_as_set();
    let model = StandIn::start("by its address");
    home.put_file(".codex/config.toml", &settings(&model));
    success(home.connect(&["codex", "--yes", "--http"]));
    success(codex(&home));
    assert_eq!(home.titles(), ["by its address", "from Codex"]);
}

#[test]
fn gemini_cli_calls_a_tool() {
    let home = TestHome::new();
    let model = StandIn::start("from Gemini CLI");
    home.put_file(
        ".gemini/settings.json",
        "{ \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } } }\n",
    );
    success(home.connect(&["gemini", "--yes"]));
    let bundle = client_file("node_modules/@google/gemini-cli/bundle/gemini.js");
    let variables = [
        ("GOOGLE_GEMINI_BASE_URL", model.url.as_str()),
        ("GEMINI_API_KEY", "none"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ];
    let node = program("TOOLROOM_TEST_NODE");
    // Without a model it would first ask one which to take, again and again.
    success(home.client(
        &node,
        &[&bundle, "-m", "gemini-2.5-flash", "--yolo", "-p", "add a task"],
        &variables,
    ));
    assert_eq!(home.titles(), ["from Gemini CLI"]);
}

#[test]
fn opencode_calls_a_tool() {
    let home = TestHome::new();
    let model = StandIn::start("from opencode");
    let settings: Value = json!({
        "model": "stand-in/model",
        "provider": { "stand-in": {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": format!("{}/v1", model.url), "apiKey": "none" },
            "models": { "model": { "tool_call": true } },
        } },
    });
    home.put_file(".config/opencode/opencode.json", &format!("{settings:#}\n"));
    success(home.connect(&["opencode", "--yes"]));
    let program =
        installed(["opencode-linux-x64-baseline/bin/opencode", "opencode-linux-arm64/bin/opencode"]);
    let variables = [
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ];
    success(home.client(&program, &["run", "add a task"], &variables));
    assert_eq!(home.titles(), ["from opencode"]);
}
