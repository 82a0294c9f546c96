//! What runs when a native tool is called.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client_side::ClientInput;
use crate::content::Content;
use crate::context::ToolContext;
use crate::effect::Named;
use crate::error::{ErrorCode, ToolError};
use crate::hints::HintsDraft;

/// A tool's answer: its data, and what it knows about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The data, not null.
    pub data: Value,
    /// What the handler knows about it.
    pub hints: HintsDraft,
    /// What is next to the data, such as images and links, each as its author wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Arc<Content>>,
}

impl Answer {
    /// An answer with nothing to say about itself.
    pub fn new(data: impl Serialize) -> Result<Self, ToolError> {
        Ok(Self {
            data: serde_json::to_value(data).map_err(ToolError::internal)?,
            hints: HintsDraft::default(),
            content: None,
        })
    }

    /// The text that an idempotency record keeps of it.
    pub fn to_record(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// The answer that an idempotency record kept.
    pub fn from_record(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// With hints.
    pub fn with_hints(mut self, hints: HintsDraft) -> Self {
        self.hints = hints;
        self
    }

    /// With blocks next to the data.
    pub fn with_content(mut self, blocks: Vec<Value>) -> Self {
        self.content = Some(Arc::new(Content::of(&blocks)));
        self
    }
}

/// How an execution ends.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the usual ending is the large one")]
pub enum Ending {
    /// With an answer.
    Done(Answer),
    /// With a question that a person must answer first.
    NeedsInput(Question),
    /// With requests that the client must answer first.
    NeedsClient(ClientInput),
    /// With a failure.
    Failed(ToolError),
}

/// A question to a person, in the middle of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What the person is shown.
    pub text: String,
    /// What they may choose from; free text if empty.
    pub choices: Vec<String>,
    /// What the answer must fit, if the tool says so.
    pub schema: Option<Value>,
    /// How long the question is open, in seconds.
    pub timeout: f64,
}

/// The future of one execution.
pub type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Ending> + Send + 'a>>;

/// The future of one rehearsal.
pub type RehearsalFuture<'a> = Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send + 'a>>;

/// The future of a look at what a call is about.
pub type NamesFuture<'a> = Pin<Box<dyn Future<Output = Vec<Named>> + Send + 'a>>;

/// The code behind a native tool. Parameters have passed the tool's schema, and cannot be changed.
pub trait Handler: Send + Sync {
    /// Runs the tool. Dropping the future cancels it.
    fn call<'a>(&'a self, params: &'a Value, context: &'a ToolContext) -> HandlerFuture<'a>;

    /// String parameters whose outer white space does not count: it is cut off before they are checked.
    fn trimmed(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether the handler writes `context.claim` in the transaction of its effect, which passes `context.gate`.
    fn records_claim(&self) -> bool {
        false
    }

    /// Whether it may end in a question. A call that comes back without the id of its question then finds it
    /// by its parameters, instead of asking a second time.
    fn asks(&self) -> bool {
        false
    }

    /// The parameters with phrases such as "tomorrow" resolved, if that changes them: what the cache and
    /// the idempotency record compare.
    fn resolve(&self, _params: &Value, _context: &ToolContext) -> Option<Value> {
        None
    }

    /// How phrases such as "tomorrow" are read: a JSON pointer to each, and its meaning in words.
    fn echoes(&self, _params: &Value, _context: &ToolContext) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What a dry run of a mutation can say in addition to "the parameters are right".
    fn preview(&self, _params: &Value, _context: &ToolContext) -> Option<Value> {
        None
    }

    /// What the things are called that a call is about: a person who is asked about the call reads more than their ids.
    fn names<'a>(&'a self, _params: &'a Value, _context: &'a ToolContext) -> NamesFuture<'a> {
        Box::pin(async { Vec::new() })
    }

    /// Everything that the call would be refused for, without its effect.
    fn rehearse<'a>(&'a self, _params: &'a Value, _context: &'a ToolContext) -> RehearsalFuture<'a> {
        Box::pin(async { Ok(()) })
    }
}

