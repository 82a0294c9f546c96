//! What people see of connecting: the clients, the change, the question, and what to do by hand.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use super::clients::{CLIENTS, Client};
use super::diff::masked;
use super::entry::{Reach, VARIABLE};
use super::notes::{self, digest};
use super::snippets::{self, Snippet};
use super::target::{Target, no_form};
use crate::failure::Failure;
use crate::home::Home;
use crate::terminal::{self, Rows, Tint, cell, name_cell, plain, tinted};

/// Lists the clients, and how each stands.
pub(super) fn clients(home: &Home, json: bool) -> Result<ExitCode> {
    let mut found = Vec::new();
    for client in CLIENTS {
        let (file, state) = match Target::connected(home, client).or_else(|_| Target::read(client, None)) {
            Err(_) => (client.place().1, "cannot be read"),
            Ok(target) => {
                let noted = notes::of(home, client.id, &target.file.path)?;
                let state = match &target.found {
                    Some(found) if noted.is_some_and(|noted| noted.entry == digest(found)) => "connected",
                    Some(_) => "connected by hand",
                    None if target.file.is_there() => "not connected",
                    None => "no settings found",
                };
                (target.file.path, state)
            }
        };
        found.push(json!({ "client": client.id, "name": client.name, "file": file, "state": state }));
    }
    if json {
        terminal::say_json(&json!({ "clients": found }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Rows::new(&["client", "program", "state", "file"]);
    for one in &found {
        let state = plain(&one["state"]);
        let tint = if state.starts_with("connected") { Tint::Good } else { Tint::Quiet };
        let (id, name) = (plain(&one["client"]), plain(&one["name"]));
        rows.add([name_cell(id), cell(name), tinted(state, tint), cell(plain(&one["file"]))]);
    }
    rows.say("")?;
    terminal::remark("connect one: toolroom connect CLIENT; for others: toolroom connect print");
    Ok(ExitCode::SUCCESS)
}

/// Prints what to write by hand, for every client.
pub(super) fn snippets(reach: &Reach, json: bool) -> Result<ExitCode> {
    let all = snippets::all(reach);
    if json {
        let all: Vec<Value> = all.iter().map(Snippet::json).collect();
        terminal::say_json(&json!({ "snippets": all }))?;
        return Ok(ExitCode::SUCCESS);
    }
    for one in all {
        terminal::say(&format!("# {}: {}\n{}\n", one.client, one.place, one.text))?;
    }
    if matches!(reach, Reach::Http { .. }) {
        terminal::remark(
            "put a key in place of the stars: toolroom keys create --user NAME --profile PROFILE",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what to write into a file that we cannot edit; the failure that says so.
pub(super) fn by_hand(client: &Client, reach: &Reach, failure: Failure, json: bool) -> Result<Failure> {
    let text = match snippets::of_client(client, reach) {
        Ok(text) => text,
        Err(why) => return Ok(no_form(client, why)),
    };
    if json {
        let snippet = Snippet { client: client.name.to_owned(), place: place(client), text };
        terminal::say_json(&json!({ "snippets": [snippet.json()] }))?;
    } else {
        terminal::say(&text)?;
    }
    Ok(failure.hinting("Put what is printed above into the file yourself.".to_owned()))
}

fn place(client: &Client) -> String {
    client.place().1.display().to_string()
}

/// Shows the change and asks. With `yes`, nobody is asked.
pub(super) fn is_agreed(target: &Target, after: &str, question: &str, yes: bool, json: bool) -> Result<bool> {
    if !json {
        target.show(after)?;
    }
    if yes {
        return Ok(true);
    }
    terminal::is_confirmed(question)?.ok_or_else(|| {
        // What is to be known stands before the question itself.
        let about = question.rsplit_once("; ").map(|(about, _)| format!("{about}, and "));
        let message = format!("nothing was changed: {}there is nobody to ask", about.unwrap_or_default());
        Failure::new(message, "Agree to what is shown with --yes.").into()
    })
}

/// Says that a client is connected: with this entry, or as it was before. `key` is one that the file only names.
pub(super) fn done(
    client: &Client,
    file: &Path,
    entry: Option<&Value>,
    key: Option<&str>,
    json: bool,
) -> Result<ExitCode> {
    if json {
        let entry =
            entry.map(|entry| masked(&entry.to_string())).and_then(|text| serde_json::from_str(&text).ok());
        let entry: Option<Value> = entry;
        let mut more = json!({ "entry": entry });
        if let Some(key) = key {
            more["env"] = json!({ VARIABLE: key });
        }
        told(client, file, entry.is_some(), more)?;
    } else if entry.is_some() {
        terminal::say(&format!("connected {}. {}", client.name, client.then))?;
        if let Some(key) = key {
            terminal::remark("put this into the client's environment; it is shown only once:");
            terminal::remark(&format!("export {VARIABLE}={key}"));
        }
    } else {
        terminal::say(&format!("{} is connected already; nothing was changed", client.name))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says that a client is not connected any more, or was not.
pub(super) fn undone(client: &Client, file: &Path, changed: bool, json: bool) -> Result<ExitCode> {
    match (json, changed) {
        (true, _) => told(client, file, changed, json!({}))?,
        (false, true) => terminal::say(&format!("disconnected {}. {}", client.name, client.then))?,
        (false, false) => terminal::say(&format!("{} was not connected; nothing was changed", client.name))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn told(client: &Client, file: &Path, changed: bool, mut more: Value) -> io::Result<()> {
    let mut said = json!({ "client": client.id, "file": file, "changed": changed });
    if let (Some(said), Some(more)) = (said.as_object_mut(), more.as_object_mut()) {
        said.append(more);
    }
    terminal::say_json(&said)
}
