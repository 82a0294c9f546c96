//! `toolroom disconnect`: takes our entry out of a client's settings, and ends its key.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;
use toolroom_contract::text::shell_word;

use super::clients::{CLIENTS, Client};
use super::file::{Backup, remove_empty};
use super::notes::{self, Before, Connection, digest};
use super::target::Target;
use super::{own_command, revoke, show};
use crate::cli::Globals;
use crate::home::Home;
use crate::terminal;

/// Disconnect a client program: take Toolroom out of its settings
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom disconnect cursor

An entry that you changed is removed only after asking. One of your own that
'connect' replaced is put back. A key that 'connect' created is revoked.")]
pub struct Disconnect {
    /// The client
    #[arg(value_parser = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.id)))]
    client: String,
    /// Edit this file instead of the client's own
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Do not ask, even if the entry was changed
    #[arg(long)]
    yes: bool,
}

const NOT_AS_WRITTEN: &str = "the entry is not as 'toolroom connect' wrote it; remove it?";

impl Disconnect {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let home = globals.home()?;
        let Some(client) = Client::of(&self.client) else { return Ok(ExitCode::SUCCESS) };
        let target = match &self.file {
            Some(file) => Target::read(client, Some(file))?,
            None => Target::connected(&home, client)?,
        };
        let noted = notes::of(&home, client.id, &target.file.path)?;
        let Some(found) = &target.found else {
            // Somebody removed it by hand: its key must not stay.
            forget(globals, &home, &target, noted).await?;
            return show::undone(client, &target.file.path, false, globals.json);
        };
        let is_ours = noted.as_ref().is_some_and(|noted| noted.entry == digest(found));
        let added = noted.as_ref().map(|noted| noted.added.clone()).unwrap_or_default();
        let kept = target.without(&added)?;
        // A file that has nothing else is as it was before, or gone.
        let before =
            noted.as_ref().and_then(|noted| noted.before.clone()).filter(|_| kept == target.nothing());
        let left = match &before {
            Some(Before::Missing) => "",
            Some(Before::Blank(text)) => text,
            None => &kept,
        };
        let question = if is_ours { "remove it?" } else { NOT_AS_WRITTEN };
        if !show::is_agreed(&target, left, question, is_ours || self.yes, globals.json)? {
            return Ok(ExitCode::SUCCESS);
        }
        let mode = noted.as_ref().filter(|noted| noted.key.is_some()).map(|noted| noted.mode);
        let mode = mode.unwrap_or(target.file.mode());
        // The client's own command can remove an entry, and not put back the one that was there.
        let is_plain = self.file.is_none() && target.is_own && added.replaced.is_none();
        match own_command::of(client.id).filter(|_| is_plain) {
            Some(program) => own_command::remove(&program, &target).await?,
            None if matches!(before, Some(Before::Missing)) => target.file.delete()?,
            None => target.file.write(left, mode, Backup::Keep)?,
        }
        forget(globals, &home, &target, noted).await?;
        show::undone(client, &target.file.path, true, globals.json)?;
        for other in notes::files_of(&home, client.id)? {
            let word = shell_word(&other.display().to_string()).into_owned();
            terminal::remark(&format!(
                "it is still connected: toolroom disconnect {} --file {word}",
                client.id
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Removes what was noted of an entry that is gone, and what came with it.
async fn forget(globals: &Globals, home: &Home, target: &Target, noted: Option<Connection>) -> Result<()> {
    if let Some(noted) = noted {
        target.file.drop_backup();
        remove_empty(&noted.folders);
        revoke(globals, noted.key).await?;
    }
    notes::set(home, target.client.id, &target.file.path, None)
}
