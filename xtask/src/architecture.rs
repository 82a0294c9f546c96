//! What ARCHITECTURE.md states of the code, checked: its arrows against Cargo, its absences against the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::sources::{self, Source};

/// Something that stands in some places only.
struct Absence {
    what: &'static str,
    found: fn(&Source, &[String]) -> Option<String>,
    /// Where it belongs: files, or folders with a slash at the end.
    belongs: &'static [&'static str],
    /// Where else it stands, and why. One that nothing needs any more fails the test.
    exceptions: &'static [(&'static str, &'static str)],
}

const ABSENCES: &[Absence] = &[
    Absence {
        what: "SQL",
        found: |source, _| source.literals.iter().find(|text| is_sql(text)).cloned(),
        belongs: &["crates/store/"],
        exceptions: &[],
    },
    Absence {
        what: "strings of the MCP protocol",
        found: |source, _| literal_with(source, PROTOCOL),
        belongs: &["crates/mcp/", "crates/server/src/mcp/", "crates/upstream/"],
        exceptions: &[],
    },
    Absence {
        what: "names of tools",
        found: |source, names| literal_with(source, names),
        belongs: &[
            "crates/packs/",
            "crates/profiles/",
            "crates/planner/src/",
            "crates/selection/src/families.rs",
            "crates/runtime/src/tools/",
        ],
        exceptions: &[
            ("crates/server/src/mcp/write/introduction.rs", "instructions for models"),
            ("crates/toolroom/src/cli/", "examples in help texts"),
            ("crates/toolroom/src/config/reference.rs", "a page for users"),
        ],
    },
    Absence {
        what: "names of built-in profiles",
        found: |source, _| {
            // "assistant" is a word of its own; as the name of a profile it is a constant.
            let constants = ["assistant::NAME", "todo_chatbot::NAME", "todo_tasks::NAME"];
            literal_with(source, &["todo-chatbot", "todo_tasks"]).or_else(|| code_with(source, &constants))
        },
        belongs: &["crates/profiles/"],
        exceptions: &[],
    },
    Absence {
        what: "the machine's clock past the injected one",
        found: |source, _| code_with(source, &["Timestamp::now(", "SystemTime::now(", "Zoned::now("]),
        belongs: &["crates/runtime/src/clock.rs"],
        exceptions: &[
            ("crates/runtime/src/journal/", "files are named after the machine's day"),
            ("crates/server/src/openai/", "a stamp that nothing is decided by"),
            ("crates/store/src/", "the time of a unit of work is taken where it begins, after it waited"),
            ("crates/toolroom/src/archive/", "a backup says when it was made"),
            ("crates/toolroom/src/cli/", "commands are a person's, and say what their clock shows"),
            ("crates/toolroom/src/upkeep.rs", "counts only as far as earlier rounds bear it out"),
            ("crates/upstream/src/oauth/", "tokens expire by other machines' clocks"),
            ("crates/upstream/src/status.rs", "a stamp that nothing is decided by"),
        ],
    },
    Absence {
        what: "unsafe code",
        found: |source, _| word(&source.code, "unsafe").then(|| "unsafe".to_owned()),
        belongs: &["crates/worker/src/child_setup.rs", "crates/worker/src/confine/"],
        exceptions: &[],
    },
    Absence {
        what: "files, sockets and processes in what does no I/O",
        found: |source, _| {
            let pure = PURE.iter().any(|place| source.path.starts_with(place));
            code_with(source, &["std::fs", "std::net", "std::process", "tokio::"]).filter(|_| pure)
        },
        belongs: &[],
        exceptions: &[("crates/planner/src/aside.rs", "moves the reading off the request threads")],
    },
];

/// What ARCHITECTURE.md says does no I/O.
const PURE: [&str; 11] = [
    "crates/contract/",
    "crates/mcp/",
    "crates/openapi/",
    "crates/profiles/",
    "crates/selection/",
    "crates/tagger/",
    "crates/when/",
    "crates/agent/src/run/",
    "crates/agent/src/guard.rs",
    "crates/agent/src/confirm/words",
    "crates/planner/src/",
];

const PROTOCOL: &[&str] = &[
    "jsonrpc",
    "protocolVersion",
    "isError",
    "structuredContent",
    "tools/call",
    "tools/list",
    "resources/read",
    "prompts/get",
    "notifications/",
    "elicitation/create",
    "sampling/createMessage",
    "clientInfo",
];

fn is_sql(text: &str) -> bool {
    let text = text.trim_start();
    let starts = |word: &str| text.starts_with(word);
    starts("SELECT ")
        || starts("INSERT INTO ")
        || starts("DELETE FROM ")
        || starts("CREATE TABLE ")
        || starts("PRAGMA ")
        || starts("UPDATE ") && text.contains(" SET ")
}

