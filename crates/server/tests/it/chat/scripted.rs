//! A model that follows a script, and waits where it is told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::Semaphore;
use toolroom_model::{Deltas, Message, Model, Prompt, Turn, Turning};

pub struct Scripted {
    turns: Mutex<VecDeque<Turn>>,
    /// A turn is given for each permit.
    pub gate: Semaphore,
    /// What it was asked, without what we told it ourselves.
    pub asked: Mutex<Vec<Vec<Message>>>,
}

impl Scripted {
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Arc<Self> {
        Self::with(turns, 100)
    }

    /// It waits before every turn until it is let on.
    pub fn waiting(turns: impl IntoIterator<Item = Turn>) -> Arc<Self> {
        Self::with(turns, 0)
    }

    fn with(turns: impl IntoIterator<Item = Turn>, permits: usize) -> Arc<Self> {
        let turns = Mutex::new(turns.into_iter().collect());
        Arc::new(Self { turns, gate: Semaphore::new(permits), asked: Mutex::default() })
    }
}

pub fn call(name: &str, params: Value) -> Turn {
    Turn::call("", name, params)
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn turn<'a>(&'a self, prompt: &'a Prompt, out: &'a mut dyn Deltas) -> Turning<'a> {
        Box::pin(async move {
            self.gate.acquire().await.unwrap().forget();
            self.asked.lock().unwrap().push(prompt.messages[1..].to_vec());
            let turn = self.turns.lock().unwrap().pop_front().unwrap_or_default();
            out.text(&turn.text);
            Ok(turn)
        })
    }
}
