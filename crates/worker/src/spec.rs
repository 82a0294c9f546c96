//! What a script tool is, and how script processes are kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::sandbox::{Confiner, Openings};

/// A script tool, as its entry describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptSpec {
    /// The tool's name: workers are kept by it.
    pub name: String,
    /// The folder of all scripts: it and every folder from there to the script must be the owner's alone.
    pub root: PathBuf,
    /// The script file.
    pub path: PathBuf,
    /// How it is run.
    pub kind: Kind,
    /// Environment variables beyond [`Settings::environment`].
    pub env: BTreeMap<String, String>,
    /// What it may use.
    pub limits: Limits,
    /// How many calls may run at the same time; 1 unless the tool is `parallel_capable`.
    pub parallel: usize,
    /// Who shares a warm worker.
    pub isolation: Isolation,
    /// The working folder; made if it does not exist. A confined script has its own temporary one instead.
    pub workdir: PathBuf,
    /// The box to run it in, if any; it then never runs without.
    pub sandbox: Option<Openings>,
}

/// How a script is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Python file with a function `entrypoint(params, context)`, kept warm.
    Python {
        /// The function, `run` by convention.
        entrypoint: String,
    },
    /// A TypeScript or JavaScript file that exports tools, kept warm.
    Node {
        /// The name of the tool.
        tool: String,
    },
    /// A program: parameters as JSON on stdin, the answer as JSON on stdout.
    Executable,
    /// The same for a file that `sh` reads.
    Shell,
}

/// Who shares a warm worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// All callers of the tool.
    #[default]
    Shared,
    /// The calls of one user, told by `userId` of the context.
    User,
    /// Nobody: every call starts a new process.
    Call,
}

/// What one script process and its children may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Address space of each process in bytes; of the whole tree where a memory cgroup is available.
    pub memory: Option<u64>,
    /// Seconds of CPU time, for each call.
    pub cpu_seconds: Option<u64>,
    /// Open files of each process.
    pub open_files: u64,
    /// Processes and threads of the tree.
    pub processes: u64,
    /// Size of each file written, in bytes.
    pub file_size: Option<u64>,
    /// Bytes of answer.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: Some(4 << 30),
            cpu_seconds: None,
            open_files: 1024,
            processes: 256,
            file_size: Some(4 << 30),
            output: 1 << 20,
        }
    }
}

/// How script processes are started and kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The whole environment of a script, without what its entry names.
    pub environment: BTreeMap<String, String>,
    /// The Python interpreter: a path, or a name to be found on the PATH of `environment`.
    pub python: PathBuf,
    /// Node.js, likewise; Bun or Deno if it is too old or missing.
    pub node: PathBuf,
    /// Where what workers import is unpacked to. Without it tools can be neither typed nor in Node.
    pub cache: Option<PathBuf>,
    /// A worker without calls for this long is ended.
    pub idle_timeout: Duration,
    /// A worker is replaced after this many calls.
    pub calls_per_worker: u32,
    /// Idle workers kept for one tool when each user has their own.
    pub idle_user_workers: usize,
    /// Makes the boxes of scripts that have one.
    pub confiner: Confiner,
}

impl Settings {
    /// Settings with PATH, HOME, LANG and TZ of this process, which is all that scripts inherit.
    pub fn from_environment() -> Self {
        let mut environment: BTreeMap<String, String> = ["PATH", "HOME", "LANG", "TZ"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
            .collect();
        environment.entry("PATH".to_owned()).or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
        Self {
            environment,
            python: PathBuf::from("python3"),
            node: PathBuf::from("node"),
            cache: None,
            idle_timeout: Duration::from_secs(300),
            // Node compiles what is hot only after some thousand calls: replaced after 1,000, a TypeScript tool took
            // 20 µs longer for each.
            calls_per_worker: 10_000,
            idle_user_workers: 8,
            confiner: Confiner::default(),
        }
    }
}
