//! The entry point of the crate: calls of script tools, and the processes behind them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{OnceCell, mpsc, watch};

use crate::content::Block;
use crate::dependencies::{Dependencies, python_versions};
use crate::error::ScriptError;
use crate::interpreter::Interpreter;
use crate::js_runtime::JsRuntime;
use crate::modules::Modules;
use crate::one_shot;
use crate::pool::Tool;
use crate::python_version::PythonVersions;
use crate::reaper;
use crate::sandbox::script_text;
use crate::sink::Sink;
use crate::spawn::Launch;
use crate::spec::{Isolation, Kind, ScriptSpec, Settings};
use crate::tree::Alive;
use crate::warm::{Stamp, Warm};

/// A script's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// What it answered.
    pub data: Value,
    /// What it answered beside the data.
    pub content: Vec<Block>,
    /// Hints for the agent, as the script gave them.
    pub hints: Option<Value>,
    /// The answer of a program as it wrote it: nobody has looked yet for numbers that lose digits when they are read.
    pub written: Option<String>,
    /// Whether lines of its log were left out because there were too many.
    pub truncated: bool,
    /// The end of what came through stderr.
    pub stderr_tail: String,
}

/// The processes of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCount {
    /// The tool.
    pub tool: String,
    /// Calls that run.
    pub busy: usize,
    /// Warm workers that wait.
    pub idle: usize,
}

/// All script processes of this Toolroom. Clones share them.
#[derive(Clone)]
pub struct Scripts {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
    interpreter: OnceCell<Interpreter>,
    /// What runs scripts that ask for another version of Python.
    other_pythons: Mutex<HashMap<PythonVersions, Interpreter>>,
    node: OnceCell<JsRuntime>,
    modules: OnceCell<Modules>,
    tools: Mutex<HashMap<String, Arc<Tool>>>,
    /// `None` after shutdown.
    alive: Mutex<Option<Alive>>,
    all_gone: tokio::sync::Mutex<mpsc::Receiver<Infallible>>,
    stop: watch::Sender<bool>,
    janitor: OnceCell<()>,
}

