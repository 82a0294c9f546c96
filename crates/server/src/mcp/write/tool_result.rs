//! The reply of a tool, as MCP carries it: text for the model, structured content, `_meta`.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;
use toolroom_contract::result::Body;
use toolroom_contract::{ToolResult, write_json, write_text};
use toolroom_mcp::Revision;
use toolroom_mcp::content::{BlockHead, COMPLETE, RESOURCE_LINK, TEXT};
use toolroom_runtime::Reply;

use super::result;
use crate::mcp::large::{Abridged, Whole};
use crate::mcp::read::request::Request;

/// The result of `tools/call`.
pub(crate) fn render(reply: &Reply, request: &Request<'_>, tool: &str) -> Vec<u8> {
    let revision = request.client.revision;
    let shown = Content::of(reply, request, tool);
    let mut out = Vec::with_capacity(2048);
    let result = &reply.result;
    // What the tool's own server gave beside the blocks.
    let own = result.content.as_deref();
    result::open(&mut out, revision, COMPLETE, |out| {
        if reply.published.is_some() {
            out.extend_from_slice(br#","dev.toolroom/agentHints":"#);
            result.agent_hints.write(out);
            out.extend_from_slice(br#","dev.toolroom/metadata":"#);
            result.metadata.write(out);
        }
        passed_on(out, own.map_or(&[], |own| &own.meta));
    });
    passed_on(&mut out, own.map_or(&[], |own| &own.fields));
    out.extend_from_slice(br#","content":["#);
    shown.write(&mut out, revision);
    out.push(b']');
    if revision.has_structure() {
        structured(&mut out, reply, revision, shown.whole.first());
    }
    if is_error(reply) {
        out.extend_from_slice(br#","isError":true"#);
    }
    out.push(b'}');
    out
}

/// Appends fields, with a comma before each.
fn passed_on(out: &mut Vec<u8>, fields: &[(String, Box<RawValue>)]) {
    for (name, value) in fields {
        out.push(b',');
        write_json(out, name);
        out.push(b':');
        out.extend_from_slice(value.get().as_bytes());
    }
}

/// A published answer says itself how the call went; the canonical one has data or an error.
fn is_error(reply: &Reply) -> bool {
    match &reply.published {
        Some(published) => match (published.get("success"), published.get("status")) {
            (Some(Value::Bool(success)), _) => !success,
            (_, Some(status)) if status == "error" => true,
            _ => reply.result.error().is_some(),
        },
        None => reply.result.error().is_some(),
    }
}

/// The blocks of a result, none longer than the caller's budget.
struct Content<'a> {
    blocks: Vec<Block<'a>>,
    /// Where the whole of what was abridged is.
    whole: Vec<Whole>,
}

impl<'a> Content<'a> {
    /// The tool's own blocks, where it answered with some; else one block of text.
    fn of(reply: &'a Reply, request: &Request<'_>, tool: &str) -> Self {
        let large = &request.app.mcp.large;
        let mut content = Self { blocks: Vec::new(), whole: Vec::new() };
        match &reply.result.content {
            None => {
                let text = text(reply);
                match large.abridge(request, tool, &text) {
                    None => content.blocks.push(Block::Text(text)),
                    Some(abridged) => content.abridge(abridged),
                }
            }
            Some(own) => {
                for own in &own.blocks {
                    let head = BlockHead::of(own);
                    match head.text().and_then(|said| large.abridge(request, tool, said)) {
                        None => content.blocks.push(Block::Own(head.kind(), own)),
                        Some(abridged) => content.abridge(abridged),
                    }
                }
            }
        }
        content
    }

    fn abridge(&mut self, abridged: Abridged) {
        self.blocks.push(Block::Text(abridged.text));
        self.blocks.push(Block::Link(abridged.whole.link()));
        self.whole.push(abridged.whole);
    }

    fn write(&self, out: &mut Vec<u8>, revision: Revision) {
        for (at, block) in self.blocks.iter().filter(|block| revision.knows_block(block.kind())).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            match block {
                Block::Text(text) => {
                    out.extend_from_slice(br#"{"type":"text","text":"#);
                    write_text(out, text);
                    out.push(b'}');
                }
                Block::Own(_, block) => out.extend_from_slice(block.get().as_bytes()),
                Block::Link(block) => write_json(out, block),
            }
        }
    }
}

enum Block<'a> {
    Text(String),
    /// As the tool made it, of that type.
    Own(Cow<'a, str>, &'a RawValue),
    Link(Value),
}

impl Block<'_> {
    fn kind(&self) -> &str {
        match self {
            Block::Text(_) => TEXT,
            Block::Own(kind, _) => kind,
            Block::Link(_) => RESOURCE_LINK,
        }
    }
}

fn structured(out: &mut Vec<u8>, reply: &Reply, revision: Revision, whole: Option<&Whole>) {
    const NAME: &[u8] = br#","structuredContent":"#;
    match &reply.published {
        Some(published) if published.is_object() || revision.has_any_structure() => {
            out.extend_from_slice(NAME);
            write_json(out, published);
        }
        Some(_) => {}
        None => {
            out.extend_from_slice(NAME);
            envelope(out, &reply.result, whole);
        }
    }
}

/// The canonical result. Written field by field, because the derived form goes through a map.
fn envelope(out: &mut Vec<u8>, result: &ToolResult, whole: Option<&Whole>) {
    match (&result.body, whole) {
        // Clients hand this to their models too. The schema of the envelope lets data be absent.
        (Body::Data(_), Some(whole)) => {
            out.extend_from_slice(br#"{"whole":"#);
            write_json(out, whole);
        }
        (Body::Data(data), None) => {
            out.extend_from_slice(br#"{"data":"#);
            match result.content.as_ref().and_then(|content| content.data.as_deref()) {
                Some(text) => out.extend_from_slice(text.get().as_bytes()),
                None => write_json(out, data),
            }
        }
        (Body::Error(error), _) => {
            out.extend_from_slice(br#"{"error":"#);
            write_json(out, error);
        }
    }
    out.extend_from_slice(br#","agentHints":"#);
    result.agent_hints.write(out);
    out.extend_from_slice(br#","metadata":"#);
    result.metadata.write(out);
    out.push(b'}');
}

/// What a model reads: the published answer, or the data with the hints that say something. Compact, and in
/// stable order, so that prompt caches hold.
pub(crate) fn text(reply: &Reply) -> String {
    let mut out = Vec::with_capacity(512);
    match &reply.published {
        Some(published) => write_json(&mut out, published),
        None => {
            match &reply.result.body {
                Body::Data(data) => {
                    out.extend_from_slice(br#"{"data":"#);
                    write_json(&mut out, data);
                }
                Body::Error(error) => {
                    out.extend_from_slice(br#"{"error":"#);
                    write_json(&mut out, error);
                }
            }
            reply.result.agent_hints.write_spoken(&mut out);
            out.push(b'}');
        }
    }
    String::from_utf8(out).unwrap_or_default()
}
