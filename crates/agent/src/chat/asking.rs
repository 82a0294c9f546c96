//! Before a person is asked, what they are asked about is looked up; then a request is opened for each call.

use serde_json::Value;
use toolroom_contract::context::Confirm;
use toolroom_contract::error::PendingNotice;

use super::calls;
use super::driver::Driver;
use crate::confirm::{ask, question};
use crate::guard::Attempt;
use crate::run::{Effect, Event, Planned};
use toolroom_model::{Arguments, Message, ToolCall};

impl Driver {
    /// Opens a request for each call; a call whose target is not there, or that the tool would refuse, has its result.
    pub(super) async fn open(&mut self, calls: Vec<Planned>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for planned in calls {
            let missing = self.look_up(&planned).await;
            let event = match missing {
                Some(output) => {
                    self.started(&planned, None);
                    let message = self.shown(&planned, output, true, None);
                    Event::Returned { id: planned.call.id, message, attempt: Attempt::Failed }
                }
                None => self.open_one(planned).await,
            };
            effects.extend(self.run.step(event));
        }
        effects
    }

    async fn open_one(&mut self, planned: Planned) -> Event {
        let confirm = Confirm {
            ttl: self.inner.settings.confirm_ttl,
            message: question(&[self.asked_in_words(&planned)]),
        };
        let reply = self.caller().call(&planned, Some(confirm), None).await;
        let notice = reply.result.error().and_then(|error| error.pending.clone());
        match notice.filter(PendingNotice::is_here) {
            Some(notice) => self.waiting(planned, &notice),
            None => {
                self.started(&planned, Some(reply.execution_id));
                self.ended(planned, reply)
            }
        }
    }

    /// Looks up the titles that are not known yet. If a target is not there, its result says so.
    async fn look_up(&mut self, planned: &Planned) -> Option<Value> {
        let meant = self.meant(planned);
        for target in meant.map(|meant| meant.targets()).unwrap_or_default() {
            if self.seen.named.iter().any(|one| one.is(&target)) {
                continue;
            }
            let Some((name, params)) = self.tools.showing(&target) else { continue };
            let id =
                format!("{}_look_{}", planned.call.id, target.id.as_str().unwrap_or(&target.id.to_string()));
            let lookup = Planned {
                call: ToolCall { id, name: name.clone(), arguments: Arguments::Json(params.clone()) },
                name,
                params,
                changes: false,
                parallel: true,
                approval: None,
                ..planned.clone()
            };
            let execution = self.starts(&lookup);
            let reply = self.caller().call(&lookup, None, execution).await;
            self.note_names(&lookup, &reply);
            let (output, failed) = calls::output(&reply);
            let result = self.shown(&lookup, output.clone(), failed, None);
            let asked = Message::Assistant { text: String::new(), calls: vec![lookup.call] };
            self.run.step(Event::LookedUp(vec![asked, result]));
            if failed {
                return Some(output);
            }
        }
        None
    }

    /// What a call would do, in words for the person.
    pub(super) fn asked_in_words(&self, planned: &Planned) -> String {
        match self.meant(planned) {
            Some(meant) => ask(&planned.name, &meant, &self.seen.named),
            None => format!("call {}", planned.name),
        }
    }
}
