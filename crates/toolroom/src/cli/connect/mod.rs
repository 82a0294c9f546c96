//! `toolroom connect` and `toolroom disconnect`: our entry in the settings of other programs. The table of clients,
//! the forms of entries, the editors of JSON and TOML, and the file on the disk are apart.

mod clients;
mod diff;
mod disconnect;
mod edit;
mod entry;
mod file;
pub mod json_file;
mod notes;
mod own_command;
mod show;
mod snippets;
mod target;
mod toml_file;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;
use http::Method;
use serde_json::{Value, json};

use super::Globals;
use super::keys::FIRST;
use super::suggest::or_profile;
use crate::client::encoded;
use crate::config::Config;
use crate::failure::Failure;
use crate::home::{Home, Role, Taking};
use crate::terminal::{self, plain};
use clients::{CLIENTS, Client};
use entry::{Key, MASK, Reach};
use file::{Backup, remove_empty};
use notes::{Before, Connection, digest};
use target::Target;

pub use clients::client_files;
pub use disconnect::Disconnect;

/// The profile that clients get: everything, in few words.
const PROFILE: &str = toolroom_profiles::plain::NAME;
/// Prints instead of writing.
const PRINT: &str = "print";

/// Connect a client program: put Toolroom into its settings
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom connect                    which clients there are
  toolroom connect claude-code        let Claude Code start it
  toolroom connect cursor --http      let Cursor ask 'toolroom serve'
  toolroom connect print              what to write by hand, for more

You are shown the change, and asked. Comments and everything else in the
file stay as they are; 'toolroom disconnect' takes it out again.")]
pub struct Connect {
    /// The client; 'print' prints the settings of all of them
    #[arg(value_parser = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.id).chain([PRINT])))]
    client: Option<String>,
    /// Write the address of the server and a key confined to the profile, instead of the command that starts one
    #[arg(long)]
    http: bool,
    /// Let the file name the variable TOOLROOM_KEY, and print the key, instead of writing it there
    #[arg(long, requires = "http")]
    env: bool,
    /// Publish this profile to the client
    #[arg(long, value_name = "NAME", default_value = PROFILE, add = super::candidates::profiles())]
    profile: String,
    /// The user that the key belongs to
    #[arg(long, value_name = "NAME", default_value = "local", requires = "http")]
    user: String,
    /// Edit this file instead of the client's own, such as the one of a project
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Do not ask: write what is shown. Needed where there is no terminal
    #[arg(long)]
    yes: bool,
}

