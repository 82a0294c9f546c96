//! Before a person is asked, what they are asked about is looked up; then a request is opened for each call.

use serde_json::{Value, json};
use toolroom_contract::context::Confirm;

use super::calls;
use super::driver::Driver;
use super::planning::targets_of;
use crate::confirm::{ask, question};
use crate::model::{Arguments, Message, ToolCall};
use crate::run::{Effect, Event, Planned};

impl Driver {
    /// Opens a request for each call; a call whose target is not there, or that the tool would refuse, has its result.
    pub(super) async fn open(&mut self, calls: Vec<Planned>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for planned in calls {
            let missing = self.look_up(&planned).await;
            let event = match missing {
                Some(output) => {
                    self.started(&planned);
                    let message = self.shown(&planned, output, true, None);
                    Event::Returned { id: planned.call.id, message, change: None }
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
            message: question(&[ask(&planned, &self.seen.named)]),
        };
        let reply = self.caller().call(&planned, Some(confirm)).await;
        let notice = reply.result.error().and_then(|error| error.pending.clone());
        match notice {
            Some(notice) => self.waiting(planned, &notice),
            None => {
                self.started(&planned);
                self.ended(planned, reply)
            }
        }
    }

    /// Looks up the titles that are not known yet. If a target is not there, its result says so.
    async fn look_up(&mut self, planned: &Planned) -> Option<Value> {
        for id in targets_of(planned) {
            if self.seen.named.iter().any(|one| one.id == id) {
                continue;
            }
            let Some(lookup) = self.lookup(planned, id) else { continue };
            self.started(&lookup);
            let reply = self.caller().call(&lookup, None).await;
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

    /// The call that shows a task, if the profile has a tool for that.
    fn lookup(&self, planned: &Planned, id: i64) -> Option<Planned> {
        let one = |canonical: &str| {
            let spec = self.tools.published(canonical)?;
            let fields = spec.parameters.get("properties")?.as_object()?;
            let field = ["taskId", "task_id"].into_iter().find(|field| fields.contains_key(*field))?;
            Some((spec.name.clone(), canonical.to_owned(), json!({ field: id })))
        };
        let (name, canonical, params) = one("get-task").or_else(|| one("list-tasks"))?;
        let call_id = format!("{}_look_{id}", planned.call.id);
        Some(Planned {
            call: ToolCall { id: call_id, name: name.clone(), arguments: Arguments::Json(params.clone()) },
            name,
            canonical,
            params,
            changes: false,
            parallel: true,
            approval: None,
            ..planned.clone()
        })
    }
}
