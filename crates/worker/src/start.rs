//! What is started for a script: which program with which arguments, in the open or in a box.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::bootstrap;
use crate::confine::Level;
use crate::describe::ScriptFile;
use crate::error::ScriptError;
use crate::interpreter::Interpreter;
use crate::js_runtime::JsRuntime;
use crate::modules::Modules;
use crate::sandbox::{Openings, script_text};
use crate::scripts::Scripts;
use crate::spawn::Launch;
use crate::spec::{Kind, Limits, ScriptSpec};
use crate::warm::refuse_foreign_modules;

/// Where a worker finds what it needs.
struct Places {
    script: PathBuf,
    /// The folder of the module, if there is one.
    module: Option<PathBuf>,
}

impl Scripts {
    /// A worker that imports its script and then takes calls.
    pub(crate) async fn warm_worker(
        &self,
        spec: &ScriptSpec,
        for_one_call: bool,
    ) -> Result<Launch, ScriptError> {
        let mut launch = self.launch(spec)?;
        launch.cpu_for_life = for_one_call;
        let code = match &spec.sandbox {
            // In a box there is nothing beside the script.
            None => {
                refuse_foreign_modules(&spec.path)?;
                None
            }
            Some(openings) => Some((openings, script_text(&spec.path, openings)?)),
        };
        match &spec.kind {
            Kind::Node { tool } => {
                let node = self.node().await?;
                let places = self.place(&mut launch, spec, code, node.interpreter(), "node").await?;
                let (name, text) = source(&spec.path)?;
                let asked = self.environment(&name, &text).await?;
                let packages = asked.or_else(|| packages_in(&spec.root));
                if let (Some(world), Some(packages)) = (&mut launch.world, &packages) {
                    world.read.push(packages.join("node_modules"));
                }
                let cache = self.settings().cache.as_ref().filter(|_| spec.sandbox.is_none());
                let compiled = cache.map(|cache| cache.join("compiled-node"));
                node_arguments(&mut launch, node, &places, tool, packages.as_deref(), compiled.as_deref())
            }
            Kind::Python { entrypoint } => {
                let (name, text) = source(&spec.path)?;
                let python = self.python(&name, &text).await?;
                let places = self.place(&mut launch, spec, code, &python, "python").await?;
                python_arguments(&mut launch, &python, &places, entrypoint);
                Ok(())
            }
            Kind::Executable | Kind::Shell => Err(ScriptError::NotExecutable),
        }?;
        Ok(launch)
    }

    /// A worker that imports a script, tells its tools, and ends.
    pub(crate) async fn reader(
        &self,
        file: &ScriptFile,
        kind: &Kind,
        openings: &Openings,
        limits: Limits,
    ) -> Result<Launch, ScriptError> {
        let mut launch = self.bare(limits)?;
        launch.environment.remove("HOME");
        launch.environment.extend(file.env.clone());
        launch.cpu_for_life = true;
        let text = file.text.clone().into_bytes();
        match kind {
            Kind::Node { .. } => {
                let node = self.node().await?;
                launch.bound_address_space = false;
                let mut openings = openings.clone();
                let packages =
                    self.environment(&file.name, &file.text).await?.or_else(|| file.packages.clone());
                openings.read.extend(packages.as_ref().map(|folder| folder.join("node_modules")));
                let places =
                    self.enclose(&mut launch, &openings, node.interpreter(), (&file.name, text), "node");
                let places = places.await?;
                node_arguments(&mut launch, node, &places, "", packages.as_deref(), None)?;
            }
            _ => {
                let python = self.python(&file.name, &file.text).await?;
                let places =
                    self.enclose(&mut launch, openings, &python, (&file.name, text), "python").await?;
                if places.module.is_none() {
                    return Err(no_cache());
                }
                python_arguments(&mut launch, &python, &places, "");
            }
        }
        launch.arguments.push("describe".into());
        Ok(launch)
    }

    /// Where the process finds its script and the module; in its box, if it is to have one.
    async fn place(
        &self,
        launch: &mut Launch,
        spec: &ScriptSpec,
        code: Option<(&Openings, Vec<u8>)>,
        interpreter: &Interpreter,
        which: &str,
    ) -> Result<Places, ScriptError> {
        launch.bound_address_space = which == "python";
        let Some((openings, text)) = code else {
            let script = std::path::absolute(&spec.path)?;
            return Ok(Places { script, module: self.module(which).await? });
        };
        let ending = spec.path.extension().and_then(|ending| ending.to_str()).unwrap_or("py");
        self.enclose(launch, openings, interpreter, (&format!("script.{ending}"), text), which).await
    }

