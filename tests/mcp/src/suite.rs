//! The official conformance suites: runs them against a server, and reads off what they found.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::process::Command;

/// A suite, and the revision of the protocol that it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// 0.1.16, all scenarios.
    Published,
    /// 0.2, what the revision 2025-11-25 requires.
    WithSessions,
    /// 0.2, what the revision 2026-07-28 requires.
    Stateless,
}

impl Suite {
    /// All of them.
    pub const ALL: [Suite; 3] = [Suite::Published, Suite::WithSessions, Suite::Stateless];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Suite::Published => "0.1",
            Suite::WithSessions => "2025-11-25",
            Suite::Stateless => "2026-07-28",
        }
    }

    /// How many checks the reference implementation passes.
    pub fn reference(self) -> usize {
        match self {
            Suite::Published => 46,
            Suite::WithSessions => 83,
            Suite::Stateless => 197,
        }
    }

    /// Runs it against `url`, or one scenario of it. `node` is a Node.js that the suite can run on.
    pub async fn run(self, node: &Path, url: &str, scenario: Option<&str>) -> Result<Report> {
        let results = tempfile::tempdir()?;
        let mut command = Command::new(node);
        command.arg(self.program()).args(["server", "--url", url, "-o"]).arg(results.path());
        match (self, scenario) {
            (Suite::Published, None) => command.args(["--suite", "all"]),
            (_, None) => command.args(["--requirements", self.name()]),
            (Suite::Published, Some(one)) => command.args(["--scenario", one]),
            (_, Some(one)) => command.args(["--scenario", one, "--spec-version", self.name(), "--force"]),
        };
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.with_context(|| format!("{} does not start", node.display()))?;
        let report = Report::read(results.path())?;
        // It exits with 1 if a check failed; only without any check is that a failure of the run itself.
        if report.checks.is_empty() {
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            bail!("the suite {} ran no check:\n{out}\n{err}", self.name());
        }
        Ok(report)
    }

    pub(crate) fn program(self) -> PathBuf {
        let package = match self {
            Suite::Published => "conformance-0.1",
            Suite::WithSessions | Suite::Stateless => "conformance-0.2",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../node/node_modules").join(package).join("dist/index.js")
    }
}

/// What a run found.
pub struct Report {
    checks: Vec<Check>,
}

/// One check of one scenario.
pub struct Check {
    /// The scenario.
    pub scenario: String,
    /// The check.
    pub id: String,
    /// SUCCESS, FAILURE, WARNING, SKIPPED or INFO.
    pub status: String,
    /// What is wrong.
    pub message: String,
}

impl Report {
    /// How many checks passed.
    pub fn passed(&self) -> usize {
        self.with_status("SUCCESS").count()
    }

    /// The checks that failed.
    pub fn failures(&self) -> Vec<&Check> {
        self.with_status("FAILURE").collect()
    }

    /// The checks that found something to do better, or could not be made.
    pub fn warnings(&self) -> Vec<&Check> {
        self.with_status("WARNING").chain(self.with_status("SKIPPED")).collect()
    }

    fn with_status(&self, status: &'static str) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.status == status)
    }

    /// Each scenario has a folder of its own, named after it and the time.
    fn read(folder: &Path) -> Result<Self> {
        let mut checks = Vec::new();
        let mut folders: Vec<PathBuf> =
            std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
        folders.sort();
        for folder in folders {
            let Ok(text) = std::fs::read(folder.join("checks.json")) else { continue };
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = name.strip_prefix("server-").unwrap_or(&name);
            let scenario = name.split("-2026-").next().unwrap_or(name);
            for check in serde_json::from_slice::<Vec<Value>>(&text)? {
                checks.push(Check::new(scenario, &check));
            }
        }
        Ok(Self { checks })
    }
}

impl Check {
    fn new(scenario: &str, check: &Value) -> Self {
        let text = |field: &str| check[field].as_str().unwrap_or_default().to_owned();
        let message =
            if check["errorMessage"].is_string() { text("errorMessage") } else { text("description") };
        // Some messages repeat whole answers.
        let message = message.chars().take(600).collect();
        Self { scenario: scenario.to_owned(), id: text("id"), status: text("status"), message }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in self.failures() {
            writeln!(f, "  FAILED   {} / {}: {}", check.scenario, check.id, check.message)?;
        }
        for check in self.warnings() {
            writeln!(f, "  {:<8} {} / {}: {}", check.status, check.scenario, check.id, check.message)?;
        }
        let (failed, warned) = (self.failures().len(), self.warnings().len());
        write!(f, "  {} checks passed, {failed} failed, {warned} warned or skipped", self.passed())
    }
}
