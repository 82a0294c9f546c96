//! `toolroom backup`: the home and its database in one file, whether or not a server runs.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use toolroom_store::backup::{self, BackupError};

use super::Globals;
use crate::archive::Writer;
use crate::config::Config;
use crate::failure::Failure;
use crate::home::Home;
use crate::terminal;

/// Write the home and its database into one file, while the server may run
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom backup toolroom-$(date +%F).backup
  toolroom restore toolroom-2026-11-16.backup --home ~/second-home

It has settings, tools, scripts, profiles, servers, logins, secrets, keys (hashed) and all data, on SQLite and on
PostgreSQL, as they are at one moment. Only you can read it; keep it as a secret. It does not have the execution log, nor secrets.key, which opens the secrets:
keep a copy of that elsewhere.")]
pub struct Backup {
    /// The file to write; it must not exist
    file: PathBuf,
}

struct Done {
    files: usize,
    rows: u64,
    bytes: u64,
}

impl Backup {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let home = globals.home()?;
        let config = Config::load(&home, &globals.overrides())?;
        let file = self.file.clone();
        let done = tokio::task::spawn_blocking(move || self.write(&home, &config)).await??;
        if globals.json {
            let Done { files, rows, bytes } = done;
            terminal::say_json(&json!({ "file": file, "files": files, "rows": rows, "bytes": bytes }))?;
        } else {
            terminal::say(&format!(
                "{}: {} files and {} rows, {} bytes",
                file.display(),
                done.files,
                done.rows,
                done.bytes
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn write(&self, home: &Home, config: &Config) -> Result<Done> {
        let failed = |error: io::Error| {
            let message = match error.kind() {
                io::ErrorKind::AlreadyExists => format!("{} exists already", self.file.display()),
                _ => format!("cannot write {}: {error}", self.file.display()),
            };
            Failure::new(message, "Name a new file in a folder that you can write to, with enough space.")
        };
        let mut writer = Writer::create(&self.file).map_err(failed)?;
        let files = writer.add_files(home.root()).map_err(failed)?;
        writer.begin_database().map_err(failed)?;
        let rows = backup::dump(&config.database, &mut writer).map_err(|error| match error {
            BackupError::File(error) => failed(error),
            error => Failure::new(
                format!("{}: {error}", config.database),
                "Check that the database can be reached: toolroom doctor",
            ),
        })?;
        let bytes = writer.finish().map_err(failed)?;
        Ok(Done { files, rows, bytes })
    }
}
