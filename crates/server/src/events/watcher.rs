//! One who watches: from the shared changes to the events that this caller may see.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::watch;
use toolroom_contract::{Principal, ToolError};

use super::ring::Change;
use super::rows::Rows;
use super::{Beat, Watching};
use crate::api::{approvals, servers};
use crate::app::App;

/// The body of an event whose name says it all.
const NOTHING: &str = "{}";

/// What a watcher wants to know of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Topics {
    pub(crate) executions: bool,
    pub(crate) approvals: bool,
    pub(crate) servers: bool,
    pub(crate) catalogue: bool,
}

/// An event with a name and a body; its id is where to go on from.
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) name: &'static str,
    pub(crate) data: String,
}

pub(crate) struct Watcher {
    caller: Arc<Principal>,
    topics: Topics,
    rows: Option<Rows>,
    /// The next change to be told.
    next: u64,
    beat: watch::Receiver<Beat>,
    /// Told one by one: what one look found, so that there is never much.
    ready: VecDeque<(&'static str, String)>,
    /// The id of the last event of what was found before. Who goes on from the middle is told all of it again.
    place: String,
    watching: Watching,
}

impl Watcher {
    /// Begins at `last`, the id of the event that the client saw last, or now. The first event says that it has begun;
    /// or that something was missed, so that the client must read everything again.
    pub(crate) async fn begin(
        app: &Arc<App>,
        caller: Arc<Principal>,
        topics: Topics,
        last: Option<&str>,
    ) -> Result<Self, ToolError> {
        let watching = Watching::begin(app).await?;
        let mut beat = app.events.beat.subscribe();
        let next = beat.borrow_and_update().next;
        let last = match last {
            Some(id) => Some(opened(app, &caller, id).await?),
            None => None,
        };
        let place = last.as_deref().map(|id| Place::parse(app, id));
        let cursor = place.as_ref().and_then(|place| place.as_ref()).map(|place| place.cursor.to_owned());
        let rows = match topics.executions {
            true => {
                let (reader, caller) = (app.journal_reader().await, Arc::clone(&caller));
                let rows = move || Rows::new(reader, &caller, cursor.as_deref());
                Some(
                    tokio::task::spawn_blocking(rows)
                        .await
                        .map_err(ToolError::internal)?
                        .map_err(ToolError::internal)?,
                )
            }
            false => None,
        };
        // Where the numbers are good, the client goes on there.
        let number = place.map(|place| place.and_then(|place| place.number));
        let known = number.map(|number| number.filter(|number| app.events.ring().since(*number).is_some()));
        let (next, first) = match known {
            None => (next, "ready"),
            Some(Some(number)) => (number, "ready"),
            Some(None) => (next, "lost"),
        };
        // What was missed is told without waiting for more.
        beat.mark_changed();
        let ready = VecDeque::from([(first, NOTHING.to_owned())]);
        Ok(Self { caller, topics, rows, next, beat, ready, place: String::new(), watching })
    }

    /// The next event; `None` when the server stops.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            let told = self.ready.pop_front();
            if self.ready.is_empty() {
                self.place = self.here().await;
            }
            if let Some((name, data)) = told {
                return Some(Event { id: self.place.clone(), name, data });
            }
            let app = Arc::clone(&self.watching.0);
            tokio::select! {
                () = app.stopping.cancelled() => return None,
                changed = self.beat.changed() => changed.ok()?,
            }
            let tail = Arc::clone(&self.beat.borrow_and_update().tail);
            if let Err(error) = self.gather(&app, &tail).await {
                tracing::warn!(%error, "events cannot be read");
                self.ready.push_back(("lost", NOTHING.to_owned()));
            }
        }
    }

    async fn gather(&mut self, app: &Arc<App>, tail: &str) -> Result<(), ToolError> {
        let found = app.events.ring().since(self.next);
        let Some((changes, next)) = found else {
            self.next = self.beat.borrow().next;
            self.ready.push_back(("lost", NOTHING.to_owned()));
            return Ok(());
        };
        self.next = next;
        for change in changes {
            if let Some(event) = self.told(app, change).await? {
                self.ready.push_back(event);
            }
        }
        if let Some(mut rows) = self.rows.clone().filter(|rows| rows.cursor != tail) {
            let read = tokio::task::spawn_blocking(move || rows.read().map(|batch| (rows, batch)));
            let (rows, batch) = read.await.map_err(ToolError::internal)?.map_err(ToolError::internal)?;
            self.rows = Some(rows);
            if !batch.rows.is_empty() {
                // Not by way of a `Value`, which would change how numbers are written.
                self.ready
                    .push_back(("execution", serde_json::to_string(&batch).map_err(ToolError::internal)?));
            }
        }
        Ok(())
    }

    /// What this caller is told of a change, if anything.
    async fn told(&self, app: &App, change: Change) -> Result<Option<(&'static str, String)>, ToolError> {
        Ok(match change {
            Change::Approval(id) if self.topics.approvals => approvals::seen_by(app, &self.caller, id)
                .await?
                .map(|seen| ("approval", json!(seen).to_string())),
            Change::Server(name) if self.topics.servers => {
                servers::seen_by(app, &self.caller, &name).map(|seen| ("server", seen.to_string()))
            }
            Change::Catalogue(version) if self.topics.catalogue => {
                Some(("catalogue", json!({ "version": version }).to_string()))
            }
            _ => None,
        })
    }

    /// Where a client goes on from: behind all that was found.
    async fn here(&self) -> String {
        let run = self.watching.0.runtime.journal.run();
        let cursor = self.rows.as_ref().map_or("", |rows| rows.cursor.as_str());
        let place = format!("{}.{run}@{cursor}", self.next);
        if may_read_places(&self.caller) {
            return place;
        }
        let app = &self.watching.0;
        // Who has no id starts from now.
        app.cursors.seal(&app.runtime.store, &place).await.unwrap_or_default()
    }
}

/// Whether a caller may know how much others do, which an id would tell.
fn may_read_places(caller: &Principal) -> bool {
    caller.grants.hold("executions", "read") && caller.profiles.is_none()
}

/// The id that was shown as this one; one that is none of ours reads as nothing.
async fn opened(app: &App, caller: &Principal, id: &str) -> Result<String, ToolError> {
    if may_read_places(caller) {
        return Ok(id.to_owned());
    }
    app.cursors.open(&app.runtime.store, id).await.map(Option::unwrap_or_default)
}

/// An id, read.
struct Place<'a> {
    /// Of the next change; `None` if another process counted it.
    number: Option<u64>,
    cursor: &'a str,
}

impl<'a> Place<'a> {
    fn parse(app: &App, id: &'a str) -> Option<Self> {
        let (changes, cursor) = id.split_once('@')?;
        let (number, run) = changes.split_once('.')?;
        let number = number.parse().ok().filter(|_| run == app.runtime.journal.run().to_string());
        Some(Self { number, cursor })
    }
}
