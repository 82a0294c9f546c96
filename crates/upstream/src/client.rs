//! What can be asked of a connected server: lists, calls, resources, prompts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolroom_contract::{ClientRequest, Reporter};
use toolroom_mcp::completion::{CompleteParams, Completed, Completing};
use toolroom_mcp::content::{COMPLETE, INPUT_REQUIRED};
use toolroom_mcp::frame::Field;
use toolroom_mcp::{Code, HeaderParam, Method, headers};

use crate::answers::{Answers, Caller};
use crate::error::{Failure, UpstreamError};
use crate::handshake::Begun;
use crate::items::{Item, Listing};
use crate::results::RemoteResult;
use crate::review::Review;
use crate::session::{Era, Hello, OutgoingRequest, Session};

/// What a server answered.
#[derive(Debug)]
pub enum Reply {
    /// The result, whole and as it came.
    Complete(RemoteResult),
    /// The server needs answers first: the same request is to be made again with them.
    InputRequired(InputRequired),
}

/// What a server without sessions needs before it goes on.
#[derive(Clone, Debug)]
pub struct InputRequired {
    /// Its questions, under keys of its own.
    pub requests: BTreeMap<String, ClientRequest>,
    /// To be given back as it is.
    pub state: Option<String>,
}

/// The answers with which a request is made again.
#[derive(Clone, Debug, Default)]
pub struct Resumption {
    /// An answer under the key of each question.
    pub responses: Map<String, Value>,
    /// What [`InputRequired::state`] was.
    pub state: Option<String>,
}

/// What goes with a call, beside what is called.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Who calls: questions of one owner's call are never put to another.
    pub owner: Arc<str>,
    /// Where progress and log lines go.
    pub reporter: Reporter,
    /// Who answers the questions of a server with sessions.
    pub answers: Option<Arc<dyn Answers>>,
    /// How long to wait; the server's own limit if not given.
    pub timeout: Option<Duration>,
    /// Further `_meta`, such as `traceparent`. Never a credential of the caller.
    pub meta: Map<String, Value>,
    /// What the caller can do, for servers without sessions.
    pub capabilities: Option<Value>,
    /// From which level on log lines are wanted of servers without sessions.
    pub log_level: Option<&'static str>,
    /// Answers to what an earlier call was asked.
    pub resumption: Option<Resumption>,
    /// Whether the call may be made twice: it reads only, or repeating it has no further effect.
    pub repeatable: bool,
    /// Who compares what the server lists, before the call is sent and before it is sent again.
    pub review: Option<Arc<dyn Review>>,
}

/// A request that is about one thing of the server's.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// `tools/call`.
    Tool {
        /// The server's own name for it.
        name: &'a str,
        /// The arguments.
        arguments: &'a Value,
        /// Arguments that are also headers.
        headers: &'a [HeaderParam],
    },
    /// `resources/read`.
    Resource(&'a str),
    /// `prompts/get`.
    Prompt {
        /// The server's own name for it.
        name: &'a str,
        /// The arguments.
        arguments: &'a Value,
    },
}

/// A connected server.
pub(crate) struct Client {
    session: Arc<Session>,
    pub(crate) era: Era,
    pub(crate) hello: Arc<Hello>,
    /// When it was connected.
    pub(crate) made: Instant,
    loss_is_counted: AtomicBool,
}

impl Client {
    pub(crate) fn new(begun: Begun) -> Arc<Self> {
        let (hello, made) = (Arc::new(begun.hello), Instant::now());
        let client = Arc::new(Self {
            session: begun.session,
            era: begun.era,
            hello,
            made,
            loss_is_counted: AtomicBool::new(false),
        });
        client.subscribe();
        client
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.session.calls.is_closed()
    }

    /// Counts a failure by `count`, which says whether it did. Whatever fails by the loss of this connection is one
    /// failure, also what was sent when it was lost already.
    pub(crate) fn count_loss_once(&self, count: impl FnOnce() -> bool) -> bool {
        if self.is_closed() && self.loss_is_counted.load(Ordering::Acquire) {
            return false;
        }
        let counts = count();
        if counts && self.is_closed() {
            self.loss_is_counted.store(true, Ordering::Release);
        }
        counts
    }

    /// Whether the server says that it has such a thing.
    pub(crate) fn has(&self, capability: &str) -> bool {
        self.hello.capabilities.get(capability).is_some_and(|value| !value.is_null())
    }

