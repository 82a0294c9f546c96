//! What a handler says about its answer; the runtime makes AgentHints of it.

use serde::{Deserialize, Serialize};

use super::{
    Alternative, Dependency, PreferenceAlignment, RelatedResource, RiskFactor, SuggestedAction,
    ValidityPeriod, Warning,
};

/// What a handler knows about its answer. The runtime makes AgentHints of it: a handler names evidence,
/// and never a confidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HintsDraft {
    pub next: Vec<SuggestedAction>,
    pub related: Vec<RelatedResource>,
    pub warnings: Vec<Warning>,
    pub context_needed: Vec<String>,
    pub assumptions: Vec<String>,
    pub risks: Vec<RiskFactor>,
    pub dependencies: Vec<Dependency>,
    pub alignment: Vec<PreferenceAlignment>,
    pub alternatives: Vec<Alternative>,
    pub constraints: Vec<String>,
    pub reasoning: Option<String>,
    pub validity: Option<ValidityPeriod>,
    /// How well the answer fits the question, 0 to 1, where that can be said.
    pub matched: Option<f64>,
    /// Which share of what was asked for is in the answer, 0 to 1, where that can be said.
    pub complete: Option<f64>,
}

impl HintsDraft {
    /// Suggest a step.
    pub fn next(mut self, action: SuggestedAction) -> Self {
        self.next.push(action);
        self
    }

    /// Name a thing that the result is about.
    pub fn related(
        mut self,
        kind: impl Into<String>,
        id: impl ToString,
        label: impl Into<String>,
        relevance: f64,
    ) -> Self {
        self.related.push(RelatedResource {
            kind: kind.into(),
            id: id.to_string(),
            label: label.into(),
            relevance: relevance.clamp(0.0, 1.0),
            metadata: None,
        });
        self
    }

    /// Warn.
    pub fn warn(mut self, warning: Warning) -> Self {
        self.warnings.push(warning);
        self
    }

    /// Say what was taken for granted.
    pub fn assume(mut self, assumption: impl Into<String>) -> Self {
        self.assumptions.push(assumption.into());
        self
    }

    /// Say why, in plain English.
    pub fn because(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = Some(reasoning.into());
        self
    }

    /// Evidence: how well the answer fits the question.
    pub fn matched(mut self, score: f64) -> Self {
        self.matched = Some(score.clamp(0.0, 1.0));
        self
    }

    /// Evidence: how much of what was asked for is in the answer.
    pub fn complete(mut self, part: usize, whole: usize) -> Self {
        self.complete = Some(if whole == 0 { 1.0 } else { (part as f64 / whole as f64).min(1.0) });
        self
    }
}
