//! What a server may ask while it works on a call, and who answers.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolroom_contract::{ClientRequest, Reporter};
pub use toolroom_mcp::method::Question;
use toolroom_mcp::{Capabilities, Code, RpcError};

/// The future of an answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Value, RpcError>> + Send + 'a>>;

/// Answers a server's questions on behalf of one call. Servers without sessions do not ask so: their
/// questions end the call as [`crate::client::Reply::InputRequired`].
pub trait Answers: Send + Sync {
    /// The answer. The future is dropped when the call ends.
    fn answer(&self, asked: Asked) -> Answering<'_>;
}

/// A question.
#[derive(Debug)]
pub struct Asked {
    /// Of which kind.
    pub question: Question,
    /// The particulars: an object.
    pub params: Value,
}

impl Asked {
    pub(crate) fn new(method: &str, params: Option<&str>) -> Option<Self> {
        let question = Question::find(method)?;
        let params = params.and_then(|text| serde_json::from_str(text).ok());
        Some(Self { question, params: params.unwrap_or_else(|| json!({})) })
    }

    /// Whether a caller with these capabilities can be asked: nobody is asked for what they did not declare.
    pub fn fits(&self, capabilities: &Arc<Map<String, Value>>) -> bool {
        let capabilities = Capabilities(Arc::clone(capabilities));
        capabilities.missing_for_question(self.question, &self.params).is_none()
    }

    /// The same as a request to that caller.
    pub fn request(&self) -> ClientRequest {
        ClientRequest { method: self.question.name().to_owned(), params: self.params.clone() }
    }

    /// The answer when nobody is there to give one.
    pub fn unanswered(&self) -> Result<Value, RpcError> {
        match self.question {
            Question::Elicitation => Ok(json!({ "action": "cancel" })),
            Question::Roots => Ok(json!({ "roots": [] })),
            Question::Sampling => {
                Err(RpcError::new(Code::MethodNotFound, "the caller of this tool offers no model"))
            }
        }
    }
}

const PASSED_ON: [Question; 3] = [Question::Elicitation, Question::Sampling, Question::Roots];

/// What of a client's capabilities servers are told: what they may ask for, and nothing else.
pub fn passed_on(capabilities: &Map<String, Value>) -> Value {
    let known = PASSED_ON.iter().filter_map(|question| {
        let name = question.capability();
        Some((name.to_owned(), capabilities.get(name)?.clone()))
    });
    Value::Object(known.collect())
}

/// Whether a client with these capabilities can be asked anything.
pub fn can_answer(capabilities: &Map<String, Value>) -> bool {
    PASSED_ON.iter().any(|question| capabilities.get(question.capability()).is_some_and(Value::is_object))
}

/// On whose behalf a request is made.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    /// Who it is: calls of different owners are never taken for one another.
    pub(crate) owner: Arc<str>,
    /// Whether questions may belong to it; those of lists and handshakes do not.
    pub(crate) is_call: bool,
    pub(crate) reporter: Reporter,
    pub(crate) answers: Option<Arc<dyn Answers>>,
    /// Whether it asks to be told of changes of the list of tools.
    pub(crate) watches_tools: bool,
}
