//! `toolroom chat`: a conversation in the terminal, over the same API as any other client.

mod commands;
mod input;
mod show;
mod turn;
mod wrap;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::Value;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::commands::After;
use self::input::{Input, Line};
use self::turn::Ended;
use super::{Globals, candidates};
use crate::client::Client;
use crate::failure::{self, Exit};
use crate::terminal;

/// Chat with your tools
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom chat                                   a conversation
  toolroom chat add buy milk tomorrow             one message
  printf 'add buy milk\\nshow my tasks\\n' | toolroom chat --profile assistant

The answer goes to stdout, what the tools did to stderr. If you are asked for confirmation, answer yes or no, y or n.
Ctrl-C stops the answer, twice leaves. In a conversation /help lists the commands. Without a model
(docs/chat.md) an offline planner answers.")]
pub struct Chat {
    /// The message; without it, lines are read one by one
    message: Vec<String>,
    /// Use this profile's tools [default: that of the conversation, else 'default']
    #[arg(long, value_name = "NAME", add = candidates::profiles())]
    profile: Option<String>,
    /// Act as this user instead of 'local'
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Continue this conversation
    #[arg(long, value_name = "ID", add = candidates::conversations())]
    conversation: Option<String>,
}

/// A conversation in progress.
struct Session<'a> {
    globals: &'a Globals,
    user: Option<String>,
    profile: Option<String>,
    conversation: Option<String>,
    /// The last answer.
    last: Value,
    interrupts: Signal,
}

/// What the shell sees after Ctrl-C.
const INTERRUPTED: u8 = 130;

impl Chat {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let mut session = Session {
            globals,
            user: self.user,
            profile: self.profile,
            conversation: self.conversation,
            last: Value::Null,
            interrupts: signal(SignalKind::interrupt())?,
        };
        if !self.message.is_empty() {
            return Ok(match session.say(&self.message.join(" ")).await? {
                Ended::Answered => ExitCode::SUCCESS,
                Ended::Quit => ExitCode::from(INTERRUPTED),
            });
        }
        let on_terminal = io::stdin().is_terminal() && io::stdout().is_terminal() && !globals.json;
        if on_terminal {
            session.greet().await?;
        }
        let history = on_terminal.then(|| globals.home().ok()).flatten().map(|home| home.chat_history());
        session.talk(Input::new(on_terminal, history)).await
    }
}

impl Session<'_> {
    /// Line by line, until there are no more.
    async fn talk(&mut self, input: Input) -> Result<ExitCode> {
        let (mut failed, mut leaving) = (false, false);
        loop {
            let line = tokio::select! {
                line = input.line(self.prompt()) => line,
                _ = self.interrupts.recv() => return Ok(ExitCode::from(INTERRUPTED)),
            };
            let text = match line {
                Line::Text(text) => text,
                Line::Interrupted if leaving => return Ok(ExitCode::from(INTERRUPTED)),
                Line::Interrupted => {
                    leaving = true;
                    terminal::remark("Press Ctrl-C again or type /quit to leave.");
                    continue;
                }
                Line::End if failed => return Ok(Exit::Failed.code()),
                Line::End => return Ok(ExitCode::SUCCESS),
            };
            leaving = false;
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            let after = match text.strip_prefix('/') {
                Some(command) => self.command(command).await,
                None => self.say(text).await.map(After::from),
            };
            match after {
                Ok(After::GoOn) => {}
                Ok(After::Leave) => return Ok(ExitCode::SUCCESS),
                Ok(After::Interrupted) => return Ok(ExitCode::from(INTERRUPTED)),
                // One message that was not taken does not end a conversation.
                Err(error) if failure::is_closed(&error) => return Err(error),
                Err(error) => {
                    failure::report(&error, self.globals.json);
                    failed = true;
                }
            }
        }
    }

    /// The prompt of the next line.
    fn prompt(&self) -> &'static str {
        if !self.last["pending_confirmation"].is_null() {
            "yes or no> "
        } else if !self.last["pending_question"].is_null() {
            "answer> "
        } else {
            "you> "
        }
    }

    /// A client for one message only, so that other commands can use the home in between.
    async fn client(&self) -> Result<Client> {
        self.globals.client().await?.acting_as(self.user.clone())
    }

    /// Who answers, and how to get help.
    async fn greet(&self) -> Result<()> {
        let client = self.client().await?;
        let found = client.get("/v1/models").await?;
        let profile = self.profile.as_deref().unwrap_or(toolroom_profiles::DEFAULT);
        let models = found["data"].as_array().cloned().unwrap_or_default();
        let model = models.iter().find(|model| model["profile"] == profile).or(models.first());
        let answers = model.map(|model| terminal::plain(&model["answered_by"])).unwrap_or_default();
        terminal::remark(&format!("Profile {profile}, answered by {answers}. /help lists the commands."));
        let given = self.globals.overrides().model;
        if answers.contains("offline") && given.name.is_none() && given.base_url.is_some() {
            terminal::remark("OPENAI_BASE_URL is set, but not TOOLROOM_MODEL: the model there is not used.");
        }
        let state = client.get("/api/v1/chat/model").await?;
        if state["reachable"] == false {
            let why = terminal::plain(&state["reason"]);
            terminal::remark(&format!(
                "The model cannot answer now: {why}.\nCheck OPENAI_BASE_URL, OPENAI_API_KEY and TOOLROOM_MODEL, or [model] in toolroom.toml."
            ));
        }
        Ok(())
    }
}
