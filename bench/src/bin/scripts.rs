//! What a script tool costs, in each way to write one: a warm call beside a bare pipe, a cold one beside the
//! interpreter's own start; and `python3 script.py` per call beside a warm one.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::{Value, json};
use toolroom_bench::call_of;
use toolroom_bench::figures::{Limit, heading, line};
use toolroom_bench::{median, principal, registrar, runtime};
use toolroom_contract::Principal;
use toolroom_runtime::Runtime;
use toolroom_runtime::registrar::Registrar;
use toolroom_worker::{CodeRequest, Language, Sandbox, SandboxLevel};

const CALLS: usize = 1_000;
const ROUNDS: usize = 5;
/// Starts of an interpreter, and tools that are called for the first time.
const STARTS: usize = 15;
/// Runs of code, with the sandbox and without it, in turns.
const CODE_RUNS: usize = 40;

/// `python3 script.py` for each call.
const PER_CALL: &str = "import json, sys\nparams = json.load(sys.stdin)\njson.dump({'sum': params['a'] + params['b']}, sys.stdout)\n";

/// A way to write a tool, and what it is compared with.
struct Kind {
    title: &'static str,
    program: &'static str,
    file: &'static str,
    source: &'static str,
    /// The function or tool of the file, where it is not `run`.
    entrypoint: Option<&'static str>,
    /// A program of the same interpreter: lines in, the same lines out. What two processes cost that do nothing else.
    bare: &'static str,
    /// An interpreter that starts and ends.
    nothing: [&'static str; 2],
    /// Microseconds that a warm call may add to the bare pipe.
    warm: f64,
    /// Milliseconds that a first call may add to the interpreter's own start.
    cold: f64,
}

const PYTHON_PIPE: &str = "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line)\n    sys.stdout.buffer.flush()\n";

const KINDS: [Kind; 3] = [
    Kind {
        title: "a Python tool",
        program: "python3",
        file: "add.py",
        source: "def run(params, context):\n    return {'sum': params['a'] + params['b']}\n",
        entrypoint: None,
        bare: PYTHON_PIPE,
        nothing: ["-c", "pass"],
        warm: 150.0,
        cold: 150.0,
    },
    Kind {
        title: "a typed Python tool",
        program: "python3",
        file: "add_typed.py",
        source: "from typing import TypedDict\n\nclass Sum(TypedDict):\n    sum: int\n\n\
                 def run(a: int, b: int) -> Sum:\n    return {'sum': a + b}\n",
        entrypoint: None,
        bare: PYTHON_PIPE,
        nothing: ["-c", "pass"],
        warm: 60.0,
        cold: 150.0,
    },
    Kind {
        title: "a TypeScript tool",
        program: "node",
        file: "add.ts",
        source: "import { defineTool } from 'toolroom';\n\
                 export default defineTool({ name: 'add', description: 'Adds two numbers.',\n\
                 parameters: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } },\n\
                 handler: ({ a, b }: { a: number, b: number }) => ({ sum: a + b }) });\n",
        entrypoint: Some("add"),
        bare: "process.stdin.on('data', (line) => process.stdout.write(line))",
        nothing: ["-e", "0"],
        warm: 60.0,
        cold: 60.0,
    },
];

fn main() -> Result<()> {
    toolroom_worker::enter_helper();
    tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(std::io::sink).init();
    let all = sched_getaffinity(None)?;
    let one = first_of(&all);
    // Children inherit where this thread may run, so that all that is compared is placed alike.
    for (placement, cores) in [("all on one core", one), ("on every core", all)] {
        sched_setaffinity(None, &cores)?;
        measure(placement)?;
    }
    Ok(())
}

fn measure(placement: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio.block_on(async {
        let home = TestHome::open(folder.path())?;
        home.registrar.scripts().prepare().await?;
        for kind in &KINDS {
            let program = interpreter(kind.program)?;
            warm(&home, kind, &program, placement).await?;
            cold(&home, kind, &program, placement).await?;
        }
        per_call(&home, placement).await?;
        code(&home, placement).await?;
        home.registrar.scripts().shutdown().await;
        anyhow::Ok(())
    })
}

async fn warm(home: &TestHome, kind: &Kind, program: &Path, placement: &str) -> Result<()> {
    let mut pipe = Pipe::open(kind, program)?;
    let (mut bare, mut called) = (Vec::new(), Vec::new());
    // In turns, and the middle round counts: the machine has faster and slower moments.
    for _ in 0..ROUNDS {
        bare.push(pipe.median()?);
        called.push(home.median(kind).await?);
    }
    let (bare, called) = (median(&mut bare), median(&mut called));
    heading(&format!("{}, warm, {placement}", kind.title));
    line("bare pipe to a process and back, median", micros(bare), "µs", Limit::None);
    line("call through the whole pipeline, journal on, median", micros(called), "µs", Limit::None);
    let added = micros(called) - micros(bare);
    line("what the pipeline, checks and journal add", added, "µs", Limit::AtMost(kind.warm));
    Ok(())
}

async fn cold(home: &TestHome, kind: &Kind, program: &Path, placement: &str) -> Result<()> {
    let mut own = repeat(STARTS, || start(program, &kind.nothing.map(Into::into)))?;
    let mut first = Vec::new();
    for number in 0..STARTS {
        first.push(home.call(&name(kind, number)).await?);
    }
    let (own, first) = (median(&mut own), median(&mut first));
    heading(&format!("{}, cold, {placement}", kind.title));
    line("the interpreter's own start, median", micros(own) / 1e3, "ms", Limit::None);
    line("first call of a tool, median", micros(first) / 1e3, "ms", Limit::None);
    line("what it adds", (micros(first) - micros(own)) / 1e3, "ms", Limit::AtMost(kind.cold));
    Ok(())
}

/// A warm call beside a process for each call.
async fn per_call(home: &TestHome, placement: &str) -> Result<()> {
    let python = interpreter("python3")?;
    let script = home.folder.join("per_call.py");
    std::fs::write(&script, PER_CALL)?;
    let called = home.median(&KINDS[0]).await?;
    let process = median(&mut repeat(STARTS, || start(&python, &[script.as_os_str().to_owned()]))?);
    heading(&format!("a process for each call, {placement}"));
    line("`python3 script.py` per call, median", micros(process) / 1e3, "ms", Limit::None);
    let times = process.as_secs_f64() / called.as_secs_f64();
    line("times faster a warm call is", times, "x", Limit::AtLeast(100.0));
    Ok(())
}

/// What the sandbox of `execute-code` costs beside the same code unconfined.
async fn code(home: &TestHome, placement: &str) -> Result<()> {
    let sandbox = Sandbox::new(home.registrar.scripts().clone(), home.folder.join("code"));
    let free = sandbox.clone().at_most(SandboxLevel::None).allow_unconfined(true);
    let request = CodeRequest::new(Language::Python, "print(1)");
    let (mut confined, mut unconfined) = (Vec::new(), Vec::new());
    for _ in 0..CODE_RUNS {
        for (sandbox, times) in [(&sandbox, &mut confined), (&free, &mut unconfined)] {
            let began = Instant::now();
            let output = sandbox.run_code(&request).await?;
            if output.exit_code != 0 {
                bail!("the code failed: {output:?}");
            }
            times.push(began.elapsed());
        }
    }
    let level = sandbox.probe().await?.level;
    let (confined, unconfined) = (median(&mut confined), median(&mut unconfined));
    heading(&format!("code, level {level:?}, {placement}"));
    line("unconfined, median", micros(unconfined) / 1e3, "ms", Limit::None);
    line("confined, median", micros(confined) / 1e3, "ms", Limit::None);
    line("what the sandbox adds", (micros(confined) - micros(unconfined)) / 1e3, "ms", Limit::AtMost(10.0));
    Ok(())
}

/// A runtime whose registry has the tool under many names.
struct TestHome {
    runtime: Arc<Runtime>,
    registrar: Arc<Registrar>,
    caller: Arc<Principal>,
    folder: PathBuf,
}

impl TestHome {
    fn open(folder: &Path) -> Result<Self> {
        let runtime = runtime(folder)?;
        let tools = KINDS.iter().flat_map(|kind| (0..=STARTS).map(move |number| entry(kind, number)));
        let entries: Vec<Value> = tools.collect();
        let registrar = registrar(folder, &runtime, &json!({ "tools": entries }).to_string())?;
        for kind in &KINDS {
            std::fs::write(folder.join("tools").join(kind.file), kind.source)?;
        }
        Ok(Self { runtime, registrar, caller: principal(), folder: folder.to_owned() })
    }

