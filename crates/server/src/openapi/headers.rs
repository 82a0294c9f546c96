//! The headers that requests may have, each described once.

use serde_json::{Map, Value, json};

/// A header, by the name of its component.
pub(crate) struct Header {
    key: &'static str,
    name: &'static str,
    about: &'static str,
    kind: &'static str,
}

const fn text(key: &'static str, name: &'static str, about: &'static str) -> Header {
    Header { key, name, about, kind: "string" }
}

/// What a call's context may carry in headers; the body's own fields win.
pub(crate) const CALL_HEADERS: &[Header] = &[
    text(
        "IdempotencyKey",
        "Idempotency-Key",
        "The same key and body give the first answer again, for 24 hours.",
    ),
    text("ApprovalId", "X-Approval-Id", "The request that a person has decided: the id of a 202 answer."),
    Header {
        key: "DryRun",
        name: "X-Dry-Run",
        about: "Tell what would be done, and do nothing.",
        kind: "boolean",
    },
    text("AgentId", "X-Agent-Id", "The program that calls; without it, what User-Agent says."),
    text("AgentVersion", "X-Agent-Version", "Its version."),
    text("Traceparent", "traceparent", "The trace that the call belongs to, as W3C Trace Context writes it."),
];

pub(crate) const IDEMPOTENCY_KEY: &[Header] = CALL_HEADERS.split_at(1).0;

pub(crate) const IF_MATCH: &[Header] =
    &[text("IfMatch", "If-Match", "The ETag of what you saw; if it has changed since, nothing is written.")];

pub(crate) const LAST_EVENT_ID: &[Header] =
    &[text("LastEventId", "Last-Event-ID", "The last event that you have; the stream goes on after it.")];

/// Of a session, and of the stream of one.
pub(crate) const MCP_STREAM_HEADERS: &[Header] = &[
    text("McpProtocolVersion", "MCP-Protocol-Version", "The revision of MCP that you speak."),
    text("McpSessionId", "Mcp-Session-Id", "The session, in revisions that have them."),
    text("McpLastEventId", "Last-Event-ID", "The last event that you have; the stream goes on after it."),
];

pub(crate) const MCP_HEADERS: &[Header] = MCP_STREAM_HEADERS.split_at(2).0;

impl Header {
    pub(super) fn reference(&self) -> Value {
        json!({ "$ref": format!("#/components/parameters/{}", self.key) })
    }
}

/// All of them.
pub(super) fn components() -> Map<String, Value> {
    let all = [CALL_HEADERS, IF_MATCH, LAST_EVENT_ID, MCP_STREAM_HEADERS];
    let one = |header: &Header| {
        let schema = json!({ "type": header.kind });
        let header_object = json!({
            "name": header.name, "in": "header", "required": false,
            "description": header.about, "schema": schema,
        });
        (header.key.to_owned(), header_object)
    };
    all.into_iter().flatten().map(one).collect()
}