    /// A call, a reading, a prompt.
    pub(crate) async fn reach(&self, target: Target<'_>, options: &CallOptions) -> Result<Reply, Failure> {
        let mut fields: Vec<(&'static str, Field<'_>)> = Vec::with_capacity(4);
        let mut extra = http::HeaderMap::new();
        let (method, name) = match target {
            Target::Tool { name, arguments, headers: params } => {
                fields.extend([("name", Field::Text(name)), ("arguments", Field::Value(arguments))]);
                headers::add_params(&mut extra, params, arguments);
                (Method::ToolsCall, name)
            }
            Target::Resource(uri) => {
                fields.push(("uri", Field::Text(uri)));
                (Method::ResourcesRead, uri)
            }
            Target::Prompt { name, arguments } => {
                fields.extend([("name", Field::Text(name)), ("arguments", Field::Value(arguments))]);
                (Method::PromptsGet, name)
            }
        };
        if let Some(resumption) = options.resumption.as_ref().filter(|_| self.era == Era::Stateless) {
            fields.push(("inputResponses", Field::Object(&resumption.responses)));
            fields.extend(resumption.state.as_deref().map(|state| ("requestState", Field::Text(state))));
        }
        let request = OutgoingRequest {
            method,
            fields: &fields,
            name: Some(name),
            headers: extra,
            meta: &options.meta,
            capabilities: Some(options.capabilities.as_ref().unwrap_or(&NO_CAPABILITIES)),
            log_level: options.log_level,
            caller: Caller {
                owner: Arc::clone(&options.owner),
                is_call: true,
                reporter: options.reporter.clone(),
                answers: options.answers.clone(),
                watches_tools: false,
            },
        };
        reply(self.session.ask(request).await?)
    }

    /// What an argument of a prompt or a resource template could be.
    pub(crate) async fn complete(&self, asked: Completing<'_>) -> Result<Vec<String>, Failure> {
        let (reference, argument) = CompleteParams::from(asked).into_values();
        let fields = [("ref", Field::Value(&reference)), ("argument", Field::Value(&argument))];
        let answer = self.session.ask(OutgoingRequest::plain(Method::Complete, &fields)).await?;
        Ok(serde_json::from_str::<Completed>(&answer).unwrap_or_default().completion.values)
    }

    /// Asks for a sign of life.
    pub(crate) async fn ping(&self) -> Result<(), Failure> {
        let method = if self.era == Era::Stateless { Method::Discover } else { Method::Ping };
        self.session.ask(OutgoingRequest::plain(method, &[])).await.map(drop)
    }

    /// All of a list, as far as the limits go.
    pub(crate) async fn list<T: Item>(&self) -> Result<Listing<T>, Failure> {
        let mut listing = Listing::default();
        if !self.has(T::CAPABILITY) {
            return Ok(listing);
        }
        let mut cursor: Option<String> = None;
        loop {
            let fields: Vec<_> = cursor.iter().map(|cursor| ("cursor", Field::Text(cursor))).collect();
            let page = match self.session.ask(OutgoingRequest::plain(T::METHOD, &fields)).await {
                // Resource templates come with resources, but not with every server that has resources.
                Err(Failure::Rpc(error) | Failure::Status { rpc: Some(error), .. })
                    if T::OPTIONAL && error.code == Code::MethodNotFound =>
                {
                    return Ok(listing);
                }
                page => page?,
            };
            cursor = listing.add_page(&page)?;
            if cursor.is_none() {
                return Ok(listing);
            }
        }
    }

    /// Asks to be told about changes of a resource, in the background and for as long as the connection lasts.
    pub(crate) fn follow(self: &Arc<Self>, uri: &str) {
        let can = self.hello.capabilities.get("resources").and_then(|value| value.get("subscribe"));
        if can.and_then(Value::as_bool) != Some(true) {
            return;
        }
        let (session, uri, era) = (Arc::clone(&self.session), uri.to_owned(), self.era);
        tokio::spawn(async move {
            let closed = session.calls.closed().clone();
            let asking = async {
                if era == Era::Stateless {
                    listen(&session, &json!({ "resourceSubscriptions": [uri] }), false).await;
                } else {
                    let fields = [("uri", Field::Text(&uri))];
                    // A server that refuses has nothing to tell.
                    let _ = session.ask(OutgoingRequest::plain(Method::ResourcesSubscribe, &fields)).await;
                }
            };
            closed.run_until_cancelled(asking).await;
        });
    }

