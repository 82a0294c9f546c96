//! What the doctor found, one line each, and how it is told.

use anyhow::Result;
use toolroom_server::{Check, Doctor};

use crate::failure::Failure;
use crate::terminal::{self, Rows, Tint, cell, tinted};

/// The state of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It works.
    Ok,
    /// It works, with something missing.
    Warn,
    /// It is broken.
    Fail,
}

/// One line of the report.
pub struct Finding {
    what: String,
    pub health: Health,
    detail: String,
    remedy: String,
}

impl Finding {
    pub fn ok(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { what: what.into(), health: Health::Ok, detail: detail.into(), remedy: String::new() }
    }

    pub fn warn(what: impl Into<String>, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), health: Health::Warn, detail: detail.into(), remedy: remedy.into() }
    }

    pub fn fail(what: impl Into<String>, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), health: Health::Fail, detail: detail.into(), remedy: remedy.into() }
    }

    /// A result, whose error says what to do.
    pub fn of_result(what: &str, result: Result<String, &anyhow::Error>) -> Self {
        match result {
            Ok(detail) => Self::ok(what, detail),
            Err(error) => match error.chain().find_map(|cause| cause.downcast_ref::<Failure>()) {
                Some(failure) => Self::fail(what, failure.to_string(), failure.hint()),
                None => Self::fail(what, format!("{error:#}"), "Fix what is named here."),
            },
        }
    }
}

fn word(health: Health) -> (&'static str, Tint) {
    match health {
        Health::Ok => ("ok", Tint::Good),
        Health::Warn => ("warn", Tint::Warn),
        Health::Fail => ("fail", Tint::Bad),
    }
}

/// The findings as the API has them.
pub fn as_report(findings: &[Finding]) -> Doctor {
    let check = |one: &Finding| Check {
        check: one.what.clone(),
        status: word(one.health).0,
        detail: one.detail.clone(),
        remedy: one.remedy.clone(),
    };
    Doctor {
        healthy: findings.iter().all(|one| one.health != Health::Fail),
        checks: findings.iter().map(check).collect(),
    }
}

/// Prints the findings.
pub fn report(findings: &[Finding], json: bool) -> Result<()> {
    if json {
        return Ok(terminal::say_json(&serde_json::to_value(as_report(findings))?)?);
    }
    let mut rows = Rows::new(&["check", "status", "detail", "remedy"]);
    for one in findings {
        let (text, tint) = word(one.health);
        rows.add([cell(&one.what), tinted(text, tint), cell(&one.detail), cell(&one.remedy)]);
    }
    Ok(rows.say("nothing was checked")?)
}

/// A number of things, in words.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
