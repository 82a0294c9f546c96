//! A front: MCP on standard input and output, passed on to the engine of the home. It outlives engines: what its
//! client set up is repeated to the next one, and what has no answer yet is asked again. What an engine that hangs was
//! asked is answered with that.

mod connection;
mod hung;

use std::time::Duration;

use anyhow::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, timeout};
use toolroom_server::front::Session;
use toolroom_server::{Line, next_line, standard_input, standard_output};

use crate::failure::Failure;
use crate::home::Home;
use crate::terminal;
use connection::Connection;
use hung::Watch;

/// Lines that may wait to be written, each way.
const QUEUE: usize = 64;
/// How long a reader that does not read is waited for at the end.
const GRACE: Duration = Duration::from_secs(1);
/// How long an engine may take to end a session in which everything is answered.
const FAREWELL: Duration = Duration::from_secs(3);
/// Between two looks at whether the engine is well, and whether anybody reads.
const LOOK: Duration = Duration::from_millis(500);
/// Lines that follow one another within this time come together.
const TOGETHER: Duration = Duration::from_millis(20);
/// How long a new engine may take to greet.
const GREETING: Duration = Duration::from_secs(5);
/// Longer lines are the engine's to refuse; this much of one is enough for that.
const LONGEST_LINE: usize = 17 << 20;

/// For whom, and on what.
pub struct Front {
    pub home: Home,
    pub database: Option<String>,
    pub profile: String,
    pub user: Option<String>,
    /// How long what was asked may take to be answered once the input has ended.
    pub linger: Duration,
}

/// Why lines no longer pass.
enum Ended {
    Client,
    Engine,
    /// It is there, but does not answer.
    Hung(Error),
}

/// The lines of the client.
struct Client {
    input: BufReader<DuplexStream>,
    /// What has come of the next line: it goes to the next engine if this one ends in the middle of it.
    begun: Vec<u8>,
}

impl Client {
    /// The next line; `None` at the end. May be dropped while it waits: nothing is lost.
    async fn line(&mut self) -> Option<Vec<u8>> {
        match next_line(&mut self.input, &mut self.begun, LONGEST_LINE).await {
            Ok(Line::Whole | Line::TooLong) => Some(std::mem::take(&mut self.begun)),
            Ok(Line::End) | Err(_) => None,
        }
    }
}

impl Front {
    /// Passes lines until the client's end.
    pub async fn run(&self) -> Result<()> {
        let mut connection = Connection::open(self).await?;
        let (output, written) = standard_output();
        let (to_client, lines) = mpsc::channel(QUEUE);
        tokio::spawn(write_lines(output, lines));
        let mut client = Client { input: BufReader::new(standard_input()), begun: Vec::new() };
        let mut session = Session::default();
        loop {
            let lost = match self.pass(&mut client, &mut connection, &mut session, &to_client).await {
                Ended::Client => break,
                Ended::Engine => None,
                Ended::Hung(error) => Some(error),
            };
            // If it recovers, it learns that nobody listens.
            connection.finish();
            match self.next(&mut client, &mut session, &to_client, lost).await {
                Some(next) => connection = next,
                None => break,
            }
        }
        let why = format!("The input ended, and there was no answer within {} s.", self.linger.as_secs_f64());
        for answer in session.end(&why) {
            let _ = to_client.send(answer).await;
        }
        drop(to_client);
        let _ = timeout(GRACE, written).await;
        Ok(())
    }

    /// The next engine. While there is none, what the client asks is answered with the reason; `None` at its end.
    async fn next(
        &self,
        client: &mut Client,
        session: &mut Session,
        to_client: &mpsc::Sender<Vec<u8>>,
        mut lost: Option<Error>,
    ) -> Option<Connection> {
        loop {
            let error = match lost.take() {
                Some(error) => error,
                None => match self.again(session, to_client).await {
                    Ok(next) => return Some(next),
                    Err(error) => error,
                },
            };
            terminal::remark(&format!("{error:#}"));
            let hint = error.downcast_ref::<Failure>().map_or("", Failure::hint).trim_end_matches('.');
            let hint = if hint.is_empty() { String::new() } else { format!(" {hint}.") };
            for answer in session.give_up(&format!("There is no server: {error}.{hint}")) {
                let _ = to_client.send(answer).await;
            }
            // What is wrong may be mended by the time the client asks again.
            let said = client.line().await?;
            drop(session.from_client(said));
            // What comes with it is answered with it.
            for _ in 0..QUEUE {
                let Ok(Some(said)) = timeout(TOGETHER, client.line()).await else { break };
                drop(session.from_client(said));
            }
        }
    }

