//! What the next engine must be told: what the client set up, and what it has no answer to yet. No I/O.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolroom_contract::ids::RunId;
use toolroom_mcp::method::notification;
use toolroom_mcp::{Code, Method};

use super::call_key::{self, Keyed};

/// Engines that may be lost under one request before it is given up: it may be what ends them.
const MOST_TRIES: u32 = 3;

/// A client's side of a connection that outlives engines.
#[derive(Debug, Default)]
pub struct Session {
    /// The client's `initialize`, in revisions that have it.
    initialize: Option<Value>,
    /// Whether the client said that it is ready.
    initialized: bool,
    /// Its last request for a log level, and its subscriptions by what they are to.
    level: Option<Value>,
    subscriptions: BTreeMap<String, Value>,
    /// Requests of the client without an answer, in order.
    waiting: Vec<Waiting>,
    /// Ids of the engine's own requests that the client has not answered.
    asked: BTreeSet<String>,
    /// Ids of our own requests to the engine.
    own: BTreeSet<String>,
    /// Lines that the engine can refuse only without an id, and has not yet.
    nameless: usize,
}

#[derive(Debug)]
struct Waiting {
    /// As they are written; several in a batch.
    ids: Vec<String>,
    line: Vec<u8>,
    /// Engines that were lost under it, where that is counted.
    tries: Option<u32>,
    /// Whether doing it again does no harm.
    repeatable: bool,
    /// Whether it is what sets the session up. Its id says nothing: clients use them again.
    is_setup: bool,
}

/// What is said when an engine was lost.
#[derive(Debug, Default)]
pub struct Resumption {
    /// To the new engine first, and its id: nothing else is said until it is answered.
    pub initialize: Option<(Value, Vec<u8>)>,
    /// To the new engine.
    pub to_engine: Vec<Vec<u8>>,
    /// To the client.
    pub to_client: Vec<Vec<u8>>,
}

/// What a line is, as far as it matters here.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
}

impl Envelope<'_> {
    /// In one spelling, whichever side wrote it. What is no id by the protocol is none.
    fn id(&self) -> Option<String> {
        let is_id = |id: &&Value| id.is_string() || id.is_i64() || id.is_u64();
        self.id.as_ref().filter(is_id).map(Value::to_string)
    }
}

impl Session {
    /// A line of the client; what of it goes to the engine.
    pub fn from_client(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        if line.trim_ascii_start().starts_with(b"[") {
            self.batch(&line);
            return Some(line);
        }
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(&line) else {
            self.nameless += 1;
            return Some(line);
        };
        match (envelope.method.as_deref(), envelope.id()) {
            (Some(_), None) if envelope.id.is_some() => {
                self.nameless += 1;
                Some(line)
            }
            (Some(method), Some(id)) => {
                self.remember(method, &line);
                let is_setup = method == Method::Initialize.name();
                // What only listens goes on for as long as the client does.
                let tries = if method == Method::Listen.name() { None } else { Some(0) };
                let (line, repeatable) = match method == Method::ToolsCall.name() {
                    true => match call_key::with_key(&line) {
                        Some(Keyed::New(keyed)) => (keyed, true),
                        Some(Keyed::Own) => (line, true),
                        None => (line, false),
                    },
                    false => (line, true),
                };
                self.waiting.push(Waiting { ids: vec![id], line: line.clone(), tries, repeatable, is_setup });
                Some(line)
            }
            (Some(method), None) => {
                self.noticed(method, &line);
                Some(line)
            }
            // An answer to a question of an engine that is gone says nothing to the next.
            (None, Some(id)) => self.asked.remove(&id).then_some(line),
            (None, None) => {
                self.nameless += 1;
                Some(line)
            }
        }
    }

