//! The door of the chat: say something, follow a run, cancel it; list, show and forget conversations.

mod answer;
mod asking;
mod calls;
mod conversation;
mod driver;
mod elsewhere;
mod ending;
mod kept;
mod planning;
mod recovery;
mod replies;
mod response_writer;
mod saying;
mod stateless;
mod turns;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use toolroom_contract::Principal;
use toolroom_contract::ids::{ChatRunId, ConversationId, UserId};
use toolroom_runtime::Runtime;
use toolroom_store::Unit;
use toolroom_store::conversations::runs;

use crate::error::ChatError;
use crate::log::{Event, Log};
use crate::settings::{ChatSettings, Models};
use toolroom_model::ModelError;

pub(crate) use answer::KEPT_OUTPUT;
pub use answer::{Answer, CallShown};
pub use conversation::{Conversation, StoredMessage};
pub use kept::Follows;
pub use saying::UserMessage;
pub use stateless::History;
use turns::Turns;

/// The chat. Clones share it.
#[derive(Clone)]
pub struct Chat {
    inner: Arc<Inner>,
}

struct Inner {
    runtime: Arc<Runtime>,
    models: Models,
    settings: ChatSettings,
    turns: Turns,
    live: Mutex<Live>,
}

/// The runs in progress in this process, and the last that ended.
#[derive(Default)]
struct Live {
    runs: HashMap<ChatRunId, Alive>,
    ended: VecDeque<ChatRunId>,
}

struct Alive {
    user: UserId,
    profile: String,
    conversation: Option<ConversationId>,
    log: Arc<Log>,
    cancel: watch::Sender<bool>,
}

/// How many runs that ended can still be followed from memory.
const KEPT: usize = 128;

/// The agent that calls of a chat are made by.
const AGENT: &str = "toolroom-chat";

/// A run in progress, as seen by its waiter. Dropping this neither ends nor repeats anything.
pub struct RunHandle {
    /// The run.
    pub run: ChatRunId,
    /// The conversation, where there is one.
    pub conversation: Option<ConversationId>,
    profile: String,
    log: Arc<Log>,
    after: u64,
}

impl RunHandle {
    /// The next event; `None` after the last.
    pub async fn next(&mut self) -> Option<Event> {
        let event = self.log.next(self.after).await?;
        self.after = event.id;
        Some(event)
    }

    /// The answer, once the run has ended.
    pub async fn answer(&self) -> Option<Answer> {
        self.log.answer().await
    }
}

impl Chat {
    /// A chat on this runtime and its store.
    pub fn new(runtime: Arc<Runtime>, models: Models, settings: ChatSettings) -> Self {
        let live = Mutex::default();
        Self { inner: Arc::new(Inner { runtime, models, settings, turns: Turns::default(), live }) }
    }

    /// The usual model's name, and whether its server answers; `None` where the planner answers, which has none.
    pub async fn probe(&self) -> Option<(String, Result<(), ModelError>)> {
        let model = self.inner.models.get(None)?;
        let found = model.probe().await?;
        Some((model.name().to_owned(), found))
    }

    /// The names of the models, the usual one first.
    pub fn models(&self) -> Vec<String> {
        self.inner.models.names()
    }

    /// A run again, from behind an event on: for a client whose connection was lost.
    pub async fn follow(&self, who: &Principal, run: ChatRunId, after: u64) -> Result<RunHandle, ChatError> {
        let found = match self.inner.alive(who.user.id, run, after) {
            Some(speaking) => Some(speaking),
            None => {
                let user = who.user.id;
                match self.inner.runtime.store.read(move |unit| runs::get(unit, user, run)).await? {
                    Some(stored) => match recovery::ended(&stored) {
                        Some(ended) => Some(ended),
                        None => self.inner.follow_elsewhere(stored).await?,
                    },
                    None => None,
                }
            }
        };
        // A key that is confined to profiles does not see what was said under others.
        found.filter(|speaking| who.may_use_profile(&speaking.profile)).ok_or(ChatError::NotFound)
    }

    /// Ends a run: calls in progress are stopped, and the answer says what may have taken effect.
    pub async fn cancel(&self, who: &Principal, run: ChatRunId) -> Result<(), ChatError> {
        if self.inner.cancel_here(who, |id, _| id == run) {
            return Ok(());
        }
        let user = who.user.id;
        let stored = self.inner.runtime.store.read(move |unit| runs::get(unit, user, run)).await?;
        let found = self.inner.cancel_elsewhere(who, stored).await?;
        found.then_some(()).ok_or(ChatError::NotFound)
    }

    /// Ends what is running in a conversation, if anything is.
    pub async fn cancel_all(&self, who: &Principal, conversation: ConversationId) -> Result<(), ChatError> {
        self.inner.cancel_here(who, |_, alive| alive.conversation == Some(conversation));
        // A run that ended here says nothing about one that goes on elsewhere.
        if self.inner.process().is_some() {
            let read = move |unit: &mut Unit<'_>| runs::unfinished(unit, conversation);
            let stored = self.inner.runtime.store.read(read).await?;
            self.inner.cancel_elsewhere(who, stored).await?;
        }
        Ok(())
    }
}

impl Inner {
    /// Registers a run in progress, and returns what ends it.
    fn enter(
        &self,
        user: UserId,
        conversation: Option<ConversationId>,
        profile: &str,
        log: &Arc<Log>,
    ) -> watch::Receiver<bool> {
        let (cancel, cancelled) = watch::channel(false);
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let (profile, log) = (profile.to_owned(), Arc::clone(log));
        live.runs.insert(log.run, Alive { user, profile, conversation, log, cancel });
        cancelled
    }

    /// Ends the caller's runs in this process of which that is true; `false` if there are none.
    fn cancel_here(&self, who: &Principal, is_meant: impl Fn(ChatRunId, &Alive) -> bool) -> bool {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = |alive: &Alive| alive.user == who.user.id && who.may_use_profile(&alive.profile);
        let mut found = false;
        for (_, alive) in live.runs.iter().filter(|(run, alive)| theirs(alive) && is_meant(**run, alive)) {
            alive.cancel.send_replace(true);
            found = true;
        }
        found
    }

    /// Ends a run, whoever owns it.
    fn stop(&self, run: ChatRunId) {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(alive) = live.runs.get(&run) {
            alive.cancel.send_replace(true);
        }
    }

    /// Notes that a run ended. It can be followed for a while.
    fn leave(&self, run: ChatRunId) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.ended.push_back(run);
        while live.ended.len() > KEPT {
            if let Some(old) = live.ended.pop_front() {
                live.runs.remove(&old);
            }
        }
    }

    fn alive(&self, user: UserId, run: ChatRunId, after: u64) -> Option<RunHandle> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let alive = live.runs.get(&run).filter(|alive| alive.user == user)?;
        let (conversation, profile) = (alive.conversation, alive.profile.clone());
        Some(RunHandle { run, conversation, profile, log: Arc::clone(&alive.log), after })
    }
}
