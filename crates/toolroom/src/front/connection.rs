//! A connection to an engine, over which lines go.

use anyhow::Result;
use axum::body::Body;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use hyper::client::conn::http1;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader, ReadHalf, WriteHalf, split};
use tokio::sync::mpsc;
use tokio::time::{Duration, Instant, sleep, timeout};
use toolroom_server::auth::USER_HEADER;
use toolroom_server::{LINES_PROTOCOL, Line, LinesError, next_line};

use super::hung::MOST_FAILURES;
use super::{Front, QUEUE};
use crate::client::{encoded, hung, problem};
use crate::engine;
use crate::failure::Failure;

/// How long engines may end one after the other.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long an engine may be silent.
const SILENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

type Stream = TokioIo<Upgraded>;

/// Lines to and from an engine.
pub(super) struct Connection {
    pub(super) reader: BufReader<ReadHalf<Stream>>,
    /// None once nothing more is to be said.
    pub(super) to_engine: Option<mpsc::Sender<Vec<u8>>>,
}

impl Connection {
    /// Reaches the engine, which is started if there is none.
    pub(super) async fn open(front: &Front) -> Result<Self> {
        let (began, mut failures) = (Instant::now(), 0);
        let upgraded = loop {
            let stream = engine::connect(&front.home, front.database.as_deref()).await?;
            let Ok(upgraded) = timeout(SILENCE, upgraded(front, stream)).await else {
                failures += 1;
                if failures < MOST_FAILURES {
                    continue;
                }
                return Err(hung(&front.home));
            };
            match upgraded {
                // It ended at this moment; the next is on its way.
                Err(error) if error.is::<hyper::Error>() && began.elapsed() < PATIENCE => sleep(PAUSE).await,
                other => break other?,
            }
        };
        let (reader, writer) = split(TokioIo::new(upgraded));
        let (to_engine, lines) = mpsc::channel(QUEUE);
        tokio::spawn(write_lines(writer, lines));
        Ok(Self { reader: BufReader::new(reader), to_engine: Some(to_engine) })
    }

    /// Sends a line. One that an engine did not get is sent to the next: it has no answer.
    pub(super) async fn send(&self, line: Vec<u8>) {
        if let Some(to_engine) = &self.to_engine {
            let _ = to_engine.send(line).await;
        }
    }

    /// Asks something of our own; `true` if it was answered.
    pub(super) async fn ask(&mut self, id: &Value, line: Vec<u8>) -> bool {
        self.send(line).await;
        let mut answer = Vec::new();
        while let Ok(Line::Whole) = next_line(&mut self.reader, &mut answer, usize::MAX - 1).await {
            let message: Value = serde_json::from_slice(&answer).unwrap_or_default();
            if message["id"] == *id {
                return true;
            }
            answer.clear();
        }
        false
    }

    /// Nothing more is said.
    pub(super) fn finish(&mut self) {
        self.to_engine = None;
    }
}

async fn write_lines(mut writer: WriteHalf<Stream>, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        if writer.write_all(&line).await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}

async fn upgraded(front: &Front, stream: tokio::net::UnixStream) -> Result<Upgraded> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection.with_upgrades());
    let mut request = Request::get(format!("/api/v1/lines?profile={}", encoded(&front.profile)))
        .header(header::HOST, "localhost")
        .header(header::CONNECTION, "upgrade")
        .header(header::UPGRADE, LINES_PROTOCOL);
    if let Some(user) = &front.user {
        request = request.header(USER_HEADER, user);
    }
    let request = request
        .body(Body::empty())
        .map_err(|_| Failure::usage("the user's name cannot be sent", "Use plain ASCII characters."))?;
    let response = sender.send_request(request).await?;
    match response.status() {
        StatusCode::SWITCHING_PROTOCOLS => Ok(hyper::upgrade::on(response).await?),
        StatusCode::NOT_FOUND => {
            let error = LinesError::NoProfile(front.profile.clone());
            let hint = "Remove --profile, or name an existing profile.";
            Err(Failure::new(error.to_string(), hint).coded("not_found").into())
        }
        _ => {
            let body = response.into_body().collect().await?.to_bytes();
            Err(problem::failure(&serde_json::from_slice(&body).unwrap_or_default()).into())
        }
    }
}