/// A native tool's code with its types: parameters in, output out.
pub trait NativeTool: Send + Sync + 'static {
    /// The parameters. Derive `Deserialize` and `JsonSchema`, and deny unknown fields.
    type Params: DeserializeOwned + JsonSchema + Send;
    /// The data of the answer.
    type Output: Serialize + JsonSchema + Send;

    /// Runs the tool.
    fn run(
        &self,
        params: Self::Params,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Reply<Self::Output>, ToolError>> + Send;

    /// See [`Handler::trimmed`].
    fn trimmed(&self) -> &'static [&'static str] {
        &[]
    }

    /// See [`Handler::records_claim`].
    fn records_claim(&self) -> bool {
        false
    }

    /// See [`Handler::resolve`].
    fn resolve(&self, _params: &Value, _context: &ToolContext) -> Option<Value> {
        None
    }

    /// See [`Handler::echoes`].
    fn echoes(&self, _params: &Value, _context: &ToolContext) -> Vec<(String, String)> {
        Vec::new()
    }

    /// See [`Handler::names`].
    fn names(
        &self,
        _params: Self::Params,
        _context: &ToolContext,
    ) -> impl Future<Output = Vec<Named>> + Send {
        async { Vec::new() }
    }

    /// See [`Handler::rehearse`].
    fn rehearse(
        &self,
        _params: Self::Params,
        _context: &ToolContext,
    ) -> impl Future<Output = Result<(), ToolError>> + Send {
        async { Ok(()) }
    }
}

/// A typed answer.
pub struct Reply<T> {
    /// The data.
    pub data: T,
    /// What the handler knows about it.
    pub hints: HintsDraft,
}

impl<T> Reply<T> {
    /// An answer with hints.
    pub fn new(data: T, hints: HintsDraft) -> Self {
        Self { data, hints }
    }
}

impl<T> From<T> for Reply<T> {
    fn from(data: T) -> Self {
        Self { data, hints: HintsDraft::default() }
    }
}

/// A [`NativeTool`] as a [`Handler`].
pub struct Typed<T>(pub T);

impl<T: NativeTool> Handler for Typed<T> {
    fn call<'a>(&'a self, params: &'a Value, context: &'a ToolContext) -> HandlerFuture<'a> {
        Box::pin(async move {
            let params = match T::Params::deserialize_from(params) {
                Ok(params) => params,
                Err(error) => return Ending::Failed(error),
            };
            match self.0.run(params, context).await {
                Ok(reply) => match serde_json::to_value(reply.data) {
                    Ok(data) => Ending::Done(Answer { data, hints: reply.hints, content: None }),
                    Err(error) => Ending::Failed(ToolError::internal(error)),
                },
                Err(error) => Ending::Failed(error),
            }
        })
    }

    fn trimmed(&self) -> &'static [&'static str] {
        self.0.trimmed()
    }

    fn records_claim(&self) -> bool {
        self.0.records_claim()
    }

    fn resolve(&self, params: &Value, context: &ToolContext) -> Option<Value> {
        self.0.resolve(params, context)
    }

    fn echoes(&self, params: &Value, context: &ToolContext) -> Vec<(String, String)> {
        self.0.echoes(params, context)
    }

    fn names<'a>(&'a self, params: &'a Value, context: &'a ToolContext) -> NamesFuture<'a> {
        Box::pin(async move {
            match T::Params::deserialize_from(params) {
                Ok(params) => self.0.names(params, context).await,
                Err(_) => Vec::new(),
            }
        })
    }

    fn rehearse<'a>(&'a self, params: &'a Value, context: &'a ToolContext) -> RehearsalFuture<'a> {
        Box::pin(async move { self.0.rehearse(T::Params::deserialize_from(params)?, context).await })
    }
}

trait FromParams: Sized {
    fn deserialize_from(params: &Value) -> Result<Self, ToolError>;
}

impl<P: DeserializeOwned> FromParams for P {
    fn deserialize_from(params: &Value) -> Result<Self, ToolError> {
        // The schema has passed already: this fails only where a type is narrower than its schema.
        P::deserialize(params).map_err(|error| ToolError::new(ErrorCode::InvalidInput, error.to_string()))
    }
}

/// The JSON Schema of a type, without the title that only repeats the Rust name.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
    }
    drop_widths(&mut schema);
    schema
}

/// What schemars says about Rust's numbers.
const WIDTHS: [&str; 14] = [
    "int", "int8", "int16", "int32", "int64", "int128", "uint", "uint8", "uint16", "uint32", "uint64",
    "uint128", "float", "double",
];

/// How wide a number is in Rust is not a format that JSON Schema knows, and some clients refuse what they do not know.
pub fn drop_widths(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(drop_widths),
        Value::Object(fields) => {
            if fields.get("format").and_then(Value::as_str).is_some_and(|format| WIDTHS.contains(&format)) {
                fields.remove("format");
            }
            fields.values_mut().for_each(drop_widths);
        }
        _ => {}
    }
}

/// Names the parameter and output types of a tool for its definition.
pub struct Shapes<T>(PhantomData<T>);

impl<T: NativeTool> Shapes<T> {
    /// The schema of the parameters.
    pub fn parameters() -> Value {
        schema_of::<T::Params>()
    }

    /// The schema of the output.
    pub fn output() -> Value {
        schema_of::<T::Output>()
    }
}