impl Scripts {
    /// No processes yet: they start with the first calls. What an earlier Toolroom left behind when it
    /// was killed is ended.
    pub fn new(settings: Settings) -> Self {
        reaper::start();
        let (alive, all_gone) = mpsc::channel(1);
        let inner = Inner {
            settings,
            interpreter: OnceCell::new(),
            other_pythons: Mutex::default(),
            node: OnceCell::new(),
            modules: OnceCell::new(),
            tools: Mutex::default(),
            alive: Mutex::new(Some(alive)),
            all_gone: tokio::sync::Mutex::new(all_gone),
            stop: watch::Sender::new(false),
            janitor: OnceCell::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Runs a script tool. Dropping the future ends the script with everything it started.
    pub async fn call(
        &self,
        spec: &ScriptSpec,
        params: &Value,
        context: &Value,
        sink: &dyn Sink,
    ) -> Result<Output, ScriptError> {
        let stamp = Stamp::of(&spec.path, &spec.root)?;
        let tool = self.tool(spec);
        let work = async {
            let _busy = tool.enter().await?;
            match &spec.kind {
                Kind::Python { .. } | Kind::Node { .. } => {
                    self.call_warm(&tool, spec, stamp, (params, context), sink).await
                }
                Kind::Executable | Kind::Shell => {
                    one_shot::run(self.one_shot(spec, stamp, context).await?, params, sink)
                        .await
                        .map_err(|error| name_program(error, spec))
                }
            }
        };
        self.unless_stopped(work).await
    }

    /// The processes of each tool that has any, or had some.
    pub fn stats(&self) -> Vec<WorkerCount> {
        let mut counts: Vec<WorkerCount> = self
            .tools()
            .iter()
            .map(|(name, tool)| {
                let (busy, idle) = tool.count();
                WorkerCount { tool: name.clone(), busy, idle }
            })
            .collect();
        counts.sort_by(|a, b| a.tool.cmp(&b.tool));
        counts
    }

    /// Starts the interpreter once to find out where it is, so that the first call does not have to.
    pub async fn prepare(&self) -> Result<(), ScriptError> {
        self.interpreter().await.map(|_| ())
    }

    /// Ends the idle workers of a removed tool. Running and waiting calls may finish.
    pub fn forget(&self, tool: &str) {
        let tool = self.tools().remove(tool);
        if let Some(tool) = tool {
            tool.close();
        }
    }

    /// Ends every process, running calls included, and waits until none is left. No call starts after it.
    pub async fn shutdown(&self) {
        self.inner.stop.send_replace(true);
        self.inner.alive.lock().unwrap_or_else(PoisonError::into_inner).take();
        for tool in self.tools().values() {
            tool.close();
        }
        // Ends when the last tree has let go of its sender.
        let _ = self.inner.all_gone.lock().await.recv().await;
    }

    async fn call_warm(
        &self,
        tool: &Tool,
        spec: &ScriptSpec,
        stamp: Stamp,
        (params, context): (&Value, &Value),
        sink: &dyn Sink,
    ) -> Result<Output, ScriptError> {
        let user = match spec.isolation {
            Isolation::User => context.get("userId").and_then(Value::as_str),
            Isolation::Shared | Isolation::Call => None,
        };
        let kept = match spec.isolation {
            Isolation::Call => None,
            _ if lives_for_one_call(spec) => None,
            Isolation::Shared | Isolation::User => tool.take(spec, stamp, user),
        };
        let mut worker = match kept {
            Some(worker) => worker,
            None => {
                self.keep_tidy().await;
                let launch = self.warm_worker(spec, lives_for_one_call(spec)).await?;
                let about = (spec, stamp, user.map(str::to_owned));
                Warm::start(launch, about).await.map_err(|error| name_program(error, spec))?
            }
        };
        let answer = worker.call(params, context, sink).await;
        if !lives_for_one_call(spec) {
            tool.put(worker, spec, &self.inner.settings);
        }
        answer
    }

    async fn one_shot(
        &self,
        spec: &ScriptSpec,
        stamp: Stamp,
        context: &Value,
    ) -> Result<Launch, ScriptError> {
        let mut launch = self.launch(spec)?;
        let path = match &spec.sandbox {
            None => std::path::absolute(&spec.path)?,
            Some(openings) => {
                let code = ("script", script_text(&spec.path, openings)?);
                self.inner.settings.confiner.enclose(&mut launch, openings, None, Some(code)).await?
            }
        };
        launch.cpu_for_life = true;
        launch.environment.insert("TOOLROOM_CONTEXT".to_owned(), context.to_string());
        match spec.kind {
            Kind::Shell => {
                launch.program = PathBuf::from("/bin/sh");
                launch.arguments.push(path.into());
            }
            _ if stamp.mode & 0o111 == 0 => return Err(ScriptError::NotExecutable),
            _ => launch.program = path,
        }
        Ok(launch)
    }

    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    pub(crate) fn alive(&self) -> Result<Alive, ScriptError> {
        let alive = self.inner.alive.lock().unwrap_or_else(PoisonError::into_inner);
        alive.clone().ok_or(ScriptError::Stopped)
    }

    pub(crate) async fn interpreter(&self) -> Result<&Interpreter, ScriptError> {
        let find = || async {
            let settings = self.inner.settings.clone();
            match tokio::task::spawn_blocking(move || Interpreter::find(&settings)).await {
                Ok(found) => found,
                Err(error) => Err(ScriptError::System(error.into())),
            }
        };
        self.inner.interpreter.get_or_try_init(find).await
    }

    /// Installs the packages that a script asks for, unless they are there.
    pub async fn install(&self, file: &str, text: &str) -> Result<(), ScriptError> {
        let wanted = Dependencies::of(file, text)?;
        let is_python = file.ends_with(".py");
        let asks = is_python && (wanted.is_some() || python_versions(text)?.is_some());
        let python = if asks { Some(self.python_version(text).await?) } else { None };
        let Some(wanted) = wanted else { return Ok(()) };
        let cache =
            self.inner.settings.cache.clone().ok_or_else(|| ScriptError::Dependencies {
                reason: "there is no folder for them".to_owned(),
            })?;
        let settings = self.inner.settings.clone();
        let install =
            move || wanted.install(&wanted.folder(&cache, python.as_ref()), python.as_ref(), &settings);
        tokio::task::spawn_blocking(install)
            .await
            .unwrap_or_else(|error| Err(ScriptError::System(error.into())))
    }

    /// The environment with the packages that a script asks for; none if it asks for nothing.
    pub async fn environment(&self, file: &str, text: &str) -> Result<Option<PathBuf>, ScriptError> {
        let (Some(wanted), Some(cache)) = (Dependencies::of(file, text)?, &self.inner.settings.cache) else {
            return Ok(None);
        };
        let python = if file.ends_with(".py") { Some(self.python_version(text).await?) } else { None };
        let folder = wanted.folder(cache, python.as_ref());
        match folder.canonicalize() {
            Ok(folder) => Ok(Some(folder)),
            Err(_) => {
                let reason = format!(
                    "{} are not installed; update the tool to install them",
                    wanted.requirements.join(", ")
                );
                Err(ScriptError::Dependencies { reason })
            }
        }
    }

    /// The Python that a script asks for, with its packages.
    pub(crate) async fn python(&self, file: &str, text: &str) -> Result<Interpreter, ScriptError> {
        let packages = self.environment(file, text).await?;
        Ok(self.python_version(text).await?.with_packages(packages))
    }

    /// The configured Python, or one of the versions that a script asks for.
    async fn python_version(&self, text: &str) -> Result<Interpreter, ScriptError> {
        let configured = self.interpreter().await;
        let Some(versions) = python_versions(text)? else { return configured.cloned() };
        if let Ok(python) = configured
            && versions.take(&python.version)
        {
            return Ok(python.clone());
        }
        let known = || self.inner.other_pythons.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(python) = known().get(&versions) {
            return Ok(python.clone());
        }
        let (settings, wanted) = (self.inner.settings.clone(), versions.clone());
        let modules = self.modules().await?.cloned();
        let find = move || {
            let found = Interpreter::find_version(&wanted, &settings)?;
            if let Some(modules) = modules {
                modules.compile(&found);
            }
            Some(found)
        };
        let found = tokio::task::spawn_blocking(find).await;
        let Some(found) = found.map_err(|error| ScriptError::System(error.into()))? else {
            let numbers =
                configured.map(|python| python.version.iter().map(u32::to_string).collect::<Vec<_>>());
            let found = numbers.map_or_else(|_| "none".to_owned(), |numbers| numbers.join("."));
            return Err(ScriptError::PythonVersion { wanted: versions.to_string(), found });
        };
        known().insert(versions, found.clone());
        Ok(found)
    }

    /// What runs TypeScript and JavaScript.
    pub(crate) async fn node(&self) -> Result<&JsRuntime, ScriptError> {
        let find = || async {
            let settings = self.inner.settings.clone();
            let found = tokio::task::spawn_blocking(move || JsRuntime::find(&settings));
            found.await.unwrap_or_else(|error| Err(ScriptError::System(error.into())))
        };
        self.inner.node.get_or_try_init(find).await
    }

    /// Where the `toolroom` modules for Python and Node are, for editors and tests: the folder that Python is to look
    /// in, and the package itself.
    pub async fn module_folders(&self) -> Result<Option<(PathBuf, PathBuf)>, ScriptError> {
        Ok(self.modules().await?.map(|modules| (modules.python(), modules.node())))
    }

    /// The modules that workers import, on the disk; none without a folder for them.
    pub(crate) async fn modules(&self) -> Result<Option<&Modules>, ScriptError> {
        let Some(cache) = &self.inner.settings.cache else { return Ok(None) };
        let unpack = || async {
            let cache = cache.clone();
            // Without Python there may still be tools in Node.
            let python = self.interpreter().await.ok().cloned();
            let unpacked = tokio::task::spawn_blocking(move || {
                let modules = Modules::unpack(&cache)?;
                if let Some(python) = python {
                    modules.compile(&python);
                }
                Ok(modules)
            });
            unpacked.await.unwrap_or_else(|error| Err(error.into())).map_err(ScriptError::System)
        };
        self.inner.modules.get_or_try_init(unpack).await.map(Some)
    }

    pub(crate) async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, ScriptError>>,
    ) -> Result<T, ScriptError> {
        let mut stop = self.inner.stop.subscribe();
        tokio::select! {
            biased;
            result = work => result,
            _ = stop.wait_for(|stopped| *stopped) => Err(ScriptError::Stopped),
        }
    }

    fn tool(&self, spec: &ScriptSpec) -> Arc<Tool> {
        let mut tools = self.tools();
        match tools.get(&spec.name) {
            Some(tool) if tool.parallel == spec.parallel.max(1) => Arc::clone(tool),
            _ => {
                let tool = Arc::new(Tool::new(spec.parallel));
                tools.insert(spec.name.clone(), Arc::clone(&tool));
                tool
            }
        }
    }

    fn tools(&self) -> MutexGuard<'_, HashMap<String, Arc<Tool>>> {
        self.inner.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has idle workers ended in time, from the first worker on.
    async fn keep_tidy(&self) {
        let start = || async {
            let inner = Arc::downgrade(&self.inner);
            let idle_timeout = self.inner.settings.idle_timeout;
            let pause = (idle_timeout / 4).clamp(Duration::from_millis(10), Duration::from_secs(30));
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(pause).await;
                    let Some(inner) = inner.upgrade() else { return };
                    for tool in inner.tools.lock().unwrap_or_else(PoisonError::into_inner).values() {
                        tool.prune(idle_timeout);
                    }
                }
            });
        };
        self.inner.janitor.get_or_init(start).await;
    }
}

/// Whether a worker is for one call though it could be kept: in a box a process cannot raise its own limit of CPU
/// time from call to call, and Node cannot at all.
fn lives_for_one_call(spec: &ScriptSpec) -> bool {
    let fixed = spec.sandbox.is_some() || matches!(spec.kind, Kind::Node { .. });
    fixed && spec.limits.cpu_seconds.is_some()
}

/// The system's refusal to run a file, in terms of the tool.
fn name_program(error: ScriptError, spec: &ScriptSpec) -> ScriptError {
    match error {
        ScriptError::System(error) if error.raw_os_error() == Some(libc::ENOEXEC) => {
            ScriptError::NotExecutable
        }
        ScriptError::System(error) if error.kind() == ErrorKind::PermissionDenied => {
            ScriptError::NotExecutable
        }
        // The script itself was there a moment ago.
        ScriptError::System(error) if error.kind() == ErrorKind::NotFound => {
            let program = match spec.kind {
                Kind::Shell => "/bin/sh",
                Kind::Python { .. } => "python3",
                Kind::Node { .. } => "node",
                Kind::Executable => "that its first line names",
            };
            ScriptError::Interpreter { program: program.to_owned() }
        }
        other => other,
    }
}
