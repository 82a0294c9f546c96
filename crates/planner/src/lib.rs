//! The offline planner: answers without a language model, and says that it is none.
//!
//! `read` turns what the person wrote into wishes, `act` turns wishes into calls and questions, `history` and `memory`
//! work out from the messages what was said, shown and asked before. Nothing is kept between turns, and nothing but
//! the person's own messages is ever read as a wish: titles and results are data.

mod act;
mod aside;
mod history;
mod memory;
mod read;
mod say;
mod seen;
mod select;
mod similar;
mod text;
mod tool_bindings;
mod typos;
mod wish;
mod words;

use toolroom_selection::{Index, Selection};

use self::act::Move;
use self::memory::Memory;
use self::read::Here;
use self::tool_bindings::ToolBindings;
use toolroom_model::{Arguments, Deltas, Finish, Model, Prompt, ToolCall, ToolChoice, Turn, Turning};

/// The name under which the planner is listed as a model.
pub const NAME: &str = "toolroom-offline";

/// A model that is not a language model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planner;

impl Model for Planner {
    fn name(&self) -> &str {
        NAME
    }

    fn turn<'a>(&'a self, prompt: &'a Prompt, out: &'a mut dyn Deltas) -> Turning<'a> {
        let prompt = prompt.clone();
        Box::pin(async move {
            let turn = aside::read(move || turn(&prompt)).await?;
            if !turn.text.is_empty() {
                out.text(&turn.text);
            }
            Ok(turn)
        })
    }
}

/// Earlier rounds that are read again to know what was said and shown; what came before them is forgotten.
const MOST_ROUNDS: usize = 20;
/// Steps that all of them together may take; beyond that nothing of them is remembered.
const EARLIER_BUDGET: u64 = 4 * act::BUDGET;

/// The next words or calls, worked out from the messages alone.
pub fn turn(prompt: &Prompt) -> Turn {
    let rounds = history::rounds(&prompt.messages);
    let Some((current, earlier)) = rounds.split_last() else {
        return Turn::text("What can I do for you?");
    };
    let bindings = ToolBindings::of(prompt);
    let here = Here { now: prompt.moment.now, zone: &prompt.moment.zone };
    let recent = earlier.get(earlier.len().saturating_sub(MOST_ROUNDS)..).unwrap_or_default();
    let recalled = toolroom_work::within(EARLIER_BUDGET, || {
        let mut memory = Memory::default();
        for round in recent {
            act::play(round, bindings, here, &mut memory);
        }
        memory
    });
    let mut memory = recalled.unwrap_or_default();
    let (calls, asking) = match act::play(current, bindings, here, &mut memory) {
        Move::Say(text) => return Turn::text(text),
        Move::Call(calls, asking) => (calls, asking),
    };
    if prompt.tool_choice == ToolChoice::None {
        return Turn::text("I could not look that up within the limits of one message. Please ask again.");
    }
    let made: usize = rounds.iter().map(|round| round.calls.len()).sum();
    let calls = calls.into_iter().enumerate().map(|(at, call)| ToolCall {
        id: format!("plan_{}", made + at + 1),
        name: call.name,
        arguments: Arguments::Json(call.arguments),
    });
    Turn { calls: calls.collect(), finish: Finish::Calls, asking, ..Turn::default() }
}

/// What the planner makes of a message on its own: the reading of the chat and the trained gate together, as
/// `toolroom eval` measures it. The index knows the catalogue.
pub fn selection(index: &Index, text: &str) -> Selection {
    select::selection(index, text)
}

#[cfg(test)]
mod tests;