impl Connect {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let home = globals.home()?;
        let Some(id) = self.client.as_deref() else { return show::clients(&home, globals.json) };
        self.check_profile(globals).await?;
        let key = if self.env { Key::Variable } else { Key::Literal(MASK.to_owned()) };
        let reach = self.reach(&home, globals, key)?;
        let Some(client) = Client::of(id) else { return show::snippets(&reach, globals.json) };
        let target = match Target::read(client, self.file.as_deref()) {
            Ok(target) => target,
            Err(failure) => return Err(show::by_hand(client, &reach, failure, globals.json)?.into()),
        };
        let asked = target.entry(&reach)?;
        let known = notes::of(&home, client.id, &target.file.path)?;
        // An entry that was changed since is ours all the same; one that was removed by hand is none.
        let noted = known.clone().filter(|_| target.found.is_some());
        if let Some(noted) = &noted
            && Some(&noted.entry) == target.found.as_ref().map(digest).as_ref()
            && noted.asked == digest(&asked)
            && self.key_is_valid(globals, noted.key).await?
        {
            return show::done(client, &target.file.path, None, None, globals.json);
        }
        let base = match &noted {
            Some(noted) => target.without(&noted.added),
            None => Ok(target.file.text().to_owned()),
        };
        let edited = base.and_then(|base| Ok((target.insert(&base, &asked)?.0, base)));
        let (shown, base) = match edited {
            Ok(edited) => edited,
            Err(failure) => return Err(show::by_hand(client, &reach, failure, globals.json)?.into()),
        };
        if !show::is_agreed(&target, &shown, "write this?", self.yes, globals.json)? {
            return Ok(ExitCode::SUCCESS);
        }
        // A first key ends access without one, so that it is made only for an entry that can be written.
        let backup = if noted.is_some() { Backup::Keep } else { Backup::Make };
        let folders = target.file.rehearse(&shown, backup)?;
        let written = async {
            // Neither may the note be what fails.
            notes::set(&home, client.id, &target.file.path, known.clone())?;
            let made = self.with_key(reach, client, globals).await?;
            let before = noted.as_ref();
            let written = self.write(&home, &target, &base, &made, digest(&asked), &folders, before).await;
            if written.is_err() {
                revoke(globals, made.id).await?;
            }
            written.map(|()| made)
        };
        let made = written.await.inspect_err(|_| {
            if backup == Backup::Make {
                target.file.drop_backup();
            }
            remove_empty(&folders);
        })?;
        revoke(globals, known.and_then(|known| known.key)).await?;
        show::done(client, &target.file.path, Some(&asked), made.variable.as_deref(), globals.json)
    }

    /// A client that is led to a profile that is not there would only say that the server does not start.
    async fn check_profile(&self, globals: &Globals) -> Result<()> {
        if self.profile == PROFILE {
            return Ok(());
        }
        let api = globals.client().await?;
        let path = format!("/api/v1/profiles/{}/functions", encoded(&self.profile));
        let found = or_profile(&api, [self.profile.as_str()], api.get(&path).await).await;
        api.close().await;
        found.map(drop)
    }

    #[expect(clippy::too_many_arguments, reason = "all that a note holds")]
    async fn write(
        &self,
        home: &Home,
        target: &Target,
        base: &str,
        made: &Made,
        asked: String,
        folders: &[PathBuf],
        before: Option<&Connection>,
    ) -> Result<()> {
        let entry = target.entry(&made.reach)?;
        let (text, mut added) = target.insert(base, &entry)?;
        let is_secret = matches!(made.reach, Reach::Http { key: Key::Literal(_), .. });
        // A key among the arguments of a program could be seen by others. And where an entry is there, its command would
        // have to be called twice, and could fail in between.
        let is_alone = self.file.is_none() && !is_secret && target.found.is_none();
        let own = own_command::of(target.client.id).filter(|_| is_alone);
        if own.is_some() {
            added = edit::Added::default();
        }
        let empty = match target.file.is_there() {
            true => Before::Blank(base.to_owned()),
            false => Before::Missing,
        };
        let connection = Connection {
            client: target.client.id.to_owned(),
            file: target.file.path.clone(),
            entry: digest(&entry),
            asked,
            key: made.id,
            added,
            before: before.map_or(base.trim().is_empty().then_some(empty), |before| before.before.clone()),
            mode: before.map_or(target.file.mode(), |before| before.mode),
            folders: before.map_or(folders.to_owned(), |before| before.folders.clone()),
        };
        let mode = if is_secret { 0o600 } else { connection.mode };
        // Noted first: an entry that nobody knows of could not be undone.
        let former = notes::of(home, target.client.id, &target.file.path)?;
        let note = |noted| notes::set(home, target.client.id, &target.file.path, noted);
        note(Some(connection.clone()))?;
        let written = match own {
            Some(program) => own_command::add(&program, target, &entry).await,
            None => {
                // What the file says now has our entry, if there was a connection before.
                let backup = if before.is_some() { Backup::Keep } else { Backup::Make };
                target.file.write(&text, mode, backup).map(|()| entry)
            }
        };
        match written {
            Ok(entry) if digest(&entry) == connection.entry => Ok(()),
            Ok(entry) => note(Some(Connection { entry: digest(&entry), ..connection })),
            Err(error) => note(former).and(Err(error)),
        }
    }

    fn reach(&self, home: &Home, globals: &Globals, key: Key) -> Result<Reach> {
        if !self.http {
            return Ok(Reach::Stdio(entry::start_words(home.root(), &self.profile)));
        }
        // Where a server of this home listens, whatever the settings say.
        let serving = match home.try_lock(Role::Command)? {
            Taking::Held(Some(holder)) => holder.address,
            _ => None,
        };
        let serving = serving.and_then(|address| address.strip_prefix("http://")?.parse().ok());
        let mut address: SocketAddr = match serving {
            Some(address) => address,
            None => Config::load(home, &globals.overrides())?.server.listen,
        };
        if address.port() == 0 {
            let message = "the settings let 'toolroom serve' listen on any free port, and it is not running";
            return Err(Failure::new(message, "Start 'toolroom serve', or give 'listen' a port.").into());
        }
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Ok(Reach::Http { url: format!("http://{address}/mcp/{}", self.profile), key })
    }

    /// Creates the key, once the person has agreed.
    async fn with_key(&self, reach: Reach, client: &Client, globals: &Globals) -> Result<Made> {
        let Reach::Http { url, key } = reach else { return Ok(Made { reach, id: None, variable: None }) };
        let body = json!({
            "user": self.user, "profiles": [self.profile], "note": format!("connect {}", client.id),
            "grants": ["tasks:*", "cards:*", "web:search", "humans:ask", "added-tools:use"],
        });
        let api = globals.client().await?;
        let made = api.request(Method::POST, "/api/v1/keys", Some(&body)).await?;
        if made["first"] == true {
            terminal::remark(FIRST.lines().next().unwrap_or_default());
        }
        let (id, secret) = (made["id"].as_i64(), plain(&made["key"]));
        Ok(match key {
            Key::Variable => Made { reach: Reach::Http { url, key }, id, variable: Some(secret) },
            Key::Literal(_) => {
                Made { reach: Reach::Http { url, key: Key::Literal(secret) }, id, variable: None }
            }
        })
    }

    async fn key_is_valid(&self, globals: &Globals, key: Option<i64>) -> Result<bool> {
        let Some(key) = key else { return Ok(true) };
        let found = globals.client().await?.get("/api/v1/keys").await?;
        let is_it = |one: &&Value| one["id"] == key && one["revoked_at"].is_null();
        Ok(found["keys"].as_array().into_iter().flatten().any(|one| is_it(&one)))
    }
}

/// How the client reaches us, with the key that was created for it.
struct Made {
    reach: Reach,
    id: Option<i64>,
    /// The key itself, where the file names a variable.
    variable: Option<String>,
}

/// Revokes the key of an entry that is gone.
async fn revoke(globals: &Globals, key: Option<i64>) -> Result<()> {
    let Some(key) = key else { return Ok(()) };
    let api = globals.client().await?;
    match api.request(Method::DELETE, &format!("/api/v1/keys/{key}"), None).await {
        // Somebody revoked it before.
        Err(error) if !error.is::<Failure>() => Err(error),
        _ => Ok(()),
    }
}
