//! From the parameters of a call to a request.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Map, Value};
use toolroom_contract::ToolError;
use toolroom_contract::http_request::{HttpField, HttpPlace, HttpRequest, HttpStyle};
use toolroom_contract::validator::child;
use toolroom_outgoing::{Request, Url};

use super::multipart;
use super::param_encoding::{encoded, in_path, in_query, text};

/// The request of a call, without who makes it.
pub(super) fn build(request: &HttpRequest, params: &Value, boundary: &str) -> Result<Request, ToolError> {
    let mut draft = Draft { path: request.path.clone(), ..Draft::default() };
    for (name, value) in params.as_object().into_iter().flatten() {
        // Every parameter of the schema has a place: that was checked when the tool was registered.
        if let Some(field) = request.fields.get(name) {
            draft.put(name, field, value)?;
        }
    }
    let method = Method::from_bytes(request.method.as_str().as_bytes()).map_err(ToolError::internal)?;
    let url = draft.url(&request.server)?;
    let mut headers = std::mem::take(&mut draft.headers);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
    if !draft.cookies.is_empty() {
        let cookies = HeaderValue::try_from(draft.cookies.join("; ")).map_err(ToolError::internal)?;
        headers.insert(COOKIE, cookies);
    }
    let body = draft.body(request, boundary)?;
    if let Some((kind, _)) = &body {
        headers.insert(CONTENT_TYPE, HeaderValue::try_from(kind).map_err(ToolError::internal)?);
    }
    Ok(Request { method, url, headers, body: body.map(|(_, body)| body) })
}

#[derive(Default)]
struct Draft {
    path: String,
    query: Vec<String>,
    headers: HeaderMap,
    cookies: Vec<String>,
    /// Fields of the body, by their names there.
    fields: Map<String, Value>,
    /// Those of them that are bytes.
    bytes: Vec<String>,
    whole: Option<(Value, bool)>,
}

impl Draft {
    fn put(&mut self, ours: &str, field: &HttpField, value: &Value) -> Result<(), ToolError> {
        let refuse = |message: &str| Err(ToolError::invalid(child("", ours), message));
        let name = field.name.as_deref().unwrap_or(ours);
        let is_null = value.is_null() && !matches!(field.place, HttpPlace::Body | HttpPlace::WholeBody);
        match field.place {
            HttpPlace::Path => {
                let written = in_path(
                    name,
                    value,
                    field.style.unwrap_or(HttpStyle::Simple),
                    field.explode == Some(true),
                );
                if written.is_empty() || is_null {
                    return refuse("must not be empty, because it is a part of the address");
                }
                self.path = self.path.replace(&format!("{{{name}}}"), &written);
                // Such a part would lead out of the path that was imported.
                if self.path.split('/').any(|part| matches!(part, "." | "..")) {
                    return refuse("must not be '.' or '..', because it is a part of the address");
                }
            }
            _ if is_null => {}
            HttpPlace::Query => {
                let style = field.style.unwrap_or(HttpStyle::Form);
                let explode =
                    field.explode.unwrap_or(matches!(style, HttpStyle::Form | HttpStyle::DeepObject));
                self.query.extend(in_query(name, value, style, explode));
            }
            HttpPlace::Header => {
                let written = match value {
                    Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
                    other => text(other),
                };
                let Ok(name) = HeaderName::try_from(name) else {
                    return refuse("cannot be sent as a header");
                };
                let Ok(value) = HeaderValue::try_from(written) else {
                    return refuse("has characters that a header cannot have");
                };
                self.headers.insert(name, value);
            }
            HttpPlace::Cookie => self.cookies.push(format!("{}={}", encoded(name), encoded(&text(value)))),
            HttpPlace::Body => {
                if field.style == Some(HttpStyle::Base64) {
                    self.bytes.push(name.to_owned());
                }
                self.fields.insert(name.to_owned(), value.clone());
            }
            HttpPlace::WholeBody => {
                self.whole = Some((value.clone(), field.style == Some(HttpStyle::Base64)))
            }
        }
        Ok(())
    }

    fn url(&self, server: &str) -> Result<Url, ToolError> {
        let mut address = format!("{}{}", server.trim_end_matches('/'), self.path);
        if !self.query.is_empty() {
            address.push(if address.contains('?') { '&' } else { '?' });
            address.push_str(&self.query.join("&"));
        }
        Url::parse(&address).map_err(|_| ToolError::invalid("", "these parameters do not give an address"))
    }

    /// The body and its type.
    fn body(self, request: &HttpRequest, boundary: &str) -> Result<Option<(String, Vec<u8>)>, ToolError> {
        let Some(body) = &request.body else { return Ok(None) };
        let kind = body.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let as_is = |bytes: Vec<u8>| Ok(Some((body.media_type.clone(), bytes)));
        match self.whole {
            Some((Value::String(coded), true)) => return as_is(bytes("/body", &coded)?),
            Some((Value::String(plain), false)) if kind.starts_with("text/") => {
                return as_is(plain.into_bytes());
            }
            Some((value, _)) => return as_is(value.to_string().into_bytes()),
            None if self.fields.is_empty() && !body.required => return Ok(None),
            None => {}
        }
        match kind.as_str() {
            "application/x-www-form-urlencoded" => {
                let pairs = self.fields.iter().flat_map(|(name, value)| match value {
                    Value::Null => Vec::new(),
                    Value::Object(_) => in_query(name, value, HttpStyle::DeepObject, true),
                    other => in_query(name, other, HttpStyle::Form, true),
                });
                as_is(pairs.collect::<Vec<_>>().join("&").into_bytes())
            }
            "multipart/form-data" => {
                let mut parts = multipart::Parts::new(boundary);
                for (name, value) in &self.fields {
                    match value {
                        Value::Null => {}
                        Value::String(coded) if self.bytes.contains(name) => {
                            parts.file(name, &bytes(&child("", name), coded)?);
                        }
                        Value::Array(items) => items.iter().for_each(|item| parts.field(name, item)),
                        other => parts.field(name, other),
                    }
                }
                Ok(Some(parts.finish()))
            }
            _ => as_is(Value::Object(self.fields).to_string().into_bytes()),
        }
    }
}

fn bytes(pointer: &str, coded: &str) -> Result<Vec<u8>, ToolError> {
    STANDARD.decode(coded).map_err(|_| ToolError::invalid(pointer, "is not base64"))
}
