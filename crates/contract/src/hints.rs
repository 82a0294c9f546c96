//! agentHints: what the caller should know about a result, and could do next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::FieldError;

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
    /// How long the hints hold.
    pub validity_period: ValidityPeriod,
    /// What would make the hints better.
    pub context_needed: Vec<String>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
    /// What could go wrong.
    pub risk_factors: Vec<RiskFactor>,
    /// Which actions come before which.
    pub dependencies: Vec<Dependency>,
    /// What following the suggestions is worth.
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

/// How urgent an action or severe a risk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Now.
    Critical,
    /// Soon.
    High,
    /// In its turn.
    Medium,
    /// Some time.
    Low,
}

/// Severities share the words of priorities.
pub type Severity = Priority;

/// What kind of step an action is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionCategory {
    /// To find out more.
    Exploration,
    /// To make something better.
    Optimization,
    /// To put something right.
    Correction,
    /// To learn.
    Learning,
}

/// A step that the caller could take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedAction {
    /// Action identifier, kebab-case; a tool's name where the action is a call.
    pub action: String,
    /// How urgent.
    pub priority: Priority,
    /// The arguments, as far as they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub estimated_time: Option<f64>,
    /// Arbitrary units or dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub estimated_cost: Option<f64>,
    /// What kind of step it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<ActionCategory>,
    /// Actions that must complete first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prerequisites: Vec<String>,
    /// What will happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Whether it can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
    /// How sure this suggestion is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
}

impl SuggestedAction {
    /// A suggestion of that urgency.
    pub fn new(action: impl Into<String>, priority: Priority) -> Self {
        Self {
            action: action.into(),
            priority,
            data: None,
            description: None,
            estimated_time: None,
            estimated_cost: None,
            category: None,
            prerequisites: Vec::new(),
            expected_outcome: None,
            reversible: None,
            confidence: None,
        }
    }

    /// With a sentence for people.
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// With one argument filled in.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.data.get_or_insert_default().insert(name.into(), value.into());
        self
    }
}

/// A thing that the result is about or touches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedResource {
    /// Resource type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Resource identifier.
    pub id: String,
    /// Display name.
    pub label: String,
    /// How closely it is related.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub relevance: f64,
    /// Category, lastAccessed, accessCount, quality, freshness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// How reliable the data behind the hints is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceQuality {
    /// From authoritative, verified sources.
    High,
    /// From generally reliable sources.
    Medium,
    /// From uncertain or unverified sources.
    Low,
    /// Cannot be determined.
    Unknown,
}

/// How long hints hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ValidityPeriod {
    /// For the next action only.
    Immediate,
    /// About 5 minutes.
    Short,
    /// About an hour.
    Medium,
    /// About a day.
    Long,
    /// Until the context changes.
    Indefinite,
}

/// What could go wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RiskFactor {
    /// What it endangers.
    #[serde(rename = "type")]
    pub kind: RiskKind,
    /// How bad.
    pub severity: Severity,
    /// What the risk is.
    pub description: String,
    /// How likely.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// How much it would matter.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub impact: f64,
    /// What lessens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mitigation: Option<String>,
}

/// What a risk endangers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RiskKind {
    /// Speed.
    Performance,
    /// Correctness.
    Accuracy,
    /// Money.
    Cost,
    /// Simplicity.
    Complexity,
    /// How it feels to use.
    UserExperience,
}

/// Which actions come before which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// The dependent action.
    pub action: String,
    /// What it depends on.
    pub depends_on: Vec<String>,
    /// How strongly.
    #[serde(rename = "type")]
    pub kind: DependencyKind,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How strongly one action depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DependencyKind {
    /// It cannot go without.
    Required,
    /// It should not go without.
    Recommended,
    /// It may go without.
    Optional,
}

/// What following the suggestions is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EstimatedImpact {
    /// What is gained.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub benefit: f64,
    /// What it takes.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub effort: f64,
    /// Benefit divided by effort.
    #[schemars(range(min = 0.0))]
    pub roi: f64,
    /// Metrics that move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub affected_metrics: Vec<String>,
}

/// How a suggestion fits what the user likes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreferenceAlignment {
    /// Which action.
    pub action: String,
    /// Which preference.
    pub preference: String,
    /// How well they fit, in a word.
    pub alignment: Alignment,
    /// How well they fit, from -1 (conflict) to 1 (strong).
    #[schemars(range(min = -1.0, max = 1.0))]
    pub score: f64,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// How well an action fits a preference, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Alignment {
    Strong,
    Moderate,
    Weak,
    Neutral,
    Conflict,
}

/// What deserves attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// What kind of warning.
    #[serde(rename = "type")]
    pub kind: WarningKind,
    /// How bad.
    pub severity: Severity,
    /// For people.
    pub message: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_ids: Vec<String>,
    /// What would put it right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_fix: Option<String>,
    /// Whether that could be done without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_fixable: Option<bool>,
}

impl Warning {
    /// A warning of that kind.
    pub fn new(kind: WarningKind, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            kind,
            severity,
            message: message.into(),
            related_ids: Vec::new(),
            suggested_fix: None,
            auto_fixable: None,
        }
    }
}

/// What kind of warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WarningKind {
    Validation,
    Duplicate,
    Conflict,
    Deprecation,
    Performance,
}

/// Another way that was considered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Alternative {
    /// What it is.
    pub approach: String,
    /// How sure it is.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// Why it exists.
    pub reasoning: String,
    /// What speaks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pros: Vec<String>,
    /// What speaks against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cons: Vec<String>,
    /// What it is worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub estimated_impact: Option<f64>,
}

/// Who made the hints, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HintsMetadata {
    /// ISO 8601.
    pub generated_at: jiff::Timestamp,
    /// Service or agent.
    pub generated_by: String,
    /// If AI-generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_version: Option<String>,
    /// Milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processing_time: Option<f64>,
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
