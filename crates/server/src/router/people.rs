//! People and their keys, and what the home's owner looks after.

use http::{Method, StatusCode};
use toolroom_runtime::shared_registry::apply::RegistryPlan;

use super::route::{Route, get, route};
use crate::access::Access::{Caller, Open, Owner, OwnersSocket};
use crate::api::{home, keys, login, me, registry, secrets};
use crate::home_info::Doctor;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("getMe", "/api/v1/me", Caller, "Who you are, and what you may do", me::show).gives::<me::Me>(),
        route(Method::PUT, "updateMe", "/api/v1/me", Caller, "Set your time zone", me::update)
            .takes::<me::Update>()
            .gives::<me::Me>(),
        route(
            Method::POST,
            "beginSession",
            "/api/v1/session",
            Open,
            "Log in to the console, by a link or a person's key",
            login::begin,
        )
        .takes::<login::Login>()
        .gives::<login::Begun>()
        .with_status(StatusCode::CREATED),
        get("getSession", "/api/v1/session", Caller, "The session by which you are logged in", login::show)
            .gives::<login::Begun>(),
        route(Method::DELETE, "endSession", "/api/v1/session", Caller, "Log out of the console", login::end)
            .without_body(),
        get(
            "listSessions",
            "/api/v1/sessions",
            Caller,
            "The sessions of the console; for persons",
            login::list,
        )
        .gives::<login::Listing>(),
        route(
            Method::DELETE,
            "endOneSession",
            "/api/v1/sessions/{id}",
            Caller,
            "End a session of the console",
            login::end_one,
        )
        .without_body(),
        route(
            Method::POST,
            "createLink",
            "/api/v1/links",
            OwnersSocket,
            "A link into the console that works once",
            login::link,
        )
        .gives::<login::NewLink>()
        .with_status(StatusCode::CREATED),
        get("listKeys", "/api/v1/keys", Owner, "The keys, without their secrets", keys::list)
            .gives::<keys::Listing>(),
        route(
            Method::POST,
            "createKey",
            "/api/v1/keys",
            Owner,
            "Make a key; its secret is shown once",
            keys::create,
        )
        .takes::<keys::NewKey>()
        .gives::<keys::Created>()
        .with_status(StatusCode::CREATED),
        route(Method::DELETE, "revokeKey", "/api/v1/keys/{id}", Owner, "Revoke a key at once", keys::revoke)
            .gives::<keys::Revoked>(),
        get("getAbout", "/api/v1/about", Caller, "The server: version, start, database", home::about)
            .gives::<home::About>(),
        get(
            "getSettings",
            "/api/v1/settings",
            Owner,
            "The settings in force, and what set them",
            home::settings,
        )
        .gives::<home::Settings>(),
        get(
            "getRegistry",
            "/api/v1/registry",
            Owner,
            "The registry as files: tools, scripts, profiles and servers",
            registry::show,
        )
        .gives::<registry::Registry>(),
        route(
            Method::PUT,
            "putRegistry",
            "/api/v1/registry",
            Owner,
            "Make files the registry of servers that share a database, or plan that",
            registry::replace,
        )
        .takes::<registry::Replacement>()
        .gives::<RegistryPlan>(),
        route(
            Method::PUT,
            "putSecret",
            "/api/v1/secrets/{name}",
            OwnersSocket,
            "Set a secret of tools, or say which hosts may get it",
            secrets::put,
        )
        .takes::<secrets::Change>()
        .gives::<secrets::Changed>(),
        route(
            Method::DELETE,
            "deleteSecret",
            "/api/v1/secrets/{name}",
            OwnersSocket,
            "Remove a secret of tools",
            secrets::remove,
        )
        .gives::<secrets::Changed>(),
        get(
            "getDoctor",
            "/api/v1/doctor",
            Owner,
            "What is wrong with the home, and what to do",
            home::doctor,
        )
        .gives::<Doctor>(),
    ]
}
