//! Lines of the person: edited on a terminal, plain from a pipe. Read on its own thread, because neither can be
//! given up once it waits.

use std::io::BufRead;
use std::thread;

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::sync::{mpsc, oneshot};

/// Where lines come from.
pub struct Input {
    asks: mpsc::UnboundedSender<(&'static str, oneshot::Sender<Line>)>,
}

/// What the person did.
pub enum Line {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
}

impl Input {
    pub fn new(on_terminal: bool) -> Self {
        let (asks, asked) = mpsc::unbounded_channel();
        thread::spawn(move || serve(on_terminal, asked));
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

fn serve(on_terminal: bool, mut asked: mpsc::UnboundedReceiver<(&'static str, oneshot::Sender<Line>)>) {
    let mut editor = on_terminal.then(DefaultEditor::new).and_then(Result::ok);
    while let Some((prompt, answer)) = asked.blocking_recv() {
        let line = match &mut editor {
            Some(editor) => edited(editor, prompt),
            None => plain(),
        };
        if answer.send(line).is_err() {
            return;
        }
    }
}

fn edited(editor: &mut DefaultEditor, prompt: &str) -> Line {
    match editor.readline(prompt) {
        Ok(text) => {
            // Without it the arrow keys find less; nothing else is lost.
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
