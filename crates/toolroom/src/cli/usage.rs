//! A command line that cannot be read: what was probably meant, where its parser would not guess it.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::failure::{self, Exit};

/// What people type who do not know the verbs yet, and what does it.
const MEANT: [(&str, &str); 12] = [
    ("list", "toolroom tools list"),
    ("ls", "toolroom tools list"),
    ("show", "toolroom tools show NAME"),
    ("search", "toolroom tools search WORDS"),
    ("add", "toolroom tools add FILE"),
    ("update", "toolroom tools update FILE"),
    ("remove", "toolroom tools remove NAME"),
    ("run", "toolroom call TOOL --param NAME=VALUE"),
    ("start", "toolroom serve"),
    ("server", "toolroom serve, or: toolroom servers list"),
    ("status", "toolroom doctor"),
    ("install", "toolroom connect CLIENT"),
];

/// A verb that is not for people.
const HIDDEN: &str = "engine";

/// Says what is wrong in the words of the parser, and what to do; as JSON if that is wanted.
pub fn report(mut error: clap::Error, words: &[String], json: bool) -> ExitCode {
    hide(&mut error);
    let meant = meant(&error, words);
    if !error.use_stderr() || (!json && meant.is_none()) {
        error.exit();
    }
    let text = error.to_string();
    // What is wrong stands before the first empty line; a tip and the usage follow.
    let about: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: ")).map(|tip| format!("{tip}."));
    let hint = meant.or(tip).unwrap_or_else(|| "Look at --help.".to_owned());
    failure::show("usage", about.join(" ").trim_start_matches("error: "), &hint, json);
    Exit::Usage.code()
}

/// Takes the hidden verb out of what the parser lists and suggests.
fn hide(error: &mut clap::Error) {
    for kind in [ContextKind::ValidSubcommand, ContextKind::SuggestedSubcommand] {
        if let Some(ContextValue::Strings(mut names)) = error.remove(kind) {
            names.retain(|name| name != HIDDEN);
            if !names.is_empty() {
                error.insert(kind, ContextValue::Strings(names));
            }
        }
    }
}

fn meant(error: &clap::Error, words: &[String]) -> Option<String> {
    let verb = words.iter().find(|word| !word.starts_with('-'))?;
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand if named(ContextKind::InvalidSubcommand) == Some(verb) => {
            let (_, does) = MEANT.iter().find(|(typed, _)| typed == verb)?;
            Some(format!("Did you mean: {does}"))
        }
        ErrorKind::UnknownArgument if verb == "call" => {
            named(ContextKind::InvalidArg)?;
            Some(
                "Parameters are given as --param city=Oslo, or as --params '{\"city\": \"Oslo\"}'."
                    .to_owned(),
            )
        }
        _ => None,
    }
}
