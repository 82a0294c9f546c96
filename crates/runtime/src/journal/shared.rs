//! The log of several processes on one database. Each writes its own files, as one process does, and ships their lines
//! to the database; who reads the log gets what all have shipped into a folder of its own, and reads that.
//!
//! That folder is the same for all, byte by byte, so that a cursor of one process means the same at another.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::civil::Date;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use toolroom_store::log::{self, Part, ShipError};
use toolroom_store::{Store, StoreError, replicas};

use super::reader::LiveRuns;
use super::row::Head;
use super::scan::{self, Forward};
use super::{Reader, files, retention};

/// Between two looks whether there is something to ship.
const TICK: Duration = Duration::from_millis(200);
/// How long a reader waits for the database; then it reads what was there before.
const PATIENCE: Duration = Duration::from_secs(3);
/// How much of each file is shipped at one time, but for a line that is longer.
const PIECE: u64 = 1 << 20;

/// The log of all processes that share a database.
pub struct SharedLog {
    store: Store,
    /// Where this process writes.
    own: PathBuf,
    /// Where the log of all is read.
    folder: PathBuf,
    /// Machine and path of the home.
    address: String,
    live: LiveRuns,
    known: Mutex<Known>,
}

/// What this process knows of the database.
#[derive(Default)]
struct Known {
    /// The name of the home in the database, and its shard.
    home: Option<(Arc<str>, usize)>,
    /// How far its own files were shipped.
    shipped: HashMap<(Date, usize), u64>,
    /// Files of the common log whose end is that of a whole piece.
    whole: HashSet<PathBuf>,
    /// When the last look at all began.
    looked: Option<Instant>,
}

impl SharedLog {
    /// Nothing is shipped or read before it is asked for. `address` is the machine and the path of the home.
    pub fn new(store: Store, own: &Path, address: String) -> Self {
        let (own, folder) = (own.to_owned(), own.join("shared"));
        Self { store, own, folder, address, live: LiveRuns::default(), known: Mutex::default() }
    }

    /// Where the log of all is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A reader of all that was shipped until now; without the database, of what was known before.
    pub async fn reader(&self) -> Reader {
        let came = Instant::now();
        match tokio::time::timeout(PATIENCE, self.catch_up(came)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the logs of other servers cannot be read now"),
            Err(_) => tracing::warn!("the logs of other servers take long to be read"),
        }
        Reader::of_runs(&self.folder, Arc::clone(&self.live))
    }

    /// Ships what is written, until it is dropped.
    pub async fn ship_for_ever(&self) {
        let mut failed = false;
        loop {
            tokio::time::sleep(if failed { 5 * TICK } else { TICK }).await;
            let shipped = self.ship().await;
            if let (Err(error), false) = (&shipped, failed) {
                tracing::warn!(%error, "the log cannot be shipped to the database now; it is tried again");
            }
            failed = shipped.is_err();
        }
    }

    /// Ships what is written and not shipped yet.
    pub async fn ship(&self) -> Result<(), LogError> {
        let mut known = self.known.lock().await;
        self.ship_own(&mut known).await
    }

    /// Removes days that are no longer kept, here and in the database.
    pub async fn sweep(&self, today: Date, keep_days: u16) -> Result<(), LogError> {
        let folder = self.folder.clone();
        let swept = spawn_blocking(move || retention::sweep(&folder, today, keep_days));
        swept.await.map_err(io::Error::other)??;
        let first_kept = today.saturating_sub(jiff::Span::new().days(i64::from(keep_days)));
        Ok(self.store.write(move |unit| log::purge(unit, first_kept)).await?)
    }

    async fn catch_up(&self, came: Instant) -> Result<(), LogError> {
        let mut known = self.known.lock().await;
        // Somebody who waited for the same has looked meanwhile.
        if known.looked.is_some_and(|looked| looked > came) {
            return Ok(());
        }
        let began = Instant::now();
        self.ship_own(&mut known).await?;
        self.pull(&mut known).await?;
        known.looked = Some(began);
        Ok(())
    }

    async fn ship_own(&self, known: &mut Known) -> Result<(), LogError> {
        let (home, shard) = self.join(known).await?;
        loop {
            let (own, shipped) = (self.own.clone(), known.shipped.clone());
            let next =
                spawn_blocking(move || next_lines(&own, &shipped)).await.map_err(io::Error::other)??;
            let Some(Batch { day, parts, body }) = next else { return Ok(()) };
            let (home, sent) = (Arc::clone(&home), parts.clone());
            let done = self.store.write(move |unit| log::ship(unit, &home, shard, day, &sent, &body)).await;
            if let Err(error) = done {
                // Whatever it was, how far it came is asked again.
                *known = Known::default();
                return Err(error.into());
            }
            known.shipped.extend(parts.iter().map(|part| ((day, part.number), part.to)));
        }
    }

