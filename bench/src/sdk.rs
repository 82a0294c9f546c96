//! A bare server on the official SDK with the trivial tool: the peer of calls, and the server behind the gateways.

use std::sync::Arc;

use axum::Router;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

#[derive(Clone)]
struct Sdk;

impl ServerHandler for Sdk {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        Ok(ListToolsResult::with_all_items(vec![Tool::new(
            "add-numbers",
            "Adds two numbers.",
            Arc::new(schema),
        )]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "add-numbers" {
            return Err(ErrorData::invalid_params("there is no such tool", None));
        }
        let number = |name: &str| {
            let found = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_i64);
            found.ok_or_else(|| ErrorData::invalid_params("a number is missing", None))
        };
        Ok(CallToolResult::structured(json!({ "sum": number("a")? + number("b")? })).into())
    }
}

/// The server at `/mcp`, without sessions and with JSON answers.
pub fn router() -> Router {
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(|| Ok(Sdk), Arc::new(LocalSessionManager::default()), config);
    Router::new().nest_service("/mcp", service)
}
