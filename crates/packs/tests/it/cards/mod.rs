//! The card tools: the schedule against the public reference, and what each tool promises.

mod contracts;
mod learning;
mod reference;
