//! Server-sent events, read one by one.

use anyhow::{Context, Result};
use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::Value;

/// An event stream.
pub struct Events {
    body: Body,
    text: Vec<u8>,
}

/// One event.
#[derive(Debug)]
pub struct Event {
    /// What kind of event.
    pub name: String,
    /// What it says.
    pub data: Value,
}

impl Events {
    pub(super) fn new(body: Body) -> Self {
        Self { body, text: Vec::new() }
    }

    /// The next event; `None` at the end of the stream. What was read is kept if this is dropped.
    pub async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.text.drain(..end + 2).collect();
                match event(&String::from_utf8_lossy(&block))? {
                    Some(event) => return Ok(Some(event)),
                    None => continue,
                }
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.context("the server stopped during its answer")?;
            if let Some(data) = frame.data_ref() {
                self.text.extend_from_slice(data);
            }
        }
    }
}

/// The event of a block; `None` for comments.
fn event(block: &str) -> Result<Option<Event>> {
    let (mut name, mut data) = (String::new(), String::new());
    for line in block.lines() {
        if let Some(rest) = line.strip_prefix("event:") {
            name = rest.trim().to_owned();
        } else if let Some(rest) = line.strip_prefix("data:") {
            data.push_str(rest.strip_prefix(' ').unwrap_or(rest));
        }
    }
    if data.is_empty() {
        return Ok(None);
    }
    let data = serde_json::from_str(&data).context("an event is not JSON")?;
    Ok(Some(Event { name, data }))
}
