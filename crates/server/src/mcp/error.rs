//! JSON-RPC errors: for the protocol itself alone. What goes wrong inside a tool is a result.

use std::borrow::Cow;

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use super::revision::Revision;

/// The codes that this server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The text is not JSON.
    Parse,
    /// The JSON is not a JSON-RPC message.
    InvalidRequest,
    /// No such method in the revision that the client speaks.
    MethodNotFound,
    /// The method's parameters are wrong, or name something that is not there.
    InvalidParams,
    /// No such resource, in the revisions that have a code for it.
    ResourceNotFound,
    /// Something unexpected went wrong inside.
    Internal,
    /// A header is missing, malformed, or says something else than the body.
    HeaderMismatch,
    /// The request needs what the client did not declare.
    MissingCapability,
    /// The revision is none of ours.
    UnsupportedVersion,
}

impl Code {
    /// The number on the wire.
    pub(crate) const fn number(self) -> i32 {
        match self {
            Code::Parse => -32700,
            Code::InvalidRequest => -32600,
            Code::MethodNotFound => -32601,
            Code::InvalidParams => -32602,
            Code::ResourceNotFound => -32002,
            Code::Internal => -32603,
            Code::HeaderMismatch => -32020,
            Code::MissingCapability => -32021,
            Code::UnsupportedVersion => -32022,
        }
    }
}

/// An error as the client sees it.
#[derive(Clone, Debug)]
pub(crate) struct RpcError {
    pub(crate) code: Code,
    pub(crate) message: Cow<'static, str>,
    pub(crate) data: Option<Value>,
    /// The envelope itself is wrong: 400 even where the code alone would be answered with 200.
    envelope: bool,
}

impl RpcError {
    pub(crate) fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None, envelope: false }
    }

    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidParams, message)
    }

    pub(crate) fn mismatch(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::HeaderMismatch, message)
    }

    /// Somebody else's reads as if it were not there.
    pub(crate) fn no_resource(revision: Revision, uri: &str) -> Self {
        let code = if revision.is_stateless() { Code::InvalidParams } else { Code::ResourceNotFound };
        let data = Some(json!({ "uri": uri }));
        Self { data, ..Self::new(code, "Unknown resource, or not allowed for you; see resources/list.") }
    }

    /// What the message was is not told: it may hold anything.
    pub(crate) fn method_not_found() -> Self {
        Self::new(Code::MethodNotFound, "Unknown method.")
    }

    pub(crate) fn unsupported_version(requested: &str, supported: &[Revision]) -> Self {
        let supported: Vec<&str> = supported.iter().map(|revision| revision.as_str()).collect();
        Self {
            data: Some(json!({ "supported": supported, "requested": requested })),
            ..Self::new(Code::UnsupportedVersion, "This protocol version is not supported.")
        }
    }

    /// `required` is a client's capabilities object with what is missing.
    pub(crate) fn missing_capability(required: Value) -> Self {
        Self {
            data: Some(json!({ "requiredCapabilities": required })),
            ..Self::new(Code::MissingCapability, "This needs a capability that the client did not declare.")
        }
    }

    /// Wrong in a part of the message that every request has.
    pub(crate) fn of_the_envelope(mut self) -> Self {
        self.envelope = true;
        self
    }

    /// The status over HTTP. Errors about what a request asks for are answers, and as such 200.
    pub(crate) fn http_status(&self) -> StatusCode {
        match self.code {
            Code::MethodNotFound => StatusCode::NOT_FOUND,
            Code::InvalidParams if !self.envelope => StatusCode::OK,
            Code::Internal | Code::ResourceNotFound => StatusCode::OK,
            Code::Parse
            | Code::InvalidRequest
            | Code::InvalidParams
            | Code::HeaderMismatch
            | Code::MissingCapability
            | Code::UnsupportedVersion => StatusCode::BAD_REQUEST,
        }
    }
}

impl Serialize for RpcError {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("error", 3)?;
        fields.serialize_field("code", &self.code.number())?;
        fields.serialize_field("message", &self.message)?;
        if let Some(data) = &self.data {
            fields.serialize_field("data", data)?;
        }
        fields.end()
    }
}