    /// The next engine, told what the last one knew.
    async fn again(&self, session: &mut Session, to_client: &mpsc::Sender<Vec<u8>>) -> Result<Connection> {
        loop {
            let mut connection = Connection::open(self).await?;
            let told = session.resume();
            for line in told.to_client {
                let _ = to_client.send(line).await;
            }
            if let Some((id, line)) = told.initialize
                && !timeout(GREETING, connection.ask(&id, line)).await.unwrap_or(false)
            {
                continue;
            }
            for line in told.to_engine {
                connection.send(line).await;
            }
            return Ok(connection);
        }
    }

    /// Passes lines both ways. A side that does not read only holds up the other's lines. After the end of the input
    /// what was asked is still answered.
    async fn pass(
        &self,
        client: &mut Client,
        connection: &mut Connection,
        session: &mut Session,
        to_client: &mpsc::Sender<Vec<u8>>,
    ) -> Ended {
        let mut answered = Vec::new();
        let (mut looks, mut watch) = (interval(LOOK), Watch::new(&self.home));
        // Until when answers are waited for, once the input has ended.
        let mut until: Option<Instant> = None;
        loop {
            if until.is_some() && !session.is_waiting() && connection.to_engine.is_some() {
                connection.finish();
                until = until.map(|until| until.min(Instant::now() + FAREWELL));
            }
            let to_engine = connection.to_engine.clone();
            let engine_has_room =
                to_engine.as_ref().is_some_and(|engine| engine.capacity() > 0 || engine.is_closed());
            let client_has_room = to_client.capacity() > 0;
            tokio::select! {
                line = client.line(), if engine_has_room && until.is_none() => match line {
                    Some(line) => {
                        if let Some(line) = session.from_client(line) {
                            connection.send(line).await;
                        }
                    }
                    None => until = Some(Instant::now() + self.linger),
                },
                line = next_line(&mut connection.reader, &mut answered, usize::MAX - 1), if client_has_room => {
                    watch.heard();
                    match line {
                        Ok(Line::End) | Err(_) if connection.to_engine.is_none() => return Ended::Client,
                        Ok(Line::End) | Err(_) => return Ended::Engine,
                        Ok(_) => {
                            let line = std::mem::take(&mut answered);
                            if session.from_engine(&line) && to_client.send(line).await.is_err() {
                                return Ended::Client;
                            }
                        }
                    }
                }
                _ = looks.tick() => {
                    let is_over = until.is_some_and(|until| Instant::now() >= until || !has_reader());
                    if is_over {
                        return Ended::Client;
                    }
                    watch.look(session.is_waiting() && client_has_room);
                }
                error = watch.hung() => return Ended::Hung(error),
                () = room(to_engine.as_ref()), if !engine_has_room => {}
                room = to_client.reserve(), if !client_has_room => {
                    if room.is_err() {
                        return Ended::Client;
                    }
                }
            }
        }
    }
}

/// Whether somebody may still read what is written. A pipe without a reader says so.
fn has_reader() -> bool {
    let output = std::io::stdout();
    let mut asked = [PollFd::new(&output, PollFlags::empty())];
    let _ = poll(&mut asked, Some(&Timespec::default()));
    !asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Returns when a line can be taken; never, if none is to be.
async fn room(to: Option<&mpsc::Sender<Vec<u8>>>) {
    match to {
        Some(to) => drop(to.reserve().await),
        None => std::future::pending().await,
    }
}

async fn write_lines(mut output: DuplexStream, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        if output.write_all(&line).await.is_err() {
            return;
        }
    }
}
