//! Renders `docs/settings.md` from the settings structs and the command line, and compares it with the committed page.

use std::fmt::Write;
use std::path::Path;

use clap::CommandFactory;
use serde_json::{Map, Value};

use super::settings_file::SettingsFile;
use crate::cli::Cli;

const INTRO: &str = "\
# Settings

<!-- Generated from the structs in crates/toolroom/src/config. To change it: UPDATE_EXPECT=1 cargo nextest run -p toolroom -->

You can run Toolroom without any setting. What you change goes into `toolroom.toml` in the home; a new home has one that \
shows every setting with its default. Restart the server after a change.

Flags override environment variables, and both override the file. An unknown key or a value of the wrong type stops the \
start, and the message names the line.

";

const VARIABLES: &str = "\
## Environment variables

| variable | meaning |
| --- | --- |
| `TOOLROOM_HOME` | The home. `--home` overrides it. |
| `TOOLROOM_DATABASE` | The database, like `url` in `[database]`. `--database` overrides it. |
| `TOOLROOM_REDIS` | For `serve` and `worker`: where calls are counted, like `redis` in `[database]`. `--redis` overrides it. |
| `TOOLROOM_KEY` | The key for a server that `--url` names. `--key` overrides it. |
| `TOOLROOM_SEAL_KEY` | The key that seals `secrets.json`, 64 hexadecimal digits, instead of the file `secrets.key` in the home. The same for all servers that share a database, whose logins it seals too. |
| `TOOLROOM_LOG` | What the process logs to stderr: a level (`debug`), or levels by crate (`info,toolroom_store=debug`). |
| `TOOLROOM_NO_ENGINE` | Set to anything: `toolroom mcp` starts no engine and waits for a server, such as one that systemd runs. |
| `TOOLROOM_ENGINE_IDLE` | How many seconds an engine waits for the next client, instead of 60. |
| `TOOLROOM_SEARCH_URL` | The address of a SearXNG server for `search-web`. |
| `TOOLROOM_MODEL` | The language model's name, like `name` in `[model]`. |
| `OPENAI_BASE_URL` | The address of the model's server, like `base_url` in `[model]`. |
| `OPENAI_API_KEY` | The key for that server. A key in `toolroom.toml` is only sent to the `base_url` in `toolroom.toml`. |
| `NO_COLOR` | Set to anything: no colours. |

An empty variable counts as not set. `mcp.json` may use any variable as `${NAME}`; see [federation.md](federation.md).
";

#[test]
fn the_settings_page_is_what_the_structs_say() {
    let page = page();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        std::fs::write(path, page).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(path).unwrap();
    assert!(committed == page, "docs/settings.md is old. Run: UPDATE_EXPECT=1 cargo nextest run -p toolroom");
}

#[test]
fn the_starter_file_shows_every_setting_and_its_default() {
    let starter = include_str!("../home/toolroom.toml");
    let mut tables = tables();
    tables.retain(|table| table.name != "allowed_hosts");
    for table in tables {
        let name = table.name.replace("NAME", "desk");
        let header = starter.lines().position(|line| line.trim_start_matches("# ") == format!("[{name}]"));
        let header = header.unwrap_or_else(|| panic!("[{name}] is missing"));
        let body: Vec<&str> = starter.lines().skip(header + 1).take_while(|line| !line.is_empty()).collect();
        for setting in table.settings {
            let key = &setting.key;
            let shown = body.iter().any(|line| {
                line.starts_with(&format!("# {key} = ")) || line.ends_with(&format!("[{name}.{key}]"))
            });
            assert!(shown, "[{name}] {key} is missing");
            if let Some(value) = setting.default.filter(|value| value.is_number() || value.is_boolean()) {
                let line = format!("# {key} = {value} ");
                assert!(body.iter().any(|found| found.starts_with(&line)), "[{name}] {key} is not {value}");
            }
        }
    }
}

