//! Events of the server, read one by one.

use std::collections::VecDeque;

use anyhow::{Context, Result, anyhow};
use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::Value;
use toolroom_work::sse::EventReader;

/// The largest event that is taken.
const LARGEST: usize = 64 << 20;

/// An event stream.
pub struct Events {
    body: Body,
    reader: EventReader,
    ready: VecDeque<toolroom_work::sse::Event>,
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
        Self { body, reader: EventReader::new(LARGEST), ready: VecDeque::new() }
    }

    /// The next event; `None` at the end of the stream. What was read is kept if this is dropped.
    pub async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                let data = serde_json::from_slice(&event.data).context("an event is not JSON")?;
                return Ok(Some(Event { name: event.kind, data }));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.context("the server stopped during its answer")?;
            if let Some(data) = frame.data_ref() {
                let ready = &mut self.ready;
                let read = self.reader.push(data, |event| {
                    if !event.data.is_empty() {
                        ready.push_back(event);
                    }
                });
                read.map_err(|_| anyhow!("an event is too large"))?;
            }
        }
    }
}
