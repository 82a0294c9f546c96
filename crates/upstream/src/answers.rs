//! What a server may ask while it works on a call, and who answers.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::value::RawValue;
use toolroom_contract::Reporter;

use crate::wire::RpcError;
use crate::wire::envelope::METHOD_NOT_FOUND;

/// The future of an answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Box<RawValue>, RpcError>> + Send + 'a>>;

/// Answers a server's questions on behalf of one call. Servers without sessions do not ask so: their
/// questions end the call as [`crate::client::Reply::InputRequired`].
pub trait Answers: Send + Sync {
    /// The answer. The future is dropped when the call ends.
    fn answer(&self, asked: Asked) -> Answering<'_>;
}

/// What a server may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// `elicitation/create`: something of the user.
    Elicitation,
    /// `sampling/createMessage`: something of the caller's model.
    Sampling,
    /// `roots/list`: the caller's folders.
    Roots,
}

/// A question.
#[derive(Debug)]
pub struct Asked {
    /// Of which kind.
    pub question: Question,
    /// The particulars, as they came.
    pub params: Option<Box<RawValue>>,
}

impl Question {
    /// Its method.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }
}

impl Asked {
    pub(crate) fn new(method: &str, params: Option<&RawValue>) -> Option<Self> {
        let kinds = [Question::Elicitation, Question::Sampling, Question::Roots];
        let question = kinds.into_iter().find(|kind| kind.method() == method)?;
        Some(Self { question, params: params.map(RawValue::to_owned) })
    }

    /// The answer when nobody is there to give one.
    pub fn unanswered(&self) -> Result<Box<RawValue>, RpcError> {
        let text = match self.question {
            Question::Elicitation => r#"{"action":"cancel"}"#,
            Question::Roots => r#"{"roots":[]}"#,
            Question::Sampling => {
                return Err(RpcError::new(METHOD_NOT_FOUND, "the caller of this tool offers no model"));
            }
        };
        RawValue::from_string(text.to_owned())
            .map_err(|error| RpcError::new(METHOD_NOT_FOUND, error.to_string()))
    }
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
    /// Whether it asks to be told about changes of the list of tools.
    pub(crate) watches_tools: bool,
}
