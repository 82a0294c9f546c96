//! `request-human-input`: puts a question before a person and answers with what they said.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::definition::{Example, Varies};
use toolroom_contract::handler::{HandlerFuture, Question, schema_of};
use toolroom_contract::{
    Answer, Ending, ErrorCode, Handler, Permission, ResponseTime, ToolContext, ToolDefinition, ToolError,
};

struct RequestHumanInput;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// What the person is asked, in whole sentences: they may not see the conversation.
    #[schemars(length(min = 1, max = 2000))]
    question: String,
    /// What they may choose from, each of 1 to 200 characters; free text if none are given.
    #[serde(default)]
    #[schemars(length(max = 20))]
    choices: Vec<String>,
    /// Seconds until the question expires.
    #[serde(default = "an_hour")]
    #[schemars(range(min = 1.0, max = 86_400.0))]
    timeout: f64,
}

fn an_hour() -> f64 {
    3600.0
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// What the person said; one of the choices, if there were any.
    answer: String,
    /// Which of the choices it is, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<usize>,
}

impl Handler for RequestHumanInput {
    fn call<'a>(&'a self, params: &'a Value, context: &'a ToolContext) -> HandlerFuture<'a> {
        Box::pin(async move { run(params, context.answer.as_ref()).unwrap_or_else(Ending::Failed) })
    }

    fn trimmed(&self) -> &'static [&'static str] {
        &["question"]
    }

    fn asks(&self) -> bool {
        true
    }
}

fn run(params: &Value, answer: Option<&Value>) -> Result<Ending, ToolError> {
    let params = Params::deserialize(params)
        .map_err(|error| ToolError::new(ErrorCode::InvalidInput, error.to_string()))?;
    check(&params.choices)?;
    let Some(answer) = answer else {
        let Params { question, choices, timeout } = params;
        return Ok(Ending::NeedsInput(Question { text: question, choices, schema: None, timeout }));
    };
    let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    let choice = params.choices.iter().position(|one| *one == answer);
    Ok(Ending::Done(Answer::new(Output { answer, choice })?))
}

fn check(choices: &[String]) -> Result<(), ToolError> {
    for (at, choice) in choices.iter().enumerate() {
        let pointer = || format!("/choices/{at}");
        if choice.trim().is_empty() || choice.chars().count() > 200 {
            return Err(ToolError::invalid(pointer(), "must have 1 to 200 characters"));
        }
        if choices[..at].contains(choice) {
            return Err(ToolError::invalid(pointer(), "appears twice"));
        }
    }
    Ok(())
}

const DESCRIPTION: &str = "Asks a person a question and returns their answer. Use it when you cannot go on \
without something that only a person knows or may decide: an unclear wish, a missing detail, a choice between \
ways, leave for a step that matters. Do not use it for facts that search-web can find or execute-code can \
compute, nor for what the person said already. The first call answers that the question is pending, with its id; \
make the same call again with that id once it has been answered. Give choices where the answer is one of a few. \
If nobody answers in time, the call says so: then go on without, or ask again.";

pub(super) fn tool() -> (ToolDefinition, Arc<dyn Handler>) {
    let definition = ToolDefinition {
        permissions: Permission::new("humans", "ask").into_iter().collect(),
        parameters: schema_of::<Params>(),
        output: Some(schema_of::<Output>()),
        response_time: ResponseTime::Slow,
        examples: vec![
            Example::new(
                "A choice",
                &json!({ "question": "The file is there already. Shall I replace it?", "choices": ["yes", "no"] }),
                json!({ "answer": "yes", "choice": 0 }),
            ),
            Example::new(
                "Free text",
                &json!({ "question": "Which city do you want the weather for?", "timeout": 600 }),
                json!({ "answer": "Seoul" }),
            )
            .varying([("/answer", Varies::Any)]),
        ],
        tags: ["human", "question", "clarification", "approval"].map(String::from).to_vec(),
        ..ToolDefinition::mutation("request-human-input", DESCRIPTION)
    };
    (definition, Arc::new(RequestHumanInput))
}
