//! Entries of type `http`: a request to a web service, checked before it is a tool.

use std::sync::Arc;

use serde_json::Value;
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::http_request::{HttpAuth, HttpPlace, HttpRequest};
use toolroom_outgoing::Url;

use super::error::ChangeError;
use super::tool_factory::{ToolFactory, free_name};
use crate::HttpTool;
use crate::catalogue::{Executor, NewTool};
use crate::http_tool::origin;
use crate::secret_file::SecretFile;

/// Fields of an entry that importing its API again can leave as they are.
const KEPT: [&str; 15] = [
    "description",
    "permissions",
    "category",
    "responseTime",
    "cacheable",
    "cacheTTL",
    "idempotent",
    "destructive",
    "effect",
    "examples",
    "tags",
    "rateLimit",
    "deprecated",
    "timeout",
    "output_schema",
];

impl ToolFactory {
    pub(super) fn http(&self, entry: &ToolEntry) -> Result<NewTool, ChangeError> {
        free_name(entry)?;
        let config = &entry.config;
        let of_scripts = [
            ("script_path", config.script_path.is_some()),
            ("entrypoint", config.entrypoint.is_some()),
            ("env", !config.env.is_empty()),
            ("isolation", config.isolation.is_some()),
            ("sandbox", config.sandbox.is_some()),
        ];
        if let Some((name, _)) = of_scripts.iter().find(|(_, given)| *given) {
            return Err(ChangeError::field(&format!("/config/{name}"), "only a script has one"));
        }
        let Some(request) = &config.request else {
            return Err(ChangeError::field(
                "/config/request",
                "is missing: an entry of type \"http\" makes a request",
            ));
        };
        check(request, entry.parameters.as_ref())?;
        let limit = config.limits.as_ref().and_then(|limits| limits.output);
        let limit = limit.and_then(|bytes| usize::try_from(bytes).ok());
        let secrets = SecretFile::beside(&self.tools);
        let tool = HttpTool::new(request.clone(), Arc::clone(&self.http_clients), secrets, limit);
        Ok(NewTool { definition: entry.definition(), executor: Executor::Http(Arc::new(tool)) })
    }
}

fn check(request: &HttpRequest, parameters: Option<&Value>) -> Result<(), ChangeError> {
    let refuse =
        |field: &str, message: String| Err(ChangeError::field(&format!("/config/request/{field}"), message));
    if !is_web(&request.server) {
        return refuse(
            "server",
            "must be an address such as https://api.example.com, without a password".to_owned(),
        );
    }
    if !request.path.starts_with('/') || request.path.len() > 2000 {
        return refuse("path", "must begin with '/' and have at most 2000 characters".to_owned());
    }
    for part in request.auth.iter().flatten() {
        if part.token_url().is_some_and(|url| !is_web(url)) {
            return refuse(
                "auth",
                "the token URL must be an address such as https://example.com/token".to_owned(),
            );
        }
        if let HttpAuth::ApiKey { place: HttpPlace::Path | HttpPlace::Body | HttpPlace::WholeBody, .. } = part
        {
            return refuse("auth", "a key goes into a header, a query or a cookie".to_owned());
        }
    }
    let properties = parameters.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let names = properties.into_iter().flat_map(|properties| properties.keys());
    if let Some(name) = names.into_iter().find(|name| !request.fields.contains_key(*name)) {
        return refuse("fields", format!("does not say where the parameter '{name}' goes"));
    }
    if let Some(name) = request.keep.iter().find(|name| !KEPT.contains(&name.as_str())) {
        return refuse("keep", format!("'{name}' cannot be kept; these can: {}", KEPT.join(", ")));
    }
    Ok(())
}

fn is_web(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none()
    })
}

/// The secrets that a request sends, each with the hosts that get it.
pub(super) fn secret_hosts(request: &HttpRequest) -> Vec<(String, String)> {
    let host = |address: &str| Url::parse(address).ok().map(|url| origin(&url));
    let mut pairs = Vec::new();
    for part in request.auth.iter().flatten() {
        let hosts = [host(&request.server), part.token_url().and_then(host)];
        pairs.extend(hosts.into_iter().flatten().map(|host| (part.secret().to_owned(), host)));
    }
    pairs
}
