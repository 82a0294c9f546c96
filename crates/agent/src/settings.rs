//! The settings of the chat, and the models that it can use.

use std::sync::Arc;
use std::time::Duration;

use crate::run::Limits;
use toolroom_model::Model;
use toolroom_planner::Planner;

/// What can be set about the chat.
#[derive(Clone, Debug)]
pub struct ChatSettings {
    /// What a run may take.
    pub limits: Limits,
    /// How long a confirmation is valid.
    pub confirm_ttl: Duration,
    /// How many messages of a conversation a model is shown.
    pub context: u32,
    /// How many tools a model is shown; of more, those that fit the message best.
    pub tools: usize,
    /// Characters of a message.
    pub message: usize,
    /// Whether every change is asked about once the model has read what anybody may have written.
    pub ask_after_untrusted: bool,
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            confirm_ttl: Duration::from_secs(300),
            context: 20,
            tools: 64,
            message: 10_000,
            ask_after_untrusted: true,
        }
    }
}

/// The models that a chat can use. The first is the usual one; the offline planner is always there.
#[derive(Clone)]
pub struct Models(Vec<Arc<dyn Model>>);

impl Models {
    /// Only the planner.
    pub fn offline() -> Self {
        Self(vec![Arc::new(Planner)])
    }

    /// A model first, and the planner behind it.
    pub fn with(model: Arc<dyn Model>) -> Self {
        Self(vec![model, Arc::new(Planner)])
    }

    /// The model of that name; without a name, the usual one.
    pub fn get(&self, name: Option<&str>) -> Option<Arc<dyn Model>> {
        match name {
            None => self.0.first().cloned(),
            Some(name) => self.0.iter().find(|model| model.name() == name).cloned(),
        }
    }

    /// The planner, for when a model gives no answer.
    pub fn stand_in(&self) -> Option<Arc<dyn Model>> {
        self.get(Some(toolroom_planner::NAME))
    }

    /// The names, the usual one first.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|model| model.name().to_owned()).collect()
    }
}
