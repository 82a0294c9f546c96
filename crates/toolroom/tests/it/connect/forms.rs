//! Each client's file and form, as its makers document them.

use serde_json::{Value, json};

use super::success;
use crate::documents::commands;
use crate::test_home::{Done, TestHome};

const PROFILE: &str = "plain";
const URL: &str = "http://127.0.0.1:7878/mcp/plain";

/// A client, its file as people keep it, where our entry goes, and what stands there with the address: with a key,
/// and with a variable. The words in capitals are filled in.
fn clients() -> Vec<(&'static str, &'static str, &'static str, &'static str, Value, Value, Value)> {
    let headers = json!({ "Authorization": "Bearer KEY" });
    let variable = |name: &str| json!({ "Authorization": format!("Bearer {name}") });
    let plain = json!({ "command": "PROGRAM", "args": "ARGS" });
    vec![
        (
            "claude-code",
            ".claude.json",
            "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"git\": { \"command\": \"git-mcp\" }\n  }\n}",
            "/mcpServers/toolroom",
            json!({ "type": "stdio", "command": "PROGRAM", "args": "ARGS" }),
            json!({ "type": "http", "url": URL, "headers": headers }),
            json!({ "type": "http", "url": URL, "headers": variable("${TOOLROOM_KEY}") }),
        ),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "{\"globalShortcut\": \"\", \"mcpServers\": {\"git\": {\"command\": \"git-mcp\"}}}",
            "/mcpServers/toolroom",
            plain.clone(),
            Value::Null,
            Value::Null,
        ),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            "// mine\n{\n\t/* a, b */\n\t\"servers\": { // all\n\t\t// first\n\t\t\"git\": {\"type\": \"stdio\",},\n\t},\n\t\"inputs\": [],\n}\n",
            "/servers/toolroom",
            json!({ "type": "stdio", "command": "PROGRAM", "args": "ARGS" }),
            json!({ "type": "http", "url": URL, "headers": headers }),
            json!({ "type": "http", "url": URL, "headers": variable("${env:TOOLROOM_KEY}") }),
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            "{\r\n  \"mcpServers\": {}\r\n}\r\n",
            "/mcpServers/toolroom",
            plain.clone(),
            json!({ "url": URL, "headers": headers }),
            json!({ "url": URL, "headers": variable("${env:TOOLROOM_KEY}") }),
        ),
        (
            "codex",
            ".codex/config.toml",
            "# mine\nmodel = \"x\" # best\n\n[mcp_servers.git] # first\ncommand = \"git-mcp\"\n\n# last\n[projects.\"/a\"]\ntrust = true",
            "/mcp_servers/toolroom",
            plain.clone(),
            json!({ "url": URL, "http_headers": headers }),
            json!({ "url": URL, "bearer_token_env_var": "TOOLROOM_KEY" }),
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\n    // colours\n    \"ui\": { \"theme\": \"x\" } // end\n}\n",
            "/mcpServers/toolroom",
            plain.clone(),
            json!({ "httpUrl": URL, "headers": headers }),
            json!({ "httpUrl": URL, "headers": variable("${TOOLROOM_KEY}") }),
        ),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            "{ /* none yet */ }",
            "/mcpServers/toolroom",
            plain.clone(),
            json!({ "serverUrl": URL, "headers": headers }),
            json!({ "serverUrl": URL, "headers": variable("${env:TOOLROOM_KEY}") }),
        ),
        (
            "windsurf",
            ".config/devin/mcp_config.json",
            "{}",
            "/mcpServers/toolroom",
            plain.clone(),
            json!({ "url": URL, "transport": "http", "headers": headers }),
            Value::Null,
        ),
        (
            "zed",
            ".config/zed/settings.json",
            "// Zed settings\n//\n{\n  \"context_servers\": { /* one */\n    \"git\": { \"command\": \"x\" } // two\n  }, // three\n  \"vim_mode\": true,\n}\n",
            "/context_servers/toolroom",
            plain,
            json!({ "url": URL, "headers": headers }),
            Value::Null,
        ),
        (
            "opencode",
            ".config/opencode/opencode.jsonc",
            "{\n  // shape of version 1\n  \"mcp\": {\n    \"git\": { \"type\": \"local\", \"command\": [\"x\"] }\n  }\n}\n",
            "/mcp/toolroom",
            json!({ "type": "local", "command": "WORDS" }),
            json!({ "type": "remote", "url": URL, "headers": headers, "oauth": false }),
            json!({ "type": "remote", "url": URL, "headers": variable("{env:TOOLROOM_KEY}"), "oauth": false }),
        ),
        (
            "opencode",
            ".config/opencode/opencode.json",
            "{ \"mcp\": { \"servers\": { \"git\": { \"type\": \"local\" } } } }",
            "/mcp/servers/toolroom",
            json!({ "type": "local", "command": "WORDS" }),
            json!({ "type": "remote", "url": URL, "headers": headers, "oauth": false }),
            json!({ "type": "remote", "url": URL, "headers": variable("{env:TOOLROOM_KEY}"), "oauth": false }),
        ),
    ]
}

