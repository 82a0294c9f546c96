//! A message in a conversation: taken, written down, and answered by a run that continues even if nobody listens.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;
use toolroom_contract::Principal;
use toolroom_contract::ids::{ChatRunId, ConversationId, PendingId};
use toolroom_store::conversations::runs::{self, Status};
use toolroom_store::conversations::{self, Conversation, NewMessage, Role};
use toolroom_store::pending::Asker;
use toolroom_store::{StoreError, Unit};

use super::answer::Answer;
use super::driver::{Driver, Place, Stored};
use super::replies::{self, Opening, Settled};
use super::{Chat, Inner, RunHandle, turns};
use crate::error::ChatError;
use crate::guard::{self, Evidence};
use crate::log::{EventKind, Log};
use crate::prompt;
use crate::run::{Phase, VERSION, Waiting};
use crate::toolset::Toolset;
use toolroom_model::{Message, Model, Moment, ToolSpec};

/// What a person says.
#[derive(Clone, Debug, Default)]
pub struct UserMessage {
    /// The conversation; a new one without.
    pub conversation: Option<ConversationId>,
    /// The words.
    pub text: String,
    /// The profile; without, that of the conversation, or `default`.
    pub profile: Option<String>,
    /// The model; without, the usual one.
    pub model: Option<String>,
    /// "Now" for dates in words.
    pub timestamp: Option<Timestamp>,
    /// The zone of dates in words.
    pub timezone: Option<String>,
    /// The same key gives the same run: for a client that sends again.
    pub key: Option<String>,
    /// The question that it answers, and no other.
    pub answers: Option<PendingId>,
}

/// Everything that was settled before a run begins.
pub(super) struct Prepared {
    pub(super) profile: String,
    pub(super) model: Arc<dyn Model>,
    pub(super) tools: Toolset,
    pub(super) moment: Moment,
}

impl Chat {
    /// Says something. The run continues even if the answer is dropped.
    pub async fn say(&self, who: &Arc<Principal>, said: UserMessage) -> Result<RunHandle, ChatError> {
        let inner = &self.inner;
        let text = inner.fitting(&said.text)?;
        if let Some(key) = said.key.clone()
            && let Some(again) = self.said_before(who, key).await?
        {
            return Ok(again);
        }
        let known = match said.conversation {
            Some(id) => Some(inner.conversation(who, id).await?),
            None if said.answers.is_some() => return Err(ChatError::OtherQuestion),
            None => None,
        };
        let profile = said.profile.or_else(|| known.as_ref().map(|one| one.profile.clone()));
        let profile = profile.unwrap_or_else(|| toolroom_profiles::DEFAULT.to_owned());
        let zone = said.timezone.as_deref();
        let prepared =
            inner.prepare(who, profile, said.model.as_deref(), said.timestamp, zone, Vec::new())?;
        let (conversation, turn) = inner.turn_in(who, known, &prepared.profile, &text).await?;
        inner.recover(who, conversation.id).await?;
        inner.begin(who, conversation.id, (text, said.answers), prepared, said.key, turn).await
    }

    async fn said_before(&self, who: &Principal, key: String) -> Result<Option<RunHandle>, ChatError> {
        let user = who.user.id;
        let found = self.inner.runtime.store.read(move |unit| runs::of_request(unit, user, &key)).await?;
        match found {
            Some(run) => self.follow(who, run.id, 0).await.map(Some),
            None => Ok(None),
        }
    }
}

impl Inner {
    pub(super) fn fitting(&self, text: &str) -> Result<String, ChatError> {
        let text = text.trim();
        let most = self.settings.message;
        let fits = !text.is_empty() && text.chars().nth(most).is_none() && !text.contains('\0');
        if fits { Ok(text.to_owned()) } else { Err(ChatError::BadLength(most)) }
    }

    pub(super) async fn conversation(
        &self,
        who: &Principal,
        id: ConversationId,
    ) -> Result<Conversation, ChatError> {
        let user = who.user.id;
        let found = self.runtime.store.read(move |unit| conversations::get(unit, user, id)).await?;
        found.ok_or(ChatError::NotFound)
    }

