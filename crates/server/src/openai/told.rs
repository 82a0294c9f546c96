//! A run's event log as the events of a stream.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::Response;
use axum::response::sse::Event as Sent;
use futures_util::{Stream, stream};
use toolroom_agent::{Answer, EventKind, RunHandle};

use crate::api::chat::event_stream;

/// What a client is told of a run. What the server does itself does not concern it: it would do it again.
pub(super) enum Told {
    /// More words of the answer.
    Words(String),
    /// The end; without an answer where the run broke off.
    End(Option<Box<Answer>>),
}

/// The opening, and then what `write` makes of the run.
pub(super) fn stream<W>(handle: RunHandle, opening: Vec<Sent>, write: W) -> Response
where
    W: FnMut(Told) -> Vec<Sent> + Send + 'static,
{
    let run = handle.run;
    event_stream(run, events(Flow { handle, write, ready: opening.into(), over: false }))
}

struct Flow<W> {
    handle: RunHandle,
    write: W,
    ready: VecDeque<Sent>,
    over: bool,
}

fn events<W>(flow: Flow<W>) -> impl Stream<Item = Result<Sent, Infallible>> + Send
where
    W: FnMut(Told) -> Vec<Sent> + Send,
{
    stream::unfold(flow, |mut flow| async move {
        while flow.ready.is_empty() && !flow.over {
            let told = match flow.handle.next().await.map(|event| event.kind) {
                Some(EventKind::Text { text, .. }) => Told::Words(text),
                Some(EventKind::Done { answer }) => Told::End(Some(answer)),
                Some(_) => continue,
                None => Told::End(None),
            };
            flow.over = matches!(told, Told::End(_));
            flow.ready.extend((flow.write)(told));
        }
        let next = flow.ready.pop_front()?;
        Some((Ok(next), flow))
    })
}
