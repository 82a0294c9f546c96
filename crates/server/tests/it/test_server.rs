//! The whole REST edge on a scratch home: task tools, built-in tools, every profile, requests as from a socket.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolroom_agent::{Chat, ChatSettings, Models};
use toolroom_contract::ids::RunId;
use toolroom_model::Model;
use toolroom_packs::builtin::{self, BuiltinSettings};
use toolroom_packs::tasks::{self, TaskSettings};
use toolroom_runtime::catalogue::{Executor, NewTool};
use toolroom_runtime::clock::Clock;
use toolroom_runtime::federation::Federation;
use toolroom_runtime::journal::Journal;
use toolroom_runtime::profile_file::ProfileFile;
use toolroom_runtime::registrar::{Registrar, Setup};
use toolroom_runtime::{Parts, Runtime, Settings};
use toolroom_server::listener::Peer;
use toolroom_server::middleware::{HostPolicy, HttpService};
use toolroom_server::{App, router};
use toolroom_store::{DatabaseUrl, Store};
use toolroom_worker::{Confiner, Sandbox, SandboxLevel, Scripts};

pub struct TestServer {
    router: HttpService,
    /// The time that the server goes by.
    pub clock: Arc<TestClock>,
    /// Removed with the server.
    pub folder: TempDir,
}

/// The machine's clock, and how far it was put forward.
#[derive(Default)]
pub struct TestClock(AtomicI64);

impl TestClock {
    pub fn advance(&self, by: SignedDuration) {
        self.0.fetch_add(by.as_secs(), Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::now() + SignedDuration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

/// What is behind the edge.
pub struct TestHome {
    pub runtime: Arc<Runtime>,
    pub registrar: Arc<Registrar>,
    pub logs: PathBuf,
}

impl TestHome {
    /// The task tools and these, in a folder.
    pub fn new(url: &DatabaseUrl, folder: &Path, extra: impl IntoIterator<Item = NewTool>) -> Self {
        Self::with_scripts(url, folder, extra, ordinary_scripts(), Arc::default())
    }

    fn with_scripts(
        url: &DatabaseUrl,
        folder: &Path,
        extra: impl IntoIterator<Item = NewTool>,
        scripts: Scripts,
        clock: Arc<TestClock>,
    ) -> Self {
        let store = Store::open(url).unwrap();
        let logs = folder.join("logs");
        let tools = tasks::tools(&store, TaskSettings::default())
            .into_iter()
            .map(|(definition, handler)| NewTool { definition, executor: Executor::Native(handler) })
            .chain(extra)
            .collect();
        let runtime = Runtime::new(Parts {
            journal: Journal::open(&logs, RunId::new(), Default::default()).unwrap(),
            store,
            tools,
            profiles: toolroom_profiles::built_in(),
            clock,
            settings: Settings::default(),
        })
        .unwrap();
        let setup = Setup { scripts, ..Setup::new_in(folder, &runtime).unwrap() };
        let registrar = Registrar::open(setup).unwrap();
        Self { runtime, registrar, logs }
    }
}

fn ordinary_scripts() -> Scripts {
    Scripts::new(toolroom_worker::Settings::from_environment())
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    pub fn code(&self) -> String {
        let body = self.json();
        body["code"].as_str().or(body["error"]["code"].as_str()).unwrap_or_default().to_owned()
    }
}

/// A request in the making.
pub struct Ask<'a> {
    server: &'a TestServer,
    method: &'a str,
    path: String,
    headers: Vec<(&'a str, String)>,
    body: Option<String>,
    peer: Peer,
    host: &'a str,
}

impl TestServer {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("toolroom.db"));
        Self::furnish(&url, folder, Models::offline())
    }

    /// A server that confines scripts no further than this.
    pub fn confining_at_most(level: SandboxLevel) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("toolroom.db"));
        let confiner = Confiner::default().at_most(level);
        // Another user cannot reach an interpreter below root's home.
        let python = PathBuf::from("/usr/bin/python3");
        let settings =
            toolroom_worker::Settings { confiner, python, ..toolroom_worker::Settings::from_environment() };
        Self::equip(&url, folder, Models::offline(), Vec::new(), Scripts::new(settings))
    }

    /// A server whose chat is answered by this model.
    pub fn speaking(model: Arc<dyn Model>) -> Self {
        Self::speaking_in(tempfile::tempdir().unwrap(), model)
    }

    /// The same, in a folder that may have a `tools/tools.json` already.
    pub fn speaking_in(folder: TempDir, model: Arc<dyn Model>) -> Self {
        let url = DatabaseUrl::sqlite(folder.path().join("toolroom.db"));
        Self::furnish(&url, folder, Models::with(model))
    }

    /// A server on a database that is there already.
    pub fn on(url: &DatabaseUrl) -> Self {
        Self::furnish(url, tempfile::tempdir().unwrap(), Models::offline())
    }

    /// A server with these tools too.
    pub fn with(extra: Vec<NewTool>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("toolroom.db"));
        Self::equip(&url, folder, Models::offline(), extra, ordinary_scripts())
    }

    fn furnish(url: &DatabaseUrl, folder: TempDir, models: Models) -> Self {
        Self::equip(url, folder, models, Vec::new(), ordinary_scripts())
    }

    fn equip(
        url: &DatabaseUrl,
        folder: TempDir,
        models: Models,
        extra: Vec<NewTool>,
        scripts: Scripts,
    ) -> Self {
        let sandbox = Sandbox::new(scripts.clone(), folder.path().join("code"));
        let built_in = builtin::tools(BuiltinSettings { sandbox, search: None });
        let built_in = built_in.into_iter().map(|(definition, make)| NewTool {
            definition,
            executor: Executor::Native(make(&Default::default())),
        });
        let built_in = built_in.chain(extra);
        let clock = Arc::new(TestClock::default());
        let TestHome { runtime, registrar, logs } =
            TestHome::with_scripts(url, folder.path(), built_in, scripts, Arc::clone(&clock));
        let chat = Chat::new(Arc::clone(&runtime), models, ChatSettings::default());
        let federation = Federation::none(&runtime);
        let profiles = ProfileFile::open(folder.path().join("profiles.json"), &runtime).unwrap();
        let app = App::builder(runtime, registrar, logs);
        let app = app.federation(federation).profiles(profiles).chat(chat).build();
        app.auth.announce("http://127.0.0.1:7878".to_owned());
        Self { router: router(&app, HostPolicy::new(["tools.example.com"])), clock, folder }
    }

    /// A request from a TCP client on this machine.
    pub fn ask<'a>(&'a self, method: &'a str, path: impl Into<String>) -> Ask<'a> {
        let peer = Peer::Tcp(SocketAddr::from(([127, 0, 0, 1], 50_000)));
        Ask {
            server: self,
            method,
            path: path.into(),
            headers: Vec::new(),
            body: None,
            peer,
            host: "127.0.0.1:7878",
        }
    }

    pub async fn key(&self, wanted: Value) -> String {
        let made = self.ask("POST", "/api/v1/keys").owner().body(wanted).send().await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
        made.json()["key"].as_str().unwrap().to_owned()
    }

    pub async fn call(&self, key: &str, tool: &str, params: Value) -> Answer {
        self.ask("POST", format!("/api/v1/tools/{tool}/call"))
            .key(key)
            .body(json!({ "params": params }))
            .send()
            .await
    }

    pub async fn function(&self, key: &str, profile: &str, name: &str, params: Value) -> Answer {
        self.ask("POST", format!("/api/v1/profiles/{profile}/functions/{name}"))
            .key(key)
            .body(params)
            .send()
            .await
    }
}