    pub(super) fn prepare(
        &self,
        who: &Principal,
        profile: String,
        model: Option<&str>,
        timestamp: Option<Timestamp>,
        timezone: Option<&str>,
        client: Vec<ToolSpec>,
    ) -> Result<Prepared, ChatError> {
        let snapshot = Arc::clone(&self.runtime.registry.snapshot());
        let zone = timezone.and_then(|name| TimeZone::get(name).ok()).or_else(|| who.time_zone.clone());
        let zone = zone.unwrap_or_else(|| self.runtime.time_zone().clone());
        let tools = Toolset::of(&snapshot, who, &profile, (self.runtime.today(), zone.clone()), client)
            .ok_or(ChatError::NoProfile)?;
        Ok(Prepared {
            model: self.models.get(model).ok_or(ChatError::NoModel)?,
            tools,
            profile,
            moment: Moment { now: timestamp.unwrap_or_else(|| self.runtime.clock.now()), zone },
        })
    }

    /// The turn in a conversation, which is begun if needed.
    async fn turn_in(
        &self,
        who: &Principal,
        known: Option<Conversation>,
        profile: &str,
        text: &str,
    ) -> Result<(Conversation, turns::Turn), ChatError> {
        let store = &self.runtime.store;
        let conversation = match known {
            Some(known) => known,
            None => {
                let (user, profile, text) = (who.user.id, profile.to_owned(), text.to_owned());
                let begin = move |unit: &mut Unit<'_>| conversations::create(unit, user, &profile, &text);
                store.write::<_, StoreError, _>(begin).await?
            }
        };
        let turn = self.turns.wait(conversation.id).await;
        let (id, by) = (conversation.id, self.runtime.journal.run());
        let take = move |unit: &mut Unit<'_>| conversations::take_turn(unit, id, by);
        if store.write::<_, StoreError, _>(take).await? {
            return Ok((conversation, turn));
        }
        // It is gone, or another process is at work in it.
        self.conversation(who, id).await?;
        Err(ChatError::InProgress)
    }

