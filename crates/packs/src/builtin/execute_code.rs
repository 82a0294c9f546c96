//! `execute-code`: runs Python or shell code in a sandbox, always in a fresh process.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Semaphore;
use toolroom_contract::definition::{Example, Varies};
use toolroom_contract::entry::EntryLimits;
use toolroom_contract::handler::{NativeTool, Reply, Shapes, Typed};
use toolroom_contract::hints::{Severity, Warning, WarningKind};
use toolroom_contract::{
    ErrorCode, Handler, HintsDraft, Permission, Priority, ResponseTime, SuggestedAction, ToolContext,
    ToolDefinition, ToolError,
};
use toolroom_worker::{
    By, CodeOutput, CodeRequest, Confinement, EndedBy, Limits, Sandbox, SandboxLevel, ScriptError,
};

use super::Make;
use super::code_files::{FileIn, FileOut};

struct ExecuteCode {
    sandbox: Sandbox,
    /// What the entry sets beyond the usual.
    limits: EntryLimits,
    /// Code may use a core and a gigabyte each: those that come together wait for each other.
    slots: Semaphore,
}

/// Bytes of stdout and of stderr that are brought back. What an agent reads is paid for by the word.
const OUTPUT: usize = 64 << 10;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// The whole program. What it prints comes back in stdout.
    #[schemars(length(min = 1, max = 200_000))]
    code: String,
    /// The language of the code.
    #[serde(default)]
    language: Language,
    /// Files that the code finds in its working folder.
    #[serde(default)]
    #[schemars(length(max = 20))]
    files: Vec<FileIn>,
    /// Seconds that the code may run; the tool's own timeout bounds it too.
    #[serde(default = "half_a_minute")]
    #[schemars(range(min = 0.1, max = 3600.0))]
    timeout: f64,
}

