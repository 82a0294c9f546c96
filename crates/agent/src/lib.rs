//! Chat: a person writes a sentence, and the right tool runs, or a question comes back, or a plain answer.

pub mod model;
pub mod planner;