    /// Whether a line of the engine goes to the client: what answers our own requests does not.
    pub fn from_engine(&mut self, line: &[u8]) -> bool {
        if line.trim_ascii_start().starts_with(b"[") {
            let items = serde_json::from_slice::<Vec<Envelope<'_>>>(line).unwrap_or_default();
            items.iter().filter_map(Envelope::id).for_each(|id| self.answered(&id));
            return true;
        }
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else { return true };
        let Some(id) = envelope.id() else {
            if envelope.method.is_none() {
                self.refused();
            }
            return true;
        };
        if envelope.method.is_some() {
            self.asked.insert(id);
            return true;
        }
        if self.own.remove(&id) {
            return false;
        }
        self.answered(&id);
        true
    }

    /// An answer without an id: to a line that had none, or else to the first batch, which was refused as a whole.
    fn refused(&mut self) {
        if self.nameless > 0 {
            self.nameless -= 1;
        } else if let Some(at) = self.waiting.iter().position(Waiting::is_batch) {
            self.waiting.remove(at);
        }
    }

    /// The engine is gone, and another is to go on.
    pub fn resume(&mut self) -> Resumption {
        let mut resumption = Resumption::default();
        self.own.clear();
        self.nameless = 0;
        for id in std::mem::take(&mut self.asked) {
            let id = serde_json::from_str(&id).unwrap_or(Value::Null);
            let params = json!({ "requestId": id, "reason": "the server was restarted" });
            let notice = json!({ "jsonrpc": "2.0", "method": notification::CANCELLED, "params": params });
            resumption.to_client.push(notice.to_string().into());
        }
        self.waiting.iter_mut().filter_map(|one| one.tries.as_mut()).for_each(|tries| *tries += 1);
        let (lost, kept): (Vec<_>, Vec<_>) =
            self.waiting.drain(..).partition(|one| !one.repeatable || one.tries > Some(MOST_TRIES));
        self.waiting = kept;
        let lost = lost.iter().flat_map(|one| &one.ids);
        resumption.to_client.extend(lost.map(|id| failure(id, LOST)));
        let is_set_up = !self.waiting.iter().any(|one| one.is_setup);
        let setup = self.initialize.clone().filter(|_| is_set_up);
        if let Some(setup) = setup {
            let line = self.as_own(setup);
            resumption.initialize = Some(line);
            if self.initialized {
                let ready = json!({ "jsonrpc": "2.0", "method": notification::INITIALIZED });
                resumption.to_engine.push(ready.to_string().into());
                resumption.to_client.extend(list_changes());
            }
            let kept: Vec<Value> = self.level.iter().chain(self.subscriptions.values()).cloned().collect();
            resumption.to_engine.extend(kept.into_iter().map(|request| self.as_own(request).1));
        }
        resumption.to_engine.extend(self.waiting.iter().map(Waiting::line_again));
        resumption
    }

    /// Whether a request has no answer yet. What only listens never gets one.
    pub fn is_waiting(&self) -> bool {
        self.waiting.iter().any(|one| one.tries.is_some())
    }

    /// Answers what still waits when the client has ended; what only listens needs no answer.
    pub fn end(&mut self, why: &str) -> Vec<Vec<u8>> {
        self.waiting.retain(|one| one.tries.is_some());
        self.give_up(why)
    }

    /// Answers everything that waits with a failure: there is no engine.
    pub fn give_up(&mut self, why: &str) -> Vec<Vec<u8>> {
        let ids = self.waiting.drain(..).flat_map(|one| one.ids);
        ids.map(|id| failure(&id, &format!("{why} Whether this took effect is not known."))).collect()
    }

    /// Takes an id out of what waits.
    fn answered(&mut self, id: &str) {
        let Some(at) = self.waiting.iter().position(|one| one.ids.iter().any(|one| one == id)) else {
            return;
        };
        self.waiting[at].ids.retain(|one| one != id);
        if self.waiting[at].ids.is_empty() {
            self.waiting.remove(at);
        }
        // An id that is in use twice: nobody knows which of the two is left.
        let namesakes = self.waiting.iter_mut().filter(|one| one.ids.iter().any(|one| one == id));
        namesakes.for_each(|one| one.repeatable = false);
    }