/// What a file says, without comments.
fn read(home: &TestHome, file: &str) -> Value {
    let text = home.text(file);
    if file.ends_with(".toml") {
        return toml::from_str(&text).unwrap();
    }
    let options = jsonc_parser::ParseOptions::default();
    jsonc_parser::parse_to_ast(&text, &Default::default(), &options).unwrap().value.unwrap().into()
}

/// The expected entry with its capitals filled in.
fn filled(home: &TestHome, entry: &Value, key: &str) -> Value {
    let program = assert_cmd::cargo::cargo_bin!("toolroom").to_str().unwrap().to_owned();
    let args = vec!["--home", home.home().to_str().unwrap(), "mcp", "--profile", PROFILE]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let words: Vec<String> = [vec![program.clone()], args.clone()].concat();
    let text = entry.to_string().replace("PROGRAM", &program).replace("Bearer KEY", &format!("Bearer {key}"));
    let text =
        text.replace("\"ARGS\"", &json!(args).to_string()).replace("\"WORDS\"", &json!(words).to_string());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn promise_a_commented_file_of_each_client_gets_its_form_and_is_the_same_after_disconnect() {
    for (client, file, text, place, stdio, http, env) in clients() {
        let home = TestHome::new();
        home.put_file(file, text);
        for (flags, wanted) in [(&[][..], &stdio), (&["--http"][..], &http), (&["--http", "--env"][..], &env)]
        {
            let done = home.connect(&[&[client, "--yes"], flags].concat());
            if wanted.is_null() {
                assert_eq!(done.code, 2, "{client} {flags:?}: {done:?}");
                assert_eq!(home.text(file), text);
                continue;
            }
            success(done);
            let found = read(&home, file).pointer(place).unwrap().clone();
            let key = found
                .to_string()
                .split("Bearer ")
                .nth(1)
                .map(|rest| rest.split('"').next().unwrap().to_owned());
            let key = key.filter(|key| key.starts_with("tr_")).unwrap_or_default();
            assert_eq!(found, filled(&home, wanted, &key), "{client} {flags:?}");
            assert_eq!(!key.is_empty(), flags == ["--http"], "{client} {flags:?}");
            success(home.disconnect(&[client]));
            assert_eq!(home.text(file), text, "{client} {flags:?}");
        }
    }
}

#[test]
fn what_to_write_by_hand_is_printed_for_every_client() {
    let home = TestHome::new();
    let printed = success(home.connect(&["print"])).out;
    for words in [
        "Claude Code: ",
        "Claude Desktop: ",
        "VS Code: ",
        "Cursor: ",
        "Codex: ",
        "Gemini CLI: ",
        "Windsurf",
        "Zed: ",
        "opencode: ",
        "Copilot CLI: ",
        "Goose: ",
        "Cline: ",
        "Continue: ",
        "LM Studio: ",
        "JetBrains",
        "Qwen Code: ",
        "LibreChat: ",
        "[mcp_servers.toolroom]",
        "context_servers",
        "    type: stdio\n    cmd: \"/",
        "mcpServers:\n  - name: toolroom",
    ] {
        assert!(printed.contains(words), "no {words:?} in {printed}");
    }
    let http = success(home.connect(&["print", "--http"]));
    for words in [
        "streamableHttp",
        "type: streamable_http",
        "type: streamable-http",
        "Open WebUI: ",
        "n8n: ",
        URL,
        "httpUrl",
        "bearer",
    ] {
        assert!(http.out.to_lowercase().contains(&words.to_lowercase()), "no {words:?} in {}", http.out);
    }
    assert!(http.err.contains("toolroom keys create") && home.keys().is_empty(), "{http:?}");
}

#[test]
fn the_clients_are_listed_with_how_they_stand() {
    let home = TestHome::new();
    home.put_file(".cursor/mcp.json", "{}");
    home.put_file(".config/zed/settings.json", "{ oops");
    success(home.connect(&["cursor", "--yes"]));
    let shown = success(home.connect(&[])).out;
    let line = |client: &str| shown.lines().find(|line| line.starts_with(client)).unwrap().to_owned();
    assert!(line("cursor").contains("connected") && line("cursor").contains(".cursor/mcp.json"), "{shown}");
    assert!(line("codex").contains("no settings found") && line("zed").contains("cannot be read"), "{shown}");
    let wrong = home.connect(&["cusor"]);
    assert!(wrong.code == 2 && wrong.err.contains("cursor"), "{wrong:?}");
}

#[test]
fn the_commands_of_the_page_work_as_printed() {
    let home = TestHome::new();
    let commands = commands("docs/connect.md");
    for command in &commands {
        let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
        assert_eq!(words.remove(0), "toolroom", "{command:?}");
        // Nobody is there to be asked.
        words.extend((words[..] != ["connect"] && words[0] == "connect").then_some("--yes"));
        success(Done::of(home.as_user(&words)));
    }
    assert_eq!(commands.len(), 7);
}
