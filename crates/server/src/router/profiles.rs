//! Profiles: what each publishes, calls in its own form, and the profiles of the home's owner.

use std::collections::BTreeMap;

use http::{Method, StatusCode};
use serde_json::Value;
use toolroom_profiles::ProfileSettings;

use super::route::{Route, calling, get, route};
use crate::access::Access::{self, Caller, Granted};
use crate::api::{profile_settings, profiles, wait};
use crate::openapi::CALL_HEADERS;

const REGISTRY: Access = Granted("registry", "write");

/// Each profile publishes objects of its own.
type Published = BTreeMap<String, Value>;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("listProfiles", "/api/v1/profiles", Caller, "The profiles that you may use", profiles::list)
            .gives::<profiles::Listing>(),
        get(
            "getProfile",
            "/api/v1/profiles/{profile}",
            Caller,
            "A profile, with the tools that a client gets",
            profile_settings::show,
        )
        .gives::<profile_settings::Shown>(),
        route(
            Method::PUT,
            "putProfile",
            "/api/v1/profiles/{profile}",
            REGISTRY,
            "Make a profile in profiles.json, or replace it",
            profile_settings::put,
        )
        .takes::<ProfileSettings>()
        .gives::<profile_settings::Shown>()
        .or_answers(StatusCode::CREATED, "The profile is new")
        .gives::<profile_settings::Shown>(),
        route(
            Method::DELETE,
            "deleteProfile",
            "/api/v1/profiles/{profile}",
            REGISTRY,
            "Take a profile out of profiles.json",
            profile_settings::remove,
        )
        .without_body(),
        // Not below the profiles, because one may have any name.
        route(
            Method::POST,
            "planProfile",
            "/api/v1/drafts/profile",
            REGISTRY,
            "What a profile would publish; nothing is changed",
            profile_settings::plan,
        )
        .takes::<profile_settings::Planned>()
        .gives::<profile_settings::Meaning>(),
        get(
            "listFunctions",
            "/api/v1/profiles/{profile}/functions",
            Caller,
            "The profile's tools as OpenAI function schemas",
            profiles::functions,
        )
        .gives::<Vec<profiles::Function>>(),
        calling(
            Method::POST,
            "callFunction",
            "/api/v1/profiles/{profile}/functions/{name}",
            "Call a tool of a profile; the answer is exactly what the profile publishes; ?wait=S waits for a person",
            profiles::call,
            profiles::unserved,
        )
        .query::<wait::Wait>()
        .headers(CALL_HEADERS)
        .takes::<Published>()
        .gives::<Published>()
        .or_answers(StatusCode::ACCEPTED, "A person must decide first; told in the profile's own form")
        .gives::<Published>(),
    ]
}
