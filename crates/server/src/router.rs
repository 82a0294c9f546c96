//! Every route, in one table: who may use it, what it does, what runs. The OpenAPI document is made of it.

mod manage;

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::middleware::map_response;
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, MethodRouter};
use http::{Method, StatusCode};
use serde_json::Value;
use toolroom_contract::handler::schema_of;
use toolroom_contract::{ErrorCode, ToolDefinition};
use toolroom_runtime::federation::{LoginView, ServerView};
use toolroom_runtime::registrar::ImportPlan;

use crate::api::approval_view::Approval;
use crate::api::{
    approvals, call, chat, check, conversations, events, executions, health, imports, keys, login, me, pages,
    profiles, registration, scripts, servers, tools,
};
use crate::app::App;
use crate::console;
use crate::guard::{Access, Guarded, Unserved};
use crate::mcp;
use crate::mcp::http::{session, sse, unserved};
use crate::middleware::{BodyLimit, HostPolicy, HttpService, Problem};
use crate::openai;
use crate::problems::problem;

/// One route.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) summary: &'static str,
    /// The schema of the request's body.
    pub(crate) takes: Option<Value>,
    /// The schema of the answer.
    pub(crate) gives: Option<Value>,
    /// The status of a success.
    pub(crate) status: StatusCode,
    /// What else may come that is not an error: the status, and what it says.
    pub(crate) also: Option<(StatusCode, &'static str)>,
    handler: MethodRouter<Arc<App>>,
}

