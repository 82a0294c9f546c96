//! Results as each revision writes them: since 2026-07-28 they say what they are and who made them.

use serde::Serialize;
use serde_json::value::RawValue;
use toolroom_contract::write_json;
use toolroom_mcp::Revision;
use toolroom_mcp::content::COMPLETE;

use super::introduction::{SERVER_INFO, ServerInfo};

#[derive(Serialize)]
struct Framed<'a, M, B> {
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(rename = "_meta")]
    meta: Meta<'a, M>,
    #[serde(flatten)]
    body: &'a B,
}

#[derive(Serialize)]
struct Meta<'a, M> {
    #[serde(rename = "io.modelcontextprotocol/serverInfo", skip_serializing_if = "Option::is_none")]
    server: Option<ServerInfo>,
    #[serde(flatten)]
    more: &'a M,
}

/// No fields.
#[derive(Serialize)]
pub(crate) struct Nothing {}

/// Fields that another server wrote, as it wrote them.
pub(crate) struct PassedOn<'a>(pub(crate) &'a [(String, Box<RawValue>)]);

impl Serialize for PassedOn<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A complete result whose fields are those of `body`.
pub(crate) fn complete(revision: Revision, body: &impl Serialize) -> Vec<u8> {
    write(revision, COMPLETE, &Nothing {}, body)
}

/// A result of that kind, with the fields of `meta` in its `_meta`.
pub(crate) fn write(revision: Revision, kind: &str, meta: &impl Serialize, body: &impl Serialize) -> Vec<u8> {
    let describes_itself = revision.is_stateless();
    let mut out = Vec::with_capacity(1024);
    let meta = Meta { server: describes_itself.then_some(SERVER_INFO), more: meta };
    write_json(&mut out, &Framed { kind: describes_itself.then_some(kind), meta, body });
    out
}
