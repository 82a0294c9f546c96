//! What becomes of the calls that a model asks for: decided from the contract, the profile and what is known, and
//! never from what the model says about them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::driver::Driver;
use crate::confirm::{changes, is_bulk, needs_yes, targets};
use crate::model::{Arguments, Message, ToolCall, Turn};
use crate::run::{Planned, Verdict, told};

impl Driver {
    /// A verdict for each call of a turn, in order. Calls with unusable ids get new ones.
    pub(super) fn verdicts(&mut self, turn: &mut Turn) -> Vec<Verdict> {
        self.rename(&mut turn.calls);
        let known = known_ids(self.base.iter().chain(&self.run.transcript));
        let mut verdicts: Vec<Verdict> = turn.calls.iter().map(|call| self.verdict(call, &known)).collect();
        self.once_only(&turn.calls, &mut verdicts);
        let touched = |planned: &Planned| if planned.changes { targets_of(planned) } else { Vec::new() };
        for verdict in &verdicts {
            if let Verdict::Run(planned) | Verdict::Ask(planned) = verdict {
                self.seen.touched.extend(touched(planned));
            }
        }
        if is_bulk(&self.seen.touched) {
            for verdict in &mut verdicts {
                if let Verdict::Run(planned) = verdict
                    && !touched(planned).is_empty()
                {
                    *verdict = Verdict::Ask(planned.clone());
                }
            }
        }
        verdicts
    }

    fn verdict(&self, call: &ToolCall, known: &BTreeSet<i64>) -> Verdict {
        if self.tools.is_clients(&call.name) {
            return Verdict::Client;
        }
        let refuse = |message: String| Verdict::Refuse(told(call, json!({ "error": message })));
        let Some(name) = self.tools.name_meant(&call.name) else {
            let names = self.tools.names().join(", ");
            return refuse(format!("There is no tool '{}'. The tools are: {names}.", call.name));
        };
        let params = match &call.arguments {
            Arguments::Json(params @ Value::Object(_)) => params.clone(),
            Arguments::Json(Value::Null) => json!({}),
            Arguments::Json(_) => return refuse("The arguments must be one JSON object.".to_owned()),
            Arguments::Broken(text) => {
                let start: String = text.chars().take(80).collect();
                return refuse(format!(
                    "The arguments are not JSON (they begin {start:?}). Send one JSON object."
                ));
            }
        };
        let Some(resolved) = self.tools.resolve(name, &params) else {
            return refuse(format!("There is no tool '{}'.", call.name));
        };
        let tool = resolved.tool;
        let changes = changes(&tool);
        let unknown = targets(resolved.params).into_iter().find(|id| !known.contains(id));
        if let (true, Some(id), true) = (changes, unknown, OURS.contains(&tool.name())) {
            return refuse(format!(
                "Nobody named task {id}, and no result showed it. Find the task first, or ask which one is meant."
            ));
        }
        if changes && self.profile == toolroom_profiles::assistant::NAME && self.only_listed(resolved.params)
        {
            return refuse("The person named the task in words: find it with find_task first.".to_owned());
        }
        let planned = Planned {
            call: call.clone(),
            profile: self.profile.clone(),
            name: name.to_owned(),
            canonical: tool.name().to_owned(),
            changes,
            parallel: tool.policy.read_only && tool.policy.slots != Some(1),
            at: self.moment.now.as_millisecond(),
            zone: self.moment.zone.iana_name().map(str::to_owned),
            scope: self.place.scope.clone(),
            approval: None,
            params: params.clone(),
        };
        if needs_yes(&self.profile, &tool) { Verdict::Ask(planned) } else { Verdict::Run(planned) }
    }

    /// Whether a target was named in words, and picked from a list instead of found: that would be a guess.
    fn only_listed(&self, params: &Value) -> bool {
        let words = self.words();
        let numbers = numbers_in(&words);
        let found = self.seen.calls.iter().any(|call| call.name == "find_task");
        let named = |title: &str| {
            let said: Vec<String> = words.split_whitespace().map(letters).collect();
            let telling = |word: &String| word.chars().count() > 3 && !PLAIN.contains(&word.as_str());
            let all = said.iter().any(|word| ["all", "every", "everything", "both"].contains(&word.as_str()));
            !all && title.split_whitespace().map(letters).any(|word| telling(&word) && said.contains(&word))
        };
        let listed = |id: &i64| {
            let title = self.seen.named.iter().find(|one| one.id == *id).and_then(|one| one.title.as_deref());
            !numbers.contains(id) && title.is_some_and(named)
        };
        !found && targets(params).iter().any(listed)
    }