    fn batch(&mut self, line: &[u8]) {
        let items = serde_json::from_slice::<Vec<&RawValue>>(line).unwrap_or_default();
        let (mut ids, mut repeatable) = (Vec::new(), true);
        for item in items {
            let item = item.get().as_bytes();
            let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(item) else { continue };
            match (envelope.method.as_deref(), envelope.id()) {
                (Some(method), Some(id)) => {
                    self.remember(method, item);
                    repeatable &= method != Method::ToolsCall.name();
                    ids.push(id);
                }
                (Some(method), None) => self.noticed(method, item),
                (None, _) => {}
            }
        }
        if !ids.is_empty() {
            let (line, tries) = (line.to_owned(), Some(0));
            self.waiting.push(Waiting { ids, line, tries, repeatable, is_setup: false });
        }
    }

    /// A notification of the client.
    fn noticed(&mut self, method: &str, line: &[u8]) {
        self.initialized |= method == notification::INITIALIZED;
        if method == notification::CANCELLED {
            self.cancelled(line);
        }
    }

    fn cancelled(&mut self, line: &[u8]) {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        self.answered(&message["params"]["requestId"].to_string());
    }

    /// What a session has once and for all.
    fn remember(&mut self, method: &str, line: &[u8]) {
        let is = |one: Method| method == one.name();
        let kept = [
            Method::Initialize,
            Method::SetLogLevel,
            Method::ResourcesSubscribe,
            Method::ResourcesUnsubscribe,
        ];
        if !kept.into_iter().any(is) {
            return;
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return };
        let target = message["params"]["uri"].as_str().unwrap_or_default().to_owned();
        if is(Method::Initialize) {
            self.initialize = Some(message);
        } else if is(Method::SetLogLevel) {
            self.level = Some(message);
        } else if is(Method::ResourcesSubscribe) {
            self.subscriptions.insert(target, message);
        } else {
            self.subscriptions.remove(&target);
        }
    }

    /// A request of the client, made again as our own: its answer is for us.
    fn as_own(&mut self, mut request: Value) -> (Value, Vec<u8>) {
        // No client has this id by chance.
        request["id"] = format!("toolroom-front-{}", RunId::new()).into();
        self.own.insert(request["id"].to_string());
        (request["id"].clone(), request.to_string().into())
    }
}

impl Waiting {
    fn is_batch(&self) -> bool {
        self.line.trim_ascii_start().starts_with(b"[")
    }

    /// What is said to the next engine: of a batch, the requests that still have no answer.
    fn line_again(&self) -> Vec<u8> {
        let Ok(items) = serde_json::from_slice::<Vec<&RawValue>>(&self.line) else {
            return self.line.clone();
        };
        let waits = |item: &&RawValue| {
            let envelope = serde_json::from_str::<Envelope<'_>>(item.get());
            envelope.is_ok_and(|item| item.id().is_some_and(|id| self.ids.contains(&id)))
        };
        let left: Vec<&RawValue> = items.into_iter().filter(waits).collect();
        serde_json::to_vec(&left).unwrap_or_else(|_| self.line.clone())
    }
}

const LOST: &str = "The server ended while it worked on this, more than once, in a batch, or under an id that was in use \
    twice. It may have taken effect: look before you repeat it.";

/// The answer to a request that has none.
fn failure(id: &str, message: &str) -> Vec<u8> {
    let id = serde_json::from_str(id).unwrap_or(Value::Null);
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": Code::Internal.number(), "message": message } })
        .to_string()
        .into()
}

/// The new engine may be of another version, or have read other files.
fn list_changes() -> impl Iterator<Item = Vec<u8>> {
    let lists = [notification::TOOLS_CHANGED, notification::PROMPTS_CHANGED, notification::RESOURCES_CHANGED];
    lists.into_iter().map(|method| json!({ "jsonrpc": "2.0", "method": method }).to_string().into())
}
