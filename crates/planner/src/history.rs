//! The conversation in rounds: what the person said, the calls that followed, and what came of them.

use std::collections::HashMap;

use serde_json::Value;

use super::seen;
use toolroom_model::{Arguments, Message};

/// One round of the conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round<'a> {
    pub said: &'a str,
    pub calls: Vec<Made<'a>>,
    /// Whether the person declined what was asked at its end, or withdrew it by saying something else.
    pub dropped: bool,
}

/// A call that was made, or asked about.
#[derive(Clone, Debug)]
pub(crate) struct Made<'a> {
    pub name: &'a str,
    arguments: &'a Value,
    pub result: Option<&'a Value>,
    pub failed: bool,
}

impl Made<'_> {
    /// Whether the person was asked first, and the call not made.
    pub(crate) fn is_waiting(&self) -> bool {
        self.result.is_some_and(seen::is_asked)
    }
}

/// The rounds of a conversation, oldest first; the last is the one that is to be answered.
pub(crate) fn rounds(messages: &[Message]) -> Vec<Round<'_>> {
    let mut rounds: Vec<Round<'_>> = Vec::new();
    // Where the latest call of an id stands.
    let mut places: HashMap<&str, (usize, usize)> = HashMap::new();
    for message in messages {
        match message {
            Message::User { text } => rounds.push(Round { said: text, ..Round::default() }),
            Message::Assistant { calls, .. } => {
                let at = rounds.len().saturating_sub(1);
                let Some(round) = rounds.last_mut() else { continue };
                for call in calls {
                    let Arguments::Json(arguments) = &call.arguments else { continue };
                    places.insert(&call.id, (at, round.calls.len()));
                    round.calls.push(Made { name: &call.name, arguments, result: None, failed: false });
                }
            }
            Message::Tool { call_id, structured, failed, .. } => {
                let place = places.get(call_id.as_str());
                let made = place.and_then(|(round, call)| rounds.get_mut(*round)?.calls.get_mut(*call));
                if let Some(made) = made {
                    made.result = structured.as_ref();
                    made.failed = *failed;
                }
            }
            Message::System { .. } => {}
        }
    }
    joined(rounds)
}

/// A round in which the person said yes goes on with the one before it.
fn joined(rounds: Vec<Round<'_>>) -> Vec<Round<'_>> {
    let mut joined: Vec<Round<'_>> = Vec::new();
    for round in rounds {
        let Some(before) = joined.last_mut().filter(|before| before.calls.iter().any(Made::is_waiting))
        else {
            joined.push(round);
            continue;
        };
        let agreed = round.calls.first().is_some_and(|call| {
            before.calls.iter().any(|waiting| {
                waiting.is_waiting() && waiting.name == call.name && waiting.arguments == call.arguments
            })
        });
        if !agreed {
            before.dropped = true;
            joined.push(round);
            continue;
        }
        for call in round.calls {
            let waiting = before.calls.iter_mut().find(|waiting| {
                waiting.is_waiting() && waiting.name == call.name && waiting.arguments == call.arguments
            });
            match waiting {
                Some(waiting) => *waiting = call,
                None => before.calls.push(call),
            }
        }
    }
    joined
}
