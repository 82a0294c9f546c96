//! The other servers of `mcp.json`.

use http::{Method, StatusCode};
use toolroom_runtime::federation::{LoginView, ServerView};

use super::route::{Route, get, route};
use crate::access::Access::{self, Caller, Granted};
use crate::api::servers::{self, ServerEntry};
use crate::api::wait::Wait;

const SERVERS: Access = Granted("servers", "write");

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("listServers", "/api/v1/servers", Caller, "The servers of mcp.json", servers::list)
            .gives::<servers::Listing>(),
        route(
            Method::POST,
            "createServer",
            "/api/v1/servers",
            SERVERS,
            "Add a server to mcp.json",
            servers::create,
        )
        .query::<Wait>()
        .takes::<servers::NamedEntry>()
        .gives::<ServerView>()
        .with_status(StatusCode::CREATED),
        get(
            "getServer",
            "/api/v1/servers/{name}",
            Caller,
            "One server, with its tools; ?wait=S waits until it was asked for them",
            servers::show,
        )
        .query::<Wait>()
        .gives::<ServerView>(),
        route(
            Method::PUT,
            "putServer",
            "/api/v1/servers/{name}",
            SERVERS,
            "Add a server, or replace the one of that name",
            servers::replace,
        )
        .query::<Wait>()
        .takes::<ServerEntry>()
        .gives::<ServerView>()
        .or_answers(StatusCode::CREATED, "The server is new")
        .gives::<ServerView>(),
        route(
            Method::DELETE,
            "deleteServer",
            "/api/v1/servers/{name}",
            SERVERS,
            "Take a server out of mcp.json",
            servers::remove,
        )
        .without_body(),
        get(
            "listServerResources",
            "/api/v1/servers/{name}/resources",
            Caller,
            "What can be read on a server",
            servers::resources,
        )
        .gives::<servers::Resources>(),
        get(
            "listServerPrompts",
            "/api/v1/servers/{name}/prompts",
            Caller,
            "The prompts of a server",
            servers::prompts,
        )
        .gives::<servers::Prompts>(),
        route(
            Method::POST,
            "approveDefinitions",
            "/api/v1/servers/{name}/approve",
            SERVERS,
            "Approve definitions that wait for review because they are new or have changed; for persons",
            servers::approve,
        )
        .takes::<servers::Approval>()
        .gives::<servers::Approved>(),
        route(
            Method::POST,
            "reconnectServer",
            "/api/v1/servers/{name}/reconnect",
            SERVERS,
            "Reconnect to a server",
            servers::reconnect,
        )
        .gives::<ServerView>(),
        route(
            Method::POST,
            "beginServerLogin",
            "/api/v1/servers/{name}/login",
            SERVERS,
            "Begin a login at a server that wants a token: a URL for a browser",
            servers::begin_login,
        )
        .gives::<LoginView>(),
        get(
            "getServerLogin",
            "/api/v1/servers/{name}/login",
            SERVERS,
            "How the last login is going; ?wait=S waits for its end",
            servers::login,
        )
        .query::<Wait>()
        .gives::<LoginView>(),
        route(
            Method::DELETE,
            "endServerLogin",
            "/api/v1/servers/{name}/login",
            SERVERS,
            "Give up the token that a login gave",
            servers::log_out,
        )
        .without_body(),
    ]
}