    /// The name and the shard of this home.
    async fn join(&self, known: &mut Known) -> Result<(Arc<str>, usize), LogError> {
        if let Some((home, shard)) = &known.home {
            return Ok((Arc::clone(home), *shard));
        }
        let home = self.name()?;
        let own = Arc::clone(&home);
        let joined = self.store.write(move |unit| {
            let (shard, is_new) = log::shard_of(unit, &own, files::MAX_SHARDS)?;
            Ok::<_, StoreError>((shard, is_new, log::shipped(unit, &own)?))
        });
        let (shard, is_new, shipped) = joined.await?;
        // What was read from another database is no log of this one.
        if is_new && self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        known.home = Some((Arc::clone(&home), shard));
        known.shipped = shipped.into_iter().map(|(day, part, length)| ((day, part), length)).collect();
        Ok((home, shard))
    }

    /// A name that stays with these files. A copy of them elsewhere gets another one.
    fn name(&self) -> io::Result<Arc<str>> {
        let file = self.own.join("name");
        let kept = fs::read_to_string(&file).unwrap_or_default();
        if let Some((name, address)) = kept.split_once(' ')
            && address == self.address
        {
            return Ok(name.into());
        }
        let name = uuid::Uuid::now_v7().to_string();
        fs::write(&file, format!("{name} {}", self.address))?;
        Ok(name.into())
    }

    async fn pull(&self, known: &mut Known) -> Result<(), LogError> {
        let look = |unit: &mut toolroom_store::Unit<'_>| {
            Ok::<_, StoreError>((log::shards(unit)?, replicas::alive(unit)?))
        };
        let (shards, live) = self.store.read(look).await?;
        for shard in shards {
            let path = files::path(&self.folder, shard.day, shard.number);
            let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
            let mut length = file.metadata()?.len();
            // A process that was killed may have written half a piece, and a database may have lost some.
            if length > shard.length || !known.whole.contains(&path) {
                let (day, number, place) = (shard.day, shard.number, length.min(shard.length));
                let whole = self.store.read(move |unit| log::piece_before(unit, day, number, place));
                length = whole.await.map_err(|error: StoreError| error)?;
                file.set_len(length)?;
                known.whole.insert(path);
            }
            self.fill(file, shard, length).await?;
        }
        // Only now: a call of a run that was alive then, and whose end is not here, is running.
        self.live.store(Arc::new(live));
        Ok(())
    }

    async fn fill(&self, file: File, shard: log::Shard, mut length: u64) -> Result<(), LogError> {
        let file = Arc::new(file);
        while length < shard.length {
            let (day, number) = (shard.day, shard.number);
            let read = self.store.read_much(move |unit| log::pieces(unit, day, number, length));
            let pieces: Vec<log::Piece> = read.await.map_err(|error: StoreError| error)?;
            if pieces.is_empty() {
                return Ok(());
            }
            length = pieces.last().map_or(length, |piece| piece.at + piece.body.len() as u64);
            let file = Arc::clone(&file);
            let write = move || pieces.iter().try_for_each(|piece| file.write_all_at(&piece.body, piece.at));
            spawn_blocking(write).await.map_err(io::Error::other)??;
        }
        Ok(())
    }
}

/// Why the log could not be shipped or read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file failed.
    #[error(transparent)]
    File(#[from] io::Error),
    /// Somebody else shipped the same files.
    #[error(transparent)]
    Ship(#[from] ShipError),
}

/// Lines of one day that were not shipped, from all its files and in the order of their times.
struct Batch {
    day: Date,
    parts: Vec<Part>,
    body: Vec<u8>,
}

fn next_lines(own: &Path, shipped: &HashMap<(Date, usize), u64>) -> io::Result<Option<Batch>> {
    for (day, paths) in files::list(own)? {
        let (mut parts, mut lines) = (Vec::new(), Vec::new());
        for (number, path) in paths {
            let from = shipped.get(&(day, number)).copied().unwrap_or(0);
            let (file, length) = scan::open(&path)?;
            if length <= from {
                continue;
            }
            let mut forward = Forward::new(file, from);
            let mut latest = Vec::new();
            while forward.position < from + PIECE
                && let Some(line) = forward.next()?
            {
                // The records of a call stay in their order, whatever the clock did.
                if let Some((Head { at, .. }, ..)) = scan::record(&line, &mut 0)
                    && at > latest.as_slice()
                {
                    latest = at.to_vec();
                }
                lines.push((latest.clone(), line.text.to_vec()));
            }
            if forward.position > from {
                parts.push(Part { number, from, to: forward.position });
            }
        }
        if !parts.is_empty() {
            lines.sort_by(|one, other| one.0.cmp(&other.0));
            let mut body = Vec::with_capacity(lines.iter().map(|(_, line)| line.len() + 1).sum());
            for (_, line) in lines {
                body.extend_from_slice(&line);
                body.push(b'\n');
            }
            return Ok(Some(Batch { day, parts, body }));
        }
    }
    Ok(None)
}
