//! The search engines: what each is asked, and how its answer reads.

use std::fmt;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_outgoing::{Request, Url};

use super::{Found, text};

/// A search engine that can be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchEngine {
    /// A SearXNG server with the JSON format on.
    Searxng,
    /// Brave's search API.
    Brave,
    /// Tavily's search API.
    Tavily,
}

/// Which engine, where, and with which key.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSettings {
    /// Which engine.
    pub engine: SearchEngine,
    /// Where it is.
    pub url: Url,
    /// What it wants to see.
    pub api_key: Option<ApiKey>,
}

/// A key, which no log shows.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(pub String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// The longest title, snippet and address, in characters. A result is read by an agent that pays by the word.
const TITLE: usize = 200;
const SNIPPET: usize = 600;
const ADDRESS: usize = 2000;

impl SearchEngine {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Searxng => "SearXNG",
            Self::Brave => "Brave",
            Self::Tavily => "Tavily",
        }
    }

    /// Where it is, unless it is everybody's own.
    pub const fn home(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Self::Tavily => Some("https://api.tavily.com/search"),
        }
    }

    /// The results in an answer, cleaned and bounded.
    pub(super) fn results(self, body: &Value, most: usize) -> Result<Vec<Found>, ToolError> {
        let (list, snippet, dates): (&str, &str, &[&str]) = match self {
            Self::Searxng => ("/results", "content", &["publishedDate"]),
            Self::Brave => ("/web/results", "description", &["page_age", "age"]),
            Self::Tavily => ("/results", "content", &["published_date"]),
        };
        let Some(list) = body.pointer(list).and_then(Value::as_array) else {
            // Brave leaves `web` out when it has found nothing.
            if self == Self::Brave && body.is_object() {
                return Ok(Vec::new());
            }
            let message = format!("The search engine's answer has no results: is it {}?", self.name());
            return Err(ToolError::new(ErrorCode::ToolExecutionError, message));
        };
        let word = |one: &Value, field: &str, most: usize| {
            text::plain(one.get(field).and_then(Value::as_str).unwrap_or_default(), most)
        };
        let read = |one: &Value| {
            let url = one.get("url").and_then(Value::as_str)?;
            let fit = Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
            (fit && url.len() <= ADDRESS).then(|| Found {
                title: word(one, "title", TITLE),
                url: url.to_owned(),
                snippet: word(one, snippet, SNIPPET),
                date: dates.iter().find_map(|field| text::date(one.get(*field)?.as_str()?)),
            })
        };
        Ok(list.iter().filter_map(read).take(most).collect())
    }
}

impl SearchSettings {
    /// The request of a search.
    pub(super) fn request(&self, query: &str, most: usize) -> Result<Request, ToolError> {
        let mut request = Request::get(self.url.clone());
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        match self.engine {
            SearchEngine::Searxng => {
                let path = request.url.path().trim_end_matches('/');
                let path = if path.ends_with("/search") { path.to_owned() } else { format!("{path}/search") };
                request.url.set_path(&path);
                request.url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
                if self.api_key.is_some() {
                    request.headers.insert(AUTHORIZATION, self.key("Bearer ")?);
                }
            }
            SearchEngine::Brave => {
                let count = most.to_string();
                request.url.query_pairs_mut().append_pair("q", query).append_pair("count", &count);
                request.headers.insert(HeaderName::from_static("x-subscription-token"), self.key("")?);
            }
            SearchEngine::Tavily => {
                request.method = Method::POST;
                request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                request.headers.insert(AUTHORIZATION, self.key("Bearer ")?);
                let body = json!({ "query": query, "max_results": most });
                request.body = Some(body.to_string().into_bytes());
            }
        }
        Ok(request)
    }

    fn key(&self, scheme: &str) -> Result<HeaderValue, ToolError> {
        let value = self
            .api_key
            .as_ref()
            .and_then(|ApiKey(key)| HeaderValue::from_str(&format!("{scheme}{key}")).ok());
        let mut value = value.ok_or_else(|| {
            let message = format!(
                "{} needs a key: set api_key of [search] in toolroom.toml, or the environment variable that \
                 api_key_env names, and restart Toolroom.",
                self.engine.name()
            );
            ToolError::new(ErrorCode::NotConfigured, message)
        })?;
        value.set_sensitive(true);
        Ok(value)
    }
}
