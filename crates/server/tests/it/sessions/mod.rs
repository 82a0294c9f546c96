//! Sessions of the console: how one begins, what it is good for, and when it ends.

mod browser;
mod ending;
mod login;
mod use_of;
