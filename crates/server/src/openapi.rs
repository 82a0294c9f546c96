//! The OpenAPI 3.1 document, made of the route table.

use http::StatusCode;
use serde_json::{Map, Value, json};
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::handler::schema_of;
use toolroom_contract::{ToolDefinition, ToolResult};
use toolroom_runtime::federation::{LoginView, ServerView};

use crate::api::registration;
use crate::guard::Access;
use crate::router::{Route, routes};

/// The document.
pub fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    // The console's pages are no part of the API.
    for route in routes().into_iter().filter(|route| !route.path.starts_with("/console")) {
        // The document has no mark for a parameter that spans slashes.
        let path = paths.entry(route.path.replace("{*", "{")).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(route.method.as_str().to_lowercase(), operation(&route));
        }
    }
    let mut schemas: Map<String, Value> =
        NAMED.iter().map(|(name, make)| ((*name).to_owned(), make())).collect();
    for path in paths.values_mut() {
        refer(path, &schemas);
    }
    schemas.insert("Problem".to_owned(), problem_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Toolroom",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The room where tools are kept, issued, checked and logged for AI agents.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "apiKey": { "type": "apiKey", "in": "header", "name": "X-API-Key" },
            },
            "schemas": schemas,
        },
    })
}

type Named = (&'static str, fn() -> Value);

/// Schemas that several routes have, and stand in the document once.
const NAMED: [Named; 6] = [
    ("Registration", registration::schema),
    ("ToolEntry", schema_of::<ToolEntry>),
    ("ToolDefinition", schema_of::<ToolDefinition>),
    ("ToolResult", schema_of::<ToolResult>),
    ("ServerView", schema_of::<ServerView>),
    ("LoginView", schema_of::<LoginView>),
];

/// Puts references in the place of schemas that have a name.
fn refer(value: &mut Value, schemas: &Map<String, Value>) {
    if let Some((name, _)) = schemas.iter().find(|(_, schema)| *schema == value) {
        *value = json!({ "$ref": format!("#/components/schemas/{name}") });
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, schemas)),
        Value::Object(fields) => fields.values_mut().for_each(|field| refer(field, schemas)),
        _ => {}
    }
}

fn operation(route: &Route) -> Value {
    let mut responses = Map::new();
    for (status, meaning) in [(route.status, "The answer")].into_iter().chain(route.also) {
        let mut good = json!({ "description": meaning });
        // A pending call has more fields.
        let schema = route.gives.as_ref().filter(|_| status != StatusCode::ACCEPTED);
        if let (Some(schema), Some(good)) = (schema, good.as_object_mut()) {
            good.insert("content".into(), json!({ "application/json": { "schema": schema } }));
        }
        responses.insert(status.as_str().to_owned(), good);
    }
    responses.insert(
        "default".into(),
        json!({
            "description": "What went wrong",
            "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
        }),
    );
    let mut operation = json!({
        "summary": route.summary,
        "operationId": operation_id(route),
        "parameters": parameters(route.path),
        "responses": responses,
    });
    if let Some(operation) = operation.as_object_mut() {
        if let Some(schema) = &route.takes {
            let body = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
            operation.insert("requestBody".into(), body);
        }
        let security = match route.access {
            Access::Open => json!([]),
            _ => json!([{ "bearer": [] }, { "apiKey": [] }]),
        };
        operation.insert("security".into(), security);
        operation.insert("x-access".into(), access(route.access).into());
    }
    operation
}

fn operation_id(route: &Route) -> String {
    let path: Vec<&str> = route
        .path
        .split('/')
        .map(|part| part.trim_matches(['{', '}', '*']))
        .filter(|part| !matches!(*part, "" | "api" | "v1"))
        .collect();
    format!("{}-{}", route.method.as_str().to_lowercase(), path.join("-").replace('.', "-"))
}

fn parameters(path: &str) -> Vec<Value> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| name.trim_start_matches('*'))
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect()
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

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "code"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "code": { "type": "string", "description": "A code of the error table" },
            "retryAfter": { "type": "integer", "description": "Milliseconds" },
            "traceId": { "type": "string" },
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "pointer": { "type": "string" }, "detail": { "type": "string" } },
                },
            },
        },
    })
}
