//! Where a model is, and what it is called.

use std::fmt;
use std::time::Duration;

use toolroom_outgoing::Url;

/// Where a model is, and what it is called.
#[derive(Clone, Debug)]
pub struct OpenAiSettings {
    /// The address before `/chat/completions`.
    pub url: Url,
    /// The key, if the server wants one.
    pub api_key: Option<ApiKey>,
    /// The model's name.
    pub model: String,
    /// For one turn.
    pub timeout: Duration,
    /// For the next piece of a stream.
    pub idle: Duration,
}

/// Why a model cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum BadModel {
    /// The address is no URL, or not of HTTP.
    #[error("the address of the model's server is not an http or https address")]
    Url,
    /// The name is empty.
    #[error("the model has no name")]
    Name,
}

/// A key that cannot be printed.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// The key; nothing, if it is empty.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

impl OpenAiSettings {
    /// The address that is meant where a key is given and no address.
    pub const HOSTED: &'static str = "https://api.openai.com/v1";
    /// How long one turn may take unless the settings say otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(180);

    /// A model with the usual limits.
    pub fn new(url: &str, api_key: Option<ApiKey>, model: &str) -> Result<Self, BadModel> {
        let url: Url = url.trim().parse().map_err(|_| BadModel::Url)?;
        if !matches!(url.scheme(), "http" | "https") || url.cannot_be_a_base() {
            return Err(BadModel::Url);
        }
        let model = model.trim().to_owned();
        if model.is_empty() {
            return Err(BadModel::Name);
        }
        Ok(Self { url, api_key, model, timeout: Self::TIMEOUT, idle: Duration::from_secs(60) })
    }

    /// Where turns are asked for.
    pub(super) fn completions(&self) -> Url {
        let mut url = self.url.clone();
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/chat/completions").unwrap_or(path);
        let path = format!("{path}/chat/completions");
        url.set_path(&path);
        url
    }

    /// Where the server lists its models.
    pub(super) fn models(&self) -> Url {
        let mut url = self.completions();
        let path = url.path().trim_end_matches("/chat/completions").to_owned();
        url.set_path(&format!("{path}/models"));
        url
    }

    /// What a server said, without the key that it may repeat.
    pub(super) fn without_key(&self, text: &str) -> String {
        match &self.api_key {
            Some(key) => text.replace(key.reveal(), "…"),
            None => text.to_owned(),
        }
    }
}