    /// Asks a server without sessions to report changes; one with sessions does so by itself.
    fn subscribe(self: &Arc<Self>) {
        let wanted = |capability: &str| {
            let declared = self.hello.capabilities.get(capability).and_then(|value| value.get("listChanged"));
            declared.and_then(Value::as_bool).unwrap_or(false)
        };
        let mut filter = Map::new();
        for (capability, field) in [
            ("tools", "toolsListChanged"),
            ("resources", "resourcesListChanged"),
            ("prompts", "promptsListChanged"),
        ] {
            if wanted(capability) {
                filter.insert(field.to_owned(), Value::Bool(true));
            }
        }
        if self.era != Era::Stateless || filter.is_empty() {
            return;
        }
        let session = Arc::clone(&self.session);
        let watches_tools = filter.contains_key("toolsListChanged");
        if watches_tools {
            session.calls.stream().wanted();
        }
        tokio::spawn(async move {
            let closed = session.calls.closed().clone();
            closed.run_until_cancelled(listen(&session, &Value::Object(filter), watches_tools)).await;
        });
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The subscription shares the connection, and must not keep it open.
        self.session.calls.close(Failure::Lost("the connection was closed".to_owned()));
    }
}

/// Keeps a subscription open for as long as the server has such a thing.
async fn listen(session: &Arc<Session>, filter: &Value, watches_tools: bool) {
    let mut wait = Duration::from_secs(1);
    loop {
        let began = tokio::time::Instant::now();
        let fields = [("notifications", Field::Value(filter))];
        let mut request = OutgoingRequest::plain(Method::Listen, &fields);
        request.caller.watches_tools = watches_tools;
        let ended = session.ask(request).await;
        let refused = match ended {
            Err(Failure::Rpc(_) | Failure::Unauthorized(_)) => true,
            Err(Failure::Status { status, .. }) => status < 500,
            _ => false,
        };
        if watches_tools {
            session.calls.stream_ended();
        }
        if refused {
            if watches_tools {
                session.calls.stream().refused();
            }
            return;
        }
        if began.elapsed() > Duration::from_secs(60) {
            wait = Duration::from_secs(1);
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_secs(60));
    }
}

static NO_CAPABILITIES: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| Value::Object(Map::new()));

/// Tells a result from a request for input; a result is passed on as it is.
fn reply(text: Box<str>) -> Result<Reply, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Head<'a> {
        #[serde(borrow, default)]
        result_type: Option<Cow<'a, str>>,
    }
    let head: Head<'_> = serde_json::from_str(&text)
        .map_err(|_| Failure::BadAnswer("its result is not an object".to_owned()))?;
    match head.result_type.as_deref() {
        None | Some(COMPLETE) => Ok(Reply::Complete(RemoteResult(text))),
        Some(INPUT_REQUIRED) => input_required(&text).map(Reply::InputRequired),
        Some(_) => Err(Failure::BadAnswer("its result has an unknown type".to_owned())),
    }
}

fn input_required(text: &str) -> Result<InputRequired, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wanted {
        input_requests: Option<BTreeMap<String, Request>>,
        request_state: Option<String>,
    }
    #[derive(Deserialize)]
    struct Request {
        method: String,
        #[serde(default)]
        params: Value,
    }
    let wanted: Wanted = serde_json::from_str(text)
        .map_err(|_| Failure::BadAnswer("it asks for input in an unknown form".to_owned()))?;
    if wanted.input_requests.is_none() && wanted.request_state.is_none() {
        return Err(Failure::BadAnswer("it asks for input without saying which".to_owned()));
    }
    let request = |(key, Request { method, params })| (key, ClientRequest { method, params });
    let requests = wanted.input_requests.into_iter().flatten().map(request).collect();
    Ok(InputRequired { requests, state: wanted.request_state })
}

impl Reply {
    /// The result; an error if the server needs input first.
    pub fn complete(self) -> Result<RemoteResult, UpstreamError> {
        match self {
            Self::Complete(raw) => Ok(raw),
            Self::InputRequired(_) => {
                Err(UpstreamError::BadAnswer { reason: "it needs input before it can answer".to_owned() })
            }
        }
    }
}
