//! What to write by hand: for every client, also those whose files we do not edit.

use serde_json::{Value, json};

use super::clients::{CLIENTS, Client, NAME};
use super::edit::Format;
use super::entry::{Form, Reach};
use super::toml_file::in_toml;

/// A client whose settings people edit themselves: its name, where they are, and how an entry looks.
const BY_HAND: &[(&str, &str, Shape)] = &[
    ("Copilot CLI", "~/.copilot/mcp-config.json", Shape::Json(Form::Copilot)),
    ("Goose", "~/.config/goose/config.yaml", Shape::Goose),
    ("Cline", "cline_mcp_settings.json (MCP Servers, Configure)", Shape::Json(Form::Cline)),
    ("Continue", "~/.continue/config.yaml", Shape::Continue),
    ("LM Studio", "~/.lmstudio/mcp.json", Shape::Json(Form::Plain)),
    (
        "JetBrains AI Assistant",
        "Settings, Tools, AI Assistant, Model Context Protocol",
        Shape::Json(Form::Plain),
    ),
    ("Qwen Code", "~/.qwen/settings.json", Shape::Json(Form::Gemini)),
    ("LibreChat", "librechat.yaml", Shape::LibreChat),
    ("Open WebUI", "Admin settings, External Tools: 'MCP (Streamable HTTP)'", Shape::Address),
    ("n8n", "an MCP Client node", Shape::Address),
];

#[derive(Clone, Copy)]
enum Shape {
    /// `mcpServers` of a JSON file.
    Json(Form),
    Goose,
    Continue,
    LibreChat,
    /// Fields of a page.
    Address,
}

/// A piece of settings, and where it belongs.
pub(super) struct Snippet {
    pub(super) client: String,
    pub(super) place: String,
    pub(super) text: String,
}

impl Snippet {
    pub(super) fn json(&self) -> Value {
        json!({ "client": self.client, "place": self.place, "text": self.text })
    }
}

/// The entry of a client whose file we edit, as a whole file would have it.
pub(super) fn of_client(client: &Client, reach: &Reach) -> Result<String, &'static str> {
    let (place, _) = client.place();
    let entry = place.form.entry(reach, place.variable)?;
    Ok(written(place.format, &place.path(""), &entry))
}

fn written(format: Format, path: &[&str], entry: &Value) -> String {
    match format {
        Format::Json => {
            let whole = path.iter().rev().fold(entry.clone(), |inside, name| json!({ *name: inside }));
            format!("{whole:#}")
        }
        Format::Toml => {
            let lines = entry.as_object().into_iter().flatten();
            let lines = lines.map(|(name, value)| format!("{name} = {}\n", in_toml(value)));
            format!("[{}]\n{}", path.join("."), lines.collect::<String>()).trim_end().to_owned()
        }
    }
}

/// All of them. A client that has no form for this is left out.
pub(super) fn all(reach: &Reach) -> Vec<Snippet> {
    let known = CLIENTS.iter().filter_map(|client| {
        let place = client.place().1.display().to_string();
        Some(Snippet { client: client.name.to_owned(), place, text: of_client(client, reach).ok()? })
    });
    let by_hand = BY_HAND.iter().filter_map(|(client, place, shape)| {
        let text = shape.text(reach)?;
        Some(Snippet { client: (*client).to_owned(), place: (*place).to_owned(), text })
    });
    known.chain(by_hand).collect()
}

impl Shape {
    fn text(self, reach: &Reach) -> Option<String> {
        let entry = match self {
            Self::Json(form) => {
                let entry = form.entry(reach, None).ok()?;
                return Some(written(Format::Json, &["mcpServers", NAME], &entry));
            }
            _ => Form::Plain.entry(reach, None).ok()?,
        };
        // Text in YAML may be written as in JSON.
        let (command, args) = (entry.get("command"), entry.get("args"));
        let (url, key) = (entry.get("url"), entry.pointer("/headers/Authorization"));
        Some(match (self, command.zip(args), url.zip(key)) {
            (Self::Goose, Some((command, args)), _) => format!(
                "extensions:\n  {NAME}:\n    name: {NAME}\n    enabled: true\n    type: stdio\n    cmd: {command}\n    args: {args}"
            ),
            (Self::Goose, _, Some((url, key))) => format!(
                "extensions:\n  {NAME}:\n    name: {NAME}\n    enabled: true\n    type: streamable_http\n    uri: {url}\n    headers:\n      Authorization: {key}"
            ),
            (Self::Continue, Some((command, args)), _) => {
                format!("mcpServers:\n  - name: {NAME}\n    command: {command}\n    args: {args}")
            }
            (Self::LibreChat, Some((command, args)), _) => {
                format!("mcpServers:\n  {NAME}:\n    type: stdio\n    command: {command}\n    args: {args}")
            }
            (Self::LibreChat, _, Some((url, key))) => format!(
                "mcpServers:\n  {NAME}:\n    type: streamable-http\n    url: {url}\n    headers:\n      Authorization: {key}\nmcpSettings:\n  allowedAddresses: [\"127.0.0.1:7878\"]"
            ),
            (Self::Address, _, Some((url, key))) => format!("URL: {url}\nHeader Authorization: {key}"),
            _ => return None,
        })
    }
}