/// The routes. All need a principal but those marked `Open`, and `OpenLocally` on this machine.
pub(crate) fn routes() -> Vec<Route> {
    use Access::{Caller, Granted, Open, OpenLocally, Owner, OwnersSocket};
    const REGISTRY: Access = Granted("registry", "write");
    const SERVERS: Access = Granted("servers", "write");
    const CALL: &str = "Call a tool; ?wait=S (0 to 300) waits for a person where one must decide";
    let mut routes = vec![
        route(Method::GET, "/healthz", Open, "Whether the process is alive", health::alive),
        route(Method::GET, "/readyz", Open, "Whether calls can be served, and what is wrong", health::ready),
        route(Method::GET, "/api/v1/readyz", Caller, "The same, for who is logged in to the console", health::ready),
        route(Method::GET, "/metrics", OpenLocally, "Prometheus metrics", health::metrics),
        route(Method::GET, "/openapi.json", Open, "This document", pages::openapi),
        route(Method::GET, "/docs", Open, "This document, to read", pages::docs),
        route(Method::GET, "/docs/errors", Open, "The error codes, to read", pages::errors),
        route(Method::GET, "/", Open, "Where to go from here; browsers are led to the console", console::front_door),
        route(Method::GET, "/console", Open, "The console, for browsers", console::page),
        route(Method::GET, "/console/", Open, "The console, for browsers", console::page),
        route(Method::GET, "/console/{*page}", Open, "A page of the console", console::page),
        route(Method::GET, "/console/a/{hash}/{*file}", Open, "A file of the console", console::file),
        route(Method::GET, "/api/v1/tools", Caller, "The tools that you may call", tools::list)
            .gives(schema_of::<tools::Listed>()),
        route(Method::POST, "/api/v1/tools", REGISTRY, "Register a tool", registration::create)
            .takes(registration::schema())
            .gives(schema_of::<ToolDefinition>())
            .answers(StatusCode::CREATED),
        route(Method::GET, "/api/v1/tools/{name}", Caller, "The contract of one tool", tools::show)
            .gives(schema_of::<tools::One>()),
        route(
            Method::PUT,
            "/api/v1/tools/{name}",
            REGISTRY,
            "Register a tool, or replace the one of that name",
            registration::replace,
        )
        .takes(registration::schema())
        .gives(schema_of::<ToolDefinition>())
        .or_answers(StatusCode::CREATED, "The tool is new"),
        route(
            Method::DELETE,
            "/api/v1/tools/{name}",
            REGISTRY,
            "Take a tool out of tools.json",
            registration::remove,
        )
        .answers(StatusCode::NO_CONTENT),
        route(
            Method::POST,
            "/api/v1/tools/{name}/publish",
            REGISTRY,
            "Make a draft version 1.0.0: from then on nothing may break its callers",
            registration::publish,
        )
        .gives(schema_of::<ToolDefinition>()),
        route(Method::POST, "/api/v1/scripts/read", REGISTRY, "The tools that a script describes", scripts::read)
            .takes(schema_of::<scripts::Script>())
            .gives(schema_of::<scripts::Described>()),
        route(Method::PUT, "/api/v1/scripts/{file}", REGISTRY, "Register the tools of a script", scripts::store)
            .takes(schema_of::<scripts::Text>())
            .gives(schema_of::<scripts::Stored>()),
        route(
            Method::PUT,
            "/api/v1/imports/{api}",
            REGISTRY,
            "Import the tools of an API, or plan that",
            imports::store,
        )
        .takes(schema_of::<imports::Api>())
        .gives(schema_of::<ImportPlan>()),
        calling("/api/v1/tools/{name}/call", CALL, call::call, call::unserved)
            .takes(schema_of::<call::Body>())
            .gives(schema_of::<toolroom_contract::ToolResult>())
            .or_answers(StatusCode::ACCEPTED, "A person must decide first"),
        route(Method::GET, "/api/v1/servers", Caller, "The servers of mcp.json", servers::list)
            .gives(schema_of::<servers::Listing>()),
        route(Method::POST, "/api/v1/servers", SERVERS, "Add a server to mcp.json", servers::create)
            .takes(servers::schema(true))
            .gives(schema_of::<ServerView>())
            .answers(StatusCode::CREATED),
        route(
            Method::GET,
            "/api/v1/servers/{name}",
            Caller,
            "One server, with its tools; ?wait=S waits until it was asked for them",
            servers::show,
        )
        .gives(schema_of::<ServerView>()),
        route(
            Method::PUT,
            "/api/v1/servers/{name}",
            SERVERS,
            "Add a server, or replace the one of that name",
            servers::replace,
        )
        .takes(servers::schema(false))
        .gives(schema_of::<ServerView>())
        .or_answers(StatusCode::CREATED, "The server is new"),
        route(
            Method::DELETE,
            "/api/v1/servers/{name}",
            SERVERS,
            "Take a server out of mcp.json",
            servers::remove,
        )
        .answers(StatusCode::NO_CONTENT),
        route(
            Method::GET,
            "/api/v1/servers/{name}/resources",
            Caller,
            "What can be read on a server",
            servers::resources,
        )
        .gives(schema_of::<servers::Resources>()),
        route(
            Method::GET,
            "/api/v1/servers/{name}/prompts",
            Caller,
            "The prompts of a server",
            servers::prompts,
        )
        .gives(schema_of::<servers::Prompts>()),
        route(
            Method::POST,
            "/api/v1/servers/{name}/approve",
            SERVERS,
            "Approve definitions that wait for review because they are new or have changed; for persons",
            servers::approve,
        )
        .takes(schema_of::<servers::Approval>())
        .gives(schema_of::<servers::Approved>()),
        route(
            Method::POST,
            "/api/v1/servers/{name}/login",
            SERVERS,
            "Begin a login at a server that wants a token: a URL for a browser on Toolroom's machine",
            servers::begin_login,
        )
        .gives(schema_of::<LoginView>()),
        route(
            Method::GET,
            "/api/v1/servers/{name}/login",
            SERVERS,
            "How the last login is going; ?wait=S waits for its end",
            servers::login,
        )
        .gives(schema_of::<LoginView>()),
        route(
            Method::DELETE,
            "/api/v1/servers/{name}/login",
            SERVERS,
            "Give up the token that a login gave",
            servers::log_out,
        )
        .answers(StatusCode::NO_CONTENT),
        route(Method::GET, "/api/v1/check", Caller, "The contract's checklist, tool by tool", check::check),
        route(Method::GET, "/api/v1/profiles", Caller, "The profiles that you may use", profiles::list),
        route(
            Method::GET,
            "/api/v1/profiles/{profile}/functions",
            Caller,
            "The profile's tools as OpenAI function schemas",
            profiles::functions,
        ),
        calling(
            "/api/v1/profiles/{profile}/functions/{name}",
            "Call a tool of a profile; the answer is exactly what the profile publishes; ?wait=S waits for a person",
            profiles::call,
            profiles::unserved,
        )
        .or_answers(StatusCode::ACCEPTED, "A person must decide first; told in the profile's own form"),
        route(Method::GET, "/api/v1/executions", Caller, "The execution log", executions::list)
            .gives(schema_of::<executions::Listing>()),
        route(Method::GET, "/api/v1/executions/{id}", Caller, "One entry of the log", executions::show),
        route(
            Method::GET,
            "/api/v1/events",
            Caller,
            "What happens, as server-sent events; ?topics=executions,approvals,servers,catalogue, and Last-Event-ID",
            events::follow,
        ),
        route(Method::GET, "/api/v1/approvals", Caller, "What waits for a person", approvals::list)
            .gives(schema_of::<approvals::Listing>()),
        route(Method::POST, "/api/v1/approvals/{id}", Caller, "Decide or answer", approvals::decide)
            .takes(schema_of::<approvals::Verdict>())
            .gives(schema_of::<Approval>()),
        route(Method::POST, "/api/v1/chat", Caller, "Say something; ?stream=true for events", chat::say)
            .takes(schema_of::<chat::Body>())
            .gives(schema_of::<chat::Reply>()),
        route(
            Method::GET,
            "/api/v1/chat/{run}",
            Caller,
            "The answer of a run; with Last-Event-ID or ?stream=true its events, from there on",
            chat::follow,
        )
        .gives(schema_of::<chat::Reply>()),
        route(
            Method::POST,
            "/api/v1/chat/{run}/cancel",
            Caller,
            "End a run; its answer says what was done",
            chat::cancel,
        )
        .answers(StatusCode::NO_CONTENT),
        route(Method::GET, "/api/v1/conversations", Caller, "Your conversations", conversations::list)
            .gives(schema_of::<conversations::Listing>()),
        route(
            Method::GET,
            "/api/v1/conversations/{id}",
            Caller,
            "A conversation with what was said",
            conversations::show,
        )
        .gives(schema_of::<conversations::Shown>()),
        route(
            Method::DELETE,
            "/api/v1/conversations/{id}",
            Caller,
            "Forget a conversation; what was pending in it lapses",
            conversations::forget,
        )
        .answers(StatusCode::NO_CONTENT),
        route(
            Method::POST,
            "/api/v1/conversations/{id}/cancel",
            Caller,
            "End what goes on in a conversation",
            conversations::cancel,
        )
        .answers(StatusCode::NO_CONTENT),
        route(
            Method::POST,
            "/v1/chat/completions",
            Caller,
            "OpenAI-compatible chat; the tools run on the server",
            openai::completions,
        )
        .takes(openai::request_schema())
        .gives(openai::completion_schema()),
        route(Method::GET, "/v1/models", Caller, "OpenAI-compatible: a model per profile", openai::list),
        route(Method::GET, "/v1/models/{*model}", Caller, "OpenAI-compatible: one model", openai::show),
        calling("/mcp", "MCP, the whole catalogue", mcp::http::post, unserved::answer),
        calling("/mcp/{profile}", "MCP, the tools of a profile", mcp::http::post_profile, unserved::answer),
        guarded(Method::GET, "/mcp", Caller, "Listen in an MCP session", session::get, Some(unserved::stream)),
        guarded(Method::GET, "/mcp/{profile}", Caller, "Listen in an MCP session under a profile", session::get_profile, Some(unserved::stream)),
        guarded(Method::DELETE, "/mcp", Caller, "End an MCP session", session::delete, Some(unserved::stream)),
        guarded(Method::DELETE, "/mcp/{profile}", Caller, "End an MCP session under a profile", session::delete_profile, Some(unserved::stream)),
        guarded(Method::GET, "/sse", Caller, "MCP as of 2024-11-05: the stream of a session", sse::get, Some(unserved::stream)),
        guarded(Method::GET, "/sse/{profile}", Caller, "MCP as of 2024-11-05, the tools of a profile", sse::get_profile, Some(unserved::stream)),
        guarded(Method::POST, "/messages/{session}", Caller, "MCP as of 2024-11-05: a message in a session", sse::post, Some(unserved::message)),
        route(
            Method::GET,
            "/api/v1/lines",
            OwnersSocket,
            "MCP as lines, for 'toolroom mcp' on the same machine",
            mcp::lines::upgrade,
        ),
        route(Method::GET, "/api/v1/me", Caller, "Who you are, and what you may do", me::show)
            .gives(schema_of::<me::Me>()),
        route(Method::PUT, "/api/v1/me", Caller, "Set your time zone", me::update)
            .takes(schema_of::<me::Update>())
            .gives(schema_of::<me::Me>()),
        route(Method::POST, "/api/v1/session", Open, "Log in to the console, by a link or a person's key", login::begin)
            .takes(schema_of::<login::Login>())
            .gives(schema_of::<login::Begun>())
            .answers(StatusCode::CREATED),
        route(Method::GET, "/api/v1/session", Caller, "The session by which you are logged in", login::show)
            .gives(schema_of::<login::Begun>()),
        route(Method::DELETE, "/api/v1/session", Caller, "Log out of the console", login::end)
            .answers(StatusCode::NO_CONTENT),
        route(Method::GET, "/api/v1/sessions", Caller, "The sessions of the console; for persons", login::list)
            .gives(schema_of::<login::Listing>()),
        route(Method::DELETE, "/api/v1/sessions/{id}", Caller, "End a session of the console", login::end_one)
            .answers(StatusCode::NO_CONTENT),
        route(Method::POST, "/api/v1/links", OwnersSocket, "A link into the console that works once", login::link)
            .gives(schema_of::<login::NewLink>())
            .answers(StatusCode::CREATED),
        route(Method::GET, "/api/v1/keys", Owner, "The keys, without their secrets", keys::list)
            .gives(schema_of::<keys::Listing>()),
        route(Method::POST, "/api/v1/keys", Owner, "Make a key; its secret is shown once", keys::create)
            .takes(schema_of::<keys::NewKey>())
            .answers(StatusCode::CREATED),
        route(Method::DELETE, "/api/v1/keys/{id}", Owner, "Revoke a key at once", keys::revoke),
    ];
    routes.extend(manage::routes());
    routes
}

