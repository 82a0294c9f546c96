//! Tools that are requests to a web service, as an imported API has them.

mod answer;
mod auth;
mod clients;
mod failure;
mod multipart;
mod param_encoding;
mod request;

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;
use toolroom_contract::http_request::HttpRequest;
use toolroom_contract::{Answer, Ending, ToolContext, ToolError};

use crate::catalogue::Tool;
use crate::secret_file::SecretFile;

pub(crate) use clients::{HttpClients, origin};

/// A request to a web service.
pub struct HttpTool {
    /// What is sent, and where.
    pub request: HttpRequest,
    clients: Arc<HttpClients>,
    secrets: SecretFile,
    /// Bytes of an answer.
    limit: usize,
}

impl HttpTool {
    pub(crate) fn new(
        request: HttpRequest,
        clients: Arc<HttpClients>,
        secrets: SecretFile,
        limit: Option<usize>,
    ) -> Self {
        Self { request, clients, secrets, limit: limit.unwrap_or(clients::LARGEST_ANSWER) }
    }

    /// Makes the request. Dropping the future ends it.
    pub(crate) async fn run(&self, tool: &Tool, params: &Value, context: &ToolContext) -> Ending {
        self.answer(tool, params, context).await.map_or_else(Ending::Failed, Ending::Done)
    }

    async fn answer(&self, tool: &Tool, params: &Value, context: &ToolContext) -> Result<Answer, ToolError> {
        let boundary = context.execution_id.0.simple().to_string();
        let plain = request::build(&self.request, params, &boundary)?;
        let outgoing =
            self.clients.get(&plain.url, self.request.allow_private, tool.policy.read_only, self.limit);
        let mut is_second = false;
        loop {
            let mut request = plain.clone();
            let identity = auth::add(self, tool.name(), &mut request).await?;
            let sent = outgoing.send(request).await;
            let reply = sent.map_err(|error| failure::unanswered(tool, &self.request, error))?;
            // A token that was kept from an earlier call may have ended since; nothing was done with it.
            if reply.status == StatusCode::UNAUTHORIZED && identity.is_kept && !is_second {
                self.clients.forget_tokens(&identity.tokens);
                is_second = true;
                continue;
            }
            return if reply.status.is_success() {
                answer::of(tool, &self.request, &identity.secrets, &reply)
            } else {
                Err(failure::refused(tool, &self.request, &identity.secrets, &reply))
            };
        }
    }
}