    async fn call(&self, tool: &str) -> Result<Duration> {
        let request = call_of(tool, json!({ "a": 1, "b": 2 }), &self.caller);
        let began = Instant::now();
        let reply = self.runtime.call(request).await;
        let took = began.elapsed();
        match reply.result.data() {
            Some(data) if data["sum"] == 3 => Ok(took),
            _ => bail!("the call failed: {:?}", reply.result),
        }
    }

    async fn median(&self, kind: &Kind) -> Result<Duration> {
        let warm = name(kind, STARTS);
        let mut times = Vec::with_capacity(CALLS);
        for turn in 0..CALLS + CALLS / 10 {
            let took = self.call(&warm).await?;
            // The first tenth warms up.
            if turn >= CALLS / 10 {
                times.push(took);
            }
        }
        Ok(median(&mut times))
    }
}

/// The same file under many names, each a tool of its own; the last one is called warm.
fn name(kind: &Kind, number: usize) -> String {
    format!("{}-{number}", kind.file.replace(['.', '_'], "-"))
}

fn entry(kind: &Kind, number: usize) -> Value {
    json!({
        "name": name(kind, number),
        "description": "Adds two numbers. Use it to measure what a call costs. Returns their sum.",
        "input_schema": {
            "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
            "required": ["a", "b"],
            "additionalProperties": false,
        },
        "output_schema": { "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"] },
        "config": { "script_path": kind.file, "entrypoint": kind.entrypoint },
    })
}

