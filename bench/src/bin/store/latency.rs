//! The tools of `todo-chatbot` over HTTP, 32 callers at once, each a user of its own with 100 tasks.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use toolroom_bench::figures::{Limit, heading, line};
use toolroom_bench::registrar;
use toolroom_bench::task_handlers::task_runtime;
use toolroom_server::listener::{Limits, Listener, serve};
use toolroom_server::middleware::HostPolicy;
use toolroom_server::{App, router};
use toolroom_store::keys::{self, NewKey};
use toolroom_store::{DatabaseUrl, Store, StoreError, users};

const CALLERS: usize = 32;
const TASKS_EACH: usize = 100;
const ROUNDS: usize = 100;
/// The published targets, in milliseconds.
const TARGETS: [(&str, f64); 5] = [
    ("create_task", 100.0),
    ("list_tasks", 100.0),
    ("get_task", 50.0),
    ("update_task", 100.0),
    ("delete_task", 100.0),
];

type Times = BTreeMap<&'static str, Vec<Duration>>;

pub fn measure() -> Result<()> {
    heading("todo-chatbot over HTTP, 32 callers at once, journal on, SQLite");
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let began = Instant::now();
    let mut times = two.block_on(run())?;
    let calls: usize = times.values().map(Vec::len).sum();
    for (tool, target) in TARGETS {
        let times = times.get_mut(tool).with_context(|| format!("{tool} was not called"))?;
        times.sort_unstable();
        let at = |share: f64| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1e3;
        line(&format!("{tool}, p99 (p50 {:.2} ms)", at(0.5)), at(0.99), "ms", Limit::AtMost(target));
    }
    line("calls per second, of all tools", calls as f64 / began.elapsed().as_secs_f64(), "/s", Limit::None);
    Ok(())
}

async fn run() -> Result<Times> {
    let folder = tempfile::tempdir()?;
    let store = Store::open(&DatabaseUrl::sqlite(folder.path().join("bench.db")))?;
    let logs = folder.path().join("logs");
    let runtime = task_runtime(store.clone(), &logs)?;
    let registrar = registrar(folder.path(), &runtime, r#"{"tools": []}"#)?;
    let app = App::builder(runtime, registrar, logs).build();
    let listener = Listener::bind_tcp(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let address = listener.local_addr().context("no address")?;
    let stop = CancellationToken::new();
    let router = router(&app, HostPolicy::new(Vec::<String>::new()));
    let server =
        tokio::spawn(serve(listener, router, Limits::default(), stop.clone(), Duration::from_secs(5)));
    let mut work = Vec::new();
    for number in 0..CALLERS {
        let key = key(&store, number).await?;
        work.push(tokio::spawn(async move { Caller::connect(address, key).await?.work().await }));
    }
    let mut all = Times::new();
    for one in work {
        for (tool, times) in one.await?? {
            all.entry(tool).or_default().extend(times);
        }
    }
    stop.cancel();
    server.await?;
    Ok(all)
}

async fn key(store: &Store, number: usize) -> Result<String> {
    let made = store.write(move |unit| {
        let user = users::ensure(unit, &format!("user-{number}"))?;
        let new = NewKey {
            user: user.id,
            grants: vec!["tasks:*".to_owned()],
            profiles: None,
            person: false,
            note: None,
            expires_at: None,
        };
        keys::create(unit, &new).map(|(_, secret)| secret.reveal().to_owned())
    });
    made.await.map_err(|error: StoreError| error.into())
}

/// One connection that is kept, and the times of its calls.
struct Caller {
    sender: SendRequest<Full<Bytes>>,
    key: String,
    times: Times,
}

impl Caller {
    async fn connect(address: SocketAddr, key: String) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, key, times: Times::new() })
    }

    async fn work(mut self) -> Result<Times> {
        for number in 0..TASKS_EACH {
            self.call("create_task", json!({ "title": format!("Standing task {number}") })).await?;
        }
        self.times.clear();
        for round in 0..ROUNDS {
            let new =
                json!({ "title": format!("Task {round}"), "description": "With a few more words on it." });
            let id = self.call("create_task", new).await?["task_id"].clone();
            self.call("get_task", json!({ "task_id": id })).await?;
            self.call("list_tasks", json!({})).await?;
            self.call("update_task", json!({ "task_id": id, "status": "completed" })).await?;
            self.call("get_task", json!({ "task_id": id })).await?;
            self.call("delete_task", json!({ "task_id": id })).await?;
        }
        Ok(self.times)
    }

    async fn call(&mut self, tool: &'static str, params: Value) -> Result<Value> {
        let request = Request::post(format!("/api/v1/profiles/todo-chatbot/functions/{tool}"))
            .header("host", "127.0.0.1")
            .header("content-type", "application/json")
            .header("x-api-key", &self.key)
            .body(Full::new(Bytes::from(params.to_string())))?;
        let began = Instant::now();
        self.sender.ready().await?;
        let answer = self.sender.send_request(request).await?.into_body().collect().await?.to_bytes();
        self.times.entry(tool).or_default().push(began.elapsed());
        let answer: Value = serde_json::from_slice(&answer)?;
        ensure!(answer["success"] == true, "{tool} {params}: {answer}");
        Ok(answer)
    }
}
