//! What happened, what happens, and what waits for a person.

use http::Method;
use toolroom_runtime::journal::Execution;

use super::route::{Route, get, route};
use crate::access::Access::Caller;
use crate::api::approval_view::Approval;
use crate::api::{approvals, events, executions, standing, stats};
use crate::openapi::LAST_EVENT_ID;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("listExecutions", "/api/v1/executions", Caller, "The execution log", executions::list)
            .query::<executions::Filter>()
            .gives::<executions::Listing>(),
        get("getExecution", "/api/v1/executions/{id}", Caller, "One entry of the log", executions::show)
            .gives::<Execution>(),
        get("getStats", "/api/v1/stats", Caller, "Figures over the execution log", stats::show)
            .query::<stats::Asked>()
            .gives::<stats::Stats>(),
        get(
            "followEvents",
            "/api/v1/events",
            Caller,
            "What happens, as server-sent events; ?topics=executions,approvals,servers,catalogue, and Last-Event-ID",
            events::follow,
        )
        .query::<events::Wanted>()
        .headers(LAST_EVENT_ID)
        .streams(),
        get("listApprovals", "/api/v1/approvals", Caller, "What waits for a person", approvals::list)
            .query::<approvals::Filter>()
            .gives::<approvals::Listing>(),
        get("getApproval", "/api/v1/approvals/{id}", Caller, "One request", approvals::show)
            .gives::<Approval>(),
        route(
            Method::POST,
            "decideApproval",
            "/api/v1/approvals/{id}",
            Caller,
            "Decide or answer",
            approvals::decide,
        )
        .takes::<approvals::Verdict>()
        .gives::<Approval>(),
        get(
            "listStandingApprovals",
            "/api/v1/approvals/standing",
            Caller,
            "The approvals that stand for a while, and what each let through",
            standing::list,
        )
        .gives::<standing::Listing>(),
        route(
            Method::DELETE,
            "endStandingApproval",
            "/api/v1/approvals/standing/{id}",
            Caller,
            "End a standing approval at once",
            standing::end,
        )
        .without_body(),
    ]
}