/// A process that gives back what it gets.
struct Pipe {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Pipe {
    fn open(kind: &Kind, program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        let mut child = command
            .args([kind.nothing[0], kind.bare])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, stdin, stdout })
    }

    fn median(&mut self) -> Result<Duration> {
        let mut times = Vec::with_capacity(CALLS);
        let mut answer = String::new();
        for turn in 0..CALLS + CALLS / 10 {
            answer.clear();
            let began = Instant::now();
            self.stdin.write_all(b"{\"a\":1,\"b\":2}\n")?;
            self.stdout.read_line(&mut answer)?;
            if turn >= CALLS / 10 {
                times.push(began.elapsed());
            }
        }
        Ok(median(&mut times))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The interpreter itself, past wrappers that would make its start look slow.
fn interpreter(program: &str) -> Result<PathBuf> {
    let tell = match program {
        "node" => ["-p", "process.execPath"],
        _ => ["-c", "import sys; print(sys.executable)"],
    };
    let asked = Command::new(program).args(tell).output()?;
    let path = PathBuf::from(String::from_utf8(asked.stdout)?.trim());
    if !path.is_file() {
        bail!("{program} was not found");
    }
    Ok(path)
}

/// How long one process takes from its start to its end.
fn start(program: &Path, arguments: &[std::ffi::OsString]) -> Result<Duration> {
    let began = Instant::now();
    let mut child =
        Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().context("no stdin")?.write_all(b"{\"a\": 1, \"b\": 2}").or_else(|error| {
        // A process that reads nothing may be gone before.
        if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
    })?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("{} failed", program.display());
    }
    Ok(began.elapsed())
}

fn repeat(times: usize, mut once: impl FnMut() -> Result<Duration>) -> Result<Vec<Duration>> {
    (0..times).map(|_| once()).collect()
}

fn first_of(cores: &CpuSet) -> CpuSet {
    let mut one = CpuSet::new();
    if let Some(first) = (0..CpuSet::MAX_CPU).find(|core| cores.is_set(*core)) {
        one.set(first);
    }
    one
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
