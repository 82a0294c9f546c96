//! Lines of the person: edited on a terminal, plain from a pipe. Read on its own thread, because neither can be
//! given up once it waits.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::sync::{mpsc, oneshot};

/// Where lines come from.
pub struct Input {
    asks: mpsc::UnboundedSender<(&'static str, oneshot::Sender<Line>)>,
}

/// Lines that are kept.
const MOST_KEPT: usize = 500;

/// What the person did.
pub enum Line {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
}

impl Input {
    /// Lines that were typed are kept in `history`, for the arrow keys of the next conversation.
    pub fn new(on_terminal: bool, history: Option<PathBuf>) -> Self {
        let (asks, asked) = mpsc::unbounded_channel();
        thread::spawn(move || serve(on_terminal, history.as_deref(), asked));
        Self { asks }
    }

    /// The next line.
    pub async fn line(&self, prompt: &'static str) -> Line {
        let (answer, line) = oneshot::channel();
        if self.asks.send((prompt, answer)).is_err() {
            return Line::End;
        }
        line.await.unwrap_or(Line::End)
    }
}

fn serve(
    on_terminal: bool,
    history: Option<&Path>,
    mut asked: mpsc::UnboundedReceiver<(&'static str, oneshot::Sender<Line>)>,
) {
    let mut editor = on_terminal.then(DefaultEditor::new).and_then(Result::ok);
    let mut kept = history.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    for line in editor.as_ref().map_or("", |_| kept.as_str()).lines() {
        // Without it the arrow keys find less; nothing else is lost.
        let _ = editor.as_mut().map(|editor| editor.add_history_entry(line));
    }
    while let Some((prompt, answer)) = asked.blocking_recv() {
        let line = match &mut editor {
            Some(editor) => edited(editor, prompt),
            None => plain(),
        };
        if let (Line::Text(text), Some(path), true) = (&line, history, editor.is_some()) {
            keep(path, &mut kept, text);
        }
        if answer.send(line).is_err() {
            return;
        }
    }
}

/// Adds a line to the file, for the owner alone, and forgets the oldest.
fn keep(path: &Path, kept: &mut String, line: &str) {
    if !line.trim().is_empty() && kept.lines().last() != Some(line) {
        kept.push_str(line);
        kept.push('\n');
    }
    let lines = kept.lines().count();
    *kept = kept.lines().skip(lines.saturating_sub(MOST_KEPT)).flat_map(|line| [line, "\n"]).collect();
    // A home that cannot be written keeps no history; the conversation goes on.
    let file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path);
    let _ = file.and_then(|mut file| file.write_all(kept.as_bytes()));
}

fn edited(editor: &mut DefaultEditor, prompt: &str) -> Line {
    match editor.readline(prompt) {
        Ok(text) => {
            let _ = editor.add_history_entry(&text);
            Line::Text(text)
        }
        Err(ReadlineError::Interrupted) => Line::Interrupted,
        Err(_) => Line::End,
    }
}

fn plain() -> Line {
    let mut bytes = Vec::new();
    match std::io::stdin().lock().read_until(b'\n', &mut bytes) {
        Ok(read) if read > 0 => Line::Text(String::from_utf8_lossy(&bytes).into_owned()),
        _ => Line::End,
    }
}
