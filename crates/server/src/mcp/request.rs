//! One request as a method sees it: who asks, what their client can do, and the way back to it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolroom_contract::context::ContextFields;
use toolroom_contract::ids::PendingId;
use toolroom_contract::report::Level;
use toolroom_contract::{Principal, TraceId};
use toolroom_runtime::Edge;

use super::error::RpcError;
use super::field_scanner::FieldScanner;
use super::peer::Peer;
use super::revision::Revision;
use super::sources::Visitor;
use super::wire::{Id, Text};
use crate::app::App;
use crate::middleware::trace;

/// A request that is ready for its method.
pub(crate) struct Request<'a> {
    pub(crate) app: &'a Arc<App>,
    pub(crate) id: &'a Id,
    pub(crate) caller: &'a Caller,
    pub(crate) client: &'a Client,
    pub(crate) meta: &'a Meta<'a>,
    /// The parameters.
    pub(crate) fields: Fields<'a>,
    /// The way back to the client while the request is worked on.
    pub(crate) peer: &'a Peer,
}

/// Who asks, and under which profile: what the transport knows.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) principal: Arc<Principal>,
    pub(crate) profile: Cow<'static, str>,
    pub(crate) trace: TraceId,
    pub(crate) edge: Edge,
    /// The session, where the revision has one.
    pub(crate) session: Option<Arc<str>>,
}

impl Caller {
    /// Who looks at resources and prompts.
    pub(crate) fn visitor<'a>(&'a self, app: &'a Arc<App>) -> Visitor<'a> {
        Visitor { app, principal: &self.principal, profile: &self.profile }
    }
}

/// What is known of the client: from every request (stateless), or from its handshake.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) revision: Revision,
    pub(crate) info: Option<Implementation>,
    pub(crate) capabilities: Capabilities,
    /// Which log lines it wants, if any.
    pub(crate) log_level: Option<LogLevel>,
}

/// A program's name and version.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Implementation {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) version: String,
}

/// What a client can be asked for. Kept whole, because executors may look for what we do not know.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Capabilities(pub(crate) Arc<Map<String, Value>>);

impl Capabilities {
    /// Whether a form can be put before the person. An empty `elicitation` means forms.
    pub(crate) fn elicits_forms(&self) -> bool {
        self.elicits("form")
    }

    fn elicits(&self, mode: &str) -> bool {
        match self.0.get("elicitation") {
            Some(Value::Object(modes)) if modes.is_empty() => mode == "form",
            Some(Value::Object(modes)) => modes.contains_key(mode),
            _ => false,
        }
    }

    /// What is missing for a request to the client, as a capabilities object; `None` if nothing is.
    pub(crate) fn missing_for(&self, method: &str, params: &Value) -> Option<Value> {
        match method {
            "elicitation/create" => {
                let mode = params.get("mode").and_then(Value::as_str).unwrap_or("form");
                (!self.elicits(mode)).then(|| json!({ "elicitation": { mode: {} } }))
            }
            "sampling/createMessage" => match self.0.get("sampling") {
                Some(Value::Object(has)) => (params.get("tools").is_some() && !has.contains_key("tools"))
                    .then(|| json!({ "sampling": { "tools": {} } })),
                _ => Some(json!({ "sampling": {} })),
            },
            // A tool that can only be used with an extension says so by asking for it.
            _ if method.starts_with(EXTENSION) => {
                let id = &method[EXTENSION.len()..];
                (!self.has_extension(id)).then(|| json!({ "extensions": { id: {} } }))
            }
            "roots/list" => (!self.0.contains_key("roots")).then(|| json!({ "roots": {} })),
            _ => Some(json!({})),
        }
    }

    /// Whether an extension was declared.
    pub(crate) fn has_extension(&self, id: &str) -> bool {
        self.0.get("extensions").and_then(|extensions| extensions.get(id)).is_some()
    }
}

/// A request of this kind, with an extension's id behind it, asks for nothing but that the client has it.
const EXTENSION: &str = "extensions/";

/// The levels of log lines, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}

/// `_meta` of a request, as far as we read it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow, default)]
    pub(crate) protocol_version: Option<Text<'a>>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", default)]
    pub(crate) capabilities: Option<Capabilities>,
    #[serde(rename = "io.modelcontextprotocol/clientInfo", default)]
    pub(crate) client_info: Option<Implementation>,
    #[serde(rename = "io.modelcontextprotocol/logLevel", default)]
    pub(crate) log_level: Option<LogLevel>,
    #[serde(rename = "progressToken", default)]
    pub(crate) progress_token: Option<Id>,
    #[serde(borrow, default)]
    traceparent: Option<Text<'a>>,
    #[serde(rename = "dev.toolroom/idempotencyKey", default)]
    idempotency_key: Option<String>,
    /// The characters of text that a result may have before it is abridged.
    #[serde(rename = "dev.toolroom/textBudget", default)]
    pub(crate) text_budget: Option<usize>,
    #[serde(rename = "dev.toolroom/approvalId", default)]
    approval_id: Option<PendingId>,
}

