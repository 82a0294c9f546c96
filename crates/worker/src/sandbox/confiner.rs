//! The box of a program that the owner configured: what it may reach of the host in addition to the system's programs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::level::{Found, work_in};
use crate::cleaner::{self, Scratch};
use crate::confine::{Failed, Level, World};
use crate::error::ScriptError;
use crate::interpreter::Interpreter;
use crate::spawn::Launch;

/// Confines programs as far as this system can. Clones share what was found out.
#[derive(Clone, Debug)]
pub struct Confiner {
    /// What no program in a box may see, wherever links lead.
    private: Arc<[PathBuf]>,
    pub(super) highest: Level,
    pub(super) fail_at: Option<String>,
    pub(super) found: Arc<OnceCell<Found>>,
}

impl Default for Confiner {
    fn default() -> Self {
        Self { private: Arc::default(), highest: Level::Full, fail_at: None, found: Arc::default() }
    }
}

/// What a confined script or server may reach of the host, and how much it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Openings {
    /// The Toolroom home, which is never visible.
    pub home: PathBuf,
    /// Folders and files that can be read.
    pub read: Vec<PathBuf>,
    /// Those that can be written.
    pub write: Vec<PathBuf>,
    /// Whether the host's network can be reached.
    pub host_network: bool,
    /// Bytes of memory of all its processes together.
    pub memory: u64,
    /// Bytes that it can write in its own temporary place.
    pub disk: u64,
    /// Whether it is known where the paths lead, and that they may be opened. Else that is found out at each start.
    pub is_resolved: bool,
}

/// A path that cannot be opened to a confined program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadPath {
    /// `read` or `write`.
    pub list: &'static str,
    /// Which of the list.
    pub index: usize,
    /// There is nothing at that path now.
    pub is_missing: bool,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// Files that can be made in the temporary place.
const FILES: u64 = 20_000;
/// Paths of each list.
const MOST_PATHS: usize = 64;
/// Parts of the system that would show or change other processes.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Parts of the system that no program may change.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc"];

impl Openings {
    /// Default bytes of memory.
    pub const MEMORY: u64 = 1 << 30;
    /// Default bytes of temporary files.
    pub const DISK: u64 = 256 << 20;

    /// The same with every path resolved, if all of them can be opened.
    pub fn resolve(mut self) -> Result<Self, BadPath> {
        let home = self.home.canonicalize().unwrap_or_else(|_| self.home.clone());
        for (list, paths) in [("read", &mut self.read), ("write", &mut self.write)] {
            if paths.len() > MOST_PATHS {
                let message = format!("has more than {MOST_PATHS} paths; name a folder that contains them");
                return Err(BadPath { list, index: MOST_PATHS, is_missing: false, message });
            }
            for (index, path) in paths.iter_mut().enumerate() {
                *path = resolved(path, &home, list == "write").map_err(|message| BadPath {
                    list,
                    index,
                    is_missing: path.is_absolute() && !path.exists(),
                    message,
                })?;
            }
        }
        self.home = home;
        self.is_resolved = true;
        Ok(self)
    }

    /// Whether a folder can be seen by the program.
    pub fn show(&self, path: &Path) -> bool {
        self.read.iter().chain(&self.write).any(|open| path.starts_with(open))
    }
}

/// Where a path leads, if a confined program may open it.
fn resolved(path: &Path, home: &Path, write: bool) -> Result<PathBuf, String> {
    let shown = path.display();
    if !path.is_absolute() {
        return Err(format!("'{shown}' must be an absolute path"));
    }
    let real = path.canonicalize().map_err(|error| {
        format!("'{shown}' cannot be opened ({}); create it, or remove it from the list", error.kind())
    })?;
    if real.to_str().is_none() {
        return Err(format!("'{shown}' is not UTF-8; rename it"));
    }
    let found = fs::metadata(&real).map_err(|error| format!("'{shown}' cannot be read: {}", error.kind()))?;
    if !found.is_dir() && !found.is_file() {
        return Err(format!("'{shown}' must be a folder or a regular file, not a socket or device"));
    }
    if real.starts_with(home) {
        return Err(format!(
            "'{shown}' is in the Toolroom home, which no sandboxed program may reach; copy it elsewhere"
        ));
    }
    if home.starts_with(&real) {
        return Err(format!(
            "'{shown}' contains the Toolroom home; name the folders that are needed instead"
        ));
    }
    if KERNEL.iter().any(|part| real.starts_with(part)) || real.starts_with("/box") {
        return Err(format!(
            "'{shown}' is part of the system and already in every sandbox; remove it from the list"
        ));
    }
    if write && SYSTEM.iter().any(|part| real.starts_with(part)) {
        return Err(format!("'{shown}' is a system folder, which no sandboxed program may change"));
    }
    if write && rustix::process::geteuid().is_root() && !is_writable_for_all(&found) {
        return Err(format!(
            "'{shown}' cannot be written by a sandboxed program, which runs as another user if Toolroom is root; let others write to it (chmod o+rwx)"
        ));
    }
    Ok(real)
}

fn is_writable_for_all(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let wanted = if found.is_dir() { 0o003 } else { 0o002 };
    found.mode() & wanted == wanted
}

impl Confiner {
    /// The same for an owner whose home and database are at these places: no box shows them.
    #[must_use]
    pub fn hiding(self, places: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { private: places.into_iter().map(|place| real(&place)).collect(), ..self }
    }

