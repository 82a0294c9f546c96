//! One connection to Redis: opened, tried out, and then many steps at once over it.

use std::collections::VecDeque;
use std::future::pending;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use super::resp::{self, Reply};
use super::url::RedisUrl;

/// How long an answer is waited for; then the connection counts as lost.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);
/// The same for a new connection, with its handshakes.
const PATIENCE_TO_CONNECT: Duration = Duration::from_secs(2);
/// A connection that nobody uses is tried so often, so that a loss is noticed before a call needs it.
const PERIOD: Duration = Duration::from_secs(2);
/// Steps that are sent and not answered yet.
const MOST_IN_FLIGHT: usize = 1024;

const SCRIPT: &str = include_str!("count.lua");

/// A call to be counted: the arguments of the script, and who waits for its answer.
pub(super) struct Step {
    pub key: String,
    pub length: String,
    pub piece: String,
    pub most: String,
    pub answer: oneshot::Sender<Vec<i64>>,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub(super) struct Link {
    stream: Box<dyn Stream>,
    unread: Vec<u8>,
    /// The name under which the server knows the script.
    script: String,
}

impl Link {
    /// Connects, and counts once on a key of its own: a server that only lets us in is no use.
    pub async fn open(url: &RedisUrl, prefix: &str) -> Result<Self, String> {
        let opened = timeout(PATIENCE_TO_CONNECT, async {
            let mut link = Self {
                stream: connect(url).await?,
                unread: Vec::with_capacity(resp::LONGEST),
                script: String::new(),
            };
            link.greet(url, prefix).await?;
            Ok(link)
        });
        opened.await.unwrap_or_else(|_| Err(format!("no answer in {} s", PATIENCE_TO_CONNECT.as_secs())))
    }

    async fn greet(&mut self, url: &RedisUrl, prefix: &str) -> Result<(), String> {
        if let Some(login) = &url.login {
            let mut words = vec!["AUTH"];
            words.extend(login.user.as_deref());
            words.push(login.password.reveal());
            self.ask(&words).await.map_err(failed_login)?;
        }
        if url.number != 0 {
            self.ask(&["SELECT", &url.number.to_string()]).await?;
        }
        let Reply::Text(script) = self.ask(&["SCRIPT", "LOAD", SCRIPT]).await? else { return Err(strange()) };
        self.script = script;
        let words = ["EVALSHA", &self.script.clone(), "1", &format!("{prefix}:trial"), "1", "1", "1000"];
        match self.ask(&words).await? {
            Reply::Numbers(_) => Ok(()),
            _ => Err(strange()),
        }
    }

    async fn ask(&mut self, words: &[&str]) -> Result<Reply, String> {
        let mut command = Vec::new();
        resp::write(&mut command, words);
        self.send(&command).await?;
        loop {
            match self.taken()? {
                Some(Reply::Error(words)) => return Err(words),
                Some(reply) => return Ok(reply),
                None => self.receive().await?,
            }
        }
    }

    async fn send(&mut self, commands: &[u8]) -> Result<(), String> {
        let sent = async {
            self.stream.write_all(commands).await?;
            self.stream.flush().await
        };
        let sent = timeout(PATIENCE, sent).await.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()));
        sent.map_err(|error| error.to_string())
    }

    /// Waits for more bytes. May be given up at any time.
    async fn receive(&mut self) -> Result<(), String> {
        match self.stream.read_buf(&mut self.unread).await {
            Ok(0) => Err("the connection was closed".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The first reply that was received and not taken yet.
    fn taken(&mut self) -> Result<Option<Reply>, String> {
        let Some((reply, length)) = resp::read(&self.unread).map_err(|_| strange())? else { return Ok(None) };
        self.unread.drain(..length);
        Ok(Some(reply))
    }

    /// Counts until the connection is lost, which it then says, or nobody has a step any more.
    pub async fn work(mut self, steps: &mut mpsc::Receiver<Step>) -> Result<(), String> {
        // Who waits for the next answers, and since when; nobody for that of a trial.
        let mut waiting: VecDeque<(Instant, Option<oneshot::Sender<Vec<i64>>>)> = VecDeque::new();
        let mut trial = Instant::now() + PERIOD;
        loop {
            let overdue = waiting.front().map(|(since, _)| *since + PATIENCE);
            tokio::select! {
                received = self.receive() => {
                    received?;
                    while let Some(reply) = self.taken()? {
                        let (_, answer) = waiting.pop_front().ok_or_else(strange)?;
                        match (reply, answer) {
                            (Reply::Error(words), _) => return Err(words),
                            // Whoever has left was told otherwise.
                            (Reply::Numbers(counted), Some(answer)) => drop(answer.send(counted)),
                            (_, Some(_)) => return Err(strange()),
                            (_, None) => {}
                        }
                    }
                }
                step = steps.recv(), if waiting.len() < MOST_IN_FLIGHT => {
                    let Some(step) = step else { return Ok(()) };
                    let (mut commands, now) = (Vec::new(), Instant::now());
                    let mut next = Some(step);
                    while let Some(step) = next {
                        // Who has waited too long counts elsewhere.
                        if !step.answer.is_closed() {
                            let Step { key, length, piece, most, .. } = &step;
                            let words = ["EVALSHA", &self.script, "1", key, length, piece, most];
                            resp::write(&mut commands, &words);
                            waiting.push_back((now, Some(step.answer)));
                        }
                        next = if waiting.len() < MOST_IN_FLIGHT { steps.try_recv().ok() } else { None };
                    }
                    self.send(&commands).await?;
                    trial = now + PERIOD;
                }
                () = sleep_until(trial) => {
                    let mut command = Vec::new();
                    resp::write(&mut command, &["PING"]);
                    self.send(&command).await?;
                    waiting.push_back((Instant::now(), None));
                    trial = Instant::now() + PERIOD;
                }
                () = until(overdue) => return Err(format!("no answer in {} s", PATIENCE.as_secs())),
            }
        }
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}

async fn connect(url: &RedisUrl) -> Result<Box<dyn Stream>, String> {
    let plain = TcpStream::connect((&*url.host, url.port)).await.map_err(|error| error.to_string())?;
    // A step is small, and somebody waits for it.
    plain.set_nodelay(true).map_err(|error| error.to_string())?;
    let Some(tls) = &url.tls else { return Ok(Box::new(plain)) };
    let connector = tls.connector().map_err(|error| error.to_string())?;
    let name = ServerName::try_from(url.host.clone()).map_err(|error| error.to_string())?;
    let encrypted = connector.connect(name, plain).await.map_err(|error| format!("TLS: {error}"))?;
    Ok(Box::new(encrypted))
}

/// Some servers quote what they do not understand, even as its first word: only the codes that Redis has are passed on.
fn failed_login(why: String) -> String {
    const CODES: [&str; 5] = ["WRONGPASS", "NOAUTH", "NOPERM", "LOADING", "ERR"];
    let code = CODES.into_iter().find(|code| why.split(' ').next() == Some(*code));
    format!("the login with the user and password failed ({})", code.unwrap_or("no code of Redis"))
}

fn strange() -> String {
    "the answer is not one of Redis".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_that_fails_is_told_without_the_words_of_the_server() {
        assert!(failed_login("WRONGPASS invalid".to_owned()).ends_with("(WRONGPASS)"));
        for why in ["p@ssw0rd is not known", "p@ssw0rd", "-p@ssw0rd", "", "WRONGPASSp@ssw0rd"] {
            assert!(!failed_login(why.to_owned()).contains("w0rd"), "{why}");
        }
    }
}
