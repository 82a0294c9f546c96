//! A route: who may use it, what runs, and what the OpenAPI document says of it.

use std::sync::Arc;

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter};
use http::{Method, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use toolroom_contract::ToolResult;

use crate::access::{Access, Guarded, Unserved};
use crate::app::App;
use crate::middleware::Problem;
use crate::openapi::Header;

/// One route.
pub(crate) struct Route {
    /// What generated clients call it.
    pub(crate) id: &'static str,
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) summary: &'static str,
    /// The request's body.
    pub(crate) takes: Option<Shape>,
    /// An object whose fields are the parameters of the query.
    pub(crate) query: Option<Shape>,
    pub(crate) headers: &'static [Header],
    /// The answers that are not errors, the usual one first.
    pub(crate) answers: Vec<Answer>,
    /// The body of an error.
    pub(crate) fails: Body,
    pub(super) handler: MethodRouter<Arc<App>>,
}

/// Makes the schema of a type, or a reference to it.
pub(crate) type Shape = fn(&mut SchemaGenerator) -> Schema;

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) meaning: &'static str,
    pub(crate) bodies: Vec<Body>,
}

/// A media type, and what is in it.
pub(crate) struct Body {
    pub(crate) media: &'static str,
    pub(crate) shape: Shape,
}

const JSON: &str = "application/json";

/// A route that reads, and is only reached by those who may use it.
pub(super) fn get<H, T>(
    id: &'static str,
    path: &'static str,
    access: Access,
    summary: &'static str,
    handler: H,
) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    route(Method::GET, id, path, access, summary, handler)
}

/// The same for any method.
pub(super) fn route<H, T>(
    method: Method,
    id: &'static str,
    path: &'static str,
    access: Access,
    summary: &'static str,
    handler: H,
) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    Route::new(method, id, path, access, summary, Guarded { access, unserved: None, handler })
}

/// A route on which calls are made: it answers in its own form even if the caller cannot be checked.
pub(super) fn calling<H, T>(
    method: Method,
    id: &'static str,
    path: &'static str,
    summary: &'static str,
    handler: H,
    unserved: Unserved,
) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    let access = Access::Caller;
    Route::new(method, id, path, access, summary, Guarded { access, unserved: Some(unserved), handler })
}

impl Route {
    fn new<H, T>(
        method: Method,
        id: &'static str,
        path: &'static str,
        access: Access,
        summary: &'static str,
        guarded: Guarded<H>,
    ) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        // Every method of the table has a filter.
        let on = MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::GET);
        Self {
            id,
            method,
            path,
            access,
            summary,
            takes: None,
            query: None,
            headers: &[],
            answers: vec![Answer { status: StatusCode::OK, meaning: "The answer", bodies: Vec::new() }],
            fails: Body { media: "application/problem+json", shape: named::<Problem> },
            handler: axum::routing::on(on, guarded),
        }
    }

    pub(super) fn takes<T: JsonSchema>(mut self) -> Self {
        self.takes = Some(named::<T>);
        self
    }

    pub(super) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(T::json_schema);
        self
    }

    pub(super) fn headers(mut self, headers: &'static [Header]) -> Self {
        self.headers = headers;
        self
    }

    pub(super) fn gives<T: JsonSchema>(self) -> Self {
        self.gives_in::<T>(JSON)
    }

    /// Another form of the answer.
    pub(super) fn gives_in<T: JsonSchema>(mut self, media: &'static str) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            answer.bodies.push(Body { media, shape: named::<T> });
        }
        self
    }

    /// Server-sent events, where they are asked for or are all there is.
    pub(super) fn streams(self) -> Self {
        self.gives_in::<String>("text/event-stream")
    }

    /// The status of a success, if it is not 200.
    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        if let Some(answer) = self.answers.first_mut() {
            answer.status = status;
        }
        self
    }

    pub(super) fn without_body(self) -> Self {
        self.with_status(StatusCode::NO_CONTENT)
    }

    /// What else may come that is not an error; what it gives follows.
    pub(super) fn or_answers(mut self, status: StatusCode, meaning: &'static str) -> Self {
        self.answers.push(Answer { status, meaning, bodies: Vec::new() });
        self
    }

    pub(super) fn fails_with<T: JsonSchema>(mut self) -> Self {
        self.fails = Body { media: JSON, shape: named::<T> };
        self
    }

    /// A call: its result, also of one that failed, or what must be decided first.
    pub(super) fn gives_result(self) -> Self {
        self.gives::<ToolResult>()
            .or_answers(StatusCode::ACCEPTED, "A person must decide first")
            .gives::<crate::api::call::Waiting>()
            .fails_with::<ToolResult>()
    }
}

fn named<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
