//! The MCP servers of other programs, taken over from the files where they keep them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::test_home::{Done, TestHome};

impl TestHome {
    /// Imports with a folder of the user's own, where other programs keep their settings.
    fn import_from(&self, arguments: &[&str]) -> Done {
        let mut command = self.command(&[&["import"], arguments].concat());
        command.env("HOME", self.path("")).current_dir(self.path(""));
        Done::of(command)
    }

    fn settings(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn servers(&self) -> Value {
        let text = fs::read_to_string(self.home().join("mcp.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["mcpServers"].clone()
    }
}

#[test]
fn promise_servers_of_other_programs_are_shown_asked_for_and_added_and_their_files_stay() {
    let home = TestHome::new();
    let claude = r#"{
        "numStartups": 7,
        "mcpServers": {
            "git": { "type": "stdio", "command": "/bin/false", "args": ["git"], "env": { "GIT_TOKEN": "tok-123" } },
            "toolroom": { "command": "/usr/bin/toolroom", "args": ["mcp"] },
            "docs": { "type": "http", "url": "https://docs.example.com/mcp", "headers": { "X-Key": "${DOCS_KEY}" } },
            "odd": { "sse": true }
        }
    }"#;
    home.settings(".claude.json", claude);
    let asked = home.import_from(&["claude"]);
    assert_eq!(asked.code, 1, "{asked:?}");
    for words in [
        "git",
        "/bin/false git",
        "GIT_TOKEN is a secret in plain text",
        "it is Toolroom itself",
        "neither a command",
    ] {
        assert!(asked.out.contains(words), "no {words:?}: {}", asked.out);
    }
    assert!(asked.err.contains("--yes") && !asked.out.contains("tok-123"), "{asked:?}");
    let added = home.import_from(&["claude", "--yes"]);
    assert_eq!(added.code, 0, "{added:?}");
    let servers = home.servers();
    assert_eq!(
        servers["git"],
        json!({ "command": "/bin/false", "args": ["git"], "env": { "GIT_TOKEN": "tok-123" } })
    );
    assert_eq!(servers["docs"]["headers"]["X-Key"], "${DOCS_KEY}");
    assert!(servers.get("toolroom").is_none() && servers.get("odd").is_none());
    assert_eq!(fs::read_to_string(home.path(".claude.json")).unwrap(), claude);
    // A name that there is already is told, and nothing is replaced.
    let again = home.import_from(&["claude", "--yes"]);
    assert!(
        again.out.contains("mcp.json has a server of this name") && again.out.contains("nothing was added"),
        "{again:?}"
    );
}

#[test]
fn promise_files_with_comments_and_other_spellings_of_variables_are_read() {
    let home = TestHome::new();
    home.settings(
        ".vscode/mcp.json",
        r#"// of this folder
        { "inputs": [{ "id": "api-key", "type": "promptString" }],
          "servers": { /* two */
            "web": { "type": "http", "url": "https://web.example.com", "headers": { "Authorization": "Bearer ${input:api-key}" } },
            "here": { "type": "stdio", "command": "${env:NODE}", "args": ["${workspaceFolder}/server.js",], },
          }, }"#,
    );
    let added = home.import_from(&["vscode", "--yes"]);
    assert_eq!(added.code, 0, "{added:?}");
    assert!(added.out.contains("set the variable API_KEY"), "{added:?}");
    let servers = home.servers();
    assert_eq!(servers["web"]["headers"]["Authorization"], "Bearer ${API_KEY}");
    assert_eq!(servers["here"]["command"], "${NODE}");
    let script = servers["here"]["args"][0].as_str().unwrap();
    assert_eq!(Path::new(script), home.path("").canonicalize().unwrap().join("server.js"));
    home.settings(".cursor/mcp.json", r#"{ "mcpServers": { "a": { "command": "x" }, "b": { "url": "https://b.example.com", "disabled": true } } }"#);
    assert_eq!(home.import_from(&["cursor", "--yes", "--only", "b"]).code, 0);
    assert_eq!(home.servers()["b"]["enabled"], false);
    assert!(home.servers().get("a").is_none());
    home.settings(
        "any.json",
        r#"{ "mcp": { "servers": { "c": { "command": ["npx", "${workspaceFolder}", "c"] } } } }"#,
    );
    assert_eq!(home.import_from(&["any.json", "--yes"]).code, 0);
    let folder = home.path("").canonicalize().unwrap();
    assert_eq!(home.servers()["c"], json!({ "command": "npx", "args": [folder, "c"] }));
}

#[test]
fn promise_what_cannot_be_taken_over_is_told_with_the_way_out() {
    let home = TestHome::new();
    let none = home.import_from(&["cursor"]);
    assert!(
        none.code == 1
            && none.err.contains("no settings of Cursor")
            && none.err.contains("toolroom import FILE"),
        "{none:?}"
    );
    home.settings("bad.json", "{ oops");
    let bad = home.import_from(&["bad.json"]);
    assert!(bad.code == 1 && bad.err.contains("bad.json: is not JSON"), "{bad:?}");
    let nothing = home.import_from(&[]);
    assert!(nothing.code == 2 && nothing.err.contains("claude|vscode|cursor|FILE"), "{nothing:?}");
    let missing = home.import_from(&["bad.json", "--only"]);
    assert_eq!(missing.code, 2);
}
