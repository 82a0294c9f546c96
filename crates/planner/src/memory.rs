//! What the planner knows from earlier in the conversation. It is computed again from the messages every time.

use super::seen::Task;
use super::wish::{Draft, Wish};

/// What was said and shown before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// The tasks of the list that was shown last, in its order.
    pub shown: Vec<Task>,
    /// The tasks that were spoken of last: "it", "them".
    pub focus: Vec<Task>,
    /// Those that were made last, one after the other.
    pub made: Vec<Task>,
    /// Those that were deleted in this conversation, the latest last.
    pub deleted: Vec<Task>,
    /// The question that waits for an answer.
    pub question: Option<Question>,
    /// Changes about which the person was asked, and has not answered.
    pub waiting: Vec<Wish>,
    /// The last wish that had to do with a task.
    pub last: Option<Last>,
    /// Whether the round before this one changed something.
    pub just_done: bool,
    /// Whether an offer was made a second time.
    pub asked_again: bool,
    /// Whether the person was told what the planner can do.
    pub told_abilities: bool,
}

/// The previous wish.
#[derive(Clone, Debug)]
pub(crate) struct Last {
    pub wish: Wish,
    /// The tasks that it was done to, or would have been.
    pub chosen: Vec<Task>,
    /// The same before that, as far as they were known.
    pub before: Vec<Task>,
    /// Tasks that it could have been done to as well.
    pub candidates: Vec<Task>,
    /// Whether it was done.
    pub done: bool,
}

/// What the planner asked.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// What the task shall be called.
    Title(Draft),
    /// Which of these tasks is meant.
    Which(Wish, Vec<Task>),
    /// Which task is meant.
    Target(Wish),
    /// What is to be changed.
    Change(Wish),
    /// Which date is meant; the wish with the date that is in doubt.
    Date(Wish),
    /// Whether to carry out wishes that were only guessed, and how that was asked.
    Offer(Vec<Wish>, String),
    /// The code to run.
    Code,
    /// What to search for.
    Query,
    /// The question to put to a person.
    Words,
    /// What the parameter of a tool shall be: the tool, what is known, and the parameter.
    Parameter(String, serde_json::Map<String, serde_json::Value>, String),
}
