//! One message: sent, followed event by event, stopped on Ctrl-C.

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};

use super::Session;
use super::show::Screen;
use crate::cli::suggest::or_profile;
use crate::client::{Client, Events};
use crate::failure::Failure;
use crate::terminal;

/// How a message ended.
pub enum Ended {
    /// It was answered.
    Answered,
    /// The person left before.
    Quit,
}

impl Session<'_> {
    /// Sends a message and shows the result.
    pub async fn say(&mut self, text: &str) -> Result<Ended> {
        let mut body = json!({ "message": text });
        let conversation = self.conversation.clone().map(|id| ("conversation_id", id));
        let profile = self.profile.clone().map(|name| ("profile", name));
        for (name, value) in conversation.into_iter().chain(profile) {
            body[name] = value.into();
        }
        let client = self.client().await?;
        let events = client.events(Method::POST, "/api/v1/chat?stream=true", Some(&body)).await;
        let mut events = or_profile(&client, self.profile.as_deref(), events).await?;
        let mut screen = Screen::new(self.globals.json);
        let answer = self.follow(&client, &mut events, &mut screen).await;
        drop(events);
        client.close().await;
        screen.end()?;
        let Some(answer) = answer? else { return Ok(Ended::Quit) };
        if self.globals.json {
            terminal::say(&answer.to_string())?;
        }
        self.conversation = answer["conversation_id"].as_str().map(str::to_owned);
        self.last = answer;
        Ok(Ended::Answered)
    }

    /// The answer; `None` if the person left before.
    async fn follow(
        &mut self,
        client: &Client,
        events: &mut Events,
        screen: &mut Screen,
    ) -> Result<Option<Value>> {
        let (mut run, mut stopping) = (None, false);
        loop {
            let event = tokio::select! {
                event = events.next() => event?,
                _ = self.interrupts.recv() => {
                    if stopping {
                        return Ok(None);
                    }
                    stopping = true;
                    screen.note("stopping; press Ctrl-C again to leave")?;
                    stop(client, run.as_deref()).await?;
                    continue;
                }
            };
            let Some(event) = event else {
                let message = "the connection was lost; the run continues on the server";
                return Err(Failure::new(message, "Type /history to see the result.").into());
            };
            match event.name.as_str() {
                "started" => {
                    run = event.data["run_id"].as_str().map(str::to_owned);
                    // Known from here on, so that a conversation survives an answer that is broken off.
                    if let Some(id) = event.data["conversation_id"].as_str() {
                        self.conversation = Some(id.to_owned());
                    }
                }
                "done" => return Ok(Some(event.data)),
                name => screen.show(name, &event.data)?,
            }
        }
    }
}

async fn stop(client: &Client, run: Option<&str>) -> Result<()> {
    let Some(run) = run else { return Ok(()) };
    // A run that ended in this very moment is stopped already.
    client.send(Method::POST, &format!("/api/v1/chat/{run}/cancel"), None, &[]).await?;
    Ok(())
}