fn page() -> String {
    let mut page = INTRO.to_owned();
    for table in tables() {
        if table.name == "allowed_hosts" {
            page += "## Top level\n\n";
        } else {
            let _ = write!(page, "## `[{}]`\n\n{}\n\n", table.name, table.about);
        }
        page += "| key | type | default | meaning | also set by |\n| --- | --- | --- | --- | --- |\n";
        for Setting { key, kind, default, about, set_by } in table.settings {
            let default = default.map(|value| format!("`{value}`")).unwrap_or_default();
            let _ = writeln!(page, "| `{key}` | {kind} | {default} | {about} | {set_by} |");
        }
        page.push('\n');
    }
    page + &flags() + VARIABLES
}

/// The flags that every command takes, and those of `serve`.
fn flags() -> String {
    let mut text = "## Flags\n\n| flag | meaning |\n| --- | --- |\n".to_owned();
    let command = Cli::command();
    let serve = command.find_subcommand("serve").unwrap();
    for argument in command.get_arguments().chain(serve.get_arguments()) {
        let (Some(long), Some(help)) = (argument.get_long(), argument.get_help()) else { continue };
        let value = argument.get_value_names().filter(|_| argument.get_action().takes_values());
        let value = value.map(|names| format!(" {}", names[0])).unwrap_or_default();
        let _ = writeln!(text, "| `--{long}{value}` | {} |", help.to_string().replace('\n', " "));
    }
    text + "\n`toolroom COMMAND --help` lists the flags of each command.\n\n"
}

struct Table {
    name: String,
    about: String,
    settings: Vec<Setting>,
}

struct Setting {
    key: String,
    kind: String,
    default: Option<Value>,
    about: String,
    set_by: String,
}

/// The tables of the file, in the order of the structs. What stands before the first table is called `allowed_hosts`.
fn tables() -> Vec<Table> {
    let schema = schemars::schema_for!(SettingsFile).to_value();
    let root = schema["properties"].as_object().unwrap();
    let mut tables = Vec::new();
    for (name, field) in root {
        let (name, table) = match &field["additionalProperties"] {
            Value::Null => (name.clone(), resolve(&schema, field)),
            value => (format!("{name}.NAME"), resolve(&schema, value)),
        };
        let one = Map::from_iter([(name.clone(), field.clone())]);
        let fields = table["properties"].as_object().unwrap_or(&one);
        let settings = fields.iter().map(|(key, field)| setting(&schema, key, field)).collect();
        tables.push(Table { name, about: about(table), settings });
    }
    tables
}

fn setting(schema: &Value, key: &str, field: &Value) -> Setting {
    let text = about(field);
    assert!(!text.is_empty(), "'{key}' has no comment");
    Setting {
        key: key.to_owned(),
        kind: kind(schema, field),
        default: field.get("default").filter(|value| !value.is_null()).cloned(),
        about: text,
        set_by: field["x-set-by"].as_str().unwrap_or_default().to_owned(),
    }
}

fn about(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

/// The type in words.
fn kind(schema: &Value, field: &Value) -> String {
    let field = resolve(schema, field);
    let words = choices(field);
    if !words.is_empty() {
        return words.join(", ");
    }
    let name = match &field["type"] {
        Value::Array(several) => several[0].as_str(),
        one => one.as_str(),
    };
    match name {
        Some("array") => format!("list: {}", kind(schema, &field["items"])),
        Some("integer") if field["minimum"] == 1 => "number from 1".to_owned(),
        Some("integer") => "number from 0".to_owned(),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("object") => "table of strings".to_owned(),
        _ => "string".to_owned(),
    }
}

fn choices(field: &Value) -> Vec<String> {
    let quoted = |word: &Value| word.as_str().map(|word| format!("`\"{word}\"`"));
    let listed = field["enum"].as_array().into_iter().flatten().filter_map(quoted);
    listed
        .chain(field["oneOf"].as_array().into_iter().flatten().filter_map(|one| quoted(&one["const"])))
        .collect()
}

/// Follows a reference, and looks past the null of an optional field.
fn resolve<'a>(schema: &'a Value, field: &'a Value) -> &'a Value {
    let reference = field["$ref"].as_str().or_else(|| field["anyOf"][0]["$ref"].as_str());
    match reference.and_then(|at| schema.pointer(at.trim_start_matches('#'))) {
        Some(found) => found,
        None => field,
    }
}
