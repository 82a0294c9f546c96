//! Letters between servers that share a database: what a client says to one of them, and another waits for. Replicas do
//! not speak to one another; a letter is a row that its receiver takes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;
use toolroom_contract::TraceId;
use toolroom_contract::ids::RunId;
use toolroom_mcp::{Id, RpcError};
use toolroom_store::bell::Subscription;
use toolroom_store::{StoreError, mail};

use super::http::sse;
use super::jobs;
use crate::app::App;

/// What servers tell one another. A kind that the receiver does not know is none of its business.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Letter {
    /// A client has answered what the receiver asked it.
    Answer { session: String, id: Id, outcome: Result<Value, RpcError> },
    /// A client does not want the answer to a request any more, whoever works on it.
    Cancelled { session: String, id: Id },
    /// Something was said of a session, or it has ended.
    Session { session: String },
    /// A message for a session whose stream the receiver has.
    Message { session: String, trace: TraceId, dry_run: bool, text: String },
    /// A deferred call stands otherwise than before.
    Task { id: String },
}

/// The kind of all of them, with the version of their form.
const KIND: &str = "mcp/1";

impl Letter {
    pub(crate) fn seal(&self) -> mail::Letter {
        // Our own types have string keys: this cannot fail.
        mail::Letter { kind: KIND.to_owned(), body: serde_json::to_string(self).unwrap_or_default() }
    }
}

/// Where letters to this server arrive. Nobody looks while nobody expects any.
#[derive(Default)]
pub(crate) struct Mailbox {
    expecting: AtomicUsize,
    expected: Notify,
    is_read: AtomicBool,
}

/// As long as this is held, letters are read.
pub(crate) struct Expecting(Arc<Mailbox>);

impl Drop for Expecting {
    fn drop(&mut self) {
        self.0.expecting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Mailbox {
    /// From now on letters are read, whenever somebody expects one.
    pub(crate) fn open(self: &Arc<Self>, app: &Arc<App>) {
        let store = &app.runtime.store;
        if let Some(lease) = store.lease()
            && !self.is_read.swap(true, Ordering::AcqRel)
        {
            let bell = store.subscribe(mail::BELL, &lease.run().to_string());
            tokio::spawn(read(Arc::downgrade(app), Arc::clone(self), lease.run(), bell));
        }
    }

    pub(crate) fn expect(self: &Arc<Self>) -> Expecting {
        if self.expecting.fetch_add(1, Ordering::AcqRel) == 0 {
            self.expected.notify_one();
        }
        Expecting(Arc::clone(self))
    }

    /// Returns when there may be a letter: when the bell rings, and every tick of it. A request that is answered before
    /// that causes no look at all.
    async fn rung(&self, bell: &mut Subscription) {
        loop {
            if self.expecting.load(Ordering::Acquire) == 0 {
                self.expected.notified().await;
            }
            bell.rung().await;
            if self.expecting.load(Ordering::Acquire) > 0 {
                return;
            }
        }
    }
}

async fn read(app: Weak<App>, mailbox: Arc<Mailbox>, me: RunId, mut bell: Subscription) {
    loop {
        mailbox.rung(&mut bell).await;
        let Some(app) = app.upgrade() else { return };
        match app.runtime.store.once(move |unit| mail::take(unit, me, KIND)).await {
            Ok(letters) => {
                for letter in letters {
                    deliver(&app, &letter.body).await;
                }
            }
            Err::<_, StoreError>(error) => tracing::debug!(%error, "letters cannot be read now"),
        }
    }
}

async fn deliver(app: &Arc<App>, body: &str) {
    let here = |session: &str| app.mcp.sessions.here(session);
    match serde_json::from_str(body) {
        Ok(Letter::Answer { session, id, outcome }) => {
            if let Some(session) = here(&session) {
                session.questions.answer(&id, outcome);
            }
        }
        Ok(Letter::Cancelled { session, id }) => {
            if let Some(session) = here(&session) {
                session.cancel(&id);
            }
        }
        Ok(Letter::Session { session }) => {
            if let Some(session) = here(&session) {
                session.look_again(&app.runtime.store).await;
            }
        }
        Ok(Letter::Message { session, trace, dry_run, text }) => {
            if let Some(session) = here(&session) {
                sse::deliver(app, &session, trace, dry_run, &text);
            }
        }
        Ok(Letter::Task { id }) => jobs::heard(app, id.into()).await,
        Err(error) => tracing::debug!(%error, "a letter of another release is left alone"),
    }
}