    /// Refuses a box that would show the home or something else that is private.
    pub(super) fn refuse_to_show_private(&self, world: &World, home: &Path) -> Result<(), ScriptError> {
        let home = real(home);
        let private: Vec<&PathBuf> = self.private.iter().chain([&home]).collect();
        let opened = world.library.iter().chain(&world.read).chain(&world.write).map(PathBuf::as_path);
        for shown in world.system().chain(opened) {
            let place = real(shown);
            if private.iter().any(|private| private.starts_with(&place)) {
                let shown = shown.display();
                let reason = format!(
                    "{shown} would be visible in it, and the home or its database is there; keep them apart"
                );
                return Err(ScriptError::Unconfined { reason });
            }
        }
        Ok(())
    }

    /// Uses no higher level than this one, to try the lower ones out.
    #[must_use]
    pub fn at_most(self, level: Level) -> Self {
        Self { highest: level, found: Arc::default(), ..self }
    }

    /// Makes a step of the set-up fail; what was found out before stays.
    pub(super) fn failing_at(self, step: &str) -> Self {
        Self { fail_at: Some(step.to_owned()), ..self }
    }

    pub(super) fn world(&self, level: Level) -> Result<World, ScriptError> {
        Ok(World { fail_at: self.fail_at.clone(), ..World::new(level)? })
    }

    /// Puts a launch into a box, or refuses: it never runs without. The answer is where the code is, if it comes
    /// with some: a name and its contents.
    pub(crate) async fn enclose(
        &self,
        launch: &mut Launch,
        openings: &Openings,
        interpreter: Option<&Interpreter>,
        code: Option<(&str, Vec<u8>)>,
    ) -> Result<PathBuf, ScriptError> {
        let openings = &match openings.is_resolved {
            true => openings.clone(),
            // A folder that was missing may be there by now.
            false => {
                openings.clone().resolve().map_err(|bad| ScriptError::Unconfined { reason: bad.message })?
            }
        };
        let found = self.probe(&openings.home).await?;
        if found.level == Level::None {
            return Err(ScriptError::Unconfined { reason: found.reason() });
        }
        let mut world = self.world(found.level)?;
        let folder = place_of(&mut world, &openings.home)?;
        let full = found.level == Level::Full;
        let place = if full { PathBuf::from("/box") } else { world.place.clone() };
        world.read.clone_from(&openings.read);
        world.write.clone_from(&openings.write);
        world.host_network = openings.host_network;
        world.disk = (openings.disk, FILES);
        // Servers and Node reserve far more than they use; what they use is bounded anyway.
        world.bound_address_space = launch.bound_address_space && code.is_some();
        if let Some(interpreter) = interpreter {
            world.library = library(interpreter)?;
        }
        self.refuse_to_show_private(&world, &openings.home)?;
        let at = place.join(code.as_ref().map_or("code", |(name, _)| name));
        world.code = code.map(|(name, content)| (name.to_owned(), content));
        launch.workdir = work_in(&world);
        launch.limits.memory = Some(openings.memory);
        let temporary = if full { PathBuf::from("/tmp") } else { place.join("tmp") };
        for (name, value) in [("HOME", &launch.workdir), ("TMPDIR", &temporary)] {
            let value = value.to_string_lossy().into_owned();
            launch.environment.entry(name.to_owned()).or_insert(value);
        }
        launch.world = Some(world);
        launch.folder = folder;
        Ok(at)
    }
}

/// The text of a script that goes into a box, where it must fit.
pub(crate) fn script_text(path: &Path, openings: &Openings) -> Result<Vec<u8>, ScriptError> {
    let size = fs::metadata(path).map_err(|_| ScriptError::Missing)?.len();
    if size > openings.disk {
        let step = "the script is larger than the disk of its sandbox".to_owned();
        return Err(ScriptError::Sandbox(Failed { step, errno: libc::ENOSPC }));
    }
    fs::read(path).map_err(|_| ScriptError::Missing)
}

/// Where a path leads; what of it is not there yet is taken as it is written.
fn real(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(folder), Some(name)) => real(folder).join(name),
        _ => path.to_owned(),
    }
}

/// Where an interpreter's files are.
pub(super) fn library(interpreter: &Interpreter) -> Result<Vec<PathBuf>, ScriptError> {
    let program = interpreter.program.canonicalize()?;
    let inside = interpreter.folders.iter().any(|folder| program.starts_with(folder));
    let mut readable = interpreter.folders.clone();
    readable.extend((!inside).then_some(program));
    Ok(readable)
}

/// The host's folder of a box without its own writable place.
pub(super) fn place_of(world: &mut World, home: &Path) -> Result<Option<Scratch>, ScriptError> {
    if world.level == Level::Full {
        return Ok(None);
    }
    let base = partial_folder(home);
    cleaner::sweep(&base);
    let folder = Scratch::new_in_base(&base, own_folder)?;
    // The program's user must be able to reach what is its own in there.
    set_mode(folder.path(), 0o711)?;
    world.place = folder.path().canonicalize()?;
    Ok(Some(folder))
}

/// Removes what an earlier server left of such boxes.
pub(super) fn sweep(home: &Path) {
    cleaner::sweep(&partial_folder(home));
}

/// Where unconfined code works if its user cannot reach the home: among the temporary files.
fn partial_folder(folder: &Path) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    let bytes = folder.as_os_str().as_encoded_bytes();
    // FNV-1a: the same for the same home, whatever process it is.
    let home = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    std::env::temp_dir().join(format!("{}{user}-{home:016x}", cleaner::BASE))
}

/// Creates a folder that is certainly ours: anyone can create names there.
fn own_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    match fs::DirBuilder::new().mode(0o711).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o022 != 0 {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}
