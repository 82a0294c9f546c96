//! The chat, in our form and in OpenAI's.

use http::Method;

use super::route::{Route, get, route};
use crate::access::Access::Caller;
use crate::api::{chat, conversations, home};
use crate::openai;
use crate::openapi::{IDEMPOTENCY_KEY, LAST_EVENT_ID};

pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![
        route(
            Method::POST,
            "say",
            "/api/v1/chat",
            Caller,
            "Say something; ?stream=true for events",
            chat::say,
        )
        .query::<chat::Options>()
        .headers(IDEMPOTENCY_KEY)
        .takes::<chat::Body>()
        .gives::<chat::Reply>()
        .streams(),
        get(
            "getRun",
            "/api/v1/chat/{run}",
            Caller,
            "The answer of a run; with Last-Event-ID or ?stream=true its events, from there on",
            chat::follow,
        )
        .query::<chat::Options>()
        .headers(LAST_EVENT_ID)
        .gives::<chat::Reply>()
        .streams(),
        route(
            Method::POST,
            "cancelRun",
            "/api/v1/chat/{run}/cancel",
            Caller,
            "End a run; its answer says what was done",
            chat::cancel,
        )
        .without_body(),
        get("getChatModel", "/api/v1/chat/model", Caller, "Which model answers the chat", home::model)
            .gives::<home::ModelState>(),
    ];
    routes.extend(conversation_routes());
    routes.extend(openai_routes());
    routes
}

fn conversation_routes() -> Vec<Route> {
    vec![
        get("listConversations", "/api/v1/conversations", Caller, "Your conversations", conversations::list)
            .query::<conversations::Page>()
            .gives::<conversations::Listing>(),
        get(
            "getConversation",
            "/api/v1/conversations/{id}",
            Caller,
            "A conversation with what was said",
            conversations::show,
        )
        .query::<conversations::Last>()
        .gives::<conversations::Shown>(),
        route(
            Method::PATCH,
            "renameConversation",
            "/api/v1/conversations/{id}",
            Caller,
            "Give a conversation another title",
            conversations::rename,
        )
        .takes::<conversations::Change>()
        .gives::<conversations::Heading>(),
        route(
            Method::DELETE,
            "deleteConversation",
            "/api/v1/conversations/{id}",
            Caller,
            "Forget a conversation; what was pending in it lapses",
            conversations::forget,
        )
        .without_body(),
        route(
            Method::POST,
            "cancelConversation",
            "/api/v1/conversations/{id}/cancel",
            Caller,
            "End what goes on in a conversation",
            conversations::cancel,
        )
        .without_body(),
    ]
}

fn openai_routes() -> Vec<Route> {
    use openai::shapes::{
        Completion, CompletionRequest, DeletedResponse, Failure, Model, Models, ResponseObject,
        ResponseRequest,
    };
    vec![
        route(
            Method::POST,
            "createChatCompletion",
            "/v1/chat/completions",
            Caller,
            "OpenAI-compatible chat; the tools run on the server",
            openai::completions,
        )
        .takes::<CompletionRequest>()
        .gives::<Completion>()
        .streams()
        .fails_with::<Failure>(),
        route(
            Method::POST,
            "createResponse",
            "/v1/responses",
            Caller,
            "The same in the form of OpenAI's Responses API",
            openai::responses,
        )
        .takes::<ResponseRequest>()
        .gives::<ResponseObject>()
        .streams()
        .fails_with::<Failure>(),
        get(
            "getResponse",
            "/v1/responses/{id}",
            Caller,
            "OpenAI-compatible: a response of yours that was stored",
            openai::show_response,
        )
        .gives::<ResponseObject>()
        .fails_with::<Failure>(),
        route(
            Method::DELETE,
            "deleteResponse",
            "/v1/responses/{id}",
            Caller,
            "OpenAI-compatible: forget a response of yours",
            openai::forget_response,
        )
        .gives::<DeletedResponse>()
        .fails_with::<Failure>(),
        get("listModels", "/v1/models", Caller, "OpenAI-compatible: a model per profile", openai::list)
            .gives::<Models>()
            .fails_with::<Failure>(),
        get("getModel", "/v1/models/{*model}", Caller, "OpenAI-compatible: one model", openai::show)
            .gives::<Model>()
            .fails_with::<Failure>(),
    ]
}
