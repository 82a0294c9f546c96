//! From a server's tools to definitions under our contract. What a server does not say is filled in on the
//! safe side, and named as derived.

use std::sync::Arc;

use semver::Version;
use serde_json::{Value, json};
use toolroom_contract::text::plain_reason;
use toolroom_contract::validator::{SchemaCost, Validator};
use toolroom_contract::{Category, Permission, ResponseTime, ToolDefinition};
use toolroom_mcp::{HeaderParam, Tool};

use crate::config::{Reach, ServerConfig};
use crate::items::RemoteTool;
use crate::names;

/// A server's tool under our contract.
#[derive(Clone, Debug)]
pub struct FederatedTool {
    /// Its definition, under its federated name.
    pub definition: ToolDefinition,
    /// What the server calls it, and all that the server says about it.
    pub remote: RemoteTool,
    /// Arguments that are also sent as headers.
    pub headers: Arc<[HeaderParam]>,
}

/// A tool that is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The server's own name for it.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// A server's tools under our contract.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Those that can be called.
    pub tools: Vec<FederatedTool>,
    /// Those that cannot. One of them hides nothing of the others.
    pub rejected: Vec<Rejected>,
}

/// How deep a schema may be nested.
const DEEPEST: usize = 48;
/// What the schemas of one server may cost together: they stay compiled.
const MOST_NODES: u64 = 200_000;
const MOST_PATTERN_BYTES: u64 = 64 * 1024 * 1024;
/// The longest description that clients show.
const LONGEST_DESCRIPTION: usize = 2_048;

/// Puts a server's tools under our contract. Names depend on all tools of the server, so that switching one
/// off renames no other.
pub fn catalogue(config: &ServerConfig, tools: &[RemoteTool]) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let mut spent = SchemaCost::default();
    let names = names::federated(config.name_prefix(), tools.iter().map(|tool| tool.name.as_str()));
    for (at, (tool, name)) in tools.iter().zip(names).enumerate() {
        if !config.filter.takes(&tool.name) {
            continue;
        }
        let double = tools[..at].iter().any(|earlier| earlier.name == tool.name);
        let made = match double {
            true => Err("the server has two tools of that name; the first one is used".to_owned()),
            false => federate(config, tool, name, &mut spent),
        };
        match made {
            Ok(tool) => catalogue.tools.push(tool),
            Err(reason) => catalogue.rejected.push(Rejected { name: tool.name.clone(), reason }),
        }
    }
    catalogue
}

fn federate(
    config: &ServerConfig,
    tool: &RemoteTool,
    name: String,
    spent: &mut SchemaCost,
) -> Result<FederatedTool, String> {
    let said: Tool = serde_json::from_str(tool.raw.get())
        .map_err(|error| format!("malformed: {}", plain_reason(&error.to_string())))?;
    let parameters = said.input_schema.unwrap_or_else(|| json!({ "type": "object" }));
    if parameters.get("type").and_then(Value::as_str) != Some("object") {
        return Err("inputSchema must be of type object".to_owned());
    }
    let output = match config.toolroom {
        true => said.output_schema.map(without_envelope),
        false => said.output_schema,
    };
    let schemas = [("inputSchema", Some(&parameters)), ("outputSchema", output.as_ref())];
    let schemas = schemas.into_iter().filter_map(|(which, schema)| Some((which, schema?)));
    // Compiling is what costs, so all are measured before one is compiled.
    let mut sum = *spent;
    for (which, schema) in schemas.clone() {
        sum = within_budget(sum, measured(which, schema)?)?;
    }
    for (which, schema) in schemas {
        Validator::compile(schema).map_err(|error| format!("{which}: {error}"))?;
    }
    *spent = sum;
    // On stdio there are no headers, and the marks mean nothing.
    let headers = match config.reach {
        Reach::Stdio(_) => Vec::new(),
        Reach::Url { .. } => HeaderParam::of_schema(&parameters)?,
    };
    let annotations = said.annotations.unwrap_or_default();
    let permission = Permission::new(&config.published, "call").map_err(|error| error.to_string())?;
    let read_only = annotations.read_only_hint == Some(true);
    let mut derived =
        vec!["version", "permissions", "category", "responseTime", "cacheable", "idempotent", "tags"];
    derived.push("destructive");
    let titles = [said.title.as_deref(), annotations.title.as_deref()];
    let description = match said.description.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => text.to_owned(),
        None => {
            derived.push("description");
            let title = titles.into_iter().flatten().next().unwrap_or(&tool.name);
            format!("{title}: a tool of the MCP server '{}', which does not describe it.", config.name)
        }
    };
    let definition = ToolDefinition {
        description: shortened(&description, &mut derived),
        version: Version::new(1, 0, 0),
        permissions: vec![permission],
        parameters,
        output,
        category: if read_only { Category::Query } else { Category::Mutation },
        response_time: ResponseTime::Slow,
        idempotent: annotations.idempotent_hint == Some(true),
        tags: vec!["mcp".to_owned(), config.published.clone()],
        timeout: config.timeout.map(|timeout| timeout.as_secs_f64()),
        destructive: !read_only
            && annotations.destructive_hint.unwrap_or_else(|| sounds_destructive(&tool.name)),
        derived: derived.into_iter().map(str::to_owned).collect(),
        ..ToolDefinition::mutation(&name, "")
    };
    Ok(FederatedTool { definition, remote: tool.clone(), headers: headers.into() })
}

