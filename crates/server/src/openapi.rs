//! The OpenAPI 3.1 document, made of the route table and the types that it names.

mod headers;
mod tidy;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::access::Access;
use crate::router::{Body, Route, routes};
pub(crate) use headers::{
    CALL_HEADERS, Header, IDEMPOTENCY_KEY, IF_MATCH, LAST_EVENT_ID, MCP_HEADERS, MCP_STREAM_HEADERS,
};

/// The document.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.transforms.push(Box::new(RecursiveTransform(tidy::tidy)));
    });
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    // The console's pages are no part of the API.
    for route in routes().filter(|route| !route.path.starts_with("/console")) {
        // The document has no mark for a parameter that spans slashes.
        let path = paths.entry(route.path.replace("{*", "{")).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation(&route, &mut generator);
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Toolroom",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The room where tools are kept, issued, checked and logged for AI agents.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/", "description": "The server that gave you this document" }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "apiKey": { "type": "apiKey", "in": "header", "name": "X-API-Key" },
            },
            "parameters": headers::components(),
            "schemas": schemas,
        },
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    for answer in &route.answers {
        let mut good = json!({ "description": answer.meaning });
        if !answer.bodies.is_empty() {
            good["content"] = content(&answer.bodies, generator);
        }
        responses.insert(answer.status.as_str().to_owned(), good);
    }
    let failure = content(std::slice::from_ref(&route.fails), generator);
    responses.insert("default".into(), json!({ "description": "What went wrong", "content": failure }));
    let mut operation = json!({
        "summary": route.summary,
        "operationId": route.id,
        "tags": [tag(route.path)],
        "parameters": parameters(route, generator),
        "responses": responses,
        "security": match route.access {
            Access::Open => json!([]),
            _ => json!([{ "bearer": [] }, { "apiKey": [] }]),
        },
        "x-access": access(route.access),
    });
    if let Some(takes) = route.takes {
        let schema = tidied(takes(generator));
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    operation
}

fn content(bodies: &[Body], generator: &mut SchemaGenerator) -> Value {
    bodies
        .iter()
        .map(|body| (body.media.to_owned(), json!({ "schema": tidied((body.shape)(generator)) })))
        .collect::<Map<_, _>>()
        .into()
}

/// A schema that stands in its place, because it has no name.
fn tidied(mut schema: Schema) -> Schema {
    schemars::transform::Transform::transform(&mut RecursiveTransform(tidy::tidy), &mut schema);
    schema
}

/// The group in which an operation is shown.
fn tag(path: &str) -> &str {
    let mut parts = path.trim_start_matches('/').split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("api"), Some("v1"), Some("links" | "session")) => "sessions",
        (Some("api"), Some("v1"), Some("readyz")) => "server",
        (Some("api"), Some("v1"), Some("lines")) | (Some("mcp" | "sse" | "messages"), ..) => "mcp",
        (Some("api"), Some("v1"), Some(resource)) => resource,
        (Some("v1"), ..) => "openai",
        _ => "server",
    }
}

fn parameters(route: &Route, generator: &mut SchemaGenerator) -> Vec<Value> {
    let path = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let path = path.map(|name| name.trim_start_matches('*'));
    let path = path
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let query = route.query.map(|shape| query(tidied(shape(generator)))).unwrap_or_default();
    path.chain(query).chain(route.headers.iter().map(Header::reference)).collect()
}

/// The fields of an object, as parameters.
fn query(shape: Schema) -> Vec<Value> {
    let mut shape = shape.to_value();
    let required = shape["required"].take();
    let fields = shape["properties"].take();
    let fields = fields.as_object().into_iter().flatten().map(|(name, schema)| {
        let mut schema = tidy::not_null(schema.clone());
        let about = schema.as_object_mut().and_then(|schema| schema.shift_remove("description"));
        let required = required.as_array().is_some_and(|names| names.iter().any(|one| one == name));
        let mut parameter = json!({ "name": name, "in": "query", "required": required, "schema": schema });
        if let Some(about) = about {
            parameter["description"] = about;
        }
        parameter
    });
    fields.collect()
}

fn access(access: Access) -> String {
    match access {
        Access::Open => "open".into(),
        Access::OpenLocally => "open on this machine".into(),
        Access::Caller => "any caller".into(),
        Access::Granted(resource, action) => format!("grant {resource}:{action}"),
        Access::Owner => "the owner of the home".into(),
        Access::OwnersSocket => "the owner of the home, on the command line".into(),
    }
}
