//! The Model Context Protocol, over HTTP and as lines.

use std::collections::BTreeMap;

use http::{Method, StatusCode};
use serde_json::Value;

use super::route::{Route, calling, get};
use crate::access::Access::OwnersSocket;
use crate::mcp;
use crate::mcp::http::{session, sse, unserved};
use crate::openapi::{MCP_HEADERS, MCP_STREAM_HEADERS};

/// A message of JSON-RPC.
type Message = BTreeMap<String, Value>;

pub(super) fn routes() -> Vec<Route> {
    use unserved::{answer, message, stream};
    let (get_, post, delete) = (Method::GET, Method::POST, Method::DELETE);
    vec![
        posted(calling(post.clone(), "postMcp", "/mcp", "MCP, the whole catalogue", mcp::http::post, answer)),
        posted(calling(
            post.clone(),
            "postMcpProfile",
            "/mcp/{profile}",
            "MCP, the tools of a profile",
            mcp::http::post_profile,
            answer,
        )),
        listened(calling(
            get_.clone(),
            "listenMcp",
            "/mcp",
            "Listen in an MCP session",
            session::get,
            stream,
        )),
        listened(calling(
            get_.clone(),
            "listenMcpProfile",
            "/mcp/{profile}",
            "Listen in an MCP session under a profile",
            session::get_profile,
            stream,
        )),
        calling(delete.clone(), "endMcp", "/mcp", "End an MCP session", session::delete, stream)
            .headers(MCP_HEADERS)
            .without_body(),
        calling(
            delete,
            "endMcpProfile",
            "/mcp/{profile}",
            "End an MCP session under a profile",
            session::delete_profile,
            stream,
        )
        .headers(MCP_HEADERS)
        .without_body(),
        calling(
            get_.clone(),
            "openSse",
            "/sse",
            "MCP as of 2024-11-05: the stream of a session",
            sse::get,
            stream,
        )
        .streams(),
        calling(
            get_,
            "openSseProfile",
            "/sse/{profile}",
            "MCP as of 2024-11-05, the tools of a profile",
            sse::get_profile,
            stream,
        )
        .streams(),
        calling(
            post,
            "postSseMessage",
            "/messages/{session}",
            "MCP as of 2024-11-05: a message in a session",
            sse::post,
            message,
        )
        .takes::<Message>()
        .with_status(StatusCode::ACCEPTED),
        get(
            "openLines",
            "/api/v1/lines",
            OwnersSocket,
            "MCP as lines, for 'toolroom mcp' on the same machine",
            mcp::lines::upgrade,
        )
        .with_status(StatusCode::SWITCHING_PROTOCOLS),
    ]
}

fn posted(route: Route) -> Route {
    route
        .headers(MCP_HEADERS)
        .takes::<Message>()
        .gives::<Message>()
        .streams()
        .or_answers(StatusCode::ACCEPTED, "A notification was taken")
        .fails_with::<Message>()
}

fn listened(route: Route) -> Route {
    route.headers(MCP_STREAM_HEADERS).streams().or_answers(StatusCode::NO_CONTENT, "Nothing was missed")
}
