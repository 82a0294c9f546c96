//! The same prompts, put to a language model: what it wants to call first is what it took the prompt for.

use anyhow::Result;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use toolroom_agent::system_message;
use toolroom_contract::{Category, ToolDefinition};
use toolroom_model::openai::OpenAi;
use toolroom_model::{Message, Model, ModelError, Moment, Prompt, ToolChoice, ToolSpec, Turn};
use toolroom_profiles::DEFAULT;
use toolroom_selection::{Class, Family};

use super::gold;
use super::report::{Report, Taken};
use crate::cli::Globals;
use crate::config::Config;
use crate::failure::Failure;
use crate::terminal;

/// Asks the model about every prompt. Nothing is called.
pub async fn report(
    globals: &Globals,
    name: &str,
    listing: &Value,
    prompts: &[gold::Prompt],
) -> Result<Report> {
    let mut overrides = globals.overrides();
    if !name.is_empty() {
        overrides.model.name = Some(name.to_owned());
    }
    let settings = Config::load(&globals.home()?, &overrides)?.model.ok_or_else(|| {
        Failure::new(
            "no model is set up",
            "Set OPENAI_BASE_URL and TOOLROOM_MODEL, or [model] in toolroom.toml.",
        )
    })?;
    let model = OpenAi::new(settings);
    let definitions: Vec<ToolDefinition> = serde_json::from_value(listing["tools"].clone())?;
    let tools: Vec<ToolSpec> = definitions.iter().map(spec).collect();
    let mut report = Report::new();
    let mut failed: Vec<ModelError> = Vec::new();
    for prompt in prompts {
        let turn = model.turn(&put(&prompt.text, &tools), &mut ()).await;
        let taken = turn.map(|turn| taken(&turn, &tools)).unwrap_or_else(|error| {
            failed.push(error);
            unsure()
        });
        report.prompt(&taken, prompt);
    }
    match failed.pop() {
        Some(error) if failed.len() + 1 == prompts.len() => {
            let hint = "Check that the model's server is running, and its address and key.";
            Err(Failure::new(error.to_string(), hint).into())
        }
        Some(error) => {
            terminal::remark(&format!("{} prompts got no answer, for example: {error}", failed.len() + 1));
            Ok(report)
        }
        None => Ok(report),
    }
}

fn put(text: &str, tools: &[ToolSpec]) -> Prompt {
    let moment = Moment { now: Timestamp::now(), zone: TimeZone::system() };
    Prompt {
        messages: vec![system_message("", &moment), Message::user(text)],
        tools: tools.to_vec(),
        tool_choice: ToolChoice::Auto,
        moment,
        profile: DEFAULT.to_owned(),
        confirms_changes: false,
        confirms_deletes: true,
    }
}

fn spec(definition: &ToolDefinition) -> ToolSpec {
    ToolSpec {
        name: definition.name.to_string(),
        canonical: definition.name.to_string(),
        description: definition.description.clone(),
        parameters: definition.parameters.clone().into(),
        read_only: definition.category != Category::Mutation,
        destructive: false,
    }
}

fn taken(turn: &Turn, tools: &[ToolSpec]) -> Taken {
    let sure = Taken { confidence: 1.0, acts: true, ..unsure() };
    let Some(call) = turn.calls.first() else { return Taken { class: Some(Class::None), ..sure } };
    let (class, intent) = match Family::of(&call.name) {
        Some(Family::Task(intent)) => (Some(Class::Tasks), Some(intent)),
        Some(Family::Web) => (Some(Class::Web), None),
        Some(Family::Code) => (Some(Class::Code), None),
        Some(Family::Human) => (Some(Class::Human), None),
        Some(Family::Registry) | None => (None, None),
    };
    let changes = tools.iter().any(|tool| tool.name == call.name && !tool.read_only);
    Taken { class, intent, tool: Some(call.name.clone()), changes, ..sure }
}

fn unsure() -> Taken {
    Taken { class: None, intent: None, tool: None, confidence: 0.0, acts: false, changes: false }
}
