//! A run's event log as the chunks of a completion.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use http::{HeaderValue, header};
use serde_json::{Value, json};
use toolroom_agent::{EventKind, RunHandle};

use super::completion::Frame;

/// A comment this often shows that a quiet stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The words as they come, one `finish_reason`, and `[DONE]`.
pub(super) fn stream(speaking: RunHandle, frame: Frame, usage: bool) -> Response {
    let opening = frame.chunk(json!({ "role": "assistant", "content": "" }), None, usage);
    let flow = Flow { speaking, frame, usage, ready: VecDeque::from([json_event(&opening)]), over: false };
    let mut response =
        Sse::new(events(flow)).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("")).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Flow {
    speaking: RunHandle,
    frame: Frame,
    usage: bool,
    ready: VecDeque<Sent>,
    over: bool,
}

fn events(flow: Flow) -> impl Stream<Item = Result<Sent, Infallible>> + Send {
    stream::unfold(flow, |mut flow| async move {
        while flow.ready.is_empty() && !flow.over {
            flow.step().await;
        }
        let next = flow.ready.pop_front()?;
        Some((Ok(next), flow))
    })
}

impl Flow {
    /// Takes the next event of the run.
    async fn step(&mut self) {
        match self.speaking.next().await.map(|event| event.kind) {
            Some(EventKind::Text { text, .. }) => {
                let chunk = self.frame.chunk(json!({ "content": text }), None, self.usage);
                self.ready.push_back(json_event(&chunk));
            }
            Some(EventKind::Done { answer }) => {
                self.ready.extend(self.frame.end(&answer, self.usage).iter().map(json_event));
                self.finish();
            }
            // What the server does itself does not concern the client: it would do it again.
            Some(_) => {}
            None => self.finish(),
        }
    }

    fn finish(&mut self) {
        self.ready.push_back(Sent::default().data("[DONE]"));
        self.over = true;
    }
}

fn json_event(value: &Value) -> Sent {
    Sent::default().data(value.to_string())
}
