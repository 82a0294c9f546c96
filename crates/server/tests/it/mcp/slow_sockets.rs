//! Sockets that send or read too slowly, on the endpoints of MCP: all are closed in time, and others do not notice.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use toolroom_contract::report::Progress;
use toolroom_contract::{Answer, Ending, ToolContext, ToolDefinition};
use toolroom_runtime::catalogue::NewTool;
use toolroom_server::listener::Limits;

use super::legacy::call;
use super::legacy_sse::Old;
use super::test_server::{Ask, McpTestServer, native, open_object, query};

/// What the server closes; nothing of it was read in the meantime, where it is a matter of reading.
type Socket = Box<dyn tokio::io::AsyncRead + Send + Unpin>;

/// How many sockets, the server's patience, and when all must be closed.
struct Figures {
    sockets: usize,
    limits: Limits,
    closed: Duration,
}

impl Figures {
    fn chosen() -> Self {
        if std::env::var_os("TOOLROOM_SOAK").is_some() {
            return Self { sockets: 1000, limits: Limits::default(), closed: Duration::from_secs(30) };
        }
        let patience = Duration::from_secs(1);
        let limits = Limits {
            header_timeout: patience,
            body_timeout: patience,
            write_timeout: patience,
            idle_timeout: patience,
            ..Limits::default()
        };
        Self { sockets: 60, limits, closed: Duration::from_secs(5) }
    }
}

/// A tool that reports more than any buffer takes, for longer than any client may leave it unread.
fn talk() -> NewTool {
    let NewTool { definition, .. } = query("talk-long", open_object(), |_, _| async { unreachable!() });
    let definition = ToolDefinition { timeout: Some(600.0), ..definition };
    native(definition, |_: Value, context: ToolContext| async move {
        for done in 1..10_000 {
            let message = Some("x".repeat(16 * 1024));
            context.reporter.progress(&Progress { progress: f64::from(done), total: None, message });
            sleep(Duration::from_millis(50)).await;
        }
        Ending::Done(Answer::new(json!({})).unwrap())
    })
}

/// Sends a byte now and then, for as long as the server takes it.
async fn drip(server: &McpTestServer, start: &[u8]) -> Socket {
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    socket.write_all(start).await.unwrap();
    let (read, mut write) = socket.into_split();
    tokio::spawn(async move {
        while write.write_all(b"a").await.is_ok() {
            sleep(Duration::from_millis(200)).await;
        }
    });
    Box::new(read)
}

async fn unread_call(server: &McpTestServer) -> Socket {
    let ask = server.call("talk-long", json!({})).meta("progressToken", json!(7));
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    socket.write_all(&ask.bytes(&ask.message.to_string())).await.unwrap();
    Box::new(socket)
}

async fn unread_old_stream(server: &McpTestServer) -> Socket {
    let old = Old::begin(server, "/sse", None).await;
    let mut message = call(2, "talk-long", json!({}));
    message["params"]["_meta"] = json!({ "progressToken": 7 });
    assert_eq!(old.posts.post(&message).await.status, 202);
    Box::new(old.stream.into_socket())
}

async fn probe(ask: &Ask) -> Duration {
    let asked = Instant::now();
    assert_eq!(ask.send().await.status, 200);
    asked.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_slow_sockets_are_closed_in_time_while_others_are_served() {
    let Figures { sockets, limits, closed } = Figures::chosen();
    let server = McpTestServer::guarded(vec![talk()], limits);
    let ask = server.call("get-status", json!({}));
    // Announced in whole, sent by the byte.
    let whole = ask.bytes(&" ".repeat(1000));
    let body = &whole[..whole.len() - 1000];
    let alone = probe(&ask).await;
    let began = Instant::now();
    let mut slow = Vec::new();
    for number in 0..sockets {
        slow.push(match number % 4 {
            0 => drip(&server, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nx-slow: ").await,
            1 => drip(&server, body).await,
            2 => unread_call(&server).await,
            _ => unread_old_stream(&server).await,
        });
    }
    let opened = began.elapsed();
    let mut probes = Vec::new();
    while began.elapsed() < opened + closed {
        probes.push(probe(&ask).await);
        sleep(Duration::from_millis(100)).await;
    }
    probes.sort();
    let (median, slowest) = (probes[probes.len() / 2], probes[probes.len() * 99 / 100]);
    // Behind one of the slow sockets a probe would take a second or more.
    assert!(median < Duration::from_millis(100).max(alone * 20), "{probes:?}, alone {alone:?}");
    assert!(slowest < Duration::from_secs(1), "{} probes, the slowest took {slowest:?}", probes.len());
    for (number, mut socket) in slow.into_iter().enumerate() {
        // A connection that is closed has an end; one that is not would now go on, because it is read.
        let mut rest = Vec::new();
        let ended = timeout(Duration::from_secs(2), socket.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "socket {number} of {sockets} is still open");
    }
}
