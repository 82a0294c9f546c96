//! The parts of agentHints, each with its enums and ranges.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

/// How long hints are valid.
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
    /// How important it would be.
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

/// The value of following the suggestions.
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
    /// Its advantages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pros: Vec<String>,
    /// Its disadvantages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cons: Vec<String>,
    /// Its value.
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
