//! The routes by which people look after a home: what waits and what stands, figures, drafts, profiles, settings.

use http::{Method, StatusCode};
use toolroom_contract::handler::schema_of;
use toolroom_profiles::ProfileSettings;
use toolroom_runtime::federation::ServerView;

use super::{Route, route};
use crate::api::approval_view::Approval;
use crate::api::{
    approvals, conversations, drafts, home, profile_settings, servers, standing, stats, validate,
};
use crate::guard::Access;

pub(super) fn routes() -> Vec<Route> {
    use Access::{Caller, Granted, Owner};
    const REGISTRY: Access = Granted("registry", "write");
    vec![
        route(
            Method::POST,
            "/api/v1/tools/plan",
            REGISTRY,
            "What saving a script would mean; nothing is changed",
            drafts::plan,
        )
        .takes(schema_of::<drafts::Planned>())
        .gives(schema_of::<drafts::Meaning>()),
        route(
            Method::POST,
            "/api/v1/tools/plan/run",
            REGISTRY,
            "Call a script once without registering it, confined",
            drafts::run,
        )
        .takes(schema_of::<drafts::Tried>())
        .gives(schema_of::<toolroom_contract::ToolResult>())
        .or_answers(StatusCode::ACCEPTED, "A person must decide first"),
        route(
            Method::GET,
            "/api/v1/tools/{name}/script",
            REGISTRY,
            "The entry of a tool and the text of its script, with an ETag",
            drafts::show,
        )
        .gives(schema_of::<drafts::Script>()),
        route(
            Method::POST,
            "/api/v1/tools/{name}/validate",
            Caller,
            "Check the parameters of a call without making it",
            validate::check,
        )
        .takes(schema_of::<validate::Body>())
        .gives(schema_of::<validate::Verdict>()),
        route(Method::GET, "/api/v1/stats", Caller, "Figures over the execution log", stats::show)
            .gives(schema_of::<stats::Stats>()),
        route(
            Method::GET,
            "/api/v1/approvals/standing",
            Caller,
            "The approvals that stand for a while, and what each let through",
            standing::list,
        )
        .gives(schema_of::<standing::Listing>()),
        route(
            Method::DELETE,
            "/api/v1/approvals/standing/{id}",
            Caller,
            "End a standing approval at once",
            standing::end,
        )
        .answers(StatusCode::NO_CONTENT),
        route(Method::GET, "/api/v1/approvals/{id}", Caller, "One request", approvals::show)
            .gives(schema_of::<Approval>()),
        route(
            Method::PATCH,
            "/api/v1/conversations/{id}",
            Caller,
            "Give a conversation another title",
            conversations::rename,
        )
        .takes(schema_of::<conversations::Change>())
        .gives(schema_of::<conversations::Heading>()),
        route(
            Method::POST,
            "/api/v1/servers/{name}/reconnect",
            Granted("servers", "write"),
            "Connect to a server anew",
            servers::reconnect,
        )
        .gives(schema_of::<ServerView>()),
        route(
            Method::POST,
            "/api/v1/profiles/plan",
            REGISTRY,
            "What a profile would publish; nothing is changed",
            profile_settings::plan,
        )
        .takes(schema_of::<profile_settings::Planned>())
        .gives(schema_of::<profile_settings::Meaning>()),
        route(
            Method::GET,
            "/api/v1/profiles/{profile}",
            Caller,
            "A profile, with the tools that a client gets",
            profile_settings::show,
        )
        .gives(schema_of::<profile_settings::Shown>()),
        route(
            Method::PUT,
            "/api/v1/profiles/{profile}",
            REGISTRY,
            "Make a profile in profiles.json, or replace it",
            profile_settings::put,
        )
        .takes(schema_of::<ProfileSettings>())
        .gives(schema_of::<profile_settings::Shown>())
        .or_answers(StatusCode::CREATED, "The profile is new"),
        route(
            Method::DELETE,
            "/api/v1/profiles/{profile}",
            REGISTRY,
            "Take a profile out of profiles.json",
            profile_settings::remove,
        )
        .answers(StatusCode::NO_CONTENT),
        route(Method::GET, "/api/v1/chat/model", Caller, "Which model answers the chat", home::model)
            .gives(schema_of::<home::ModelState>()),
        route(Method::GET, "/api/v1/about", Caller, "The server: version, start, database", home::about)
            .gives(schema_of::<home::About>()),
        route(
            Method::GET,
            "/api/v1/settings",
            Owner,
            "The settings in force, and what set them",
            home::settings,
        )
        .gives(schema_of::<home::Settings>()),
        route(
            Method::GET,
            "/api/v1/doctor",
            Owner,
            "What is wrong with the home, and what to do",
            home::doctor,
        )
        .gives(schema_of::<crate::home_info::Doctor>()),
    ]
}
