//! Confidence is computed from evidence that the result can name, never a constant.
//!
//! `docs/hints.md` explains the formula to users: a product of factors, each between 0 and 1, each
//! growing with its evidence, so that better evidence never lowers the confidence.

use crate::hints::SourceQuality;

/// What is known about an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Where the answer comes from.
    pub source: Source,
    /// For a cached answer: its age as a share of its time to live. `None` is fresh.
    pub staleness: Option<f64>,
    /// How well the answer fits the question, where that can be said.
    pub matched: Option<f64>,
    /// Which share of what was asked for is in the answer, where that can be said.
    pub complete: Option<f64>,
    /// The tool's own record, business refusals left out.
    pub record: Record,
}

/// Where an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Our own code on our own store.
    Native,
    /// A script of the home's owner.
    Script,
    /// Another server.
    Upstream,
    /// Nobody can say.
    Unknown,
}

/// How often a tool worked lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Calls that ended well, or were refused by a rule of the domain.
    pub good: u32,
    /// All calls.
    pub all: u32,
}

/// A tool without a record is given this many good calls, so that the first answers count for something.
const CREDIT: f64 = 20.0;
/// One-sided 90 %.
const Z: f64 = 1.2816;
/// What is left of the freshness factor when a cached answer is about to expire.
const OLDEST: f64 = 0.8;
/// What is left of the completeness factor when nothing of what was asked for is in the answer.
const EMPTIEST: f64 = 0.5;

impl Source {
    /// The factor that it contributes.
    pub const fn trust(self) -> f64 {
        match self {
            Source::Native => 1.0,
            Source::Script => 0.95,
            Source::Upstream => 0.9,
            Source::Unknown => 0.7,
        }
    }

    /// The word that the hints use for it.
    pub const fn quality(self) -> SourceQuality {
        match self {
            Source::Native => SourceQuality::High,
            Source::Script | Source::Upstream => SourceQuality::Medium,
            Source::Unknown => SourceQuality::Unknown,
        }
    }
}

impl Record {
    /// Wilson's lower bound on the share of good calls.
    pub fn lower_bound(self) -> f64 {
        let calls = f64::from(self.all) + CREDIT;
        let share = (f64::from(self.good.min(self.all)) + CREDIT) / calls;
        let z2 = Z * Z;
        let centre = share + z2 / (2.0 * calls);
        let spread = Z * (share * (1.0 - share) / calls + z2 / (4.0 * calls * calls)).sqrt();
        ((centre - spread) / (1.0 + z2 / calls)).clamp(0.0, 1.0)
    }
}

impl Evidence {
    fn freshness(&self) -> f64 {
        // Turned round, so that what is not a number counts as stale and not as fresh.
        self.staleness.map_or(1.0, |share| OLDEST + (1.0 - OLDEST) * unit(1.0 - share))
    }

    fn completeness(&self) -> f64 {
        self.complete.map_or(1.0, |share| EMPTIEST + (1.0 - EMPTIEST) * unit(share))
    }

    /// The confidence, 0 to 1, in thousandths.
    pub fn confidence(&self) -> f64 {
        let product = self.source.trust()
            * self.freshness()
            * self.matched.map_or(1.0, unit)
            * self.completeness()
            * self.record.lower_bound();
        (product * 1000.0).round() / 1000.0
    }

    /// The same in words, for `reasoning`.
    pub fn explain(&self) -> String {
        let mut text = String::with_capacity(128);
        let mut factor = |name: &str, value: f64| {
            text.push_str(name);
            push_hundredths(&mut text, value);
        };
        factor("Source ", self.source.trust());
        if self.staleness.is_some() {
            factor(" × freshness ", self.freshness());
        }
        if let Some(score) = self.matched {
            factor(" × match ", unit(score));
        }
        if self.complete.is_some() {
            factor(" × completeness ", self.completeness());
        }
        // Only the share: how many calls other users made is private.
        factor(" × record ", self.record.lower_bound());
        text
    }
}

/// Two decimals of a number from 0 to 1. The formatter's exact mode costs a microsecond; every result has this.
fn push_hundredths(text: &mut String, value: f64) {
    let hundredths = (value * 100.0).round() as u32;
    let digit = |number: u32| char::from(b'0' + (number % 10) as u8);
    text.extend([digit(hundredths / 100), '.', digit(hundredths / 10), digit(hundredths)]);
}

/// NaN counts as nothing.
fn unit(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}
