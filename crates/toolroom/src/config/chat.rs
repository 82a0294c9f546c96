//! The language model: from the environment, else from `[model]`, else the offline planner. And what one message of the
//! chat may use.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use toolroom_agent::ChatSettings;
use toolroom_agent::run::Limits;
use toolroom_model::openai::{ApiKey, BadModel, OpenAiSettings};

use super::settings_file::{Chat, Model};
use crate::failure::Failure;

/// What the environment says about the model; each overrides the file.
#[derive(Clone, Debug, Default)]
pub struct ModelOverrides {
    /// `OPENAI_BASE_URL`.
    pub base_url: Option<String>,
    /// `OPENAI_API_KEY`.
    pub api_key: Option<ApiKey>,
    /// `TOOLROOM_MODEL`.
    pub name: Option<String>,
}

/// The model to use, if one is named. An address or a key alone is not enough: other programs use the same variables.
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
    // A key must only reach the server that it was given for: the file's key is not sent to an address from the
    // environment.
    let from_environment = given.api_key.clone();
    let key = match (&given.base_url, in_file.and_then(|key| ApiKey::new(&key))) {
        (Some(_), _) => from_environment,
        (None, in_file) => in_file.or(from_environment),
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
    settings.timeout = seconds(file.timeout);
    Ok(Some(settings))
}

/// What one message may use.
pub fn settings(file: &Chat) -> ChatSettings {
    ChatSettings {
        limits: Limits {
            turns: file.turns.get(),
            calls: file.calls.get(),
            tokens: file.tokens.get().into(),
            seconds: file.seconds.get().into(),
            parallel: file.parallel.get() as usize,
        },
        confirm_ttl: seconds(file.confirm_ttl),
        context: file.context_messages.get(),
        tools: file.tools.get() as usize,
        ask_after_untrusted: file.ask_after_untrusted,
        ..ChatSettings::default()
    }
}

fn seconds(number: NonZeroU32) -> Duration {
    Duration::from_secs(number.get().into())
}
