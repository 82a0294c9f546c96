//! What runs TypeScript and JavaScript: Node.js if it is new enough, else Bun, else Deno.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::ScriptError;
use crate::interpreter::{Interpreter, on_path};
use crate::spec::Settings;

/// The first that runs TypeScript as it is.
const OLDEST_NODE: (u32, u32) = (22, 18);

const MOVE_PIPES: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >&2"#;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Engine {
    Node,
    Bun,
    Deno,
}

/// A runtime that runs.
#[derive(Clone, Debug)]
pub(crate) struct JsRuntime {
    interpreter: Interpreter,
    engine: Engine,
}

impl JsRuntime {
    /// Blocks for the length of its start.
    pub(crate) fn find(settings: &Settings) -> Result<Self, ScriptError> {
        let path = settings.environment.get("PATH");
        let version = |program: &Path| {
            let mut command = Command::new(program);
            command.arg("--version").env_clear().envs(&settings.environment).stdin(Stdio::null());
            let output = command.output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).trim().trim_start_matches('v').to_owned())
        };
        let node = on_path(&settings.node, path);
        let found = node.as_ref().and_then(|node| version(node)).unwrap_or_default();
        let mut numbers = found.split('.').map_while(|part| part.parse::<u32>().ok());
        let is_new = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= OLDEST_NODE;
        let other = |name: &str, engine| {
            let program = on_path(Path::new(name), path).filter(|program| version(program).is_some())?;
            Some((program, engine))
        };
        let chosen = node.filter(|_| is_new).map(|node| (node, Engine::Node));
        let chosen = chosen.or_else(|| other("bun", Engine::Bun)).or_else(|| other("deno", Engine::Deno));
        let Some((program, engine)) = chosen else {
            let found = if found.is_empty() { "none".to_owned() } else { format!("Node.js {found}") };
            let program = format!("Node.js 22.18 or later, Bun or Deno (found: {found})");
            return Err(ScriptError::Interpreter { program });
        };
        let program = program.canonicalize()?;
        let interpreter =
            Interpreter { program, folders: Vec::new(), cache_tag: String::new(), version: Vec::new() };
        Ok(Self { interpreter, engine })
    }

    pub(crate) fn interpreter(&self) -> &Interpreter {
        &self.interpreter
    }

    /// The program with its own options. Memory is bounded by the heap, because WebAssembly reserves more address
    /// space than any limit would allow.
    pub(crate) fn command(&self, memory: Option<u64>) -> Vec<OsString> {
        let heap = memory.map(|bytes| format!("--max-old-space-size={}", bytes >> 20));
        let (options, heap): (&[&str], _) = match self.engine {
            Engine::Node => (&["--disable-wasm-trap-handler", "--disable-warning=ExperimentalWarning"], heap),
            Engine::Bun => (&[], None),
            // The box is ours; what Deno would ask a person about, nobody answers here.
            Engine::Deno => (
                &["run", "--allow-all", "--quiet", "--no-config", "--no-lock", "--node-modules-dir=manual"],
                heap.map(|heap| format!("--v8-flags={heap}")),
            ),
        };
        let program = OsString::from(self.interpreter.program.clone());
        std::iter::once(program)
            .chain(options.iter().map(OsString::from))
            .chain(heap.map(Into::into))
            .collect()
    }

    /// The shell's line that starts it, with its frames on 3 and 4: whatever a tool prints or reads must not touch them.
    pub(crate) fn shell_line(&self, memory: Option<u64>) -> String {
        match (self.engine, memory) {
            // It writes to no descriptor that it was given but 1, and captures what is printed.
            (Engine::Deno, _) => r#"exec "$@" 3<&0 </dev/null"#.to_owned(),
            // It has no option for its heap, but starts with a limit on its data, of which it takes 256 MiB for itself.
            (Engine::Bun, Some(bytes)) => format!("ulimit -d {}; {MOVE_PIPES}", (bytes + (256 << 20)) >> 10),
            _ => MOVE_PIPES.to_owned(),
        }
    }

    /// Where Bun looks for packages beside the folders above a script: it has no hooks as Node has.
    pub(crate) fn node_path(&self, module: &Path, packages: Option<&Path>) -> Option<String> {
        if self.engine != Engine::Bun {
            return None;
        }
        let folders = module.parent().map(Path::to_owned).into_iter();
        let folders = folders.chain(packages.map(|packages| packages.join("node_modules")));
        std::env::join_paths(folders).ok()?.into_string().ok()
    }
}