/// What a Toolroom says of its data, where it publishes its envelope.
fn without_envelope(mut schema: Value) -> Value {
    let is_envelope = |schema: &Value| {
        let required = schema.get("required").and_then(Value::as_array);
        let names = ["agentHints", "metadata"].map(Value::from);
        required.is_some_and(|required| names.iter().all(|name| required.contains(name)))
    };
    if !is_envelope(&schema) {
        return schema;
    }
    let definitions = schema.get("$defs").cloned();
    let mut data = schema.pointer_mut("/properties/data").map(Value::take).unwrap_or_default();
    if let (Some(definitions), Some(data)) = (definitions, data.as_object_mut()) {
        data.entry("$defs").or_insert(definitions);
    }
    if data.is_null() { json!({}) } else { data }
}

/// Refuses schemas that could hold us up.
fn measured(which: &str, schema: &Value) -> Result<SchemaCost, String> {
    if depth(schema) > DEEPEST {
        return Err(format!("{which} is nested deeper than {DEEPEST} levels"));
    }
    Validator::measure(schema).map_err(|error| format!("{which}: {error}"))
}

/// What the tools so far and this one cost together; a tool that is too much leaves room for those after it.
fn within_budget(spent: SchemaCost, more: SchemaCost) -> Result<SchemaCost, String> {
    let sum = spent.plus(more);
    if sum.nodes > MOST_NODES {
        return Err(format!("with it, the schemas of this server have more than {MOST_NODES} subschemas"));
    }
    if sum.pattern_bytes > MOST_PATTERN_BYTES {
        let most = MOST_PATTERN_BYTES / (1024 * 1024);
        return Err(format!("with it, the patterns of this server take more than {most} MiB"));
    }
    Ok(sum)
}

fn depth(value: &Value) -> usize {
    // Parsed JSON is at most 128 levels deep, so this cannot run away.
    1 + match value {
        Value::Object(map) => map.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn shortened(text: &str, derived: &mut Vec<&str>) -> String {
    match text.char_indices().nth(LONGEST_DESCRIPTION) {
        None => text.to_owned(),
        Some((end, _)) => {
            derived.push("description");
            format!("{}…", text[..end].trim_end())
        }
    }
}

/// For tools whose server says nothing about it: whether the name speaks of what cannot be taken back.
fn sounds_destructive(name: &str) -> bool {
    const WORDS: [&str; 16] = [
        "delete",
        "remove",
        "drop",
        "destroy",
        "purge",
        "wipe",
        "erase",
        "truncate",
        "uninstall",
        "revoke",
        "terminate",
        "kill",
        "overwrite",
        "reset",
        "rm",
        "unpublish",
    ];
    words(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// The words of a name, whatever it is written in: `deleteFile`, `delete_file`, `files.delete`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || (c.is_uppercase() && after_lower);
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase() || c.is_numeric();
    }
    words
}
