//! `tools.json`: how an entry is checked and made into a tool. Queue, watch and durable writing are those of every
//! registry file.

mod change;
mod error;
mod file;
pub mod header;
mod http_entry;
mod import;
mod plan;
mod registered;
mod reload;
mod script_file;
mod tool_factory;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use toolroom_contract::entry::ToolEntry;
use toolroom_worker::Scripts;

use crate::Runtime;
use crate::catalogue::Tool;
use crate::registry_file::RegistryFile;
use tool_factory::ToolFactory;

pub use crate::registry_file::{Disk, FileError, FileProblem, RealDisk, Watch};
pub use error::ChangeError;
pub use file::{Written, read};
pub use import::{Import, ImportPlan, ImportedTool, Standing};
pub use plan::{Draft, DraftTool, Mistake, Plan};
pub use registered::RegisteredScript;
pub use script_file::{FileTools, may_describe_itself};
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
pub type Registrar = RegistryFile<ToolEntries>;

/// What makes tools of the entries.
pub struct ToolEntries {
    runtime: Arc<Runtime>,
    tool_factory: ToolFactory,
}

impl Registrar {
    /// Reads the file and registers its tools. The first thing that is wrong ends it; a script that is
    /// missing is not wrong.
    pub fn open(setup: Setup) -> Result<Arc<Self>, FileProblem> {
        let Setup { file, work, runtime, scripts, builtins, disk } = setup;
        let tools = file.parent().map(PathBuf::from).unwrap_or_default();
        let builtins = builtins.into_iter().map(|one| (one.definition.name.clone(), one)).collect();
        let tool_factory = ToolFactory { tools, work, scripts, builtins, http_clients: Arc::default() };
        let shared = runtime.shared_registry().cloned();
        Self::load(file, ToolEntries { runtime, tool_factory }, disk, shared)
    }

    /// Registers a tool under a new name.
    pub async fn add(self: &Arc<Self>, registration: Registration) -> Result<Arc<Tool>, ChangeError> {
        self.install(&registration).await?;
        self.in_turn(move |me, turn| me.store(turn, registration, false).map(|(tool, _)| tool)).await
    }

    /// Registers a tool, instead of the one of its name if there is one; whether it is new.
    pub async fn put(self: &Arc<Self>, registration: Registration) -> Result<(Arc<Tool>, bool), ChangeError> {
        self.install(&registration).await?;
        self.in_turn(move |me, turn| me.store(turn, registration, true)).await
    }

    /// The same, if what is registered is still what the tag was given for: that of [`Registered::tag`].
    pub async fn put_seen(
        self: &Arc<Self>,
        registration: Registration,
        seen: Option<String>,
    ) -> Result<(Arc<Tool>, bool), ChangeError> {
        let Some(seen) = seen else { return self.put(registration).await };
        self.install(&registration).await?;
        self.in_turn(move |me, turn| {
            let name = tool_factory::canonical(&registration.entry.name).to_owned();
            let now = me.registered(&turn.state, &name)?.map(|found| found.tag());
            let fits =
                |now: &String| seen.split(',').any(|tag| matches!(tag.trim(), "*") || tag.trim() == now);
            if !now.as_ref().is_some_and(fits) {
                return Err(ChangeError::ChangedSince(name));
            }
            me.store(turn, registration, true)
        })
        .await
    }

    /// Publishes a draft: its version becomes 1.0.0.
    pub async fn publish(self: &Arc<Self>, name: &str) -> Result<Arc<Tool>, ChangeError> {
        let name = tool_factory::canonical(name).to_owned();
        self.in_turn(move |me, turn| me.release(turn, &name)).await
    }

    /// Removes a tool. Its script stays where it is.
    pub async fn remove(self: &Arc<Self>, name: &str) -> Result<(), ChangeError> {
        let name = tool_factory::canonical(name).to_owned();
        self.in_turn(move |me, turn| me.take_out(turn, &name)).await
    }

    /// The entries, as they are in use.
    pub async fn entries(&self) -> Vec<ToolEntry> {
        self.in_force(|state| state.tools.iter().map(|tool| tool.entry.clone()).collect()).await
    }

    /// Looks for the interpreter that scripts need, if any does, so that the first call does not have to.
    pub async fn warm_up(&self) {
        let is_python =
            |entry: &ToolEntry| entry.config.script_path.as_deref().is_some_and(|path| path.ends_with(".py"));
        if self.entries().await.iter().any(is_python)
            && let Err(error) = self.scripts().prepare().await
        {
            tracing::warn!(%error, "Python scripts cannot be run");
        }
    }

    /// The processes that run scripts.
    pub fn scripts(&self) -> &Scripts {
        &self.entries.tool_factory.scripts
    }
}