/// A route whose handler is only reached by those who may use it.
fn route<H, T>(method: Method, path: &'static str, access: Access, summary: &'static str, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    guarded(method, path, access, summary, handler, None)
}

/// A route on which calls are made: it answers in the form of a call even if the caller cannot be checked.
fn calling<H, T>(path: &'static str, summary: &'static str, handler: H, unserved: Unserved) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    guarded(Method::POST, path, Access::Caller, summary, handler, Some(unserved))
}

fn guarded<H, T>(
    method: Method,
    path: &'static str,
    access: Access,
    summary: &'static str,
    handler: H,
    unserved: Option<Unserved>,
) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    // Every method of the table has a filter.
    let on = MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::GET);
    Route {
        method,
        path,
        access,
        summary,
        takes: None,
        gives: None,
        status: StatusCode::OK,
        also: None,
        handler: axum::routing::on(on, Guarded { access, unserved, handler }),
    }
}

impl Route {
    fn takes(mut self, schema: Value) -> Self {
        self.takes = Some(schema);
        self
    }

    fn gives(mut self, schema: Value) -> Self {
        self.gives = Some(schema);
        self
    }

    fn answers(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    fn or_answers(mut self, status: StatusCode, meaning: &'static str) -> Self {
        self.also = Some((status, meaning));
        self
    }
}

/// The router with everything around it.
pub fn router(app: &Arc<App>, hosts: HostPolicy) -> HttpService {
    let mut router = Router::new();
    for route in routes() {
        let mut handler = route.handler;
        if route.path.starts_with(openai::PREFIX) {
            handler = handler.layer(map_response(openai::shape_error));
        }
        router = router.route(route.path, handler);
    }
    let router = router
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_input")
                .detail("This path takes another method; /docs lists them.")
                .into_response()
        })
        .fallback(|| async {
            problem(ErrorCode::NotFound, "There is nothing at this path; /docs lists what there is.")
        })
        .with_state(Arc::clone(app));
    HttpService::new(router, hosts, BodyLimit::default())
}
