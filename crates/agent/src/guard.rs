//! What an answer says of changes in the product's own voice, beside the model's words, whatever those are: it is known
//! from the run alone. A model's words are neither read for claims nor touched.

use serde::{Deserialize, Serialize};
use toolroom_contract::EffectKind;
use toolroom_contract::error::Outcome;

use crate::confirm::{Utterance, read};
use crate::receipt::Receipt;

/// What is known of a run's changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Whether the person's message may ask for a change.
    pub wished: bool,
    /// Whether answers before this one have receipts.
    pub earlier: bool,
    /// Whether what anybody may have written is among what the model reads: a web page, or a program's output.
    pub untrusted: bool,
    /// What became of the calls of this run that were to change something, in order.
    pub calls: Vec<Attempt>,
}

/// What became of a call that was to change something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attempt {
    /// It succeeded, and its receipt names what it changed.
    Changed,
    /// It succeeded, and nothing says what it changed: a script, or a tool that does not state its effect.
    Ran,
    /// It was refused, or failed without an effect.
    Failed,
    /// It failed, and has or may have taken effect.
    Uncertain(String),
}

impl Attempt {
    /// What became of a call of this published name.
    pub fn of(name: &str, receipt: Option<&Receipt>, outcome: Option<Outcome>) -> Self {
        match (receipt, outcome) {
            (Some(receipt), _) if receipt.kinds.is_empty() => Self::Failed,
            (Some(receipt), _) if receipt.nouns.is_empty() || receipt.kinds == [EffectKind::Run] => Self::Ran,
            (Some(_), _) => Self::Changed,
            (None, Some(Outcome::Applied | Outcome::Unknown)) => Self::Uncertain(name.to_owned()),
            (None, None) => Self::Failed,
        }
    }

    fn succeeded(&self) -> bool {
        matches!(self, Self::Changed | Self::Ran)
    }
}

impl Evidence {
    /// What has to be said beside a model's answer, if anything: that of what may have been wished, nothing was done.
    pub fn conclusion(&self) -> Option<String> {
        // A call that a later one made up for is no failure any more.
        let later = self.calls.iter().rposition(Attempt::succeeded).map_or(0, |at| at + 1);
        let failed = self.calls.iter().skip(later).any(|call| *call == Attempt::Failed);
        let named = self.calls.contains(&Attempt::Changed);
        if let Some(doubt) = self.doubt() {
            return Some(doubt);
        }
        match (self.calls.iter().any(Attempt::succeeded), self.wished && !named || failed) {
            (_, false) => None,
            // What a script did is no proof of what became of a task.
            (true, true) => Some(NOTHING_ELSE.to_owned()),
            (false, true) if self.earlier => Some(NOTHING_NOW.to_owned()),
            (false, true) => Some(NOTHING.to_owned()),
        }
    }

    /// What was done so far, where a run ends before the model has answered.
    pub fn so_far(&self) -> String {
        match (self.doubt(), self.calls.iter().any(Attempt::succeeded)) {
            (Some(doubt), _) => doubt,
            (None, true) => DONE_SO_FAR.to_owned(),
            (None, false) => NOTHING.to_owned(),
        }
    }

    /// What may have taken effect without a receipt.
    fn doubt(&self) -> Option<String> {
        let names = self.calls.iter().filter_map(|call| match call {
            Attempt::Uncertain(name) => Some(name.as_str()),
            _ => None,
        });
        let mut names: Vec<&str> = names.collect();
        names.dedup();
        (!names.is_empty()).then(|| {
            format!("{} failed, but may have taken effect: check before you repeat it.", names.join(", "))
        })
    }
}

/// Whether a person's message may wish for a change. A yes may be one to a question that the model asked in its own words.
pub fn wishes(said: &str) -> bool {
    read(said) == Utterance::Yes || toolroom_selection::may_ask_for_change(said)
}

/// Said where nothing was changed.
pub const NOTHING: &str = "Nothing was changed.";
/// The same where something was changed before, of which the model may rightly speak.
pub const NOTHING_NOW: &str = "Nothing was changed by this message.";
/// The same where something was done in this run.
pub const NOTHING_ELSE: &str = "Nothing else was changed.";
const DONE_SO_FAR: &str = "What is listed above was done, and nothing else.";
