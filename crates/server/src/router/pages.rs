//! Pages to read, the console's files, and whether the server is well.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::Value;
use toolroom_runtime::federation;

use super::route::{Route, get};
use crate::access::Access::{Caller, Open, OpenLocally};
use crate::api::{health, login_callback, pages};
use crate::console;

const HTML: &str = "text/html";

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("isAlive", "/healthz", Open, "Whether the process is alive", health::alive)
            .gives_in::<String>("text/plain"),
        get("isReady", "/readyz", Open, "Whether calls can be served, and what is wrong", health::ready)
            .gives::<health::Readiness>()
            .or_answers(StatusCode::SERVICE_UNAVAILABLE, "Calls cannot be served")
            .gives::<health::Readiness>(),
        get(
            "isReadyForMe",
            "/api/v1/readyz",
            Caller,
            "The same, for who is logged in to the console",
            health::ready,
        )
        .gives::<health::Readiness>()
        .or_answers(StatusCode::SERVICE_UNAVAILABLE, "Calls cannot be served")
        .gives::<health::Readiness>(),
        get("getMetrics", "/metrics", OpenLocally, "Prometheus metrics", health::metrics)
            .gives_in::<String>("application/openmetrics-text")
            .gives_in::<String>("text/plain"),
        get(
            "comeBackFromLogin",
            federation::CALLBACK,
            Open,
            "Where a browser comes back to from a login at another MCP server",
            login_callback::come_back,
        )
        .gives_in::<String>("text/plain"),
        get("getOpenapi", "/openapi.json", Open, "This document", pages::openapi)
            .gives::<BTreeMap<String, Value>>(),
        get("getDocs", "/docs", Open, "This document, to read and to try", console::docs)
            .gives_in::<String>(HTML),
        get("getErrorCodes", "/docs/errors", Open, "The error codes, to read", pages::errors)
            .gives_in::<String>(HTML),
        get(
            "getIndex",
            "/",
            Open,
            "Where to go from here; browsers are led to the console",
            console::front_door,
        )
        .gives_in::<String>(HTML),
        get("getConsole", "/console", Open, "The console, for browsers", console::page),
        get("getConsoleStart", "/console/", Open, "The console, for browsers", console::page),
        get("getConsolePage", "/console/{*page}", Open, "A page of the console", console::page),
        get("getConsoleFile", "/console/a/{hash}/{*file}", Open, "A file of the console", console::file),
    ]
}
