//! `toolroom restore`: a home and its database from the file of a backup. Everything is made aside; what is there is
//! touched last, and kept.

use std::fs::{self, DirBuilder, File, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use tempfile::TempDir;
use toolroom_runtime::secret_file::KEY_VARIABLE;
use toolroom_store::DatabaseUrl;
use toolroom_store::backup::{self, BackupError, Loaded, Target};

use super::Globals;
use crate::archive::Reader;
use crate::config::{Config, Overrides};
use crate::failure::Failure;
use crate::home::{Home, Role, Taking};
use crate::sign_of_life::place;
use crate::terminal;

/// Restore a home and its database from the file of a backup
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom restore toolroom-2026-11-16.backup
  toolroom restore toolroom-2026-11-16.backup --home ~/second-home
  toolroom restore home.backup --database postgres://me@db.internal/toolroom

A home that is not empty is refused, unless you say --replace: then it is kept beside the new one. Approvals from before
are void, and people log in to the console again. The database may be another one than at the time of the backup.")]
pub struct Restore {
    /// The file that `toolroom backup` wrote
    file: PathBuf,
    /// Replace a home or a database that is not empty; no server may run on it
    #[arg(long)]
    replace: bool,
}

/// What was done.
struct Done {
    files: usize,
    loaded: Loaded,
    at: jiff::Timestamp,
    /// Where the home of before is now.
    kept: Option<PathBuf>,
    /// Whether there are secrets that nothing here opens.
    lacks_key: bool,
}

impl Restore {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let (root, overrides) = (globals.home_place()?, globals.overrides());
        let home = Home::at(&root);
        let done = tokio::task::spawn_blocking(move || self.restore(&Home::at(root), &overrides)).await??;
        home.moved_in();
        let Done { files, loaded: Loaded { rows, void }, at, kept, lacks_key } = done;
        if globals.json {
            let told = json!({ "home": home.root(), "files": files, "rows": rows, "void": void, "of": at, "kept": kept });
            terminal::say_json(&told)?;
            return Ok(ExitCode::SUCCESS);
        }
        terminal::say(&format!("restored {files} files and {rows} rows into {}", home.root().display()))?;
        if let Some(kept) = kept {
            terminal::remark(&format!("the home of before is kept in {}", kept.display()));
        }
        if void > 0 {
            terminal::remark(&format!("{void} requests and approvals from before are void: ask again"));
        }
        if lacks_key {
            terminal::remark(&format!(
                "the secrets are sealed: put your copy of secrets.key into {}, or set {KEY_VARIABLE}",
                home.root().display()
            ));
        }
        terminal::remark(&format!(
            "keys are as they were at {at}: revoke again what was revoked since, 'toolroom keys list' shows them"
        ));
        Ok(ExitCode::SUCCESS)
    }

    fn restore(&self, home: &Home, overrides: &Overrides) -> Result<Done> {
        let reader = Reader::open(&self.file).map_err(|error| {
            Failure::new(
                format!("cannot restore from {}: {error}", self.file.display()),
                "Nothing was changed. Name a file that 'toolroom backup' wrote.",
            )
        })?;
        let root = home.root();
        let is_empty = fs::read_dir(root).map_or(!root.exists(), |mut entries| entries.next().is_none());
        if !is_empty && !self.replace {
            return Err(not_empty(&root.display().to_string()).into());
        }
        let _lock = if is_empty { None } else { Some(lock(home)?) };
        let parent = root.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let aside = tempfile::Builder::new()
            .prefix(".toolroom-restore-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)
            .with_context(|| format!("cannot write to {}", parent.display()))?;
        reader.unpack(aside.path()).with_context(|| format!("cannot write to {}", parent.display()))?;
        for name in ["tools", "logs"] {
            DirBuilder::new().recursive(true).mode(0o700).create(aside.path().join(name))?;
        }
        let config = Config::load(&Home::at(aside.path()), overrides)?;
        let loaded = if reader.contents.database {
            self.load(&reader, &config.database, aside.path(), root)?
        } else {
            Loaded::default()
        };
        let [secrets, key] = ["secrets.json", "secrets.key"].map(|name| aside.path().join(name));
        // The key is in no backup; that of the same home is at hand.
        if root.join("secrets.key").exists() {
            fs::copy(root.join("secrets.key"), &key).context("cannot copy secrets.key")?;
        }
        let lacks_key = secrets.exists() && !key.exists() && std::env::var_os(KEY_VARIABLE).is_none();
        let kept = put_in_place(aside, root, is_empty)?;
        Ok(Done { files: reader.contents.files, loaded, at: reader.head.at, kept, lacks_key })
    }

    fn load(&self, reader: &Reader, url: &DatabaseUrl, aside: &Path, root: &Path) -> Result<Loaded> {
        // A file outside the home is made beside its place, like the home itself. One that is there is left alone: who
        // works on it is not known, and its log would be applied to the new one.
        let inside = |path: &Path| {
            let within = path.strip_prefix(aside);
            within.is_ok_and(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))))
        };
        let outside = url.sqlite_path().filter(|path| !inside(path));
        let beside = outside.map(|path| suffixed(path, &format!(".restore-{}", std::process::id())));
        let there = |path: &Path| ["", "-wal", "-shm"].iter().any(|end| suffixed(path, end).exists());
        if let Some(path) = outside.filter(|path| there(path)) {
            return Err(Failure::new(
                format!("{} is there already, outside of the home", path.display()),
                "Nothing was changed. Stop what uses it, move it away with its files that end in -wal and -shm, and try again.",
            )
            .into());
        }
        let target = Target {
            url: beside.as_ref().map_or_else(|| url.clone(), DatabaseUrl::sqlite),
            replace: self.replace,
            home: Some(place(root)),
        };
        let loaded = reader.database(|lines| backup::load(&target, &mut || Ok(lines.next()?)));
        let loaded = loaded
            .map_err(BackupError::File)
            .and_then(|loaded| loaded.unwrap_or_else(|| Ok(Loaded::default())));
        let loaded = loaded.map_err(|error| match error {
            BackupError::NotEmpty => not_empty(&url.to_string()),
            error => Failure::new(
                format!("{url}: {error}"),
                "Nothing was changed. Stop what uses the database (a command counts for ten seconds), and check that it can be reached and has space.",
            ),
        })?;
        if let (Some(path), Some(beside)) = (outside, beside) {
            fs::rename(&beside, path).with_context(|| format!("cannot create {}", path.display()))?;
        }
        Ok(loaded)
    }
}

