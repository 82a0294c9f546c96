//! JSON-RPC errors: for the protocol itself alone. What goes wrong inside a tool is a result.

use std::borrow::Cow;

use http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::Revision;

/// The codes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The text is not JSON.
    Parse,
    /// The JSON is not a JSON-RPC message.
    InvalidRequest,
    /// No such method in the revision that is spoken.
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
    /// The revision is not spoken.
    UnsupportedVersion,
    /// A code of the other side's own.
    Other(i64),
}

/// The codes that mean something here, with their numbers on the wire.
const CODES: [(Code, i64); 9] = [
    (Code::Parse, -32700),
    (Code::InvalidRequest, -32600),
    (Code::MethodNotFound, -32601),
    (Code::InvalidParams, -32602),
    (Code::ResourceNotFound, -32002),
    (Code::Internal, -32603),
    (Code::HeaderMismatch, -32020),
    (Code::MissingCapability, -32021),
    (Code::UnsupportedVersion, -32022),
];

impl Code {
    /// The number on the wire.
    pub fn number(self) -> i64 {
        match self {
            Code::Other(number) => number,
            known => CODES.iter().find(|(code, _)| *code == known).map_or(0, |(_, number)| *number),
        }
    }

    /// The code of that number.
    pub fn of(number: i64) -> Self {
        CODES.iter().find(|(_, known)| *known == number).map_or(Code::Other(number), |(code, _)| *code)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.number())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self::of)
    }
}

/// An error as the other side sees it, or as it told us.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RpcError {
    /// Its code.
    pub code: Code,
    /// What it says.
    #[serde(default)]
    pub message: Cow<'static, str>,
    /// What belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
    /// The envelope itself is wrong: 400 even where the code alone would be answered with 200.
    #[serde(skip)]
    envelope: bool,
}

impl RpcError {
    /// An error of that code.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None, envelope: false }
    }

    /// The parameters are wrong.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidParams, message)
    }

    /// A header is wrong.
    pub fn mismatch(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::HeaderMismatch, message)
    }

    /// Somebody else's reads as if it were not there.
    pub fn no_resource(revision: Revision, uri: &str) -> Self {
        let code = if revision.is_stateless() { Code::InvalidParams } else { Code::ResourceNotFound };
        Self::new(code, "Unknown resource, or not allowed for you; see resources/list.")
            .with_data(&json!({ "uri": uri }))
    }

    /// What the message was is not told: it may hold anything.
    pub fn method_not_found() -> Self {
        Self::new(Code::MethodNotFound, "Unknown method.")
    }

    /// The revision is none of these.
    pub fn unsupported_version(requested: &str, supported: &[Revision]) -> Self {
        Self::new(Code::UnsupportedVersion, "This protocol version is not supported.")
            .with_data(&json!({ "supported": supported, "requested": requested }))
    }

    /// `required` is a client's capabilities object with what is missing.
    pub fn missing_capability(required: &Value) -> Self {
        Self::new(Code::MissingCapability, "This needs a capability that the client did not declare.")
            .with_data(&json!({ "requiredCapabilities": required }))
    }

    /// With what belongs to it.
    pub fn with_data(mut self, data: &Value) -> Self {
        self.data = to_raw_value(data).ok();
        self
    }

    /// Wrong in a part of the message that every request has.
    pub fn of_the_envelope(mut self) -> Self {
        self.envelope = true;
        self
    }

    /// Whether only a server of the newest era answers so.
    pub fn is_modern(&self) -> bool {
        matches!(self.code, Code::HeaderMismatch | Code::MissingCapability | Code::UnsupportedVersion)
    }

    /// The status over HTTP. Errors about what a request asks for are answers, and as such 200.
    pub fn http_status(&self) -> StatusCode {
        match self.code {
            Code::MethodNotFound => StatusCode::NOT_FOUND,
            Code::InvalidParams if !self.envelope => StatusCode::OK,
            Code::Internal | Code::ResourceNotFound | Code::Other(_) => StatusCode::OK,
            Code::Parse
            | Code::InvalidRequest
            | Code::InvalidParams
            | Code::HeaderMismatch
            | Code::MissingCapability
            | Code::UnsupportedVersion => StatusCode::BAD_REQUEST,
        }
    }
}
