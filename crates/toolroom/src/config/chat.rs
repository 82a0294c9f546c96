//! The language model: what the environment names, else what `[model]` says; without either, the offline planner. And
//! what a message of the chat may take.

use std::path::Path;
use std::time::Duration;

use toolroom_agent::ChatSettings;
use toolroom_agent::model::openai::{ApiKey, BadModel, OpenAiSettings};

use super::file::{Chat, Model};
use crate::failure::Failure;

/// What the environment says of a model; each counts more than the file.
#[derive(Clone, Debug, Default)]
pub struct ModelOverrides {
    /// `OPENAI_BASE_URL`.
    pub base_url: Option<String>,
    /// `OPENAI_API_KEY`.
    pub api_key: Option<ApiKey>,
    /// `TOOLROOM_MODEL`.
    pub name: Option<String>,
}

/// The model to use, if one is named. An address or a key alone names none: other programs use the same variables.
pub fn model(given: &ModelOverrides, file: Model, path: &Path) -> Result<Option<OpenAiSettings>, Failure> {
    let Some(name) = given.name.clone().or(file.name) else {
        if file.base_url.is_some() {
            let message = format!("{}: [model] has a base_url but no name", path.display());
            return Err(Failure::new(
                message,
                "Add name = \"…\", as the model's server lists it at /v1/models.",
            ));
        }
        return Ok(None);
    };
    let variable = |name: &String| std::env::var(name).ok();
    let in_file = file.api_key.or_else(|| file.api_key_env.as_ref().and_then(variable));
    // A key goes to the server that it was given for. What the file says of its own server counts there, and is not
    // sent elsewhere; the environment's key is for whoever has none.
    let theirs = given.api_key.clone();
    let key = match (&given.base_url, in_file.and_then(|key| ApiKey::new(&key))) {
        (Some(_), _) => theirs,
        (None, in_file) => in_file.or(theirs),
    };
    let url = given.base_url.as_deref().or(file.base_url.as_deref()).unwrap_or(OpenAiSettings::HOSTED);
    let mut settings = OpenAiSettings::new(url, key, &name).map_err(|error| {
        let hint = match error {
            BadModel::Url => {
                "Write it like http://127.0.0.1:11434/v1, in OPENAI_BASE_URL or [model] base_url."
            }
            BadModel::Name => "Name the model in TOOLROOM_MODEL or [model] name.",
        };
        Failure::new(format!("{}: [model]: {error}", path.display()), hint)
    })?;
    if let Some(seconds) = file.timeout {
        settings.timeout = Duration::from_secs(seconds.get().into());
    }
    Ok(Some(settings))
}

/// What a message may take; what is not set is as usual.
pub fn settings(file: &Chat) -> ChatSettings {
    let mut settings = ChatSettings::default();
    let limits = &mut settings.limits;
    limits.turns = file.turns.map_or(limits.turns, |turns| turns.get());
    limits.calls = file.calls.map_or(limits.calls, |calls| calls.get());
    limits.tokens = file.tokens.map_or(limits.tokens, |tokens| tokens.get().into());
    limits.seconds = file.seconds.map_or(limits.seconds, |seconds| seconds.get().into());
    limits.parallel = file.parallel.map_or(limits.parallel, |calls| calls.get() as usize);
    if let Some(seconds) = file.confirm_ttl {
        settings.confirm_ttl = Duration::from_secs(seconds.get().into());
    }
    settings.context = file.context_messages.map_or(settings.context, |messages| messages.get());
    settings.tools = file.tools.map_or(settings.tools, |tools| tools.get() as usize);
    settings
}
