//! Script processes: one-shot programs, warm Python and Node workers, and code in a sandbox.
//!
//! A process that this crate starts has its own session, environment and limits. Nothing of its tree is left behind,
//! however the call ends: dropping the future of a call is enough.

mod bootstrap;
mod cgroup;
mod child_setup;
mod cleaner;
mod confine;
mod containment;
mod content;
mod dependencies;
mod describe;
mod error;
mod frames;
mod installer;
mod interpreter;
mod js_runtime;
mod log_lines;
mod modules;
mod one_shot;
mod pool;
mod processes;
mod program;
mod python_version;
mod reaper;
mod sandbox;
mod scripts;
mod sink;
mod spawn;
mod spec;
mod start;
mod tree;
mod warm;

pub use confine::{EndedBy, Failed, Level as SandboxLevel, enter_helper};
pub use containment::Containment;
pub use content::{Block, CONTENT_LIMIT, Media};
pub use dependencies::Dependencies;
pub use describe::{Described, ReadError, ScriptFile};
pub use error::ScriptError;
pub use frames::{BadValue, Refusal};
pub use program::{Program, ProgramPipes, RunningProgram};
pub use sandbox::{
    BadPath, By, CodeFile, CodeOutput, CodeRequest, Confinement, Confiner, Found, Language, Openings, Sandbox,
};
pub use scripts::{Output, Scripts, WorkerCount};
pub use sink::{Asked, Level, Progress, Sink};
pub use spec::{Isolation, Kind, Limits, ScriptSpec, Settings};
pub use start::packages_in;
