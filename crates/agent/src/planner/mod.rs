//! The offline planner: answers without a language model, and says that it is none.

use crate::model::{Deltas, Model, Prompt, Turn, Turning};

/// The name under which the planner is listed as a model.
pub const NAME: &str = "toolroom-offline";

/// A model that is no language model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planner;

impl Model for Planner {
    fn name(&self) -> &str {
        NAME
    }

    fn turn<'a>(&'a self, _prompt: &'a Prompt, out: &'a mut dyn Deltas) -> Turning<'a> {
        Box::pin(async move {
            let turn =
                Turn::text("I am the offline planner, not a language model, and did not understand that.");
            out.text(&turn.text);
            Ok(turn)
        })
    }
}
