//! agentHints: what the caller should know about a result, and could do next.

mod draft;
mod parts;
mod spoken;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::FieldError;

pub use draft::HintsDraft;
pub use parts::*;
pub use spoken::SpokenHints;

/// The hints of one result. The first eleven fields are always there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentHints {
    /// What the caller could do next, best first.
    pub suggested_next_actions: Vec<SuggestedAction>,
    /// Things that the result is about or touches.
    pub related_resources: Vec<RelatedResource>,
    /// How sure the result is, computed from evidence.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// How reliable the data behind the hints is.
    pub source_quality: SourceQuality,
    /// How long the hints are valid.
    pub validity_period: ValidityPeriod,
    /// What would make the hints better.
    pub context_needed: Vec<String>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
    /// What could go wrong.
    pub risk_factors: Vec<RiskFactor>,
    /// Which actions come before which.
    pub dependencies: Vec<Dependency>,
    /// The value of following the suggestions.
    pub estimated_impact: EstimatedImpact,
    /// How suggestions fit what the user likes.
    pub preference_alignment: Vec<PreferenceAlignment>,
    /// Why, in plain English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What deserves attention.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Other ways that were considered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// Limits on the suggestions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Who made the hints, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<HintsMetadata>,
}

impl AgentHints {
    /// Numbers outside their ranges, each with its pointer. Empty means sound.
    pub fn problems(&self) -> Vec<FieldError> {
        let mut found = Vec::new();
        let mut check = |pointer: String, value: f64, low: f64, high: f64| {
            if !(low..=high).contains(&value) {
                found.push(FieldError {
                    pointer: format!("/agentHints{pointer}"),
                    message: format!("{value} is not between {low} and {high}"),
                    expected: None,
                    example: None,
                });
            }
        };
        check("/confidence".into(), self.confidence, 0.0, 1.0);
        check("/estimatedImpact/benefit".into(), self.estimated_impact.benefit, 0.0, 1.0);
        check("/estimatedImpact/effort".into(), self.estimated_impact.effort, 0.0, 1.0);
        check("/estimatedImpact/roi".into(), self.estimated_impact.roi, 0.0, f64::MAX);
        for (at, action) in self.suggested_next_actions.iter().enumerate() {
            let mut maybe = |field: &str, value: Option<f64>, high: f64| {
                if let Some(value) = value {
                    check(format!("/suggestedNextActions/{at}/{field}"), value, 0.0, high);
                }
            };
            maybe("confidence", action.confidence, 1.0);
            maybe("estimatedTime", action.estimated_time, f64::MAX);
            maybe("estimatedCost", action.estimated_cost, f64::MAX);
        }
        for (at, resource) in self.related_resources.iter().enumerate() {
            check(format!("/relatedResources/{at}/relevance"), resource.relevance, 0.0, 1.0);
        }
        for (at, risk) in self.risk_factors.iter().enumerate() {
            check(format!("/riskFactors/{at}/probability"), risk.probability, 0.0, 1.0);
            check(format!("/riskFactors/{at}/impact"), risk.impact, 0.0, 1.0);
        }
        for (at, fit) in self.preference_alignment.iter().enumerate() {
            check(format!("/preferenceAlignment/{at}/score"), fit.score, -1.0, 1.0);
        }
        for (at, alternative) in self.alternatives.iter().enumerate() {
            check(format!("/alternatives/{at}/confidence"), alternative.confidence, 0.0, 1.0);
            if let Some(impact) = alternative.estimated_impact {
                check(format!("/alternatives/{at}/estimatedImpact"), impact, 0.0, 1.0);
            }
        }
        found
    }
}
