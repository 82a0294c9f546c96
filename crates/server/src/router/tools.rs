//! Tools: the catalogue, calls, and what is registered in `tools.json`.

use http::{Method, StatusCode};
use toolroom_contract::ToolDefinition;
use toolroom_runtime::registrar::ImportPlan;

use super::route::{Route, calling, get, route};
use crate::access::Access::{self, Caller, Granted};
use crate::api::{call, check, drafts, imports, registration, scripts, tools, validate, wait};
use crate::openapi::{CALL_HEADERS, IF_MATCH};

const REGISTRY: Access = Granted("registry", "write");

pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![
        get("listTools", "/api/v1/tools", Caller, "The tools that you may call", tools::list)
            .query::<tools::Filter>()
            .gives::<tools::Listed>(),
        route(Method::POST, "createTool", "/api/v1/tools", REGISTRY, "Register a tool", registration::create)
            .takes::<registration::Body>()
            .gives::<ToolDefinition>()
            .with_status(StatusCode::CREATED),
        get("getTool", "/api/v1/tools/{name}", Caller, "The contract of one tool", tools::show)
            .query::<tools::ShownAs>()
            .gives::<tools::One>(),
        route(
            Method::PUT,
            "putTool",
            "/api/v1/tools/{name}",
            REGISTRY,
            "Register a tool, or replace the one of that name",
            registration::replace,
        )
        .headers(IF_MATCH)
        .takes::<registration::Body>()
        .gives::<ToolDefinition>()
        .or_answers(StatusCode::CREATED, "The tool is new")
        .gives::<ToolDefinition>(),
        route(
            Method::DELETE,
            "deleteTool",
            "/api/v1/tools/{name}",
            REGISTRY,
            "Take a tool out of tools.json",
            registration::remove,
        )
        .without_body(),
        route(
            Method::POST,
            "publishTool",
            "/api/v1/tools/{name}/publish",
            REGISTRY,
            "Make a draft version 1.0.0: from then on nothing may break its callers",
            registration::publish,
        )
        .gives::<ToolDefinition>(),
        calling(
            Method::POST,
            "callTool",
            "/api/v1/tools/{name}/call",
            "Call a tool; ?wait=S (0 to 300) waits for a person where one must decide",
            call::call,
            call::unserved,
        )
        .query::<wait::Wait>()
        .headers(CALL_HEADERS)
        .takes::<call::Body>()
        .gives_result(),
        route(
            Method::POST,
            "validateCall",
            "/api/v1/tools/{name}/validate",
            Caller,
            "Check the parameters of a call without making it",
            validate::check,
        )
        .takes::<validate::Body>()
        .gives::<validate::Verdict>(),
        get("checkTools", "/api/v1/check", Caller, "The contract's checklist, tool by tool", check::check)
            .gives::<check::Report>(),
    ];
    routes.extend(authoring());
    routes
}

/// Scripts and imported APIs. What is only planned has a path of its own, because a tool may have any name.
fn authoring() -> Vec<Route> {
    vec![
        get(
            "getToolScript",
            "/api/v1/tools/{name}/script",
            REGISTRY,
            "The entry of a tool and the text of its script, with an ETag",
            drafts::show,
        )
        .gives::<drafts::Script>(),
        route(
            Method::PUT,
            "putScript",
            "/api/v1/scripts/{file}",
            REGISTRY,
            "Register the tools of a script",
            scripts::store,
        )
        .takes::<scripts::Text>()
        .gives::<scripts::Stored>(),
        route(
            Method::PUT,
            "putImport",
            "/api/v1/imports/{api}",
            REGISTRY,
            "Import the tools of an API, or plan that",
            imports::store,
        )
        .takes::<imports::Api>()
        .gives::<ImportPlan>(),
        route(
            Method::POST,
            "readScript",
            "/api/v1/drafts/read",
            REGISTRY,
            "The tools that a script describes",
            scripts::read,
        )
        .takes::<scripts::Script>()
        .gives::<scripts::Described>(),
        route(
            Method::POST,
            "planScript",
            "/api/v1/drafts/plan",
            REGISTRY,
            "What saving a script would mean; nothing is changed",
            drafts::plan,
        )
        .takes::<drafts::Planned>()
        .gives::<drafts::Meaning>(),
        route(
            Method::POST,
            "runDraft",
            "/api/v1/drafts/run",
            REGISTRY,
            "Call a script once without registering it, confined",
            drafts::run,
        )
        .takes::<drafts::Tried>()
        .gives_result(),
    ]
}