/// Nobody may work on a home that is replaced.
fn lock(home: &Home) -> Result<crate::home::HomeLock> {
    match home.try_lock(Role::Command)? {
        Taking::Taken(lock) => Ok(lock),
        Taking::Held(holder) => {
            let holder = holder.map_or("another process".to_owned(), |holder| holder.to_string());
            Err(Failure::new(
                format!("{} is in use by {holder}", home.root().display()),
                "Nothing was changed. Stop it first, or restore into another home: --home DIR",
            )
            .into())
        }
    }
}

/// Moves what was made into its place, and what is there away. Returns where that is.
fn put_in_place(aside: TempDir, root: &Path, is_empty: bool) -> Result<Option<PathBuf>> {
    let kept = if is_empty { None } else { Some(move_away(root)?) };
    if let Err(error) = fs::rename(aside.path(), root) {
        if let Some(kept) = &kept {
            fs::rename(kept, root).with_context(|| format!("the home of before is in {}", kept.display()))?;
        }
        return Err(Failure::new(
            format!("cannot create {}: {error}", root.display()),
            "Choose a folder that is not a mount point, in one that you can write to: --home DIR",
        )
        .into());
    }
    // It was moved, so there is nothing to remove.
    let _ = aside.keep();
    if let Some(parent) = root.parent() {
        File::open(parent).and_then(|folder| folder.sync_all())?;
    }
    Ok(kept)
}

fn move_away(path: &Path) -> Result<PathBuf> {
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%6fZ");
    let kept = suffixed(path, &format!(".before-restore-{now}"));
    fs::rename(path, &kept).with_context(|| format!("cannot move {} away", path.display()))?;
    Ok(kept)
}

fn suffixed(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn not_empty(what: &str) -> Failure {
    Failure::new(
        format!("{what} is not empty"),
        "Nothing was changed. Restore into another home (--home DIR) or database (--database URL), or say --replace.",
    )
}
