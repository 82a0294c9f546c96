//! The built-in tools, called as the pipeline calls them.

mod code;
mod engines;
mod humans;
mod test_tools;
mod web;
