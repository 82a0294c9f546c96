//! The figures: counted once, shown as tables or as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolroom_planner as planner;
use toolroom_selection::{Choice, Class, Index, Intent, Selection};

use super::gold::{Prompt, Right, Search};

/// How many of how many.
#[derive(Clone, Copy, Default)]
pub struct Score {
    pub total: usize,
    pub correct: usize,
}

/// One class, or all.
#[derive(Clone, Copy, Default)]
pub struct Line {
    /// The likeliest reading, acted on or not.
    pub all: Score,
    /// Only where it was sure enough to act.
    pub acted: Score,
}

/// Prompts of about the same confidence.
pub struct Bin {
    pub from: f64,
    pub to: f64,
    pub score: Score,
    sum: f64,
}

pub struct Report {
    pub all: Line,
    pub by_class: BTreeMap<&'static str, Line>,
    pub confusion: BTreeMap<&'static str, BTreeMap<&'static str, usize>>,
    pub calibration: Vec<Bin>,
    pub intents: Score,
    /// Acted on with a tool that changes something, and it was not what was wanted.
    pub wrong_changes: usize,
    pub search: Score,
    /// Searches for tools that the catalogue does not have.
    pub not_here: usize,
    /// Each prompt and search with what was right and what was taken.
    rows: Vec<Value>,
}

/// What a prompt was taken for.
pub struct Taken {
    /// The class; none if a tool was chosen that belongs to no class.
    pub class: Option<Class>,
    /// The intent, if the class is tasks.
    pub intent: Option<Intent>,
    /// The tool that would be called.
    pub tool: Option<String>,
    /// How sure it is.
    pub confidence: f64,
    /// Whether it acts on it.
    pub acts: bool,
    /// Whether acting on it changes something.
    pub changes: bool,
}

impl From<Selection> for Taken {
    fn from(selection: Selection) -> Self {
        let (acts, changes) = (selection.acts(), selection.changes());
        let tool = match selection.choice {
            Choice::Tool { name, .. } => Some(name),
            Choice::None | Choice::Ask(_) => None,
        };
        let Selection { class, intent, confidence, .. } = selection;
        Self { class, intent, tool, confidence, acts, changes }
    }
}

impl Score {
    pub fn count(&mut self, right: bool) {
        self.total += 1;
        self.correct += usize::from(right);
    }

    /// The share that is right; 0 of nothing.
    pub fn share(self) -> f64 {
        if self.total == 0 { 0.0 } else { self.correct as f64 / self.total as f64 }
    }

    pub fn json(self) -> Value {
        json!({ "total": self.total, "correct": self.correct, "accuracy": rounded(self.share()) })
    }
}

impl Line {
    /// How many prompts it acts on.
    pub fn coverage(self) -> Score {
        Score { total: self.all.total, correct: self.acted.total }
    }
}

impl Bin {
    /// The mean confidence.
    pub fn mean(&self) -> f64 {
        if self.score.total == 0 { 0.0 } else { self.sum / self.score.total as f64 }
    }
}

impl Report {
    /// The figures of the selection without a model.
    pub fn of(index: &Index, prompts: &[Prompt], searches: &[Search]) -> Self {
        let mut report = Self::new();
        prompts
            .iter()
            .for_each(|prompt| report.prompt(&planner::selection(index, &prompt.text).into(), prompt));
        searches.iter().for_each(|search| report.search(index, search));
        report
    }

    /// Nothing counted yet.
    pub fn new() -> Self {
        Self {
            all: Line::default(),
            by_class: BTreeMap::new(),
            confusion: BTreeMap::new(),
            calibration: (0..10)
                .map(|at| Bin {
                    from: f64::from(at) / 10.0,
                    to: f64::from(at + 1) / 10.0,
                    score: Score::default(),
                    sum: 0.0,
                })
                .collect(),
            intents: Score::default(),
            wrong_changes: 0,
            search: Score::default(),
            not_here: 0,
            rows: Vec::new(),
        }
    }