fn literal_with(source: &Source, words: &[impl AsRef<str>]) -> Option<String> {
    let found = |text: &str| words.iter().any(|known| word(text, known.as_ref()));
    source.literals.iter().find(|text| found(text)).cloned()
}

fn code_with(source: &Source, words: &[&str]) -> Option<String> {
    words.iter().find(|word| source.code.contains(*word)).map(|word| (*word).to_owned())
}

/// Whether a text has a word that is not part of a longer one.
fn word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let closed = !word.ends_with('/');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !(before.ends_with(part) || closed && after.starts_with(part))
    })
}

/// The names of our own tools: of the published functions, and of every tool that is the only one in its file.
fn tool_names(sources: &[Source]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for profile in fs::read_dir("../schema/functions").unwrap() {
        let text = fs::read_to_string(profile.unwrap().path()).unwrap();
        let functions: Vec<Value> = serde_json::from_str(&text).unwrap();
        names.extend(functions.iter().map(|one| one["function"]["name"].as_str().unwrap().to_owned()));
    }
    for source in sources.iter().filter(|source| source.path.starts_with("crates/packs/")) {
        let file = source.path.rsplit('/').next().unwrap().trim_end_matches(".rs").replace('_', "-");
        names.extend(source.literals.iter().find(|text| **text == file && file.contains('-')).cloned());
    }
    names.into_iter().collect()
}

#[test]
fn what_is_stated_to_be_absent_is_absent() {
    let sources = sources::all();
    let names = tool_names(&sources);
    let mut wrong = Vec::new();
    for absence in ABSENCES {
        let mut needed = BTreeSet::new();
        for source in &sources {
            let stands_in = |place: &&str| {
                source.path == **place || place.ends_with('/') && source.path.starts_with(place)
            };
            if absence.belongs.iter().any(&stands_in) {
                continue;
            }
            let Some(found) = (absence.found)(source, &names) else { continue };
            match absence.exceptions.iter().find(|(place, _)| stands_in(place)) {
                Some((place, _)) => _ = needed.insert(*place),
                None => wrong.push(format!("{}: {}: {found:?}", source.path, absence.what)),
            }
        }
        for (place, reason) in absence.exceptions.iter().filter(|(place, _)| !needed.contains(place)) {
            wrong.push(format!(
                "{place}: an exception for {} that is not needed any more ({reason})",
                absence.what
            ));
        }
    }
    assert!(sources.len() > 300, "the sources were not read");
    assert!(names.len() > 35, "the names of tools were not read");
    assert!(wrong.is_empty(), "ARCHITECTURE.md states otherwise:\n{}", wrong.join("\n"));
}

#[test]
fn no_source_file_is_longer_than_450_lines() {
    let long: Vec<_> =
        sources::all().into_iter().filter(|source| source.lines > 450).map(|source| source.path).collect();
    assert!(long.is_empty(), "split these by what they do: {long:?}");
}

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The lines `a, b -> c, d` of ARCHITECTURE.md.
fn stated() -> Arrows {
    let page = fs::read_to_string("../ARCHITECTURE.md").unwrap();
    let mut arrows = Arrows::new();
    let block =
        page.lines().skip_while(|line| !line.contains(" -> ")).take_while(|line| line.starts_with("    "));
    for (from, to) in block.filter_map(|line| line.split_once(" -> ")) {
        for from in from.split(',') {
            let to = to.split(',').map(|name| name.trim().to_owned());
            arrows.entry(from.trim().to_owned()).or_default().extend(to);
        }
    }
    arrows
}

/// The dependencies between the crates of `crates/`, those of their tests aside.
fn actual() -> Arrows {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let short = |name: &Value| name.as_str().unwrap().trim_start_matches("toolroom-").to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    let ours =
        packages.iter().filter(|package| package["manifest_path"].as_str().unwrap().contains("/crates/"));
    let mut arrows = Arrows::new();
    for package in ours {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let between = dependencies.filter(|one| one["kind"] != "dev" && one["path"].is_string());
        let to: BTreeSet<_> = between.map(|one| short(&one["name"])).collect();
        if !to.is_empty() {
            arrows.insert(short(&package["name"]), to);
        }
    }
    arrows
}

#[test]
fn the_stated_arrows_are_the_dependencies_between_the_crates() {
    let (stated, actual) = (stated(), actual());
    let pairs = |arrows: &Arrows| -> BTreeSet<String> {
        arrows.iter().flat_map(|(from, to)| to.iter().map(move |to| format!("{from} -> {to}"))).collect()
    };
    let (stated, actual) = (pairs(&stated), pairs(&actual));
    assert!(actual.len() > 30, "Cargo was not read");
    let unstated: Vec<_> = actual.difference(&stated).collect();
    let missing: Vec<_> = stated.difference(&actual).collect();
    assert!(unstated.is_empty(), "dependencies that ARCHITECTURE.md does not state: {unstated:?}");
    assert!(missing.is_empty(), "arrows of ARCHITECTURE.md that are not there: {missing:?}");
}
