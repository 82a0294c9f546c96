//! The one queue for `tools.json`: every change is checked whole, written durably, then visible, then
//! answered.

mod change;
mod error;
mod file;
mod reload;
mod tool_factory;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

use tokio::sync::OwnedMutexGuard;
use toolroom_contract::entry::ToolEntry;
use toolroom_worker::Scripts;

use crate::Runtime;
use crate::catalogue::Tool;
use crate::registry_file::disk;
use crate::registry_file::watch::{self, Scope};
use reload::State;
use tool_factory::ToolFactory;

pub use crate::registry_file::{Disk, FileProblem, RealDisk, Watch};
pub use error::ChangeError;
pub use file::{Written, read};
pub use tool_factory::{Builtin, MakeHandler};

/// What a registrar is made of.
pub struct Setup {
    /// `tools.json`; the scripts are beside it.
    pub file: PathBuf,
    /// Where each script tool has its working folder.
    pub work: PathBuf,
    /// The catalogue that the tools go into.
    pub runtime: Arc<Runtime>,
    /// The processes that run scripts.
    pub scripts: Scripts,
    /// Tools that an entry of `type` `builtin` can name.
    pub builtins: Vec<Builtin>,
    /// What is written to; [`RealDisk`] unless a test says otherwise.
    pub disk: Arc<dyn Disk>,
}

impl Setup {
    /// A registrar on its own registry in this folder, made empty if there is none.
    pub fn new_in(folder: &Path, runtime: &Arc<Runtime>) -> io::Result<Self> {
        let file = folder.join("tools").join("tools.json");
        if !file.try_exists()? {
            fs::create_dir_all(folder.join("tools"))?;
            fs::write(&file, "{\"tools\": []}\n")?;
        }
        Ok(Self {
            file,
            work: folder.join("work"),
            runtime: Arc::clone(runtime),
            scripts: Scripts::new(toolroom_worker::Settings::from_environment()),
            builtins: Vec::new(),
            disk: Arc::new(RealDisk),
        })
    }
}

/// A tool that is to be registered.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Its entry.
    pub entry: ToolEntry,
    /// The script's text, to be written where the entry says that the script is.
    pub script: Option<String>,
}

/// Keeps `tools.json` and the catalogue the same.
pub struct Registrar {
    runtime: Arc<Runtime>,
    tool_factory: ToolFactory,
    file: PathBuf,
    disk: Arc<dyn Disk>,
    /// The queue: its holder makes a change. Waiters get it in order.
    state: Arc<tokio::sync::Mutex<State>>,
    trouble: Mutex<Option<FileProblem>>,
}

impl Registrar {
    /// Reads the file and registers its tools. The first thing that is wrong ends it; a script that is
    /// missing is not wrong.
    pub fn open(setup: Setup) -> Result<Arc<Self>, FileProblem> {
        let Setup { file, work, runtime, scripts, builtins, disk } = setup;
        let tools = file.parent().map(PathBuf::from).unwrap_or_default();
        let builtins = builtins.into_iter().map(|one| (one.definition.name.clone(), one)).collect();
        let registrar = Self {
            runtime,
            tool_factory: ToolFactory { tools, work, scripts, builtins },
            file,
            disk,
            state: Arc::default(),
            trouble: Mutex::new(None),
        };
        disk::clear_unfinished(&registrar.tool_factory.tools);
        let mut state = State::default();
        registrar.load(&mut state, &file::text_of(&registrar.file)?)?;
        Ok(Arc::new(Self { state: Arc::new(tokio::sync::Mutex::new(state)), ..registrar }))
    }

    /// Registers a tool under a new name.
    pub async fn add(self: &Arc<Self>, registration: Registration) -> Result<Arc<Tool>, ChangeError> {
        self.in_turn(move |me, state| me.store(state, registration, false).map(|(tool, _)| tool)).await
    }

    /// Registers a tool, instead of the one of its name if there is one; whether it is new.
    pub async fn put(self: &Arc<Self>, registration: Registration) -> Result<(Arc<Tool>, bool), ChangeError> {
        self.in_turn(move |me, state| me.store(state, registration, true)).await
    }

    /// Takes a tool out. Its script stays where it is.
    pub async fn remove(self: &Arc<Self>, name: &str) -> Result<(), ChangeError> {
        let name = tool_factory::canonical(name).to_owned();
        self.in_turn(move |me, state| me.take_out(state, &name)).await
    }

    /// Takes up an edit of the file, if there was one. A bad one is kept aside as [`Registrar::trouble`].
    pub async fn refresh(self: &Arc<Self>) -> Result<(), ChangeError> {
        self.in_turn(|me, state| me.take_up_edit(state)).await
    }

    /// Takes up edits of the file as they are made, for as long as the watch is kept.
    pub fn watch(self: &Arc<Self>) -> Watch {
        let me = Arc::downgrade(self);
        watch::watch(&self.file, Scope::Folder, move || {
            let me = me.upgrade()?;
            // A bad edit is told in the log and as trouble.
            Some(async move { drop(me.refresh().await) })
        })
    }

    /// The entries, as they are in use.
    pub async fn entries(&self) -> Vec<ToolEntry> {
        self.state.lock().await.held.iter().map(|held| held.entry.clone()).collect()
    }

    /// What is wrong with the file on the disk, while the catalogue that was read before is served.
    pub fn trouble(&self) -> Option<String> {
        let problem = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        problem.as_ref().map(|problem| format!("{problem}. {}", problem.remedy))
    }

    /// Looks for the interpreter that scripts need, if any does, so that the first call does not have to.
    pub async fn warm_up(&self) {
        let is_python =
            |entry: &ToolEntry| entry.config.script_path.as_deref().is_some_and(|path| path.ends_with(".py"));
        if self.entries().await.iter().any(is_python)
            && let Err(error) = self.tool_factory.scripts.prepare().await
        {
            tracing::warn!(%error, "Python scripts cannot be run");
        }
    }

    /// The processes that run scripts.
    pub fn scripts(&self) -> &Scripts {
        &self.tool_factory.scripts
    }

    /// Makes a change when it is its turn. It is carried to its end even if nobody waits for it any more.
    async fn in_turn<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&Self, &mut State) -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, ChangeError> {
        let mut turn: OwnedMutexGuard<State> = Arc::clone(&self.state).lock_owned().await;
        let me = Arc::clone(self);
        let made = tokio::task::spawn_blocking(move || change(&me, &mut turn)).await;
        made.unwrap_or_else(|error| Err(ChangeError::Internal(error.to_string())))
    }
}
