//! One process for one call: input on stdin, output on stdout, gone afterwards.

use std::io;
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use crate::confine::{Boxed, EndedBy};
use crate::error::ScriptError;
use crate::log_lines::LogLines;
use crate::scripts::Output;
use crate::sink::Sink;
use crate::spawn::{Launch, Spawned};

/// How long output is still read once the process has exited: a child that it left in the background may
/// hold the pipe open forever.
const GRACE: Duration = Duration::from_millis(50);

/// Runs a program that reads JSON and writes JSON.
pub(crate) async fn run(launch: Launch, params: &Value, sink: &dyn Sink) -> Result<Output, ScriptError> {
    let limit = launch.limits.output;
    let input = serde_json::to_vec(params).map_err(io::Error::from)?;
    let mut process = launch.spawn().await?;
    let mut stdout = Vec::new();
    let mut lines = LogLines::default();
    let ended = drive(&mut process, &input, |stream, bytes| match stream {
        Stream::Out => {
            stdout.extend_from_slice(bytes);
            if stdout.len() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
        Stream::Err => {
            lines.push(bytes, sink);
            ControlFlow::Continue(())
        }
    })
    .await?;
    let how = ended.map(|status| describe_boxed(&process, status)).unwrap_or_default();
    drop(process);
    let (stderr_tail, truncated) = lines.finish(sink);
    let Some(status) = ended else {
        let head = String::from_utf8_lossy(&stdout[..limit.min(1024)]).into_owned();
        return Err(ScriptError::TooLarge { limit, head });
    };
    if !status.success() {
        return Err(ScriptError::Ended { how, stderr: stderr_tail });
    }
    match serde_json::from_slice(&stdout) {
        Ok(data) => {
            let written = String::from_utf8(stdout).ok();
            Ok(Output { data, content: Vec::new(), hints: None, written, truncated, stderr_tail })
        }
        // It says where, but not what is there.
        Err(error) => {
            let reason = format!("{error}. Only the answer may go to stdout; log lines belong on stderr");
            Err(ScriptError::BadOutput { reason: Some(reason), detail: stderr_tail })
        }
    }
}

/// Which of a process's outputs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// Feeds a process and takes its output until it has exited; `None` if the reader stopped it.
pub(crate) async fn drive(
    process: &mut Spawned,
    input: &[u8],
    mut take: impl FnMut(Stream, &[u8]) -> ControlFlow<()>,
) -> io::Result<Option<ExitStatus>> {
    let mut input = input;
    let mut buffers = (vec![0; 16 << 10], vec![0; 16 << 10]);
    let (mut out_open, mut err_open) = (true, true);
    let mut status = None;
    let mut last = Instant::now();
    while status.is_none() || out_open || err_open {
        if input.is_empty() {
            process.stdin = None;
        }
        let event = tokio::select! {
            written = write_some(&mut process.stdin, input), if !input.is_empty() => {
                // A program does not have to read its input.
                input = &input[written.unwrap_or(input.len())..];
                continue;
            }
            read = process.stdout.read(&mut buffers.0), if out_open => (Stream::Out, read?),
            read = process.stderr.read(&mut buffers.1), if err_open => (Stream::Err, read?),
            ready = process.exit.readable(), if status.is_none() => {
                ready?.retain_ready();
                status = process.tree.exit_status()?;
                last = Instant::now() + GRACE;
                continue;
            }
            () = tokio::time::sleep_until(last), if status.is_some() => break,
        };
        let bytes = match event {
            (Stream::Out, 0) => {
                out_open = false;
                continue;
            }
            (Stream::Err, 0) => {
                err_open = false;
                continue;
            }
            (Stream::Out, read) => &buffers.0[..read],
            (Stream::Err, read) => &buffers.1[..read],
        };
        if take(event.0, bytes).is_break() {
            return Ok(None);
        }
    }
    Ok(status)
}

async fn write_some(stdin: &mut Option<tokio::net::unix::pipe::Sender>, input: &[u8]) -> io::Result<usize> {
    match stdin {
        Some(stdin) => stdin.write(input).await,
        None => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
    }
}

/// How a process ended, in words: of a box, what its first process says about it.
pub(crate) fn describe_boxed(process: &Spawned, status: ExitStatus) -> String {
    let how = match process.boxed.as_ref().and_then(Boxed::ended) {
        None => return describe(status),
        Some((_, Some(EndedBy::Memory))) => "The script used more memory than its sandbox allows.",
        Some((_, Some(EndedBy::Disk))) => "The script wrote more than its sandbox allows.",
        Some((_, Some(EndedBy::Cpu))) => "The script used up its CPU time.",
        Some((code, _)) => return format!("The script ended with exit code {code}."),
    };
    how.to_owned()
}

/// How a process ended, in words.
fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("The script ended with exit code {code}."),
        (None, Some(libc::SIGXCPU)) => "The script used up its CPU time.".to_owned(),
        (None, Some(libc::SIGXFSZ)) => "The script wrote a file larger than its limit.".to_owned(),
        (None, Some(libc::SIGKILL)) => {
            "The script was killed, perhaps because it used too much memory.".to_owned()
        }
        (None, signal) => format!("The script was ended by signal {}.", signal.unwrap_or_default()),
    }
}
