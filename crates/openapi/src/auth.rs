//! How calls show who makes them: the document's security schemes, each with a secret of its own.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolroom_contract::http_request::{HttpAuth, HttpPlace};
use toolroom_work::step;

use crate::document::Document;
use crate::names::upper;
use crate::operations::Operation;

/// How calls show who makes them, in the words of whoever imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnAuth {
    /// A bearer token.
    Bearer,
    /// User and password.
    Basic,
    /// A key in this header.
    Header(String),
    /// A key in this query parameter.
    Query(String),
}

impl OwnAuth {
    /// Reads `bearer`, `basic`, `header:NAME` or `query:NAME`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "bearer" => Some(Self::Bearer),
            None if text == "basic" => Some(Self::Basic),
            Some(("header", name)) if !name.is_empty() => Some(Self::Header(name.to_owned())),
            Some(("query", name)) if !name.is_empty() => Some(Self::Query(name.to_owned())),
            _ => None,
        }
    }
}

/// A secret that calls need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededSecret {
    /// Its name.
    pub name: String,
    /// What it is.
    pub what: String,
}

/// The security schemes of a document.
pub(crate) struct Schemes<'a> {
    schemes: Option<&'a Map<String, Value>>,
    document: &'a Document<'a>,
    api: String,
    own: Option<HttpAuth>,
    needed: RefCell<BTreeMap<String, String>>,
}

impl<'a> Schemes<'a> {
    pub(crate) fn new(document: &'a Document<'a>, api: &str, own: Option<&OwnAuth>) -> Self {
        let schemes = document.root.pointer("/components/securitySchemes").and_then(Value::as_object);
        let secret = |what: &str| upper(&[api, what]);
        let own = own.map(|own| match own {
            OwnAuth::Bearer => HttpAuth::Bearer { secret: secret("TOKEN") },
            OwnAuth::Basic => HttpAuth::Basic { secret: secret("PASSWORD") },
            OwnAuth::Header(name) => {
                HttpAuth::ApiKey { place: HttpPlace::Header, name: name.clone(), secret: secret("KEY") }
            }
            OwnAuth::Query(name) => {
                HttpAuth::ApiKey { place: HttpPlace::Query, name: name.clone(), secret: secret("KEY") }
            }
        });
        Self { schemes, document, api: api.to_owned(), own, needed: RefCell::default() }
    }

    /// The secrets of all that was asked for.
    pub(crate) fn needed(&self) -> Vec<NeededSecret> {
        let named =
            |(name, what): (&String, &String)| NeededSecret { name: name.clone(), what: what.clone() };
        self.needed.borrow().iter().map(named).collect()
    }

    /// The ways to call an operation, one of which must be taken.
    pub(crate) fn of(&self, operation: &Operation<'_>) -> Result<Vec<Vec<HttpAuth>>, String> {
        let asked = operation.fields.get("security").or_else(|| self.document.root.get("security"));
        let asked = asked.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut ways = Vec::new();
        let mut unknown = None;
        for way in asked.iter().filter_map(Value::as_object) {
            let parts: Result<Vec<HttpAuth>, String> =
                way.iter().map(|(name, scopes)| self.scheme(name, scopes)).collect();
            match parts {
                Ok(parts) => ways.push(parts),
                Err(reason) => unknown = Some(reason),
            }
        }
        if let (true, Some(reason)) = (ways.is_empty(), unknown) {
            return Err(reason);
        }
        // A call without any is the last resort.
        ways.sort_by_key(Vec::is_empty);
        if asked.is_empty()
            && operation.fields.get("security").is_none()
            && let Some(own) = &self.own
        {
            ways.push(vec![own.clone()]);
        }
        for part in ways.iter().flatten() {
            step(1);
            self.needed.borrow_mut().entry(part.secret().to_owned()).or_insert_with(|| what(part));
        }
        Ok(ways)
    }

    fn scheme(&self, name: &str, scopes: &Value) -> Result<HttpAuth, String> {
        let scheme = self.schemes.and_then(|schemes| schemes.get(name));
        let scheme = scheme.ok_or_else(|| format!("its security scheme '{name}' is not in the document"))?;
        let scheme = self.document.resolve(scheme)?;
        let text = |field: &str| scheme.get(field).and_then(Value::as_str).unwrap_or_default();
        let secret = upper(&[&self.api, name]);
        match (text("type"), text("scheme").to_ascii_lowercase().as_str(), text("in")) {
            ("apiKey", _, place) => {
                let place = match place {
                    "query" => HttpPlace::Query,
                    "cookie" => HttpPlace::Cookie,
                    _ => HttpPlace::Header,
                };
                Ok(HttpAuth::ApiKey { place, name: text("name").to_owned(), secret })
            }
            ("http", "basic", _) => Ok(HttpAuth::Basic { secret }),
            ("http", "bearer", _) | ("openIdConnect", ..) => Ok(HttpAuth::Bearer { secret }),
            ("oauth2", ..) => {
                let token_url = scheme
                    .get("flows")
                    .and_then(|flows| flows.get("clientCredentials"))
                    .and_then(|flow| flow.get("tokenUrl"))
                    .and_then(Value::as_str);
                // Other flows need a person in a browser: their token is the secret.
                let Some(token_url) = token_url.filter(|url| url.starts_with("http")) else {
                    return Ok(HttpAuth::Bearer { secret });
                };
                let scopes: Vec<&str> =
                    scopes.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let scope = (!scopes.is_empty()).then(|| scopes.join(" "));
                Ok(HttpAuth::ClientCredentials { secret, token_url: token_url.to_owned(), scope })
            }
            (kind, scheme, _) => Err(format!("its way to log in ({kind} {scheme}) is not supported")),
        }
    }
}

fn what(auth: &HttpAuth) -> String {
    match auth {
        HttpAuth::ApiKey { place, name, .. } => {
            let place = match place {
                HttpPlace::Query => "query parameter",
                HttpPlace::Cookie => "cookie",
                _ => "header",
            };
            format!("a key, sent as the {place} {name}")
        }
        HttpAuth::Bearer { .. } => "an access token, sent as a bearer token".to_owned(),
        HttpAuth::Basic { .. } => "USER:PASSWORD".to_owned(),
        HttpAuth::ClientCredentials { token_url, .. } => {
            format!("CLIENT_ID:CLIENT_SECRET, which {token_url} gives tokens for")
        }
    }
}