    async fn enclose(
        &self,
        launch: &mut Launch,
        openings: &Openings,
        interpreter: &Interpreter,
        code: (&str, Vec<u8>),
        which: &str,
    ) -> Result<Places, ScriptError> {
        let confiner = &self.settings().confiner;
        let script = confiner.enclose(launch, openings, Some(interpreter), Some(code)).await?;
        let mut module = self.module(which).await?;
        if let (Some(folder), Some(world)) = (&mut module, &mut launch.world) {
            if world.level == Level::Full {
                world.read.push(folder.clone());
            } else {
                // Its user may not be able to reach the home.
                let files = Modules::files(if which == "node" { "node" } else { "python" });
                world.files.extend(files.map(|(name, text)| (format!(".module/{name}"), text.into())));
                *folder = launch.workdir.join(".module");
                if which == "node" {
                    folder.push("toolroom");
                }
            }
        }
        Ok(Places { script, module })
    }

    async fn module(&self, which: &str) -> Result<Option<PathBuf>, ScriptError> {
        let Some(modules) = self.modules().await? else { return Ok(None) };
        Ok(Some(if which == "node" { modules.node() } else { modules.python() }))
    }

    /// What every process of a tool is started with.
    pub(crate) fn launch(&self, spec: &ScriptSpec) -> Result<Launch, ScriptError> {
        let mut launch = self.bare(spec.limits.clone())?;
        if spec.sandbox.is_some() {
            // The box has its own.
            launch.environment.remove("HOME");
        }
        launch.environment.extend(spec.env.clone());
        launch.workdir = std::path::absolute(&spec.workdir)?;
        Ok(launch)
    }

    fn bare(&self, limits: Limits) -> Result<Launch, ScriptError> {
        Ok(Launch {
            program: PathBuf::new(),
            arguments: Vec::new(),
            environment: self.settings().environment.clone(),
            workdir: PathBuf::new(),
            limits,
            bound_address_space: true,
            cpu_for_life: false,
            world: None,
            folder: None,
            alive: self.alive()?,
        })
    }
}

/// The name and the text of a script.
fn source(path: &Path) -> Result<(String, String), ScriptError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let text = std::fs::read(path).map_err(|_| ScriptError::Missing)?;
    Ok((name.to_owned(), String::from_utf8_lossy(&text).into_owned()))
}

/// The folder whose `node_modules` the scripts of a folder import from; it may be linked from elsewhere.
pub fn packages_in(folder: &Path) -> Option<PathBuf> {
    let modules = folder.join("node_modules").canonicalize().ok()?;
    modules.parent().map(Path::to_owned)
}

fn python_arguments(launch: &mut Launch, python: &Interpreter, places: &Places, entrypoint: &str) {
    launch.program = python.program.clone();
    let cpu = launch.limits.cpu_seconds.filter(|_| !launch.cpu_for_life);
    launch.arguments = ["-I", "-u", "-c", bootstrap::PYTHON].map(OsString::from).to_vec();
    launch.arguments.extend([
        places.script.clone().into(),
        entrypoint.into(),
        launch.limits.output.to_string().into(),
        cpu.unwrap_or(0).to_string().into(),
        places.module.clone().unwrap_or_default().into(),
    ]);
}

fn node_arguments(
    launch: &mut Launch,
    node: &JsRuntime,
    places: &Places,
    tool: &str,
    packages: Option<&Path>,
    compiled: Option<&Path>,
) -> Result<(), ScriptError> {
    let module = places.module.as_ref().ok_or_else(no_cache)?;
    launch.program = PathBuf::from("/bin/sh");
    let line = node.shell_line(launch.limits.memory);
    launch.arguments = ["-c", &line, "toolroom"].map(OsString::from).to_vec();
    launch.arguments.extend(node.command(launch.limits.memory));
    launch.arguments.extend([
        module.join("worker.js").into(),
        places.script.clone().into(),
        tool.into(),
        launch.limits.output.to_string().into(),
        packages.unwrap_or(Path::new("")).into(),
        compiled.unwrap_or(Path::new("")).into(),
    ]);
    if let Some(folders) = node.node_path(module, packages) {
        launch.environment.insert("NODE_PATH".to_owned(), folders);
    }
    // The system's own configuration cannot be read in a box, and Node would not start.
    launch.environment.entry("OPENSSL_CONF".to_owned()).or_insert_with(|| "/dev/null".to_owned());
    Ok(())
}

fn no_cache() -> ScriptError {
    ScriptError::System(std::io::Error::other("there is no folder for what workers import"))
}
