//! `toolroom doctor`: is the home well, and what to do if not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, ExitCode, Stdio};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use toolroom_store::Store;

use super::Globals;
use crate::client::Client;
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::home::registry_files::{self, ServersFile};
use crate::home::{Home, Taking};
use crate::terminal::{self, Rows, Tint, cell, tinted};

/// Look for what is wrong with the home
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom doctor --home ./.toolroom

Exit code 1 if something is broken.")]
pub struct Doctor {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Health {
    Ok,
    Warn,
    Fail,
}

struct Finding {
    what: &'static str,
    health: Health,
    detail: String,
    remedy: String,
}

/// Below this much room on the disk, things are about to stop.
const LOW_DISK: u64 = 200 << 20;
/// Below this much, they have.
const NO_DISK: u64 = 10 << 20;

impl Doctor {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let home = globals.home()?;
        let config = Config::load(&home, &globals.overrides());
        let mut findings = vec![
            rights(&home),
            of_result("settings", config.as_ref().map(|_| "toolroom.toml is sound".to_owned())),
            of_failure("tools.json", registry_files::read_tools(&home.tools())),
            of_failure(
                "mcp.json",
                registry_files::read::<ServersFile>(&home.servers(), "{\"mcpServers\": {}}"),
            ),
            disk(&home),
            logs(&home),
            python(),
        ];
        if let Ok(config) = &config {
            findings.extend(service(&home, config, globals).await);
        }
        report(&findings, globals.json)?;
        let broken = findings.iter().any(|finding| finding.health == Health::Fail);
        Ok(if broken { Exit::Failed.code() } else { ExitCode::SUCCESS })
    }
}

impl Finding {
    fn ok(what: &'static str, detail: impl Into<String>) -> Self {
        Self { what, health: Health::Ok, detail: detail.into(), remedy: String::new() }
    }

    fn not_ok(
        what: &'static str,
        health: Health,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { what, health, detail: detail.into(), remedy: remedy.into() }
    }
}

fn of_result(what: &'static str, result: Result<String, &anyhow::Error>) -> Finding {
    match result {
        Ok(detail) => Finding::ok(what, detail),
        Err(error) => match error.chain().find_map(|cause| cause.downcast_ref::<Failure>()) {
            Some(failure) => Finding::not_ok(what, Health::Fail, failure.to_string(), failure.hint()),
            None => Finding::not_ok(what, Health::Fail, format!("{error:#}"), "Mend what is named here."),
        },
    }
}

fn of_failure<T>(what: &'static str, result: Result<T, Failure>) -> Finding {
    match result {
        Ok(_) => Finding::ok(what, "it is sound"),
        Err(failure) => Finding::not_ok(what, Health::Fail, failure.to_string(), failure.hint()),
    }
}

fn rights(home: &Home) -> Finding {
    let path = home.root();
    match fs::metadata(path).map(|found| found.permissions().mode() & 0o777) {
        Ok(mode) if mode & 0o077 == 0 => Finding::ok("home", format!("{} is yours alone", path.display())),
        Ok(mode) => Finding::not_ok(
            "home",
            Health::Warn,
            format!("others can get at {} (mode {mode:o})", path.display()),
            format!("chmod 700 {}", path.display()),
        ),
        Err(error) => {
            Finding::not_ok("home", Health::Fail, error.to_string(), "Mend the rights of the folder.")
        }
    }
}

fn disk(home: &Home) -> Finding {
    match rustix::fs::statvfs(home.root()) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let detail = format!("{} MiB free", free >> 20);
            let remedy = "Free space, or lower keep_days in toolroom.toml.";
            match free {
                0..NO_DISK => Finding::not_ok("disk", Health::Fail, detail, remedy),
                NO_DISK..LOW_DISK => Finding::not_ok("disk", Health::Warn, detail, remedy),
                _ => Finding::ok("disk", detail),
            }
        }
        Err(error) => {
            Finding::not_ok("disk", Health::Warn, error.to_string(), "See whether the disk is there.")
        }
    }
}

