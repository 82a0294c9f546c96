//! What is sent and answered in OpenAI's form, as far as the OpenAPI document describes it.
#![allow(dead_code, reason = "only their schemas are used")]

use schemars::JsonSchema;
use serde_json::{Map, Value};

/// Parameters of sampling (temperature, seed, …) are passed on to the model; fields that do not matter here are ignored.
#[derive(JsonSchema)]
pub(crate) struct CompletionRequest {
    /// toolroom, toolroom/PROFILE, or what /v1/models lists.
    model: String,
    #[schemars(length(min = 1))]
    messages: Vec<Map<String, Value>>,
    /// Chunks as they come, instead of the whole answer.
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    /// Tools that the client runs itself.
    tools: Option<Vec<Map<String, Value>>>,
    /// `auto`, `none`, `required`, or a function that must be called first.
    tool_choice: Option<Value>,
}

#[derive(JsonSchema)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(JsonSchema)]
pub(crate) struct Completion {
    id: String,
    /// Always `chat.completion`.
    object: String,
    /// Seconds since 1970.
    created: i64,
    model: String,
    choices: Vec<CompletionChoice>,
    usage: CompletionUsage,
    /// What ran on the server, and what waits for the person.
    toolroom: Option<Map<String, Value>>,
}

#[derive(JsonSchema)]
struct CompletionChoice {
    index: u32,
    message: Map<String, Value>,
    /// `stop`, `tool_calls`, or `length` where the model reached its limit.
    finish_reason: String,
}

#[derive(JsonSchema)]
struct CompletionUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

/// Parameters of sampling are passed on to the model; fields that do not matter here are given back as they came.
#[derive(JsonSchema)]
pub(crate) struct ResponseRequest {
    /// toolroom, toolroom/PROFILE, or what /v1/models lists.
    model: String,
    /// A text, or a list of messages, function calls, their outputs and references to items.
    input: Value,
    /// What the model is told about itself, for this request alone.
    instructions: Option<String>,
    /// The response that the input follows. It must have been stored, by the same user.
    previous_response_id: Option<String>,
    /// Whether a later request may go on from the answer, for 30 days; true without.
    store: Option<bool>,
    /// Events as they happen, instead of the whole answer.
    stream: Option<bool>,
    /// Functions that the client runs itself.
    tools: Option<Vec<Map<String, Value>>>,
    /// `auto`, `none`, `required`, or a function that must be called first.
    tool_choice: Option<Value>,
}

#[derive(JsonSchema)]
pub(crate) struct ResponseObject {
    /// For previous_response_id.
    id: String,
    /// Always `response`.
    object: String,
    /// Seconds since 1970.
    created_at: i64,
    /// `completed`, or `incomplete` where the model reached its limit; in events also `in_progress` and `failed`.
    status: String,
    model: String,
    /// A message with the words, and the calls that the client is to make.
    output: Vec<Map<String, Value>>,
    previous_response_id: Option<String>,
    store: bool,
    usage: Option<ResponseUsage>,
    /// What ran on the server, and what waits for the person.
    toolroom: Option<Map<String, Value>>,
}

#[derive(JsonSchema)]
pub(crate) struct DeletedResponse {
    id: String,
    /// Always `response`.
    object: String,
    /// Always true.
    deleted: bool,
}

#[derive(JsonSchema)]
struct ResponseUsage {
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
}

#[derive(JsonSchema)]
#[schemars(rename = "ModelList")]
pub(crate) struct Models {
    /// Always `list`.
    object: String,
    data: Vec<Model>,
}

#[derive(JsonSchema)]
pub(crate) struct Model {
    id: String,
    /// Always `model`.
    object: String,
    /// Seconds since 1970.
    created: i64,
    owned_by: String,
    description: String,
    /// The profile whose tools it has.
    profile: String,
    /// The language model that answers.
    answered_by: String,
}

/// An error in OpenAI's form.
#[derive(JsonSchema)]
#[schemars(rename = "OpenaiError")]
pub(crate) struct Failure {
    error: FailureBody,
}

#[derive(JsonSchema)]
#[schemars(rename = "OpenaiErrorBody")]
struct FailureBody {
    message: String,
    r#type: String,
    /// The field that is to blame.
    param: Option<String>,
    code: String,
}
