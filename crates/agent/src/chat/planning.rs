//! What becomes of the calls that a model asks for: decided from the contract, the profile and what is known, and
//! never from what the model says about them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use toolroom_contract::effect::{Named, loosely};
use toolroom_profiles::Confirm;

use super::driver::Driver;
use crate::confirm::{changes, needs_yes};
use crate::run::{Planned, Verdict, told};
use crate::toolset::Resolved;
use crate::word_list::WordList;
use toolroom_model::{Arguments, Asking, Message, ToolCall, Turn};

impl Driver {
    /// A verdict for each call of a turn, in order. Calls with unusable ids get new ones.
    pub(super) fn verdicts(&mut self, turn: &mut Turn) -> Vec<Verdict> {
        self.rename(&mut turn.calls);
        let known = Known::of(self.base.iter().chain(&self.run.transcript));
        let mut verdicts: Vec<Verdict> = turn.calls.iter().map(|call| self.verdict(call, &known)).collect();
        self.once_only(&turn.calls, &mut verdicts);
        let touched = |planned: &Planned| match self.meant(planned) {
            Some(meant) if planned.changes => meant.targets(),
            _ => Vec::new(),
        };
        let each: Vec<Vec<Named>> = verdicts
            .iter()
            .map(|verdict| match verdict {
                Verdict::Run(planned) | Verdict::Ask(planned) => touched(planned),
                Verdict::Refuse(..) | Verdict::Client => Vec::new(),
            })
            .collect();
        for target in each.iter().flatten() {
            if !self.seen.touched.iter().any(|one| one.is(target)) {
                self.seen.touched.push(target.clone());
            }
        }
        // A language model has no say in what is asked about.
        let asking = if self.is_offline() { turn.asking } else { Asking::AsRuled };
        let most = if asking == Asking::Corrects { 2 } else { 1 };
        let is_bulk = self.seen.touched.len() > most && self.tools.rules().confirm != Confirm::Never;
        let is_wary = self.is_wary();
        for (verdict, touched) in verdicts.iter_mut().zip(each) {
            let Verdict::Run(planned) = verdict else { continue };
            let wary = is_wary && planned.changes;
            self.seen.wary |= wary;
            let offered = asking == Asking::First && planned.changes;
            if wary || offered || is_bulk && !touched.is_empty() {
                *verdict = Verdict::Ask(planned.clone());
            }
        }
        verdicts
    }

    /// Whether every change is asked about, because what the model has read may hold orders of somebody else. The
    /// planner takes orders from nobody but the person.
    fn is_wary(&self) -> bool {
        self.inner.settings.ask_after_untrusted && self.run.evidence.untrusted && !self.is_offline()
    }

