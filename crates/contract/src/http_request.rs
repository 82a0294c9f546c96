//! How an entry of type `http` calls a web service: where, with what, and as whom.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request to a web service, made of the parameters of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpRequest {
    /// The API that it belongs to: importing that again finds its tools by this name.
    pub api: String,
    /// The method.
    pub method: HttpMethod,
    /// The address that the path is added to.
    pub server: String,
    /// The path, with `{name}` where a parameter goes.
    pub path: String,
    /// Where each parameter goes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, HttpField>,
    /// The body, if it takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<HttpBody>,
    /// Ways to show who calls: the first whose secrets are all set is taken. An empty way is a call without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auth: Vec<Vec<HttpAuth>>,
    /// Whether the address may be on this machine or its network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_private: bool,
    /// Fields of the entry that importing the API again leaves as they are, such as `category`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
}

impl HttpRequest {
    /// The operation of the API, as `GET /pets/{petId}`.
    pub fn operation(&self) -> String {
        format!("{} {}", self.method.as_str(), self.path)
    }
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl HttpMethod {
    /// The method as it is sent.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }
}

/// Where a parameter goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpField {
    /// The part of the request.
    #[serde(rename = "in")]
    pub place: HttpPlace,
    /// Its name there, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How lists and objects are written; the usual way of the place if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<HttpStyle>,
    /// Whether lists and objects are written as several values; the usual way of the style if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explode: Option<bool>,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HttpPlace {
    Path,
    Query,
    Header,
    Cookie,
    /// A field of the body.
    Body,
    /// The whole body.
    WholeBody,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HttpStyle {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
    /// As JSON text.
    Json,
    /// A path of several segments: its slashes stay.
    Segments,
    /// Bytes, which the parameter has as base64.
    Base64,
}

/// What a body is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpBody {
    /// Its media type.
    pub media_type: String,
    /// Whether it is sent even if no field of it is given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

/// A way to show who calls. The secret is a name of `toolroom secrets`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum HttpAuth {
    /// The secret as a header, a query parameter or a cookie.
    ApiKey {
        /// The part of the request.
        #[serde(rename = "in")]
        place: HttpPlace,
        /// Its name there.
        name: String,
        secret: String,
    },
    /// The secret as a bearer token.
    Bearer { secret: String },
    /// The secret is `user:password`.
    Basic { secret: String },
    /// The secret is `client_id:client_secret`, for which the token URL gives a bearer token.
    ClientCredentials {
        secret: String,
        token_url: String,
        /// What the token is for, separated by spaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<String>,
    },
}

impl HttpAuth {
    /// The name of its secret.
    pub fn secret(&self) -> &str {
        match self {
            Self::ApiKey { secret, .. }
            | Self::Bearer { secret }
            | Self::Basic { secret }
            | Self::ClientCredentials { secret, .. } => secret,
        }
    }

    /// The address that is sent the secret itself, if it is not that of the request.
    pub fn token_url(&self) -> Option<&str> {
        match self {
            Self::ClientCredentials { token_url, .. } => Some(token_url),
            _ => None,
        }
    }
}
