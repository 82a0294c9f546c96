//! The choice: a tool, no tool, or a question to the person.

use crate::families::Family;
use crate::gate::{Chances, Class, Intent};
use crate::index::{Evidence, Index, Query};
use crate::table::Table;

/// What to do with a prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Call this tool.
    Tool {
        /// Its name.
        name: String,
        /// How well the catalogue's texts fit, 0 to 1.
        score: f64,
    },
    /// Answer without a tool.
    None,
    /// Ask the person.
    Ask(Because),
}

/// Why the person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// The prompt lacks what any tool would need, or the decision is the person's.
    Incomplete,
    /// No reading of the prompt is likely enough to act on.
    Unsure,
    /// It is clear what is wanted, and no tool that the caller may use does it.
    NoTool,
}

/// A choice with what speaks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// What to do.
    pub choice: Choice,
    /// How likely the reading behind it is to be right, 0 to 1; calibrated on prompts that were not learned from.
    pub confidence: f64,
    /// The likeliest class, acted on or not; none if a tool fits better that belongs to no class.
    pub class: Option<Class>,
    /// The likeliest intent, if the class is tasks.
    pub intent: Option<Intent>,
    /// How likely every class and intent is.
    pub chances: Chances,
}

impl Selection {
    /// Whether it is sure enough to act: to call the tool, to answer without one, or to ask for what is missing.
    pub fn acts(&self) -> bool {
        !matches!(self.choice, Choice::Ask(Because::Unsure))
    }

    /// Whether acting on it would change something, as far as the gate knows the tool.
    pub fn changes(&self) -> bool {
        self.acts() && changes(self.class, self.intent)
    }
}

impl Index {
    /// What to do with a prompt, given every tool of the index.
    pub fn select(&self, prompt: &str) -> Selection {
        self.select_among(prompt, |_| true)
    }

    /// The same, given the tools that the caller may use.
    pub fn select_among(&self, prompt: &str, allowed: impl Fn(usize) -> bool) -> Selection {
        let allowed: Vec<bool> = (0..self.len()).map(allowed).collect();
        let query = self.read(prompt);
        let evidence = self.evidence(prompt, &query, &allowed);
        let chances = query.chances;
        let (class, intent) = (chances.best_class(), chances.best_intent());
        let likely = match class {
            Class::Tasks => chances.intent(intent),
            other => chances.class(other),
        };
        let kept = class == Class::Tasks;
        let own = |choice, confidence| Selection {
            choice,
            confidence,
            class: Some(class),
            intent: kept.then_some(intent),
            chances,
        };
        // The other classes say only that no built-in tool knows better.
        let rival = if matches!(class, Class::Tasks | Class::Code) { likely.max(0.5) } else { 0.5 };
        if let Some((tool, fits)) = self.best_other(&query, &evidence, &allowed)
            && fits > rival
        {
            let choice = self.call(tool, &evidence, fits >= sure_enough(false));
            return Selection { class: None, intent: None, ..own(choice, fits) };
        }
        if likely < sure_enough(changes(Some(class), Some(intent))) {
            return own(Choice::Ask(Because::Unsure), likely);
        }
        let choice = match class {
            Class::None => Choice::None,
            Class::Human => Choice::Ask(Because::Incomplete),
            Class::Tasks | Class::Web | Class::Code => match self.serving(class, intent, &allowed) {
                Some(tool) => self.call(tool, &evidence, true),
                None => Choice::Ask(Because::NoTool),
            },
        };
        own(choice, likely)
    }

    fn call(&self, tool: usize, evidence: &[Evidence], sure: bool) -> Choice {
        match evidence.get(tool) {
            Some(evidence) if sure => {
                Choice::Tool { name: self.name(tool).to_owned(), score: evidence.score() }
            }
            _ => Choice::Ask(Because::Unsure),
        }
    }

    /// The built-in tool for a class.
    fn serving(&self, class: Class, intent: Intent, allowed: &[bool]) -> Option<usize> {
        let serves = |family: &Option<Family>| family.is_some_and(|family| family.serves(class, intent));
        let mut at = self.families.iter().zip(allowed);
        at.position(|(family, allowed)| *allowed && serves(family))
    }

    /// The best of the tools that the gate does not know, and how likely it is what the prompt asks for.
    fn best_other(&self, query: &Query, evidence: &[Evidence], allowed: &[bool]) -> Option<(usize, f64)> {
        let others = (0..self.len()).filter(|tool| allowed[*tool] && self.families[*tool].is_none());
        let best = others.max_by(|a, b| {
            evidence[*a]
                .fused
                .total_cmp(&evidence[*b].fused)
                .then_with(|| self.names[*b].cmp(&self.names[*a]))
        })?;
        let table = Table::get();
        let (chances, found) = (&query.chances, &evidence[best]);
        let features = [
            1.0,
            found.meaning,
            found.words.share,
            chances.class(Class::Tasks) as f32,
            chances.class(Class::Code) as f32,
            chances.class(Class::Human) as f32,
            chances.class(Class::None) as f32,
        ];
        let score: f32 = features.iter().enumerate().map(|(at, value)| table.tuned(6 + at) * value).sum();
        Some((best, f64::from(1.0 / (1.0 + (-score).exp()))))
    }
}

/// Whether a reading changes something. Of a tool that the gate does not know, and of code, the worst is assumed.
fn changes(class: Option<Class>, intent: Option<Intent>) -> bool {
    match class {
        Some(Class::Tasks) => intent.is_none_or(Intent::changes),
        Some(Class::Web | Class::Human | Class::None) => false,
        Some(Class::Code) | None => true,
    }
}

/// The folds of training are kinder than fresh prompts, of which readings below this are right too seldom.
const FRESH: f64 = 0.75;

/// How likely a reading must be; more for one that changes something.
fn sure_enough(changes: bool) -> f64 {
    f64::from(Table::get().tuned(if changes { 2 } else { 1 })).max(FRESH)
}
