//! A model that follows a script, and waits where it is told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::Semaphore;
use toolroom_model::{Deltas, Model, Prompt, Turn, Turning};

pub struct Scripted {
    turns: Mutex<VecDeque<Turn>>,
    /// A turn is given for each permit.
    pub gate: Semaphore,
}

impl Scripted {
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Arc<Self> {
        Arc::new(Self { turns: Mutex::new(turns.into_iter().collect()), gate: Semaphore::new(100) })
    }

    /// It waits before every turn until it is let on.
    pub fn waiting(turns: impl IntoIterator<Item = Turn>) -> Arc<Self> {
        Arc::new(Self { turns: Mutex::new(turns.into_iter().collect()), gate: Semaphore::new(0) })
    }
}

pub fn call(name: &str, params: Value) -> Turn {
    Turn::call("", name, params)
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn turn<'a>(&'a self, _prompt: &'a Prompt, out: &'a mut dyn Deltas) -> Turning<'a> {
        Box::pin(async move {
            self.gate.acquire().await.unwrap().forget();
            let turn = self.turns.lock().unwrap().pop_front().unwrap_or_default();
            out.text(&turn.text);
            Ok(turn)
        })
    }
}