    /// The tool that a planned call runs in the end. It may have been asked about under another profile.
    pub(super) fn meant<'a>(&self, planned: &'a Planned) -> Option<Resolved<'a>> {
        let Planned { profile, name, params, .. } = planned;
        if *profile == self.profile {
            return self.tools.resolve(name, params);
        }
        self.tools.under(&self.who, profile)?.resolve(name, params)
    }

    fn verdict(&self, call: &ToolCall, known: &Known) -> Verdict {
        if self.tools.is_clients(&call.name) {
            return Verdict::Client;
        }
        let refuse = |message: String| Verdict::Refuse(told(call, json!({ "error": message })), false);
        let Some(name) = self.tools.name_meant(&call.name) else {
            let names = self.tools.names().join(", ");
            return refuse(format!("There is no tool '{}'. The tools are: {names}.", call.name));
        };
        let changing = self.tools.resolve(name, &Value::Null).is_some_and(|meant| changes(&meant.tool));
        let refuse = |message: String| Verdict::Refuse(told(call, json!({ "error": message })), changing);
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
        let Some(meant) = self.tools.resolve(name, &params) else {
            return refuse(format!("There is no tool '{}'.", call.name));
        };
        let changes = changes(&meant.tool);
        if changes && let Some(why) = self.is_guess(&meant, known) {
            return refuse(why);
        }
        let policy = &meant.tool.policy;
        let planned = Planned {
            call: call.clone(),
            profile: self.profile.clone(),
            name: name.to_owned(),
            changes,
            untrusted: policy.untrusted_output,
            parallel: policy.read_only && policy.slots != Some(1),
            at: self.moment.now.as_millisecond(),
            zone: self.moment.zone.iana_name().map(str::to_owned),
            scope: self.place.scope.clone(),
            approval: None,
            params: params.clone(),
        };
        let asks = needs_yes(self.tools.rules().confirm, &meant.tool);
        if asks { Verdict::Ask(planned) } else { Verdict::Run(planned) }
    }

    /// Why the target of a change is only guessed, if it is.
    fn is_guess(&self, meant: &Resolved<'_>, known: &Known) -> Option<String> {
        let targets = meant.targets();
        if let Some(Named { noun, id, .. }) = targets.iter().find(|target| !known.has(target)) {
            return Some(format!(
                "Neither the user nor a result mentioned {noun} {id}. Find the {noun} first, or ask which one is meant."
            ));
        }
        let noun = &targets.first()?.noun;
        let finder = self.tools.finder(noun).filter(|_| self.tools.rules().find_first)?;
        let found = self.seen.calls.iter().any(|call| call.name == finder);
        (!found && targets.iter().any(|target| self.only_listed(target)))
            .then(|| format!("The person named the {noun} in words: find it with {finder} first."))
    }

    /// Whether a target was named in words, and picked from a list instead of found.
    fn only_listed(&self, target: &Named) -> bool {
        let words = self.words();
        let said: Vec<String> = words.split_whitespace().map(loosely).collect();
        let telling = |word: &String| word.chars().count() > 3 && !PLAIN.contains(word);
        let all = said.iter().any(|word| ["all", "every", "everything", "both"].contains(&word.as_str()));
        let named = |title: &str| {
            !all && title.split_whitespace().map(loosely).any(|word| telling(&word) && said.contains(&word))
        };
        let title = self.seen.named.iter().find(|one| one.is(target)).and_then(|one| one.title.as_deref());
        let by_number = target.id.as_i64().is_some_and(|id| numbers_in(&words).contains(&id));
        !by_number && title.is_some_and(named)
    }

    /// Refuses to repeat a change that was made or planned already: models forget.
    fn once_only(&self, calls: &[ToolCall], verdicts: &mut [Verdict]) {
        let mut made: Vec<(String, Value)> = self.seen.made.clone();
        for (call, verdict) in calls.iter().zip(verdicts) {
            let (Verdict::Run(planned) | Verdict::Ask(planned)) = verdict else { continue };
            let this = (planned.name.clone(), planned.params.clone());
            if planned.changes && made.contains(&this) {
                let message = json!({ "error": "The same call was made already; see its result above." });
                *verdict = Verdict::Refuse(told(call, message), false);
            } else if planned.changes {
                made.push(this);
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

/// What somebody may mean: what the person wrote, and what results showed.
#[derive(Default)]
struct Known {
    said: Vec<String>,
    numbers: BTreeSet<i64>,
    /// Ids, each with the fields that held it.
    shown: BTreeMap<String, BTreeSet<String>>,
}

impl Known {
    fn of<'a>(messages: impl Iterator<Item = &'a Message>) -> Self {
        let mut known = Self::default();
        for message in messages {
            match message {
                Message::User { text } => {
                    known.numbers.extend(numbers_in(text));
                    known.said.push(text.clone());
                }
                Message::Tool { structured: Some(structured), .. } => known.show(structured),
                _ => {}
            }
        }
        known
    }

    /// Every field whose name ends in "id" may name something.
    fn show(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.show(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    let name = loosely(name);
                    if name.ends_with("id") && !value.is_object() {
                        let id = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                        self.shown.entry(id).or_default().insert(name);
                    }
                    self.show(value);
                }
            }
            _ => {}
        }
    }

    /// Whether the person wrote this id, or a result showed it as that of such a thing.
    fn has(&self, target: &Named) -> bool {
        let id = target.id.as_str().map_or_else(|| target.id.to_string(), str::to_owned);
        let said = match target.id.as_i64() {
            Some(number) => self.numbers.contains(&number),
            None => self.said.iter().any(|text| text.contains(&id)),
        };
        let mut fields = self.shown.get(&id).into_iter().flatten();
        said || fields.any(|field| field == "id" || field.contains(&loosely(&target.noun)))
    }
}

/// The numbers that a person wrote, in digits or in words.
fn numbers_in(text: &str) -> BTreeSet<i64> {
    let digits = text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    let words = text.split(|letter: char| !letter.is_alphabetic()).filter_map(|word| {
        let at = NUMBERS.split('|').position(|number| word.eq_ignore_ascii_case(number))?;
        i64::try_from(at + 1).ok()
    });
    digits.chain(words).collect()
}

/// Words that are in any wish, and name no task.
const PLAIN: WordList = WordList(
    "task|tasks|todo|todos|item|items|delete|remove|mark|done|complete|finish|change|update|make|high|\
    with|from|this|that|please|first",
);

const NUMBERS: &str = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|\
    sixteen|seventeen|eighteen|nineteen|twenty";
