//! The command line: the verbs and what they share.

mod approvals;
mod call;
mod chat;
mod check;
mod completions;
mod connect;
mod console;
mod definition_files;
mod dev;
mod diff;
pub mod doctor;
mod engine;
mod eval;
mod import;
mod init;
mod keys;
mod logs;
mod mcp;
mod new;
mod one_execution;
mod replay;
mod scratch;
mod secrets;
mod serve;
mod servers;
mod tools;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use toolroom_model::openai::ApiKey;
use tracing_subscriber::filter::LevelFilter;

use crate::client::Client;
use crate::config::{ModelOverrides, Overrides};
use crate::home::Home;
use crate::terminal;

/// The room where tools are kept, issued, checked and logged for AI agents.
#[derive(Debug, Parser)]
#[command(name = "toolroom", version, after_help = EXAMPLE, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLE: &str = "Example:
  toolroom serve                      serve on http://127.0.0.1:7878
  toolroom tools list                 list the tools
  toolroom call get-status            a first call";

/// What every verb takes.
#[derive(Clone, Debug, Args)]
pub struct Globals {
    /// Use this home [default: $TOOLROOM_HOME, else ./.toolroom if it exists, else ~/.toolroom]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Trust the ./.toolroom of this folder although you did not create it; remembered from then on
    #[arg(long, global = true)]
    trust_home: bool,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Use this database, sqlite:PATH or postgres://…; a running server keeps its own [default: $TOOLROOM_DATABASE,
    /// else toolroom.toml]
    #[arg(long, global = true, value_name = "URL")]
    database: Option<String>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    Serve(serve::Serve),
    Mcp(mcp::Mcp),
    #[command(hide = true)]
    Engine(engine::Engine),
    Chat(chat::Chat),
    Console(console::Console),
    Connect(connect::Connect),
    Disconnect(connect::Disconnect),
    Init(init::Init),
    Call(call::Call),
    Tools(tools::Tools),
    Import(import::Import),
    New(new::New),
    Dev(dev::Dev),
    Replay(replay::Replay),
    Secrets(secrets::Secrets),
    Servers(servers::Servers),
    Check(check::Check),
    Diff(diff::Diff),
    Keys(keys::Keys),
    Approvals(approvals::Approvals),
    Logs(logs::Logs),
    Doctor(doctor::Doctor),
    Eval(eval::Eval),
    Completions(completions::Completions),
}

impl Verb {
    /// What the process logs unless told otherwise. A command stays silent, because its errors are printed anyway.
    pub fn log_level(&self) -> LevelFilter {
        match self {
            Self::Serve(_) | Self::Engine(_) => LevelFilter::INFO,
            Self::Mcp(_) => LevelFilter::WARN,
            _ => LevelFilter::OFF,
        }
    }
}

/// Runs the verb. Ctrl-C ends it at once, except for servers and chats; its call is logged as cancelled.
pub async fn run(cli: Cli) -> Result<ExitCode> {
    let Cli { globals, verb } = cli;
    match verb {
        Verb::Serve(serve) => return serve.run(&globals).await,
        Verb::Mcp(mcp) => return mcp.run(&globals).await,
        Verb::Chat(chat) => return chat.run(&globals).await,
        Verb::Engine(engine) => return engine.run(&globals).await,
        _ => {}
    }
    tokio::select! {
        ending = dispatch(verb, &globals) => ending,
        Ok(()) = tokio::signal::ctrl_c() => Ok(ExitCode::from(130)),
    }
}

async fn dispatch(verb: Verb, globals: &Globals) -> Result<ExitCode> {
    match verb {
        Verb::Serve(serve) => serve.run(globals).await,
        Verb::Mcp(mcp) => mcp.run(globals).await,
        Verb::Engine(engine) => engine.run(globals).await,
        Verb::Chat(chat) => chat.run(globals).await,
        Verb::Console(console) => console.run(globals).await,
        Verb::Connect(connect) => connect.run(globals).await,
        Verb::Disconnect(disconnect) => disconnect.run(globals).await,
        Verb::Init(init) => init.run(globals),
        Verb::Call(call) => call.run(globals).await,
        Verb::Import(import) => import.run(globals).await,
        Verb::New(new) => new.run(globals).await,
        Verb::Dev(dev) => dev.run(globals).await,
        Verb::Replay(replay) => replay.run(globals).await,
        Verb::Secrets(secrets) => secrets.run(globals),
        Verb::Tools(tools) => tools.run(globals).await,
        Verb::Servers(servers) => servers.run(globals).await,
        Verb::Check(check) => check.run(globals).await,
        Verb::Diff(diff) => diff.run(globals),
        Verb::Keys(keys) => keys.run(globals).await,
        Verb::Approvals(approvals) => approvals.run(globals).await,
        Verb::Logs(logs) => logs.run(globals).await,
        Verb::Doctor(doctor) => doctor.run(globals).await,
        Verb::Eval(eval) => eval.run(globals).await,
        Verb::Completions(completions) => completions.run(),
    }
}

impl Globals {
    /// The home, created if needed; says so if it was.
    pub fn home(&self) -> Result<Home> {
        let (home, made) = self.prepare_home()?;
        if made {
            terminal::remark(&format!("created a new home at {}", home.root().display()));
        }
        Ok(home)
    }

    /// The home, and whether it was just created.
    pub fn prepare_home(&self) -> Result<(Home, bool)> {
        let wanted = self.home.clone().or_else(|| variable("TOOLROOM_HOME").map(PathBuf::from));
        Home::prepare(wanted.as_deref(), self.trust_home)
    }

    /// What the flags say about settings.
    pub fn overrides(&self) -> Overrides {
        let database = self.database.clone().or_else(|| variable("TOOLROOM_DATABASE")?.into_string().ok());
        let search_url = variable("TOOLROOM_SEARCH_URL").and_then(|url| url.into_string().ok());
        let text = |name| variable(name).and_then(|value| value.into_string().ok());
        let model = ModelOverrides {
            base_url: text("OPENAI_BASE_URL"),
            api_key: text("OPENAI_API_KEY").and_then(|key| ApiKey::new(&key)),
            name: text("TOOLROOM_MODEL"),
        };
        Overrides { database, search_url, model, ..Overrides::default() }
    }

    /// A client of the API.
    pub async fn client(&self) -> Result<Client> {
        Client::open(&self.home()?, &self.overrides()).await
    }
}

/// An environment variable; an empty one counts as not set.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
