//! Where resources and prompts come from. Each source shows a visitor what is theirs to see, and nothing else.
//!
//! | file | what is there |
//! | --- | --- |
//! | `contracts` | the contracts of tools and the profiles: `toolroom://tools/{name}`, `toolroom://profiles/{name}` |
//! | `docs` | the documentation: `toolroom://docs/{name}` |
//! | `executions` | the caller's log: `toolroom://executions` and `/{id}` |
//! | `servers` | the resources and prompts of other servers: `toolroom://servers/{server}/{address there}` |
//! | `guides` | prompts on how to use the tools |
//! | `ranking` | what a person may mean by the letters typed so far |
//!
//! Large results are a source of their own, in `large`.

mod contracts;
mod docs;
mod executions;
mod guides;
pub(crate) mod ranking;
mod servers;

use std::pin::Pin;
use std::sync::Arc;

use arc_swap::ArcSwap;
use serde_json::{Map, Value};
use tokio::sync::broadcast;
use toolroom_contract::{ClientInput, ClientSide};
use toolroom_mcp::{Code, RpcError};

pub use toolroom_mcp::completion::{Completes, Completing};
pub use toolroom_mcp::items::{Contents, Prompt, PromptArgument, PromptText, Resource, ResourceTemplate};

pub use super::caller::Visitor;

/// Why a source cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The request itself is wrong; the text says how to put it right.
    #[error("{0}")]
    Refused(String),
    /// It failed, for reasons that the visitor may know.
    #[error("{0}")]
    Failed(String),
    /// What the source depends on does not answer. The text is only for the log.
    #[error("{0}")]
    Unavailable(String),
}

/// What a source gives, in time.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, SourceError>> + Send + 'a>>;

/// An answer that is there at once.
pub fn ready<'a, T: Send + 'a>(answer: T) -> Answering<'a, T> {
    Box::pin(std::future::ready(Ok(answer)))
}

/// Gives resources, prompts, or both. What a visitor may not see is left out, and reads as not there.
pub trait Source: Send + Sync {
    /// The resources that are listed.
    fn resources<'a>(&'a self, _: Visitor<'a>) -> Answering<'a, Vec<Resource>> {
        ready(Vec::new())
    }

    /// Families of resources.
    fn templates(&self, _: Visitor<'_>) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// The contents behind an address; `None` if it is not there, or not this source's.
    fn read<'a>(&'a self, _: Visitor<'a>, _uri: &'a str) -> Answering<'a, Option<Vec<Contents>>> {
        ready(None)
    }

    /// Whether changes of what is behind the address are told.
    fn watches(&self, _: Visitor<'_>, _uri: &str) -> bool {
        false
    }

    /// The prompts.
    fn prompts<'a>(&'a self, _: Visitor<'a>) -> Answering<'a, Vec<Prompt>> {
        ready(Vec::new())
    }

    /// The prompt of that name, filled in; `None` if it is not this source's. Its required arguments are there.
    fn prompt<'a>(&'a self, _: Visitor<'a>, _asked: AskedPrompt<'a>) -> Answering<'a, Option<PromptEnding>> {
        ready(None)
    }

    /// What an argument may be; `None` if this source does not know it. Ranked and cut off by the server.
    fn complete<'a>(&'a self, _: Visitor<'a>, _asked: Completing<'a>) -> Answering<'a, Option<Vec<String>>> {
        ready(None)
    }
}

/// A prompt that is asked for.
#[derive(Clone, Copy)]
pub struct AskedPrompt<'a> {
    pub name: &'a str,
    pub arguments: &'a Map<String, Value>,
    /// What the client can do and has answered so far.
    pub client: &'a ClientSide,
}

impl AskedPrompt<'_> {
    /// An argument, if it was given.
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    }
}

/// The outcome of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptEnding {
    /// Here it is.
    Done(PromptText),
    /// The client must be asked first.
    Asks(ClientInput),
}

/// Something has changed in a source. Who listens compares, and is told what they can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Resources or prompts came or went.
    Lists,
    /// What is behind this address.
    Resource(Arc<str>),
    /// A deferred call, by its id.
    Task(Arc<str>),
}

