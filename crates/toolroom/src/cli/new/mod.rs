//! `toolroom new`: a tool to start from, with a test.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::Globals;
use crate::failure::Failure;
use crate::terminal;
use crate::wiring;

/// Write a tool to start from, with a test, into this folder
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom new python get-weather        get_weather.py and test_get_weather.py
  toolroom new typescript get-weather    get-weather.ts and get-weather.test.ts")]
pub struct New {
    /// The language
    language: Language,
    /// The tool's name: a verb and a noun, such as get-weather
    name: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    Python,
    Typescript,
    Shell,
}

/// A file to write: its name, and its text with NAME and FUNCTION in it.
type Template = (&'static str, &'static str);

const PYTHON: [Template; 2] = [
    ("FUNCTION.py", include_str!("templates/tool.py.txt")),
    ("test_FUNCTION.py", include_str!("templates/test.py.txt")),
];
const TYPESCRIPT: [Template; 2] = [
    ("NAME.ts", include_str!("templates/tool.ts.txt")),
    ("NAME.test.ts", include_str!("templates/test.ts.txt")),
];
const SHELL: [Template; 2] = [
    ("NAME.sh", include_str!("templates/tool.sh.txt")),
    ("NAME.test.sh", include_str!("templates/test.sh.txt")),
];

/// Words of Python, and modules that a file of the same name would hide from its own test.
#[rustfmt::skip]
const TAKEN: [&str; 64] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
    "toolroom", "pytest", "asyncio", "base64", "calendar", "code", "copy", "datetime", "decimal", "email", "enum",
    "html", "http", "inspect", "io", "json", "logging", "math", "os", "pathlib", "platform", "queue", "random", "re",
    "select", "signal", "socket", "string", "sys", "time", "types", "typing",
];

impl New {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let function = self.name.replace('-', "_");
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        if !function.chars().all(plain) || !function.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            let message = format!("'{}' cannot be the name of a tool here", self.name);
            return Err(Failure::usage(message, "Use small letters, digits and hyphens: get-weather.").into());
        }
        if matches!(self.language, Language::Python) && TAKEN.contains(&function.as_str()) {
            let message =
                format!("'{}' is a word or a module of Python, and cannot be a tool's file", self.name);
            return Err(Failure::usage(message, "Use a verb and a noun: get-weather.").into());
        }
        if matches!(self.language, Language::Python)
            && (function.starts_with("test_") || function.ends_with("_test"))
        {
            let message = format!("pytest would take '{}' for a test", self.name);
            return Err(Failure::usage(message, "Use a verb and a noun: check-weather.").into());
        }
        let templates = match self.language {
            Language::Python => PYTHON,
            Language::Typescript => TYPESCRIPT,
            Language::Shell => SHELL,
        };
        let fill = |text: &str| text.replace("NAME", &self.name).replace("FUNCTION", &function);
        let files: Vec<(String, String)> =
            templates.iter().map(|(name, text)| (fill(name), fill(text))).collect();
        if let Some((taken, _)) = files.iter().find(|(name, _)| Path::new(name).exists()) {
            let hint = "Choose another name, or another folder; nothing was written.";
            return Err(Failure::new(format!("{taken} exists already"), hint).into());
        }
        let modules = wiring::scripts(&globals.home()?, None).module_folders().await?;
        let (python, node) = modules.unwrap_or_default();
        for (name, text) in &files {
            write(name, text)?;
        }
        if matches!(self.language, Language::Typescript) {
            link(&node);
        }
        let (tool, test) = (&files[0].0, &files[1].0);
        if globals.json {
            terminal::say_json(&json!({ "files": [tool, test] }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let try_it = match self.language {
            Language::Python => format!("PYTHONPATH='{}' python3 -m pytest {test}", python.display()),
            Language::Typescript => format!("node --test {test}"),
            Language::Shell => format!("sh {test}"),
        };
        terminal::say(&format!(
            "wrote {tool} and {test}\n\nnext: toolroom check {tool}\n      toolroom tools add {tool}"
        ))?;
        terminal::say(&format!("test: {try_it}"))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Editors and tests find the module where they find every other.
fn link(package: &Path) {
    let made = std::fs::create_dir_all("node_modules")
        .and_then(|()| std::os::unix::fs::symlink(package, "node_modules/toolroom"));
    if let Err(error) = made.or_else(|error| match error.kind() {
        ErrorKind::AlreadyExists => Ok(()),
        _ => Err(error),
    }) {
        terminal::remark(&format!(
            "node_modules/toolroom was not made ({error}); your editor will not know its types"
        ));
    }
}

fn write(name: &str, text: &str) -> Result<()> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(name)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    made.map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::PermissionDenied => "Go to a folder that you can write to.",
            _ => "Check the folder and the disk.",
        };
        Failure::new(format!("{name}: {error}"), hint).into()
    })
}
