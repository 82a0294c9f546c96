//! What became of a call that was made again.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolroom_contract::definition::Varies;

use super::recorded::{MASKED, Recorded};
use crate::cli::check::compare::compare;
use crate::terminal::{Tint, plain};

/// Differences of one answer that are shown.
const MOST: usize = 5;
/// Slower is at least twice the time, and this many milliseconds.
const SLOWER_BY: f64 = 100.0;

/// A call and its two answers.
pub(super) struct Verdict {
    pub(super) call: Recorded,
    pub(super) outcome: Outcome,
    pub(super) ms: Option<f64>,
    pub(super) differences: Vec<String>,
}

/// How the second answer compares with the first; the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Same,
    Works,
    Slower,
    Different,
    Refused,
}

impl Outcome {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Works => "now works",
            Self::Slower => "slower",
            Self::Different => "different",
            Self::Refused => "now refused",
        }
    }

    pub(super) fn tint(self) -> Tint {
        match self {
            Self::Same | Self::Works => Tint::Good,
            Self::Slower => Tint::Warn,
            Self::Different | Self::Refused => Tint::Bad,
        }
    }

    pub(super) fn is_worse(self) -> bool {
        self >= Self::Different
    }
}

impl Verdict {
    pub(super) fn json(&self) -> Value {
        json!({
            "outcome": self.outcome.word(), "startedAt": self.call.started_at, "params": self.call.input,
            "msBefore": self.call.ms, "msNow": self.ms, "differences": self.differences,
        })
    }
}

/// Compares the answer that was recorded with the one that came now.
pub(super) fn of(call: Recorded, answer: &Value, reads: bool) -> Verdict {
    let ms = answer["metadata"]["executionTime"].as_f64().filter(|_| reads);
    let error = answer.get("error").filter(|error| !error.is_null());
    let message = |error: &Value| format!("{}: {}", plain(&error["code"]), plain(&error["message"]));
    let (outcome, differences) = match (&call.code, error) {
        (None, Some(error)) => (Outcome::Refused, vec![message(error)]),
        (Some(code), Some(error)) if error["code"] == **code => (Outcome::Same, Vec::new()),
        (Some(code), Some(error)) => (Outcome::Different, vec![format!("was {code}, is {}", message(error))]),
        (Some(code), None) if reads || code == "invalid_input" => {
            (Outcome::Works, vec![format!("was {code}, is an answer")])
        }
        (Some(_), None) => (Outcome::Same, Vec::new()),
        (None, None) => match call.output.as_ref().filter(|_| reads) {
            Some(output) => compared(output, &answer["data"], call.ms, ms),
            None => (Outcome::Same, Vec::new()),
        },
    };
    Verdict { call, outcome, ms, differences }
}

fn compared(before: &Value, now: &Value, ms_before: Option<f64>, ms: Option<f64>) -> (Outcome, Vec<String>) {
    let mut varies = BTreeMap::new();
    masked(before, &mut String::new(), &mut varies);
    let found = compare(before, &varies, now);
    if !found.is_empty() {
        let short = |value: &Value| value.to_string().chars().take(80).collect::<String>();
        let mut lines: Vec<String> = found
            .iter()
            .take(MOST)
            .map(|one| format!("{} was {}, is {}", one.pointer, short(&one.expected), short(&one.found)))
            .collect();
        if found.len() > MOST {
            lines.push(format!("and {} more", found.len() - MOST));
        }
        return (Outcome::Different, lines);
    }
    match (ms_before, ms) {
        (Some(before), Some(now)) if now > 2.0 * before && now - before > SLOWER_BY => {
            (Outcome::Slower, vec![format!("took {before:.0} ms, takes {now:.0} ms")])
        }
        _ => (Outcome::Same, Vec::new()),
    }
}

/// The places where the log hides a secret: anything may be there.
fn masked(value: &Value, pointer: &mut String, varies: &mut BTreeMap<String, Varies>) {
    let mut below = |name: String, value: &Value| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        masked(value, pointer, varies);
        pointer.truncate(length);
    };
    match value {
        Value::String(text) if text.contains(MASKED) => {
            varies.insert(pointer.clone(), Varies::Any);
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| below(at.to_string(), item)),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| below(name.clone(), field)),
        _ => {}
    }
}

/// How many came out how, the worst first.
pub(super) fn counts(verdicts: &[Verdict]) -> Vec<String> {
    let all = [Outcome::Refused, Outcome::Different, Outcome::Slower, Outcome::Works, Outcome::Same];
    let count = |outcome: Outcome| verdicts.iter().filter(|verdict| verdict.outcome == outcome).count();
    all.into_iter()
        .map(|outcome| (outcome, count(outcome)))
        .filter(|(_, count)| *count > 0)
        .map(|(outcome, count)| format!("{count} {}", outcome.word()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(before: Value, code: Option<&str>, answer: Value) -> (Outcome, Vec<String>) {
        let call = Recorded {
            input: json!({}),
            output: Some(before),
            code: code.map(str::to_owned),
            ms: Some(10.0),
            user: "local".to_owned(),
            started_at: Value::Null,
        };
        let verdict = of(call, &answer, true);
        (verdict.outcome, verdict.differences)
    }

    #[test]
    fn answers_are_compared_field_by_field_and_what_the_log_hides_is_left_out() {
        let before = json!({ "a": 1, "key": "[masked]" });
        assert_eq!(
            judged(before.clone(), None, json!({ "data": { "a": 1, "key": "x" } })),
            (Outcome::Same, vec![])
        );
        let different = judged(before.clone(), None, json!({ "data": { "a": 2, "key": "x" } }));
        assert_eq!(different, (Outcome::Different, vec!["/a was 1, is 2".to_owned()]));
        let refused =
            judged(before.clone(), None, json!({ "error": { "code": "invalid_input", "message": "No." } }));
        assert_eq!(refused, (Outcome::Refused, vec!["invalid_input: No.".to_owned()]));
        assert_eq!(judged(before.clone(), Some("not_found"), json!({ "data": {} })).0, Outcome::Works);
        let slow = json!({ "data": { "a": 1, "key": 2 }, "metadata": { "executionTime": 500.0 } });
        assert_eq!(judged(before, None, slow).0, Outcome::Slower);
    }
}
