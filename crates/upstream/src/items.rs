//! What servers list: tools, resources, templates and prompts, each with the text that it came as.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolroom_contract::canonical;
use toolroom_mcp::Method;
use toolroom_mcp::items::{Prompt, Resource, ResourceTemplate};

use crate::error::Failure;

/// Pages of one list.
const MOST_PAGES: usize = 200;
/// Bytes of one list.
const MOST_BYTES: usize = 16 << 20;
/// Bytes of one item; larger ones are left out.
const MOST_ITEM_BYTES: usize = 512 << 10;

/// Something that servers list.
pub trait Item: Sized {
    /// The method that lists it.
    const METHOD: Method;
    /// The capability that goes with it.
    const CAPABILITY: &'static str;
    /// Whether a server with the capability may still lack the method.
    const OPTIONAL: bool = false;
    /// The field of the result that holds it.
    const FIELD: &'static str;
    /// So many of one list are taken.
    const MOST: usize = 5_000;

    /// Reads one; `None` if a field that it must have is missing.
    fn read(raw: &RawValue) -> Option<Self>;
}

/// A list, as far as the limits went.
#[derive(Clone, Debug)]
pub struct Listing<T> {
    /// The items, in the server's order.
    pub items: Vec<T>,
    /// Why something is missing, if it is.
    pub incomplete: Option<String>,
    /// How long the server vouches for it, if it says so.
    pub ttl: Option<Duration>,
    pages: usize,
    bytes: usize,
    cursors: Vec<String>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self { items: Vec::new(), incomplete: None, ttl: None, pages: 0, bytes: 0, cursors: Vec::new() }
    }
}

impl<T: Item> Listing<T> {
    /// Adds a page; gives the cursor of the next one, if it is to be asked for.
    pub(crate) fn add_page(&mut self, page: &str) -> Result<Option<String>, Failure> {
        let wrong = || Failure::BadAnswer(format!("its answer to {} is not a list", T::METHOD.name()));
        let fields: std::collections::BTreeMap<String, &RawValue> =
            serde_json::from_str(page).map_err(|_| wrong())?;
        let items = fields.get(T::FIELD).ok_or_else(wrong)?;
        let items: Vec<&RawValue> = serde_json::from_str(items.get()).map_err(|_| wrong())?;
        for raw in items {
            self.bytes += raw.get().len();
            if self.items.len() == T::MOST || self.bytes > MOST_BYTES {
                self.incomplete =
                    Some(format!("the list is longer than {} items or {MOST_BYTES} bytes", T::MOST));
                return Ok(None);
            }
            match T::read(raw) {
                Some(item) if raw.get().len() <= MOST_ITEM_BYTES => self.items.push(item),
                _ => self.incomplete = Some("an item was left out: malformed or too large".to_owned()),
            }
        }
        self.pages += 1;
        // The page that lapses first makes the whole lapse.
        let ttl = fields.get("ttlMs").and_then(|raw| serde_json::from_str::<f64>(raw.get()).ok());
        let ttl = ttl.map(|ms| Duration::from_millis(ms as u64));
        self.ttl = [self.ttl, ttl].into_iter().flatten().min();
        let next: Option<String> =
            fields.get("nextCursor").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let Some(next) = next else { return Ok(None) };
        if self.pages == MOST_PAGES || self.cursors.contains(&next) || next.len() > 64 << 10 {
            self.incomplete = Some(format!("the list has more than {MOST_PAGES} pages, or repeats itself"));
            return Ok(None);
        }
        self.cursors.push(next.clone());
        Ok(Some(next))
    }
}

/// A tool.
#[derive(Clone, Debug)]
pub struct RemoteTool {
    /// The server's own name for it.
    pub name: String,
    /// All that the server says of it.
    pub raw: Box<RawValue>,
}

impl RemoteTool {
    /// The hash of its definition: the same for every spelling of the same JSON. `_meta` is left out, because it is
    /// for machines and may differ from one listing to the next.
    pub fn definition_hash(&self) -> String {
        let mut value: Value = serde_json::from_str(self.raw.get()).unwrap_or_default();
        if let Value::Object(fields) = &mut value {
            fields.shift_remove("_meta");
        }
        canonical::digest("upstream tool", &value).to_hex()
    }
}

