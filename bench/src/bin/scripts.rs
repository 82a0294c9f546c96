//! What a script tool costs: a warm Python call beside a bare pipe, a cold one beside the interpreter's own start,
//! and `python3 script.py` per call beside both.
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

const TOOL: &str = "def run(params, context):\n    return {'sum': params['a'] + params['b']}\n";
/// Lines in, the same lines out: what two processes cost that do nothing else.
const BARE: &str = "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line)\n    sys.stdout.buffer.flush()\n";
const PER_CALL: &str = "import json, sys\nparams = json.load(sys.stdin)\njson.dump({'sum': params['a'] + params['b']}, sys.stdout)\n";

fn main() -> Result<()> {
    toolroom_worker::enter_helper();
    tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(std::io::sink).init();
    let python = interpreter()?;
    let all = sched_getaffinity(None)?;
    let one = first_of(&all);
    // Children inherit where this thread may run, so that all that is compared is placed alike.
    for (placement, cores) in [("all on one core", one), ("on every core", all)] {
        sched_setaffinity(None, &cores)?;
        measure(&python, placement)?;
    }
    Ok(())
}

fn measure(python: &Path, placement: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio.block_on(async {
        let home = TestHome::open(folder.path())?;
        home.registrar.scripts().prepare().await?;
        warm(&home, python, placement).await?;
        cold(&home, python, placement).await?;
        code(&home, placement).await?;
        home.registrar.scripts().shutdown().await;
        anyhow::Ok(())
    })
}

async fn warm(home: &TestHome, python: &Path, placement: &str) -> Result<()> {
    let mut pipe = Pipe::open(python)?;
    let script = home.folder.join("per_call.py");
    std::fs::write(&script, PER_CALL)?;
    let (mut bare, mut called, mut per_call) = (Vec::new(), Vec::new(), Vec::new());
    // In turns, and the middle round counts: the machine has faster and slower moments.
    for _ in 0..ROUNDS {
        bare.push(pipe.median()?);
        called.push(home.median().await?);
        per_call.push(median(&mut repeat(STARTS, || start(python, &[script.as_os_str().to_owned()]))?));
    }
    let (bare, called, per_call) = (median(&mut bare), median(&mut called), median(&mut per_call));
    heading(&format!("a Python tool, warm, {placement}"));
    line("bare pipe to a Python process and back, median", micros(bare), "µs", Limit::None);
    line("call through the whole pipeline, journal on, median", micros(called), "µs", Limit::None);
    line(
        "what the pipeline, checks and journal add",
        micros(called) - micros(bare),
        "µs",
        Limit::AtMost(150.0),
    );
    line("`python3 script.py` per call, median", micros(per_call) / 1e3, "ms", Limit::None);
    let times = per_call.as_secs_f64() / called.as_secs_f64();
    line("times faster than a process per call", times, "x", Limit::AtLeast(100.0));
    Ok(())
}

async fn cold(home: &TestHome, python: &Path, placement: &str) -> Result<()> {
    let nothing = ["-c".into(), "pass".into()];
    let mut own = repeat(STARTS, || start(python, &nothing))?;
    let mut first = Vec::new();
    for number in 0..STARTS {
        first.push(home.call(&format!("cold-{number}")).await?);
    }
    let (own, first) = (median(&mut own), median(&mut first));
    heading(&format!("a Python tool, cold, {placement}"));
    line("the interpreter's own start, median", micros(own) / 1e3, "ms", Limit::None);
    line("first call of a tool, median", micros(first) / 1e3, "ms", Limit::None);
    line("what it adds", (micros(first) - micros(own)) / 1e3, "ms", Limit::AtMost(150.0));
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
        let names = (0..STARTS).map(|number| format!("cold-{number}")).chain(["warm".to_owned()]);
        let entries: Vec<Value> = names.map(|name| entry(&name)).collect();
        let registrar = registrar(folder, &runtime, &json!({ "tools": entries }).to_string())?;
        std::fs::write(folder.join("tools/add.py"), TOOL)?;
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

    async fn median(&self) -> Result<Duration> {
        let mut times = Vec::with_capacity(CALLS);
        for turn in 0..CALLS + CALLS / 10 {
            let took = self.call("warm").await?;
            // The first tenth warms up.
            if turn >= CALLS / 10 {
                times.push(took);
            }
        }
        Ok(median(&mut times))
    }
}

fn entry(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Adds two numbers. Use it to measure what a call costs. Returns their sum.",
        "input_schema": {
            "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
            "required": ["a", "b"],
            "additionalProperties": false,
        },
        "output_schema": { "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"] },
        "config": { "script_path": "add.py" },
    })
}

/// A Python process that gives back what it gets.
struct Pipe {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Pipe {
    fn open(python: &Path) -> Result<Self> {
        let mut command = Command::new(python);
        let mut child = command.args(["-c", BARE]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
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
fn interpreter() -> Result<PathBuf> {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output()?;
    let path = PathBuf::from(String::from_utf8(asked.stdout)?.trim());
    if !path.is_file() {
        bail!("python3 was not found");
    }
    Ok(path)
}

/// How long one process takes from its start to its end.
fn start(python: &Path, arguments: &[std::ffi::OsString]) -> Result<Duration> {
    let began = Instant::now();
    let mut child =
        Command::new(python).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().context("no stdin")?.write_all(b"{\"a\": 1, \"b\": 2}").or_else(|error| {
        // A process that reads nothing may be gone before.
        if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
    })?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("python3 failed");
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
