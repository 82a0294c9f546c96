//! A message per line: stdio, and the same on the owner's socket. Every revision; the first message says which kind.

pub mod front;
mod reader;
mod stdio;
mod upgrade;

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolroom_contract::{Principal, ToolError, TraceId};
use toolroom_mcp::{Code, Frame, Id, Message, Method, RpcError, frame};
use toolroom_runtime::Edge;

use super::caller::Caller;
use super::peer::Peer;
use super::session::{Conversation, Session, Taken, Transport, Work, watch};
use crate::app::App;
pub use reader::{Line, next_line};

pub use stdio::{standard_input, standard_output};
pub use upgrade::LINES_PROTOCOL;
pub(crate) use upgrade::upgrade;

/// The longest line, in bytes.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// What has been asked when the input ends is still answered, if that takes no longer.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Why lines could not be served.
#[derive(Debug, thiserror::Error)]
pub enum LinesError {
    /// The catalogue has no profile of that name.
    #[error("unknown profile '{0}'")]
    NoProfile(String),
    /// The user could not be looked up.
    #[error("{0}")]
    User(ToolError),
    /// Input or output broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
}

/// Serves the owner of the home, or a user whom they name, until the input ends. What still runs then is stopped.
pub async fn serve_lines<R, W>(
    app: Arc<App>,
    user: Option<&str>,
    profile: &str,
    input: R,
    output: W,
) -> Result<(), LinesError>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let principal = app.auth.owner_as(user).await.map_err(LinesError::User)?;
    if app.runtime.registry.snapshot().view(&principal, profile, app.runtime.today()).is_none() {
        return Err(LinesError::NoProfile(profile.to_owned()));
    }
    Ok(serve(app, principal, Cow::Owned(profile.to_owned()), input, output).await?)
}

/// Which kind of revision the client speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Era {
    /// It has not shown yet.
    Open,
    Handshake,
    Standalone,
}

/// One client.
struct Connection {
    conversation: Conversation,
    era: Era,
    running: JoinSet<()>,
}

async fn serve<R, W>(
    app: Arc<App>,
    principal: Arc<Principal>,
    profile: Cow<'static, str>,
    input: R,
    output: W,
) -> io::Result<()>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let session = Session::new(&principal, profile.clone(), Transport::Lines);
    let (peer, said) = Peer::streaming(Some(Arc::clone(&session.questions)));
    let id = Some(Arc::clone(&session.id));
    let trace = TraceId::default();
    let caller = Caller { principal, profile, trace, edge: Edge::Mcp, session: id, dry_run: false };
    let conversation = Conversation { app: Arc::clone(&app), session, caller, peer };
    let mut writer = tokio::spawn(write_lines(output, said));
    let mut connection = Connection { conversation, era: Era::Open, running: JoinSet::new() };
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut line = Vec::new();
    let ended = loop {
        let read = tokio::select! {
            read = next_line(&mut input, &mut line, LONGEST_LINE) => read,
            Some(_) = connection.running.join_next() => continue,
            _ = &mut writer => return Ok(()),
            () = app.stopping.cancelled() => break Ok(()),
        };
        match read {
            Ok(Line::Whole) => connection.take(&line).await,
            Ok(Line::TooLong) => connection.say_too_long().await,
            Ok(Line::End) => break Ok(()),
            Err(error) => break Err(error),
        }
        line.clear();
    };
    connection.finish().await;
    // All that was said is written, unless the client does not read.
    let _ = timeout(LAST_ANSWERS, writer).await;
    ended
}

impl Connection {
    async fn take(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let frame = match frame::read(line) {
            Ok(frame) => frame,
            Err(bad) => return self.refuse(bad.id.as_ref(), bad.error).await,
        };
        if let Frame::One(Message::Request { id, method, params }) = &frame {
            let modern = match params.meta() {
                Ok(meta) => meta.is_some_and(|meta| meta.is_modern()),
                Err(error) => return self.refuse(Some(id), error).await,
            };
            let alone = modern || (self.era == Era::Standalone && method != Method::Initialize.name());
            if let Err(error) = self.enter(alone, method) {
                return self.refuse(Some(id), error).await;
            }
            if alone && self.era != Era::Handshake {
                return self.run(self.caller_now().take_alone(id.clone(), method, *params));
            }
        }
        match self.caller_now().take(frame) {
            Ok(Taken::Nothing) => {}
            Ok(Taken::Work(work)) => self.run(work),
            Err(error) => self.refuse(None, error).await,
        }
    }

    /// The first message that is more than a look at what we are decides for good.
    fn enter(&mut self, alone: bool, method: &str) -> Result<(), RpcError> {
        match self.era {
            Era::Open if alone && method != Method::Discover.name() => self.era = Era::Standalone,
            Era::Open if method == Method::Initialize.name() => {
                self.era = Era::Handshake;
                let watched = self.caller_now();
                let replaced = watched.session.listen();
                self.running.spawn(watch(watched, replaced));
            }
            Era::Standalone if method == Method::Initialize.name() => {
                let why = "This connection uses a revision without 'initialize'.";
                return Err(RpcError::new(Code::InvalidRequest, why));
            }
            Era::Open | Era::Handshake | Era::Standalone => {}
        }
        Ok(())
    }

    /// Every message has its own trace.
    fn caller_now(&self) -> Conversation {
        let mut conversation = self.conversation.clone();
        conversation.caller.trace = TraceId::default();
        conversation
    }

    fn run(&mut self, work: Work) {
        let peer = self.conversation.peer.clone();
        self.running.spawn(async move {
            if let Some(answer) = work.await {
                peer.send(answer).await;
            }
        });
    }

    async fn refuse(&self, id: Option<&Id>, error: RpcError) {
        self.conversation.peer.send(frame::response(id, Err(&error)).into()).await;
    }

    async fn say_too_long(&self) {
        let why = "A line may have at most 16 MiB.";
        self.refuse(None, RpcError::new(Code::InvalidRequest, why)).await;
    }

    /// Short work is waited for, the rest dropped.
    async fn finish(mut self) {
        self.conversation.session.listen().cancel();
        let all_done = async { while self.running.join_next().await.is_some() {} };
        let _ = timeout(LAST_ANSWERS, all_done).await;
        self.conversation.session.ended.cancel();
        self.running.shutdown().await;
    }
}

/// Ends when nobody can say anything any more, or the client is gone.
async fn write_lines<W: AsyncWrite + Unpin>(output: W, mut said: mpsc::Receiver<Bytes>) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(64 * 1024, output);
    while let Some(mut message) = said.recv().await {
        loop {
            output.write_all(&message).await?;
            output.write_all(b"\n").await?;
            match said.try_recv() {
                Ok(next) => message = next,
                Err(_) => break,
            }
        }
        output.flush().await?;
    }
    output.shutdown().await
}