/// A resource.
#[derive(Clone, Debug)]
pub struct RemoteResource {
    /// Its URI.
    pub uri: String,
    /// All that the server says of it.
    pub raw: Box<RawValue>,
}

/// A template of resources.
#[derive(Clone, Debug)]
pub struct RemoteTemplate {
    /// Its URI template.
    pub uri_template: String,
    /// All that the server says of it.
    pub raw: Box<RawValue>,
}

/// A prompt.
#[derive(Clone, Debug)]
pub struct RemotePrompt {
    /// The server's own name for it.
    pub name: String,
    /// All that the server says of it.
    pub raw: Box<RawValue>,
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Item for RemoteTool {
    const METHOD: Method = Method::ToolsList;
    const CAPABILITY: &'static str = "tools";
    const FIELD: &'static str = "tools";
    /// Fewer: what a tool takes is compiled, and costs far more than its text.
    const MOST: usize = 2_000;

    fn read(raw: &RawValue) -> Option<Self> {
        let Named { name } = read(raw)?;
        (!name.is_empty() && name.len() <= 256).then(|| Self { name, raw: raw.to_owned() })
    }
}

impl Item for RemoteResource {
    const METHOD: Method = Method::ResourcesList;
    const CAPABILITY: &'static str = "resources";
    const FIELD: &'static str = "resources";

    fn read(raw: &RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        struct Located {
            uri: String,
        }
        let Located { uri } = read(raw)?;
        Some(Self { uri, raw: raw.to_owned() })
    }
}

impl Item for RemoteTemplate {
    const METHOD: Method = Method::ResourceTemplates;
    const CAPABILITY: &'static str = "resources";
    const OPTIONAL: bool = true;
    const FIELD: &'static str = "resourceTemplates";

    fn read(raw: &RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Shaped {
            uri_template: String,
        }
        let Shaped { uri_template } = read(raw)?;
        Some(Self { uri_template, raw: raw.to_owned() })
    }
}

impl Item for RemotePrompt {
    const METHOD: Method = Method::PromptsList;
    const CAPABILITY: &'static str = "prompts";
    const FIELD: &'static str = "prompts";

    fn read(raw: &RawValue) -> Option<Self> {
        let Named { name } = read(raw)?;
        Some(Self { name, raw: raw.to_owned() })
    }
}

impl RemoteResource {
    /// What it is, as clients are told; `None` if the server's text cannot be read so.
    pub fn listed(&self) -> Option<Resource> {
        let listed: Resource = read(&self.raw)?;
        Some(Resource { name: named(listed.name, &self.uri), ..listed })
    }
}

impl RemoteTemplate {
    /// What it is, as clients are told; `None` if the server's text cannot be read so.
    pub fn listed(&self) -> Option<ResourceTemplate> {
        let listed: ResourceTemplate = read(&self.raw)?;
        Some(ResourceTemplate { name: named(listed.name, &self.uri_template), ..listed })
    }
}

impl RemotePrompt {
    /// What it is, as clients are told; `None` if the server's text cannot be read so.
    pub fn listed(&self) -> Option<Prompt> {
        read(&self.raw)
    }
}

/// What has no name is called by its address.
fn named(name: String, uri: &str) -> String {
    if name.is_empty() { uri.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> RemoteTool {
        RemoteTool::read(serde_json::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn whatever_a_person_could_be_shown_counts_and_spelling_does_not() {
        let was = tool(r#"{"name":"a","description":"reads","inputSchema":{"type":"object"}}"#);
        let same = tool(
            r#"{"inputSchema": {"type": "object"}, "description": "reads", "name": "a", "_meta":{"x":1}}"#,
        );
        assert_eq!(was.definition_hash(), same.definition_hash());
        for other in [
            r#"{"name":"a","description":"reads, and sends","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a","description":"reads","inputSchema":{"type":"object","properties":{"to":{}}}}"#,
            r#"{"name":"a","description":"reads","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
            r#"{"name":"a","description":"reads","inputSchema":{"type":"object"},"vendor":1}"#,
        ] {
            assert_ne!(was.definition_hash(), tool(other).definition_hash(), "{other}");
        }
    }
}