    /// The same change is asked for twice by models that forget: it is made once.
    fn once_only(&self, calls: &[ToolCall], verdicts: &mut [Verdict]) {
        for (at, call) in calls.iter().enumerate().take(verdicts.len()) {
            let (before, rest) = verdicts.split_at_mut(at);
            let (Verdict::Run(planned) | Verdict::Ask(planned)) = &rest[0] else { continue };
            if !planned.changes {
                continue;
            }
            let same = |other: &Verdict| match other {
                Verdict::Run(one) | Verdict::Ask(one) => {
                    one.name == planned.name && one.params == planned.params
                }
                _ => false,
            };
            let made = self
                .seen
                .made
                .iter()
                .any(|(name, params)| *name == planned.name && *params == planned.params);
            if before.iter().any(same) || made {
                let message = json!({ "error": "The same call was made already; its result stands above." });
                rest[0] = Verdict::Refuse(told(call, message));
            }
        }
    }

    /// Ids must be unique in what a model is shown, and fit to be a part of an idempotency key.
    fn rename(&self, calls: &mut [ToolCall]) {
        let mut used: BTreeSet<String> = BTreeSet::new();
        for message in self.base.iter().chain(&self.run.transcript) {
            if let Message::Assistant { calls, .. } = message {
                used.extend(calls.iter().map(|call| call.id.clone()));
            }
        }
        for call in calls {
            let fits = |id: &str| {
                (1..=64).contains(&id.len())
                    && id.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
            };
            let mut number = used.len();
            while !fits(&call.id) || used.contains(&call.id) {
                number += 1;
                call.id = format!("call_{number}");
            }
            used.insert(call.id.clone());
        }
    }
}

/// Tools whose targets are tasks.
const OURS: [&str; 5] = ["update-task", "complete-task", "delete-task", "restore-task", "batch-tasks"];

/// The tasks that a planned call would change, wherever its parameters are.
pub(super) fn targets_of(planned: &Planned) -> Vec<i64> {
    let mut ids = targets(&planned.params);
    if let Some(inner) = planned.params.get("params") {
        ids.extend(targets(inner));
    }
    ids
}

/// The ids that somebody may mean: numbers that the person wrote, and those that results showed.
fn known_ids<'a>(messages: impl Iterator<Item = &'a Message>) -> BTreeSet<i64> {
    let mut known = BTreeSet::new();
    for message in messages {
        match message {
            Message::User { text } => known.extend(numbers_in(text)),
            Message::Tool { structured: Some(structured), .. } => ids_in(structured, &mut known),
            _ => {}
        }
    }
    known
}

/// The numbers that a person wrote, in digits or in words.
fn numbers_in(text: &str) -> BTreeSet<i64> {
    let digits = text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    let words = text.split(|letter: char| !letter.is_alphabetic()).filter_map(|word| {
        let at = NUMBERS.iter().position(|number| word.eq_ignore_ascii_case(number))?;
        i64::try_from(at + 1).ok()
    });
    digits.chain(words).collect()
}

/// A word without its punctuation, in lower case.
fn letters(word: &str) -> String {
    word.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn ids_in(value: &Value, known: &mut BTreeSet<i64>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| ids_in(item, known)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if ["id", "taskId", "task_id", "deleted_task_id"].contains(&name.as_str()) {
                    known.extend(value.as_i64().or_else(|| value.as_str()?.parse().ok()));
                }
                ids_in(value, known);
            }
        }
        _ => {}
    }
}

/// Words that are in any wish, and name no task.
const PLAIN: [&str; 22] = [
    "task", "tasks", "todo", "todos", "item", "items", "delete", "remove", "mark", "done", "complete",
    "finish", "change", "update", "make", "high", "with", "from", "this", "that", "please", "first",
];

const NUMBERS: [&str; 20] = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