/// News that wait for a listener; one who falls behind compares everything.
const QUEUE: usize = 256;

/// All sources of a server.
pub(crate) struct Sources {
    all: ArcSwap<Vec<Arc<dyn Source>>>,
    news: broadcast::Sender<News>,
}

impl Default for Sources {
    /// The server's own.
    fn default() -> Self {
        let all: Vec<Arc<dyn Source>> = vec![
            Arc::new(contracts::Contracts),
            Arc::new(docs::Docs),
            Arc::new(executions::Executions),
            Arc::new(guides::Guides),
            Arc::new(servers::Servers),
        ];
        Self { all: ArcSwap::from_pointee(all), news: broadcast::channel(QUEUE).0 }
    }
}

impl Sources {
    /// One more, behind the others.
    pub(crate) fn add(&self, source: &Arc<dyn Source>) {
        self.all.rcu(|all| all.iter().chain([source]).cloned().collect::<Vec<_>>());
        self.tell(News::Lists);
    }

    pub(crate) fn tell(&self, news: News) {
        // Nobody may be listening.
        let _ = self.news.send(news);
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    fn all(&self) -> Arc<Vec<Arc<dyn Source>>> {
        self.all.load_full()
    }

    /// Everything that is listed, in the order of addresses.
    pub(crate) async fn resources(&self, visitor: Visitor<'_>) -> Result<Vec<Resource>, RpcError> {
        let mut found = Vec::new();
        for source in self.all().iter() {
            found.extend(source.resources(visitor).await.map_err(failed)?);
        }
        found.sort_by(|one, other| one.uri.cmp(&other.uri));
        found.dedup_by(|later, earlier| later.uri == earlier.uri);
        Ok(found)
    }

    pub(crate) fn templates(&self, visitor: Visitor<'_>) -> Vec<ResourceTemplate> {
        let mut found: Vec<_> = self.all().iter().flat_map(|source| source.templates(visitor)).collect();
        found.sort_by(|one, other| one.uri_template.cmp(&other.uri_template));
        found
    }

    pub(crate) async fn read(
        &self,
        visitor: Visitor<'_>,
        uri: &str,
    ) -> Result<Option<Vec<Contents>>, RpcError> {
        for source in self.all().iter() {
            if let Some(found) = source.read(visitor, uri).await.map_err(failed)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    pub(crate) fn watches(&self, visitor: Visitor<'_>, uri: &str) -> bool {
        self.all().iter().any(|source| source.watches(visitor, uri))
    }

    /// All prompts, by name; the first source of a name has it.
    pub(crate) async fn prompts(&self, visitor: Visitor<'_>) -> Result<Vec<Prompt>, RpcError> {
        let mut found = Vec::new();
        for source in self.all().iter() {
            found.extend(source.prompts(visitor).await.map_err(failed)?);
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        found.dedup_by(|later, earlier| later.name == earlier.name);
        Ok(found)
    }

    pub(crate) async fn prompt(
        &self,
        visitor: Visitor<'_>,
        asked: AskedPrompt<'_>,
    ) -> Result<Option<PromptEnding>, RpcError> {
        for source in self.all().iter() {
            if let Some(found) = source.prompt(visitor, asked).await.map_err(failed)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    pub(crate) async fn complete(
        &self,
        visitor: Visitor<'_>,
        asked: Completing<'_>,
    ) -> Result<Vec<String>, RpcError> {
        for source in self.all().iter() {
            if let Some(found) = source.complete(visitor, asked).await.map_err(failed)? {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }
}

fn failed(error: SourceError) -> RpcError {
    match error {
        SourceError::Refused(text) => RpcError::invalid_params(text),
        SourceError::Failed(text) => RpcError::new(Code::Internal, text),
        SourceError::Unavailable(cause) => {
            tracing::error!(cause, "a source of resources or prompts did not answer");
            RpcError::new(Code::Internal, "This cannot be read at the moment; try again.")
        }
    }
}
