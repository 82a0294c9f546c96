//! What a line that begins with a slash does.

use anyhow::Result;
use serde_json::Value;

use super::Session;
use super::turn::Ended;
use crate::client::encoded;
use crate::failure::Failure;
use crate::terminal::{self, Tint};

/// What to do after a line.
pub enum After {
    GoOn,
    Leave,
    Interrupted,
}

impl From<Ended> for After {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Answered => Self::GoOn,
            Ended::Quit => Self::Interrupted,
        }
    }
}

const HELP: &str = "\
/history     what was said in this conversation
/list        your conversations
/new         start a new conversation
/open ID     continue another one
/quit        leave; so do Ctrl-D, and Ctrl-C twice
If you are asked for confirmation, answer yes or no, y or n. Anything else
withdraws the question. Ctrl-C stops an answer.";

impl Session<'_> {
    pub async fn command(&mut self, command: &str) -> Result<After> {
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        match name {
            "quit" | "exit" | "q" => return Ok(After::Leave),
            "help" | "?" => terminal::say(HELP)?,
            "new" => {
                self.conversation = None;
                self.last = Value::Null;
                terminal::remark("A new conversation begins with your next message.");
            }
            "open" => {
                let path = format!("/api/v1/conversations/{}", encoded(rest.trim()));
                let found = self.client().await?.get(&path).await?;
                self.conversation = found["id"].as_str().map(str::to_owned);
                self.last = pending(&found);
                history(&found)?;
            }
            "history" => match &self.conversation {
                None => terminal::remark("Nothing was said yet."),
                Some(id) => {
                    let path = format!("/api/v1/conversations/{}", encoded(id));
                    history(&self.client().await?.get(&path).await?)?;
                }
            },
            "list" => {
                let found = self.client().await?.get("/api/v1/conversations").await?;
                for one in found["conversations"].as_array().into_iter().flatten() {
                    let (id, title) = (terminal::plain(&one["id"]), terminal::plain(&one["title"]));
                    let when = terminal::moment(&one["updated_at"]);
                    terminal::say(&format!("{id}  {when}  {}", terminal::one_line(&title)))?;
                }
            }
            other => {
                let message = format!("unknown command '/{other}'");
                return Err(Failure::usage(message, "/help lists them.").into());
            }
        }
        Ok(After::GoOn)
    }
}

/// What the last answer of a conversation waits for.
fn pending(found: &Value) -> Value {
    let last = found["messages"].as_array().and_then(|messages| messages.last());
    last.map(|message| message["metadata"].clone()).unwrap_or_default()
}

fn history(found: &Value) -> Result<()> {
    for message in found["messages"].as_array().into_iter().flatten() {
        let person = message["role"] == "user";
        let who = if person { "you" } else { "toolroom" };
        terminal::put(&format!("{who}> "), Some(Tint::Quiet))?;
        terminal::say(message["content"].as_str().unwrap_or_default())?;
    }
    Ok(())
}
