//! `tools.json` and the scripts that it names.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use toolroom_contract::check::{self, Outcome, Stage};
use toolroom_contract::entry::{EntryKind, ToolEntry};
use toolroom_contract::text::shell_word;

use super::finding::{Finding, counted};
use super::interpreters::{Python, missing_program};
use crate::home::Home;
use crate::home::registry_files;

pub fn look(home: &Home, python: &Python) -> Vec<Finding> {
    let path = home.tools();
    let entries: Vec<ToolEntry> = match registry_files::read_tools(&path) {
        Ok(written) => written.into_iter().map(|one| one.entry).collect(),
        Err(failure) => return vec![Finding::fail("tools.json", failure.to_string(), failure.hint())],
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut findings = vec![summary(&entries)];
    findings.extend(entries.iter().filter_map(contract));
    findings.extend(entries.iter().filter_map(|entry| script(entry, folder, python)));
    findings.extend(python_scripts(&entries, folder, python));
    findings
}

fn summary(entries: &[ToolEntry]) -> Finding {
    let derived = entries.iter().filter(|entry| !entry.definition().derived.is_empty()).count();
    let note = match derived {
        0 => String::new(),
        some => format!("; {some} with derived values: 'toolroom check' lists them"),
    };
    Finding::ok("tools.json", format!("valid, {}{note}", counted(entries.len(), "tool")))
}

/// What is wrong with the definition.
fn contract(entry: &ToolEntry) -> Option<Finding> {
    let failed: Vec<String> = check::check(&entry.definition(), Stage::Loaded)
        .into_iter()
        .filter(|finding| finding.outcome == Outcome::Fail)
        .map(|finding| finding.message.unwrap_or_else(|| finding.line.to_owned()))
        .collect();
    let remedy = "Fix the entry in tools/tools.json; 'toolroom check' shows the whole checklist.";
    (!failed.is_empty()).then(|| Finding::fail(named(entry), failed.join("; "), remedy))
}

/// Whether the script is there and can be started.
fn script(entry: &ToolEntry, folder: &Path, python: &Python) -> Option<Finding> {
    if entry.kind != EntryKind::Local {
        return None;
    }
    let Some(name) = &entry.config.script_path else {
        let remedy = "Name the script in config.script_path.";
        return Some(Finding::fail(named(entry), "the entry names no script", remedy));
    };
    let path = folder.join(name);
    let Ok(found) =
        fs::metadata(&path).map_err(drop).and_then(|found| found.is_file().then_some(found).ok_or(()))
    else {
        return Some(Finding::fail(
            named(entry),
            format!("its script {} is missing: every call fails", path.display()),
            format!("Add the file, or remove the tool: toolroom tools remove {}", shell_word(&entry.name)),
        ));
    };
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("py") if !python.is_there() => {
            let remedy = "Install Python 3 and make sure it is on the server's PATH.";
            Some(Finding::fail(named(entry), "it needs Python, which is not installed", remedy))
        }
        Some("py" | "sh" | "ts" | "mts" | "mjs" | "js") => None,
        _ if found.permissions().mode() & 0o111 == 0 => Some(Finding::fail(
            named(entry),
            format!("{} is not executable", path.display()),
            format!("chmod +x {}", shell_word(&path.to_string_lossy())),
        )),
        _ => missing_program(&path).map(|program| {
            let detail = format!("{} needs {program}, which is not installed", path.display());
            Finding::fail(
                named(entry),
                detail,
                format!("Install {program}, or change the script's first line."),
            )
        }),
    }
}

/// Whether the Python scripts compile and have their function.
fn python_scripts(entries: &[ToolEntry], folder: &Path, python: &Python) -> Vec<Finding> {
    let mut scripts: Vec<(&ToolEntry, PathBuf)> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Local) {
        let path = entry.config.script_path.as_ref().map(|name| folder.join(name));
        scripts.extend(path.filter(|path| path.is_file() && path.ends_with_py()).map(|path| (entry, path)));
    }
    if scripts.is_empty() || !python.is_there() {
        return Vec::new();
    }
    let paths: Vec<PathBuf> = scripts.iter().map(|(_, path)| path.clone()).collect();
    let Some(compiled) = python.compile(&paths) else {
        let remedy = "Run 'python3 -m py_compile' on the scripts yourself.";
        return vec![Finding::warn("scripts", "could not check whether the Python scripts compile", remedy)];
    };
    let mut findings = Vec::new();
    for (entry, path) in scripts {
        let Some(found) = compiled.iter().find(|one| one.path == path) else { continue };
        let function = entry.config.entrypoint.as_deref().unwrap_or("run");
        if let Some(flaw) = &found.flaw {
            let detail = format!("{}:{}: {flaw}", path.display(), found.line);
            findings.push(Finding::fail(
                named(entry),
                detail,
                "Fix that line: Python cannot parse the script.",
            ));
        } else if !found.names.iter().any(|name| name == function || name == "*") {
            findings.push(Finding::fail(
                named(entry),
                format!("{} has no function '{function}'", path.display()),
                format!("Add 'def {function}(params, context):', or name another in config.entrypoint."),
            ));
        }
    }
    findings
}

trait Ending {
    fn ends_with_py(&self) -> bool;
}

impl Ending for Path {
    fn ends_with_py(&self) -> bool {
        self.extension().is_some_and(|ending| ending == "py")
    }
}

fn named(entry: &ToolEntry) -> String {
    format!("tool {}", entry.name)
}
