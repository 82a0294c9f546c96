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
use toolroom_worker::{CodeOutput, CodeRequest, InForce, Limits, Sandbox, ScriptError};

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
    /// 0 is success; above 128, 128 and the number of the signal that ended it.
    exit_code: i32,
    /// Files that it made or changed in its working folder.
    files: Vec<FileOut>,
    /// Whether output or files were cut off.
    truncated: bool,
    /// What held the code back on this system.
    sandbox: Held,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Held {
    /// The code reads nothing but the system's programs and writes nothing but its working folder.
    files_confined: bool,
    /// The code has no way to any network.
    no_network: bool,
    /// The code can neither signal nor look into other processes.
    processes_confined: bool,
    /// The number of its processes is bounded.
    processes_bounded: bool,
    /// The version of Landlock in this kernel; 0 is none.
    landlock: i32,
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
            format!("There is no {program} on this machine: install Python 3, or use the language shell."),
        ),
        ScriptError::Stopped => {
            ToolError::new(ErrorCode::ServiceUnavailable, "Toolroom is stopping.").retry_after_ms(5000)
        }
        _ => ToolError::new(ErrorCode::ToolExecutionError, "The code could not be started.").caused_by(error),
    }
}

/// Nothing that the code did outlives it, so that the outcome is not in doubt.
fn timed_out(params: &Params, output: CodeOutput) -> ToolError {
    let message = format!(
        "The code did not end within {} s, and was stopped; data has what it wrote until then.",
        params.timeout
    );
    ToolError::new(ErrorCode::ToolTimeout, message)
        .with_data(json!({
            "stdout": output.stdout, "stderr": output.stderr, "exitCode": output.exit_code,
        }))
        .with_next(again("Make the code quicker or its work smaller, or give it a longer timeout."))
}

fn hints(output: &CodeOutput) -> HintsDraft {
    let mut hints = HintsDraft::default();
    if output.exit_code != 0 {
        let said = output.stderr.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let said: String = said.unwrap_or("it wrote nothing to stderr").chars().take(300).collect();
        let message = format!("The code failed with exit code {}: {said}", output.exit_code);
        hints = hints.next(again("Mend the code by what stderr says, and run it again.")).warn(Warning {
            suggested_fix: Some("Mend the code by what stderr says, and run it again.".into()),
            ..Warning::new(WarningKind::Validation, Severity::High, message)
        });
    }
    if output.truncated {
        let message =
            "Output or files were cut off. Code that prints too much is ended: print less, or write files.";
        hints = hints.warn(Warning::new(WarningKind::Performance, Severity::Medium, message));
    }
    if !output.sandbox.files || !output.sandbox.no_network() {
        let message = "This kernel cannot confine the code fully: see data.sandbox.";
        hints = hints.warn(Warning::new(WarningKind::Validation, Severity::High, message));
    }
    hints
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

impl From<InForce> for Held {
    fn from(found: InForce) -> Self {
        Self {
            files_confined: found.files,
            no_network: found.no_network(),
            processes_confined: found.signals,
            processes_bounded: found.processes,
            landlock: found.landlock,
        }
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
        "filesConfined": true, "noNetwork": true, "processesConfined": true, "processesBounded": true, "landlock": 7
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