impl<'a> Ask<'a> {
    pub fn owner(mut self) -> Self {
        self.peer = Peer::Owner;
        self
    }

    pub fn from(mut self, address: [u8; 4]) -> Self {
        self.peer = Peer::Tcp(SocketAddr::from((address, 50_000)));
        self
    }

    pub fn host(mut self, host: &'a str) -> Self {
        self.host = host;
        self
    }

    pub fn header(mut self, name: &'a str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn key(self, key: &str) -> Self {
        self.header("x-api-key", key)
    }

    pub fn body(self, body: Value) -> Self {
        self.text(body.to_string())
    }

    /// A body of JSON text that no [`Value`] can hold.
    pub fn text(mut self, body: String) -> Self {
        self.body = Some(body);
        self
    }

    pub async fn send(self) -> Answer {
        let (head, body) = self.open().await;
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { text: String::from_utf8(bytes.to_vec()).unwrap(), ..head }
    }

    /// The answer as it begins; its text is still to come.
    pub async fn open(self) -> (Answer, Body) {
        let mut request = Request::builder().method(self.method).uri(&self.path).header("host", self.host);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let body = match self.body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Body::from(body)
            }
            None => Body::empty(),
        };
        let mut request = request.body(body).unwrap();
        request.extensions_mut().insert(self.peer);
        let response = self.server.router.answer(request).await;
        let (parts, body) = response.into_parts();
        (Answer { status: parts.status, headers: parts.headers, text: String::new() }, body)
    }
}
