//! A front: MCP on standard input and output, passed on to the engine of the home. It outlives engines: what its
//! client set up is repeated to the next one, and what has no answer yet is asked again.

mod connection;

use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use toolroom_server::front::Session;
use toolroom_server::{Line, next_line, standard_input, standard_output};

use crate::home::Home;
use crate::terminal;
use connection::Connection;

/// Lines that may wait to be written, each way.
const QUEUE: usize = 64;
/// How long a reader that does not read is waited for at the end.
const GRACE: Duration = Duration::from_secs(1);
/// How long an engine may take to answer what was asked before the client's end.
const LAST_ANSWERS: Duration = Duration::from_secs(3);
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
}

/// Why lines no longer pass.
enum Ended {
    Client,
    Engine,
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
        while let Ended::Engine = pass(&mut client, &mut connection, &mut session, &to_client).await {
            connection = loop {
                match self.again(&mut session, &to_client).await {
                    Ok(next) => break next,
                    Err(error) => {
                        terminal::remark(&format!("{error:#}"));
                        for answer in session.give_up(&format!("There is no server: {error}.")) {
                            let _ = to_client.send(answer).await;
                        }
                    }
                }
                // What is wrong may be mended by the time the client asks again.
                match client.line().await {
                    Some(said) => drop(session.from_client(said)),
                    None => return Ok(()),
                }
            };
        }
        drop(to_client);
        let _ = timeout(GRACE, written).await;
        Ok(())
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
}

/// Passes lines both ways. A side that does not read only holds up the other's lines.
async fn pass(
    client: &mut Client,
    connection: &mut Connection,
    session: &mut Session,
    to_client: &mpsc::Sender<Vec<u8>>,
) -> Ended {
    let (mut answered, mut at_end) = (Vec::new(), false);
    // Armed at the end of the input: what is not answered by then is not waited for.
    let mut patience = std::pin::pin!(sleep(Duration::MAX));
    loop {
        let to_engine = connection.to_engine.clone();
        let engine_has_room =
            to_engine.as_ref().is_some_and(|engine| engine.capacity() > 0 || engine.is_closed());
        let client_has_room = to_client.capacity() > 0;
        tokio::select! {
            line = client.line(), if engine_has_room => match line {
                Some(line) => {
                    if let Some(line) = session.from_client(line) {
                        connection.send(line).await;
                    }
                }
                // The end of the input ends the session there, once everything is answered.
                None => {
                    at_end = true;
                    connection.finish();
                    patience.as_mut().reset(Instant::now() + LAST_ANSWERS);
                }
            },
            line = next_line(&mut connection.reader, &mut answered, usize::MAX - 1), if client_has_room => match line {
                Ok(Line::End) | Err(_) if at_end => return Ended::Client,
                Ok(Line::End) | Err(_) => return Ended::Engine,
                Ok(_) => {
                    let line = std::mem::take(&mut answered);
                    if session.from_engine(&line) && to_client.send(line).await.is_err() {
                        return Ended::Client;
                    }
                }
            },
            () = &mut patience, if at_end => return Ended::Client,
            () = room(to_engine.as_ref()), if !engine_has_room => {}
            room = to_client.reserve(), if !client_has_room => {
                if room.is_err() {
                    return Ended::Client;
                }
            }
        }
    }
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