    /// Counts a prompt.
    pub fn prompt(&mut self, taken: &Taken, prompt: &Prompt) {
        let (name, right, exact) = match &prompt.right {
            Right::Class(class, intent) => {
                let right = taken.class == Some(*class);
                let exact = right && (intent.is_none() || taken.intent == *intent);
                if *class == Class::Tasks && intent.is_some() {
                    self.intents.count(exact);
                }
                (class.as_str(), right, exact)
            }
            Right::Tool(tool) => {
                let right = taken.tool.as_ref() == Some(tool);
                ("other", right, right)
            }
        };
        let acts = taken.acts;
        for line in [&mut self.all, self.by_class.entry(name).or_default()] {
            line.all.count(right);
            if acts {
                line.acted.count(right);
            }
        }
        let taken_for = match taken.class {
            _ if !acts => "unsure",
            Some(class) => class.as_str(),
            None => "other",
        };
        *self.confusion.entry(name).or_default().entry(taken_for).or_default() += 1;
        let last = self.calibration.len().saturating_sub(1);
        if let Some(bin) = self.calibration.get_mut(((taken.confidence * 10.0) as usize).min(last)) {
            bin.score.count(exact);
            bin.sum += taken.confidence;
        }
        self.wrong_changes += usize::from(taken.changes && !exact);
        let wanted = match &prompt.right {
            Right::Class(class, intent) => {
                json!({ "class": class.as_str(), "intent": intent.map(Intent::as_str) })
            }
            Right::Tool(tool) => json!({ "tool": tool }),
        };
        self.rows.push(json!({
            "prompt": prompt.text,
            "right": wanted,
            "taken": {
                "class": taken.class.map(Class::as_str),
                "intent": taken.intent.map(Intent::as_str),
                "tool": taken.tool,
                "confidence": rounded(taken.confidence),
                "acts": taken.acts,
            },
            "correct": right,
            "exact": exact,
        }));
    }

    fn search(&mut self, index: &Index, search: &Search) {
        if (0..index.len()).all(|at| index.name(at) != search.tool) {
            self.not_here += 1;
            return;
        }
        let found: Vec<&str> =
            index.search(&search.query, 5).iter().map(|hit| index.name(hit.tool)).collect();
        let right = found.contains(&search.tool.as_str());
        self.search.count(right);
        self.rows.push(json!({
            "query": search.query,
            "right": { "tool": search.tool },
            "found": found,
            "correct": right,
        }));
    }

    pub fn json(&self) -> Value {
        let line = |line: &Line| {
            json!({
                "total": line.all.total,
                "correct": line.all.correct,
                "accuracy": rounded(line.all.share()),
                "coverage": rounded(line.coverage().share()),
                "acted": line.acted.json(),
            })
        };
        let by_class: BTreeMap<&str, Value> =
            self.by_class.iter().map(|(name, one)| (*name, line(one))).collect();
        let calibration: Vec<Value> = self
            .calibration
            .iter()
            .map(|bin| {
                json!({
                    "from": bin.from,
                    "to": bin.to,
                    "total": bin.score.total,
                    "correct": bin.score.correct,
                    "meanConfidence": rounded(bin.mean()),
                    "accuracy": rounded(bin.score.share()),
                })
            })
            .collect();
        json!({
            "total": self.all.all.total,
            "correct": self.all.all.correct,
            "accuracy": rounded(self.all.all.share()),
            "coverage": rounded(self.all.coverage().share()),
            "acted": self.all.acted.json(),
            "by_class": by_class,
            "confusion": self.confusion,
            "calibration": calibration,
            "intents": self.intents.json(),
            "wrong_mutations": {
                "total": self.wrong_changes,
                "share": rounded(Score { total: self.all.all.total, correct: self.wrong_changes }.share()),
            },
            "search": {
                "total": self.search.total,
                "correct": self.search.correct,
                "recall_at_5": rounded(self.search.share()),
                "not_in_catalogue": self.not_here,
            },
            "rows": self.rows,
        })
    }
}

fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}