    /// Writes the message down, settles what waited, and lets the run go. All of it is written at once: a yes that
    /// was taken is never lost, and never taken twice.
    async fn begin(
        self: &Arc<Self>,
        who: &Arc<Principal>,
        id: ConversationId,
        (text, answers): (String, Option<PendingId>),
        prepared: Prepared,
        key: Option<String>,
        turn: turns::Turn,
    ) -> Result<RunHandle, ChatError> {
        let place = Place {
            run: ChatRunId::new(),
            by: self.process(),
            conversation: Some(id),
            history: None,
            kept: None,
            request_key: key,
            scope: id.to_string(),
            limits_length: false,
        };
        let by = Asker { user: who.user.id, key: who.key };
        let (last, limits) = (self.settings.context, self.settings.limits);
        let (profile, model) = (prepared.profile.clone(), prepared.model.name().to_owned());
        let (said, at) = (text.clone(), place.clone());
        let write = move |unit: &mut Unit<'_>| {
            let waiting = runs::unfinished(unit, id)?.and_then(waiting);
            let asked = |wanted: PendingId| {
                waiting
                    .as_ref()
                    .is_some_and(|(_, run)| run.waiting.calls.iter().any(|call| call.request == wanted))
            };
            // Whoever answers one question has said nothing about another.
            if answers.is_some_and(|wanted| !asked(wanted)) {
                return Ok(None);
            }
            let settled = match &waiting {
                Some((_, run)) => replies::settle(unit, &run.waiting, &said, by)?,
                None => Settled::Fresh(None),
            };
            if let (Some((record, _)), false) = (&waiting, matches!(settled, Settled::Stay(..))) {
                runs::save(unit, &runs::Run { status: Status::Done, ..record.clone() })?;
            }
            let history = conversations::messages(unit, id, last.saturating_sub(1))?;
            let new = NewMessage {
                role: Role::User,
                content: said.clone(),
                metadata: json!({}),
                run: Some(at.run),
            };
            conversations::say(unit, id, &new)?;
            let wished = match (&settled, &waiting) {
                // The message answers a question: what is wished was said before.
                (Settled::Go(_), Some((_, run))) => run.wished,
                _ => guard::wishes(&said),
            };
            let evidence = Evidence { wished, earlier: has_receipts(&history), ..Evidence::default() };
            let opening = settled.run(limits, evidence);
            runs::save(unit, &at.record(by.user, &opening.run, &profile, &model, Status::Running, None)?)?;
            Ok::<_, StoreError>(Some((opening, history)))
        };
        let written = self.runtime.store.write(write).await?;
        let (opening, history) = written.ok_or(ChatError::OtherQuestion)?;
        let mut base = prompt::of_stored(&history);
        base.push(Message::user(&text));
        Ok(self.launch(who, place, prepared, base, opening, Some(turn)))
    }

    /// Makes a driver, and lets it run on its own.
    pub(super) fn launch(
        self: &Arc<Self>,
        who: &Arc<Principal>,
        place: Place,
        prepared: Prepared,
        base: Vec<Message>,
        opening: Opening,
        turn: Option<turns::Turn>,
    ) -> RunHandle {
        let log = Log::new(place.run);
        let (run, conversation) = (place.run, place.conversation);
        let profile = prepared.profile.clone();
        let mut driver = Driver::new(self, who, place, opening.run, prepared, &log);
        driver.base = base;
        driver.run.evidence.untrusted |= driver.has_read_untrusted();
        driver.seen.question = opening.standing;
        driver.remark(opening.remark.as_deref().unwrap_or_default());
        let handle = RunHandle { run, conversation, profile, log: Arc::clone(&log), after: 0 };
        let inner = Arc::clone(self);
        let revoked = who.revoked.clone();
        tokio::spawn(async move {
            // A panic must not leave anybody waiting.
            let mut driven = pin!(AssertUnwindSafe(driver.drive(turn)).catch_unwind());
            let driven = tokio::select! {
                driven = &mut driven => driven,
                // It still writes down what it had begun.
                () = revoked.cancelled() => {
                    inner.stop(run);
                    driven.await
                }
                () = inner.cancelled_elsewhere(run) => {
                    inner.stop(run);
                    driven.await
                }
            };
            if driven.is_err() {
                tracing::error!(%run, "a run of the chat panicked");
                let answer = Answer {
                    response: BROKEN_OFF.into(),
                    ..Answer::new(run, conversation, inner.runtime.clock.now())
                };
                log.push(EventKind::Done { answer: Box::new(answer) });
                inner.leave(run);
            }
        });
        handle
    }
}

/// A run that waits for a person.
pub(super) struct WaitingRun {
    pub(super) waiting: Waiting,
    /// Whether the message that began it may have asked for a change.
    pub(super) wished: bool,
}

/// What a stored run waits for, if it can be read.
pub(super) fn waiting(record: runs::Run) -> Option<(runs::Run, WaitingRun)> {
    if record.status != Status::Waiting {
        return None;
    }
    let stored: Stored = serde_json::from_str(&record.state).ok()?;
    match stored.run.phase {
        Phase::Waiting(waiting) if stored.run.version == VERSION => {
            Some((record, WaitingRun { waiting, wished: stored.run.evidence.wished }))
        }
        _ => None,
    }
}

/// Whether earlier answers have receipts.
fn has_receipts(history: &[conversations::Message]) -> bool {
    let mut receipts = history.iter().filter_map(|message| message.metadata.get("receipts")?.as_array());
    receipts.any(|receipts| !receipts.is_empty())
}

/// What is said where a run broke off by our own fault.
const BROKEN_OFF: &str =
    "An internal error stopped me, and I do not know how far I got. Check before you repeat it.";
