//! The command line: the verbs and what they share.

mod approvals;
mod backup;
mod call;
mod candidates;
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
mod registry;
mod replay;
mod restore;
mod scratch;
mod secrets;
mod serve;
mod servers;
mod suggest;
mod tools;
pub mod usage;
mod worker;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use toolroom_model::openai::ApiKey;
use tracing_subscriber::filter::LevelFilter;

use crate::client::Client;
use crate::config::{ModelOverrides, Overrides};
use crate::failure::Failure;
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
  toolroom call get-status            a first call
  toolroom connect cursor             let Cursor use them
  toolroom --url https://tools.example.com --key KEY tools list

Exit codes: 0 success, 1 the call failed or was refused or waits for a person,
2 the command line is wrong, 130 Ctrl-C. With --json, errors are JSON on stderr
and nothing else is there; a call that failed is an answer, on stdout.";

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
    /// Ask the server at this address instead of a home; stands before the command
    #[arg(long, value_name = "URL", conflicts_with_all = ["home", "database"])]
    url: Option<String>,
    /// With --url: the key to use [default: $TOOLROOM_KEY]
    #[arg(long, value_name = "KEY", requires = "url")]
    key: Option<String>,
    /// Whether the command needs a home that is there.
    #[arg(skip)]
    needs_home: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    Serve(serve::Serve),
    Worker(worker::Worker),
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
    Registry(registry::Registry),
    Check(check::Check),
    Diff(diff::Diff),
    Keys(keys::Keys),
    Approvals(approvals::Approvals),
    Logs(logs::Logs),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Doctor(doctor::Doctor),
    Eval(eval::Eval),
    Completions(completions::Completions),
}

impl Cli {
    /// Whether output is for programs.
    pub fn wants_json(&self) -> bool {
        self.globals.json
    }
}

impl Verb {
    /// Whether it shows or removes what must be there: then a home that is not there is a slip, and none is made.
    fn needs_home(&self) -> bool {
        match self {
            Self::Tools(tools) => tools.needs_home(),
            Self::Servers(servers) => servers.needs_home(),
            Self::Keys(keys) => keys.needs_home(),
            Self::Secrets(secrets) => secrets.needs_home(),
            Self::Registry(registry) => registry.needs_home(),
            Self::Approvals(_) | Self::Disconnect(_) => true,
            // It needs a server that runs.
            Self::Console(_) => true,
            Self::Logs(_)
            | Self::Backup(_)
            | Self::Doctor(_)
            | Self::Check(_)
            | Self::Diff(_)
            | Self::Replay(_) => true,
            _ => false,
        }
    }

    /// What the process logs unless told otherwise. A command stays silent, because its errors are printed anyway.
    pub fn log_level(&self) -> LevelFilter {
        match self {
            Self::Serve(_) | Self::Worker(_) | Self::Engine(_) => LevelFilter::INFO,
            Self::Mcp(_) => LevelFilter::WARN,
            _ => LevelFilter::OFF,
        }
    }
}

/// Runs the verb. Ctrl-C ends it at once, except for servers and chats; its call is logged as cancelled.
pub async fn run(cli: Cli) -> Result<ExitCode> {
    let Cli { mut globals, verb } = cli;
    globals.needs_home = verb.needs_home();
    match verb {
        Verb::Serve(serve) => return serve.run(&globals).await,
        Verb::Worker(worker) => return worker.run(&globals).await,
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
        Verb::Worker(worker) => worker.run(globals).await,
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
        Verb::Secrets(secrets) => secrets.run(globals).await,
        Verb::Tools(tools) => tools.run(globals).await,
        Verb::Servers(servers) => servers.run(globals).await,
        Verb::Registry(registry) => registry.run(globals).await,
        Verb::Check(check) => check.run(globals).await,
        Verb::Diff(diff) => diff.run(globals),
        Verb::Keys(keys) => keys.run(globals).await,
        Verb::Approvals(approvals) => approvals.run(globals).await,
        Verb::Logs(logs) => logs.run(globals).await,
        Verb::Backup(backup) => backup.run(globals).await,
        Verb::Restore(restore) => restore.run(globals).await,
        Verb::Doctor(doctor) => doctor.run(globals).await,
        Verb::Eval(eval) => eval.run(globals).await,
        Verb::Completions(completions) => completions.run(),
    }
}

/// A folder with none of these is not a home, whatever else is in it.
const PARTS_OF_A_HOME: [&str; 3] = ["toolroom.toml", "tools", "mcp.json"];

impl Globals {
    /// The home, created if needed; says so if it was.
    pub fn home(&self) -> Result<Home> {
        let (home, made) = self.prepare_home()?;
        if made {
            terminal::remark(&format!("created a new home at {}", home.root().display()));
        }
        Ok(home)
    }

    /// Where the home is or would be; none is created.
    pub fn home_place(&self) -> Result<PathBuf> {
        self.refuse_remote()?;
        Home::place(self.wanted_home().as_deref())
    }

    fn wanted_home(&self) -> Option<PathBuf> {
        self.home.clone().or_else(|| variable("TOOLROOM_HOME").map(PathBuf::from))
    }

    fn refuse_remote(&self) -> Result<()> {
        if self.url.is_some() {
            let message = "this command works on a home of this machine, not on a server elsewhere";
            return Err(Failure::usage(message, "Leave out --url, or run it where the home is.").into());
        }
        Ok(())
    }

    /// The home, and whether it was just created.
    pub fn prepare_home(&self) -> Result<(Home, bool)> {
        self.refuse_remote()?;
        let is_home = |folder: &Path| PARTS_OF_A_HOME.iter().any(|part| folder.join(part).exists());
        if let Some(named) = self.home.as_ref().filter(|named| self.needs_home && !is_home(named)) {
            let hint =
                format!("Check the path, or create a home there: toolroom init --home {}", named.display());
            return Err(Failure::usage(format!("there is no home at {}", named.display()), hint).into());
        }
        Home::prepare(self.wanted_home().as_deref(), self.trust_home)
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
        if let Some(url) = &self.url {
            let key = self.key.clone().or_else(|| variable("TOOLROOM_KEY")?.into_string().ok());
            return Client::remote(url, key.as_deref());
        }
        Client::open(&self.home()?, &self.overrides()).await
    }
}

/// An environment variable; an empty one counts as not set.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::Cli;

    /// A terminal of eighty columns breaks longer lines, also in the middle of a command that is meant to be copied.
    #[test]
    fn no_line_of_an_example_is_broken_by_a_narrow_terminal() {
        fn long_lines(command: &Command, found: &mut Vec<String>) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples = help.lines().filter(|line| line.starts_with("  ") && line.chars().count() > 80);
            found.extend(examples.map(|line| format!("{}: {line}", command.get_name())));
            command.get_subcommands().for_each(|inner| long_lines(inner, found));
        }
        let mut found = Vec::new();
        long_lines(&Cli::command(), &mut found);
        assert_eq!(found, Vec::<String>::new());
    }
}
