//! Runs the official conformance suites against our client, and reads off which scenarios it passes.

use std::fmt;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use tokio::process::Command;

use crate::Suite;

/// What a run against the client found.
pub struct ClientReport {
    /// Every scenario that was run.
    pub scenarios: Vec<Scenario>,
    /// All that the suite printed.
    pub printed: String,
}

/// One scenario.
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Whether the client passed it.
    pub passed: bool,
    /// Whether it counts: extensions, and what was added after a revision was released, do not.
    pub scored: bool,
}

/// The scenario that is about when a client comes back, to a fifth of a second. A suite starts all clients at
/// once, and is late by itself on a small machine; then only the scenario alone tells.
const TIMED: &str = "sse-retry";

impl Suite {
    /// How many scenarios for clients count.
    pub fn client_scenarios(self) -> usize {
        match self {
            Suite::Published => 26,
            Suite::WithSessions => 18,
            Suite::Stateless => 32,
        }
    }

    /// Runs it against our client, or one scenario of it. `program` is the one that this crate makes.
    pub async fn run_client(
        self,
        node: &Path,
        program: &Path,
        scenario: Option<&str>,
    ) -> Result<ClientReport> {
        let mut report = self.run_client_once(node, program, scenario).await?;
        let late = report.scenarios.iter_mut().find(|one| one.name == TIMED && !one.passed);
        if let Some(late) = late.filter(|_| scenario.is_none()) {
            let alone = self.run_client_once(node, program, Some(TIMED)).await?;
            late.passed = alone.failures().is_empty();
            report.printed.push_str(&alone.printed);
        }
        Ok(report)
    }

    async fn run_client_once(
        self,
        node: &Path,
        program: &Path,
        scenario: Option<&str>,
    ) -> Result<ClientReport> {
        let results = tempfile::tempdir()?;
        let mut command = Command::new(node);
        // A busy machine is no failure.
        command.arg(self.program()).args(["client", "--timeout", "150000", "-o"]).arg(results.path());
        command.arg("--command").arg(format!("{} --as-client", program.display()));
        match (self, scenario) {
            (Suite::Published, None) => command.args(["--suite", "all"]),
            (_, None) => command.args(["--requirements", self.name()]),
            (Suite::Published, Some(one)) => command.args(["--scenario", one]),
            (_, Some(one)) => command.args(["--scenario", one, "--spec-version", self.name(), "--force"]),
        };
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.with_context(|| format!("{} does not start", node.display()))?;
        let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        let (printed, content) = (printed.concat(), output.status.success());
        let scenarios = match scenario {
            Some(name) => vec![Scenario { name: name.to_owned(), passed: content, scored: true }],
            None => read(&printed),
        };
        let report = ClientReport { scenarios, printed };
        // What the suite counts and what is read off must be the same.
        if report.scenarios.is_empty() || content != report.failures().is_empty() {
            bail!("the suite {} did not end as it should:\n{}", self.name(), report.printed);
        }
        Ok(report)
    }
}

impl ClientReport {
    /// Those that count.
    pub fn scored(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.iter().filter(|scenario| scenario.scored)
    }

    /// Those that count and were not passed.
    pub fn failures(&self) -> Vec<&Scenario> {
        self.scored().filter(|scenario| !scenario.passed).collect()
    }
}

/// The summary has a line for each scenario, `✓ name: 3 passed, 0 failed`; then come those that do not count,
/// `  ✓ name (reason)`.
fn read(printed: &str) -> Vec<Scenario> {
    let unscored: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("  ✓ ").or_else(|| line.strip_prefix("  ✗ ")))
        .filter_map(|line| line.split(" (").next())
        .collect();
    let scenario = |line: &str| {
        let (mark, rest) = line.split_once(' ')?;
        let (name, counts) = rest.split_once(": ")?;
        let is_one = matches!(mark, "✓" | "✗") && counts.contains(" passed, ");
        let (passed, scored) = (mark == "✓", !unscored.contains(&name));
        is_one.then(|| Scenario { name: name.to_owned(), passed, scored })
    };
    printed.lines().filter_map(scenario).collect()
}

impl fmt::Display for ClientReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for scenario in self.scenarios.iter().filter(|scenario| !scenario.passed) {
            let what = if scenario.scored { "FAILED" } else { "unscored" };
            writeln!(f, "  {what:<8} {}", scenario.name)?;
        }
        let scored = self.scored().count();
        write!(f, "  {} of {scored} scored scenarios passed", scored - self.failures().len())
    }
}