fn logs(home: &Home) -> Finding {
    match tempfile::tempfile_in(home.logs()) {
        Ok(_) => Finding::ok("logs", "the execution log can be written"),
        Err(error) => Finding::not_ok(
            "logs",
            Health::Fail,
            format!("the folder {} cannot be written: {error}", home.logs().display()),
            "Make the folder, and see that it is yours: no call runs that cannot be logged.",
        ),
    }
}

fn python() -> Finding {
    let asked = Command::new("python3").arg("--version").stdin(Stdio::null()).output();
    match asked {
        Ok(output) if output.status.success() => {
            Finding::ok("python3", String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        _ => Finding::not_ok(
            "python3",
            Health::Warn,
            "python3 was not found; tools written in Python cannot run",
            "Install Python 3, and see that it is on the PATH.",
        ),
    }
}

/// A running server answers for its database; without one it is opened and read here.
async fn service(home: &Home, config: &Config, globals: &Globals) -> Vec<Finding> {
    let lock = match home.try_lock() {
        Ok(Taking::Taken(lock)) => lock,
        _ => return vec![server(home, globals).await],
    };
    let opened = match Store::open(&config.database) {
        Ok(store) => store.integrity_check().await,
        Err(error) => Err(error),
    };
    let database = match opened {
        Ok(wrong) if wrong.is_empty() => Finding::ok("database", format!("{} is sound", config.database)),
        Ok(wrong) => Finding::not_ok("database", Health::Fail, wrong.join("; "), "Put it back from a copy."),
        Err(error) => Finding::not_ok(
            "database",
            Health::Fail,
            format!("{}: {error}", config.database),
            "See that it is there, can be written, and that its disk has room.",
        ),
    };
    drop(lock);
    vec![database, Finding::ok("server", "none runs; commands work on the files")]
}

async fn server(home: &Home, globals: &Globals) -> Finding {
    let remedy = "Read its log, mend what it names, and start it again.";
    let asked = async {
        let client = Client::open(home, &globals.overrides()).await?;
        let answer = client.send(http::Method::GET, "/readyz", None, &[]).await?;
        anyhow::Ok((client.is_served(), answer))
    };
    match asked.await {
        Ok((served, answer)) if answer.status.is_success() => {
            let runs = if served { "it runs" } else { "none runs" };
            Finding::ok("server", format!("{runs}; database and execution log are well"))
        }
        Ok((_, answer)) => Finding::not_ok("server", Health::Fail, reasons(&answer.json), remedy),
        Err(error) => Finding::not_ok("server", Health::Fail, format!("{error:#}"), remedy),
    }
}

fn reasons(readiness: &Value) -> String {
    let checks = readiness["checks"].as_object().into_iter().flatten();
    let reasons: Vec<&str> = checks.filter_map(|(_, check)| check["reason"].as_str()).collect();
    reasons.join(" ")
}

fn report(findings: &[Finding], json: bool) -> Result<()> {
    let word = |health| match health {
        Health::Ok => ("ok", Tint::Good),
        Health::Warn => ("warn", Tint::Warn),
        Health::Fail => ("fail", Tint::Bad),
    };
    if json {
        let checks: Vec<Value> = findings
            .iter()
            .map(|one| {
                json!({ "check": one.what, "status": word(one.health).0, "detail": one.detail, "remedy": one.remedy })
            })
            .collect();
        let healthy = findings.iter().all(|one| one.health != Health::Fail);
        return Ok(terminal::say_json(&json!({ "healthy": healthy, "checks": checks }))?);
    }
    let mut rows = Rows::new(&["check", "status", "detail", "remedy"]);
    for one in findings {
        let (text, tint) = word(one.health);
        rows.add([cell(one.what), tinted(text, tint), cell(&one.detail), cell(&one.remedy)]);
    }
    Ok(rows.say("nothing was checked")?)
}