fn half_a_minute() -> f64 {
    30.0
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Language {
    #[default]
    Python,
    Shell,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// What the code printed.
    stdout: String,
    /// What it printed to stderr, tracebacks among it.
    stderr: String,
    /// 0: code that ends with another number is a failed call.
    exit_code: i32,
    /// Files that it made or changed in its working folder.
    files: Vec<FileOut>,
    /// Whether output or files were cut off.
    truncated: bool,
    /// What held the code back on this system.
    sandbox: Held,
}

/// Each promise of the sandbox, and who keeps it: `kernel`, `watched` (looked at every 20 ms) or `none`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Held {
    /// `full`, `partial`, or `none` where the owner allowed that.
    level: &'static str,
    /// The code reads nothing but the system's programs and writes nothing but its working folder.
    files: &'static str,
    /// The code has no way to any network.
    network: &'static str,
    /// The code can neither signal, change nor look into other processes.
    processes: &'static str,
    /// The memory of all its processes together.
    memory: MemoryHeld,
    /// What it can have written at any time.
    disk: DiskHeld,
    /// Its processes and threads.
    tasks: TasksHeld,
    /// CPU time of all its processes together.
    cpu: CpuHeld,
    /// Nothing of it is left once it has ended.
    end: &'static str,
    /// What it can see of the host without reading it.
    visible: Vec<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct MemoryHeld {
    /// Bytes.
    limit: Option<u64>,
    by: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct DiskHeld {
    /// Bytes.
    limit: Option<u64>,
    /// Files and folders.
    files: Option<u64>,
    by: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct TasksHeld {
    limit: u64,
    by: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct CpuHeld {
    seconds: Option<u64>,
    by: &'static str,
}

impl NativeTool for ExecuteCode {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, _: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let request = request(&params, &self.limits)?;
        let _slot = self.slots.acquire().await.map_err(ToolError::internal)?;
        let output = self.sandbox.run_code(&request).await.map_err(|error| refusal(error, &params))?;
        if output.timed_out {
            return Err(timed_out(&params, output));
        }
        if output.exit_code != 0 || output.ended_by.is_some() {
            return Err(failed(output, &request));
        }
        let hints = hints(&output);
        Ok(Reply::new(output.into(), hints))
    }
}

fn request(params: &Params, limits: &EntryLimits) -> Result<CodeRequest, ToolError> {
    let language = match params.language {
        Language::Python => toolroom_worker::Language::Python,
        Language::Shell => toolroom_worker::Language::Shell,
    };
    let mut request = CodeRequest::new(language, params.code.as_str());
    request.limits = limited(request.limits, limits);
    request.timeout = Some(Duration::from_secs_f64(params.timeout));
    for (at, file) in params.files.iter().enumerate() {
        request.files.push((file.path.clone(), file.bytes(at)?));
    }
    Ok(request)
}

fn limited(usual: Limits, given: &EntryLimits) -> Limits {
    Limits {
        memory: given.memory.or(usual.memory),
        cpu_seconds: given.cpu_seconds.or(usual.cpu_seconds),
        open_files: given.open_files.unwrap_or(usual.open_files),
        processes: given.processes.unwrap_or(usual.processes),
        file_size: given.file_size.or(usual.file_size),
        output: given.output.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(OUTPUT),
    }
}

fn refusal(error: ScriptError, params: &Params) -> ToolError {
    match &error {
        ScriptError::BadFileName { name } => {
            let at = params.files.iter().position(|file| file.path == *name).unwrap_or_default();
            let message = "must be a relative path that stays in the working folder";
            ToolError::invalid(format!("/files/{at}/path"), message)
        }
        ScriptError::Interpreter { program } => ToolError::new(
            ErrorCode::NotConfigured,
            format!(
                "{program} is not installed on this machine: install Python 3, or use the language shell."
            ),
        ),
        ScriptError::Stopped => {
            ToolError::new(ErrorCode::ServiceUnavailable, "Toolroom is stopping.").retry_after_ms(5000)
        }
        ScriptError::Unconfined { reason } => ToolError::new(
            ErrorCode::NotConfigured,
            format!(
                "The code was not run, because this system has no sandbox for it: {reason}. See `toolroom doctor`."
            ),
        ),
        ScriptError::Sandbox(failed) => ToolError::new(
            ErrorCode::ToolExecutionError,
            format!("The sandbox could not be set up ({failed}); nothing was run. See `toolroom doctor`."),
        ),
        _ => ToolError::new(ErrorCode::ToolExecutionError, "The code could not be started.").caused_by(error),
    }
}

/// Nothing that the code did outlives it, so that the outcome is not in doubt.
fn timed_out(params: &Params, output: CodeOutput) -> ToolError {
    let message = format!(
        "The code did not finish within {} s and was stopped; data has what it wrote until then.",
        params.timeout
    );
    ToolError::new(ErrorCode::ToolTimeout, message)
        .with_data(written(output))
        .with_next(again("Make the code quicker or its work smaller, or give it a longer timeout."))
}

/// Code that fails is a failed call, with what it wrote: nobody may take it for something done.
fn failed(output: CodeOutput, request: &CodeRequest) -> ToolError {
    let limits = &request.limits;
    let mib = |bytes: u64| bytes >> 20;
    let (code, message, fix) = match output.ended_by {
        Some(EndedBy::Memory) => (
            ErrorCode::ToolExecutionError,
            format!(
                "The code used more than {} MiB of memory and was stopped.",
                mib(limits.memory.unwrap_or(0))
            ),
            "Use less memory, for example by working on one part after another.",
        ),
        Some(EndedBy::Disk) => (
            ErrorCode::ToolExecutionError,
            format!(
                "The code wrote more than allowed ({} MiB in total) and was stopped.",
                mib(request.disk.0)
            ),
            "Write less, or remove what is no longer needed.",
        ),
        Some(EndedBy::Cpu) => (
            ErrorCode::ToolExecutionError,
            format!(
                "The code used more than {} s of CPU time and was stopped.",
                limits.cpu_seconds.unwrap_or(0)
            ),
            "Make the code quicker or its work smaller.",
        ),
        Some(EndedBy::Output) => (
            ErrorCode::OutputTooLarge,
            format!("The code printed more than {} bytes and was stopped.", limits.output),
            "Print less, or write files.",
        ),
        Some(EndedBy::Time) | None => {
            let said = output.stderr.lines().rev().map(str::trim).find(|line| !line.is_empty());
            let said: String = said.unwrap_or("it wrote nothing to stderr").chars().take(300).collect();
            (
                ErrorCode::ToolExecutionError,
                format!("The code failed with exit code {}: {said}", output.exit_code),
                "Fix the code as stderr says, and run it again.",
            )
        }
    };
    ToolError::new(code, message).with_data(written(output)).with_next(again(fix))
}

/// What failed code leaves behind.
fn written(output: CodeOutput) -> serde_json::Value {
    let mut data = json!({
        "stdout": output.stdout, "stderr": output.stderr, "exitCode": output.exit_code,
        "truncated": output.truncated, "sandbox": Held::from(output.sandbox),
    });
    if let (Some(data), Some(by)) = (data.as_object_mut(), output.ended_by) {
        data.insert("endedBy".into(), json!(by));
    }
    data
}

fn hints(output: &CodeOutput) -> HintsDraft {
    let mut hints = HintsDraft::default();
    if output.truncated {
        let message = "Files were left out because there are too many or they are too large.";
        hints = hints.warn(Warning::new(WarningKind::Performance, Severity::Medium, message));
    }
    match output.sandbox.level {
        SandboxLevel::Full => hints,
        SandboxLevel::Partial => {
            let message = "The code was only partly confined: it could see names and processes of the host.";
            hints.warn(Warning::new(WarningKind::Validation, Severity::Low, message))
        }
        SandboxLevel::None => {
            let message = "The code ran unconfined, because the owner set allow_unconfined: it could read and change everything that the server can.";
            hints.warn(Warning::new(WarningKind::Validation, Severity::High, message))
        }
    }
}

fn again(why: &str) -> SuggestedAction {
    SuggestedAction::new("execute-code", Priority::High).described(why)
}

impl From<CodeOutput> for Output {
    fn from(output: CodeOutput) -> Self {
        Self {
            stdout: output.stdout,
            stderr: output.stderr,
            exit_code: output.exit_code,
            files: output.files.into_iter().map(FileOut::from).collect(),
            truncated: output.truncated,
            sandbox: output.sandbox.into(),
        }
    }
}

impl From<Confinement> for Held {
    fn from(found: Confinement) -> Self {
        Self {
            level: match found.level {
                SandboxLevel::Full => "full",
                SandboxLevel::Partial => "partial",
                SandboxLevel::None => "none",
            },
            files: word(found.files),
            network: word(found.network),
            processes: word(found.processes),
            memory: MemoryHeld { limit: found.memory.limit, by: word(found.memory.by) },
            disk: DiskHeld { limit: found.disk.limit, files: found.disk.files, by: word(found.disk.by) },
            tasks: TasksHeld { limit: found.tasks.limit, by: word(found.tasks.by) },
            cpu: CpuHeld { seconds: found.cpu.seconds, by: word(found.cpu.by) },
            end: word(found.end),
            visible: found.visible,
        }
    }
}

fn word(by: By) -> &'static str {
    match by {
        By::Kernel => "kernel",
        By::Watched => "watched",
        By::None => "none",
    }
}

const DESCRIPTION: &str = "Runs a Python or shell program in a sandbox and returns what it printed, its exit \
code and the files it made. Use it for arithmetic, dates, data processing, text and file conversion, or to try \
code out: whatever is better computed than guessed. Do not use it to look things up on the web (it has no \
network; use search-web), to reach the user's own files (send what it needs in files), or for what you can say \
without computing. Every run starts fresh: nothing is kept between runs. Only the standard library is sure to be \
there. Print the result.";

pub(super) fn tool(sandbox: Sandbox) -> (ToolDefinition, Make) {
    let held = json!({
        "level": "full", "files": "kernel", "network": "kernel", "processes": "kernel",
        "memory": { "limit": 1_073_741_824, "by": "watched" },
        "disk": { "limit": 268_435_456, "files": 20_000, "by": "kernel" },
        "tasks": { "limit": 64, "by": "kernel" }, "cpu": { "seconds": 60, "by": "watched" },
        "end": "kernel", "visible": []
    });
    let definition = ToolDefinition {
        permissions: Permission::new("code", "execute").into_iter().collect(),
        parameters: Shapes::<ExecuteCode>::parameters(),
        output: Some(Shapes::<ExecuteCode>::output()),
        response_time: ResponseTime::Medium,
        timeout: Some(60.0),
        examples: vec![
            Example::new(
                "A sum in Python",
                &json!({ "code": "print(sum(range(101)))" }),
                json!({
                    "stdout": "5050\n", "stderr": "", "exitCode": 0, "files": [], "truncated": false,
                    "sandbox": held
                }),
            )
            .varying([("/sandbox", Varies::Any)]),
            Example::new(
                "A shell command on a file that is sent along, with a file as the result",
                &json!({
                    "code": "sort names.txt > sorted.txt", "language": "shell",
                    "files": [{ "path": "names.txt", "content": "Bo\nAda\n" }]
                }),
                json!({
                    "stdout": "", "stderr": "", "exitCode": 0, "truncated": false, "sandbox": held,
                    "files": [{ "path": "sorted.txt", "size": 7, "content": "Ada\nBo\n" }]
                }),
            )
            .varying([("/sandbox", Varies::Any)]),
        ],
        tags: ["code", "python", "shell", "compute", "data"].map(String::from).to_vec(),
        ..ToolDefinition::mutation("execute-code", DESCRIPTION)
    };
    let make = move |limits: &EntryLimits| -> Arc<dyn Handler> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Arc::new(Typed(ExecuteCode {
            sandbox: sandbox.clone(),
            limits: limits.clone(),
            slots: Semaphore::new(cores.max(2)),
        }))
    };
    (definition, Box::new(make))
}
