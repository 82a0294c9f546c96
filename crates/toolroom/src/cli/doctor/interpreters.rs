//! The interpreters of scripts: whether they are there, and what Python thinks of a script without running it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::finding::Finding;

/// How long an interpreter may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads scripts and compiles them; none of their code runs.
const COMPILE: &str = r#"
import ast, json, sys
for path in json.load(sys.stdin):
    found = {"path": path, "line": 0, "flaw": None, "names": []}
    try:
        with open(path, "rb") as file:
            tree = compile(file.read(), path, "exec", ast.PyCF_ONLY_AST, True)
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found["names"].append(node.name)
            elif isinstance(node, ast.Assign):
                found["names"] += [target.id for target in node.targets if isinstance(target, ast.Name)]
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                found["names"] += [alias.asname or alias.name for alias in node.names]
            else:
                found["names"] += ["*"] if isinstance(node, (ast.If, ast.Try, ast.With, ast.For)) else []
    except (SyntaxError, ValueError) as error:
        found["line"], found["flaw"] = getattr(error, "lineno", 0) or 0, str(getattr(error, "msg", error))
    print(json.dumps(found))
"#;

/// What Python reports about a script.
#[derive(Debug, Deserialize)]
pub struct Compiled {
    pub path: PathBuf,
    pub line: usize,
    /// Why it does not compile.
    pub flaw: Option<String>,
    /// The names that it defines; `*` if it may define more.
    pub names: Vec<String>,
}

/// The Python that runs scripts, if there is one.
pub struct Python(Option<String>);

impl Python {
    pub fn find() -> Self {
        let asked = answer(Command::new("python3").arg("--version"), b"");
        Self(asked.map(|text| text.trim().to_owned()).filter(|text| text.starts_with("Python 3")))
    }

    pub fn finding(&self) -> Finding {
        match &self.0 {
            Some(version) => Finding::ok("python3", version.clone()),
            None => Finding::warn(
                "python3",
                "python3 was not found; tools written in Python cannot run",
                "Install Python 3 and make sure it is on the server's PATH.",
            ),
        }
    }

    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// Compiles scripts. `None` if the interpreter gave no answer in time.
    pub fn compile(&self, scripts: &[PathBuf]) -> Option<Vec<Compiled>> {
        let wanted = serde_json::to_vec(scripts).ok()?;
        let text = answer(Command::new("python3").args(["-I", "-W", "ignore", "-c", COMPILE]), &wanted)?;
        text.lines().map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// The program that the first line of an executable names, if it is missing.
pub fn missing_program(script: &Path) -> Option<String> {
    let mut start = [0; 256];
    let length = std::fs::File::open(script).and_then(|mut file| file.read(&mut start)).ok()?;
    let text = String::from_utf8_lossy(&start[..length]).into_owned();
    let words: Vec<&str> = text.strip_prefix("#!")?.lines().next()?.split_whitespace().collect();
    let (first, rest) = words.split_first()?;
    if !Path::new(first).exists() {
        return Some((*first).to_owned());
    }
    let through_env = first.ends_with("/env").then(|| rest.iter().find(|word| !word.starts_with('-')))??;
    (!on_path(through_env)).then(|| (*through_env).to_owned())
}

/// Whether a program can be found.
pub fn on_path(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// What a program prints, if it ends well and in time.
fn answer(command: &mut Command, input: &[u8]) -> Option<String> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let input = input.to_vec();
    // Beside this thread, so that neither side waits for the other with a full pipe.
    let writer = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let reader = thread::spawn(move || {
        let mut text = String::new();
        stdout.map(|mut stdout| stdout.read_to_string(&mut text));
        text
    });
    let ended_well = ends_well(&mut child);
    drop(writer.join());
    reader.join().ok().filter(|_| ended_well)
}

fn ends_well(child: &mut Child) -> bool {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if began.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}