/// What the edge itself reads of the parameters.
#[derive(Debug, Default)]
pub(crate) struct Head<'a> {
    pub(crate) meta: Option<Meta<'a>>,
    pub(crate) fields: Fields<'a>,
}

/// The parameters as text, and those that more than one method has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fields<'a> {
    /// All of them, an object.
    pub(crate) text: Option<&'a str>,
    meta: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) uri: Option<&'a str>,
    pub(crate) task_id: Option<&'a str>,
    pub(crate) arguments: Option<&'a str>,
    pub(crate) input_responses: Option<&'a str>,
    pub(crate) request_state: Option<&'a str>,
}

impl Meta<'_> {
    /// The revision that a request which stands alone says it is of.
    pub(crate) fn version(&self) -> Result<&str, RpcError> {
        self.protocol_version.as_ref().map(|version| &*version.0).ok_or_else(|| lacking("protocolVersion"))
    }

    /// The client, as a request that stands alone describes it.
    pub(crate) fn client(&mut self) -> Result<Client, RpcError> {
        let version = self.version()?;
        let revision = Revision::parse(version)
            .filter(|revision| revision.is_stateless())
            .ok_or_else(|| RpcError::unsupported_version(version, Revision::STATELESS))?;
        let capabilities = self.capabilities.take().ok_or_else(|| lacking("clientCapabilities"))?;
        Ok(Client { revision, info: self.client_info.take(), capabilities, log_level: self.log_level })
    }
}

/// What every request that stands alone must say in `_meta`.
pub(crate) fn lacking(what: &str) -> RpcError {
    RpcError::invalid_params(format!("'_meta' lacks 'io.modelcontextprotocol/{what}'.")).of_the_envelope()
}

impl<'a> Fields<'a> {
    /// Those of an object that was looked at.
    pub(crate) fn of(text: &'a str, pieces: &[(&'a str, &'a str)]) -> Self {
        let mut fields = Self { text: Some(text), ..Self::default() };
        for (key, value) in pieces {
            fields.take(key, value);
        }
        fields
    }

    /// Those of an object whose text is known to be sound.
    pub(crate) fn read(text: Option<&'a str>) -> Self {
        let Some(text) = text else { return Self::default() };
        if let Some(scanner) = FieldScanner::of(text) {
            return Self::of(text, &scanner.fields);
        }
        let mut fields = Self { text: Some(text), ..Self::default() };
        let pieces: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
        for (key, value) in pieces {
            fields.take(&key, value.get());
        }
        fields
    }

    fn take(&mut self, key: &str, value: &'a str) {
        let place = match key {
            "_meta" => &mut self.meta,
            "name" => &mut self.name,
            "uri" => &mut self.uri,
            "taskId" => &mut self.task_id,
            "arguments" => &mut self.arguments,
            "inputResponses" => &mut self.input_responses,
            "requestState" => &mut self.request_state,
            _ => return,
        };
        *place = (value != "null").then_some(value);
    }
}

impl<'a> Head<'a> {
    pub(crate) fn read(fields: Fields<'a>) -> Result<Self, RpcError> {
        let meta = fields.meta.map(serde_json::from_str).transpose().map_err(refused)?;
        Ok(Self { meta, fields })
    }

    /// Whether the request says that it stands alone.
    pub(crate) fn is_modern(&self) -> bool {
        self.meta.as_ref().is_some_and(|meta| meta.protocol_version.is_some() || meta.capabilities.is_some())
    }
}

impl Request<'_> {
    /// The parameters as the method knows them.
    pub(crate) fn params<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        serde_json::from_str(self.fields.text.unwrap_or("{}")).map_err(refused)
    }

    /// Who looks at resources and prompts.
    pub(crate) fn visitor(&self) -> Visitor<'_> {
        self.caller.visitor(self.app)
    }

    /// What goes into the context of a call.
    pub(crate) fn context(&self) -> ContextFields {
        let info = self.meta.client_info.as_ref().or(self.client.info.as_ref());
        let trace = self.meta.traceparent.as_ref().and_then(|text| trace::from_traceparent(&text.0));
        ContextFields {
            session_id: self.caller.session.as_deref().map(str::to_owned),
            trace_id: Some(trace.unwrap_or(self.caller.trace)),
            agent_id: info.map(|info| info.name.clone()),
            agent_version: info.map(|info| info.version.clone()),
            idempotency_key: self.meta.idempotency_key.clone(),
            approval_id: self.meta.approval_id,
            ..ContextFields::default()
        }
    }
}

/// What serde_json says about parameters, without the place.
pub(super) fn refused(error: serde_json::Error) -> RpcError {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    RpcError::invalid_params(format!("The parameters are wrong: {what}."))
}
