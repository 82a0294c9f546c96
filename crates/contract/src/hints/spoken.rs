//! The hints that a model can act on.

use serde::Serialize;

use super::{AgentHints, Alternative, Dependency, RelatedResource, RiskFactor, SuggestedAction, Warning};

/// Those of a result's hints that a model can act on and that say something.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpokenHints<'a> {
    #[serde(skip_serializing_if = "none")]
    suggested_next_actions: &'a [SuggestedAction],
    #[serde(skip_serializing_if = "none")]
    warnings: &'a [Warning],
    #[serde(skip_serializing_if = "none")]
    related_resources: &'a [RelatedResource],
    #[serde(skip_serializing_if = "none")]
    context_needed: &'a [String],
    #[serde(skip_serializing_if = "none")]
    assumptions: &'a [String],
    #[serde(skip_serializing_if = "none")]
    risk_factors: &'a [RiskFactor],
    #[serde(skip_serializing_if = "none")]
    dependencies: &'a [Dependency],
    #[serde(skip_serializing_if = "none")]
    alternatives: &'a [Alternative],
    #[serde(skip_serializing_if = "none")]
    constraints: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a str>,
    confidence: f64,
}

impl AgentHints {
    /// What of them is said to a model.
    pub fn spoken(&self) -> SpokenHints<'_> {
        SpokenHints {
            suggested_next_actions: &self.suggested_next_actions,
            warnings: &self.warnings,
            related_resources: &self.related_resources,
            context_needed: &self.context_needed,
            assumptions: &self.assumptions,
            risk_factors: &self.risk_factors,
            dependencies: &self.dependencies,
            alternatives: &self.alternatives,
            constraints: &self.constraints,
            reasoning: self.reasoning.as_deref(),
            confidence: self.confidence,
        }
    }
}

fn none<T>(items: &&[T]) -> bool {
    items.is_empty()
}
