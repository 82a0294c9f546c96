//! Makes the agentHints of a result out of its contract, its evidence and what the handler knew.

use serde_json::{Map, Value, json};
use toolroom_contract::confidence::{Evidence, Source};
use toolroom_contract::definition::{Argument, NextAction, When};
use toolroom_contract::error::ErrorBody;
use toolroom_contract::hints::{EstimatedImpact, ValidityPeriod, Warning};
use toolroom_contract::ids::ExecutionId;
use toolroom_contract::result::Body;
use toolroom_contract::{AgentHints, ErrorCode, HintsDraft, Priority, ResponseTime, SuggestedAction};

use crate::catalogue::{Snapshot, Tool, View};
use crate::journal::{Mask, Secrets};
use crate::recovery;

/// What the hints are made from.
pub(crate) struct Seen<'a> {
    pub tool: Option<&'a Tool>,
    /// Its name, as the caller knows it.
    pub name: &'a str,
    pub execution: ExecutionId,
    pub snapshot: &'a Snapshot,
    /// The tools that the caller may call, by the names that they know.
    pub view: Option<View<'a>>,
    pub params: &'a Value,
    /// What is secret in them.
    pub mask: &'a Mask,
    pub secrets: &'a Secrets,
    /// Whether the caller knows the tool under a published shape, so that canonical parameters would not help.
    pub shaped: bool,
    /// Whether pointers lead through `/params`, because `call-tool` was called.
    pub forwarded: bool,
    pub body: &'a Body,
    pub staleness: Option<f64>,
}

/// The hints of one result.
pub(crate) fn finish(seen: &Seen<'_>, mut draft: HintsDraft, warning: Option<Warning>) -> AgentHints {
    bring_into_range(&mut draft);
    let source = seen.tool.map_or(Source::Unknown, |tool| tool.executor.source());
    let evidence = Evidence {
        source,
        staleness: seen.staleness,
        matched: draft.matched,
        complete: draft.complete,
        record: seen.tool.map(|tool| tool.record.read()).unwrap_or_default(),
    };
    let confidence = evidence.confidence();
    let actions = next_actions(seen, draft.next);
    let mut warnings = draft.warnings;
    warnings.extend(warning);
    AgentHints {
        estimated_impact: impact(seen, &actions, confidence),
        suggested_next_actions: actions,
        related_resources: draft.related,
        confidence,
        source_quality: source.quality(),
        validity_period: draft.validity.unwrap_or_else(|| validity(seen)),
        context_needed: draft.context_needed,
        assumptions: draft.assumptions,
        risk_factors: draft.risks,
        dependencies: draft.dependencies,
        preference_alignment: draft.alignment,
        reasoning: Some(match draft.reasoning {
            Some(reasoning) => format!("{reasoning} {}", evidence.explain()),
            None => evidence.explain(),
        }),
        warnings,
        alternatives: draft.alternatives,
        constraints: draft.constraints,
        metadata: None,
    }
}

/// A handler's numbers, where they must be. JSON knows no NaN and no infinity.
fn bring_into_range(draft: &mut HintsDraft) {
    let within = |value: &mut f64, low: f64, high: f64| {
        *value = if value.is_nan() { 0.0 } else { value.clamp(low, high) };
    };
    for action in &mut draft.next {
        action.confidence.iter_mut().for_each(|value| within(value, 0.0, 1.0));
        let costs = action.estimated_time.iter_mut().chain(&mut action.estimated_cost);
        costs.for_each(|value| within(value, 0.0, f64::MAX));
    }
    draft.related.iter_mut().for_each(|resource| within(&mut resource.relevance, 0.0, 1.0));
    for risk in &mut draft.risks {
        within(&mut risk.probability, 0.0, 1.0);
        within(&mut risk.impact, 0.0, 1.0);
    }
    draft.alignment.iter_mut().for_each(|fit| within(&mut fit.score, -1.0, 1.0));
    for alternative in &mut draft.alternatives {
        within(&mut alternative.confidence, 0.0, 1.0);
        alternative.estimated_impact.iter_mut().for_each(|value| within(value, 0.0, 1.0));
    }
}

/// What the handler suggests, then what the contract suggests; never a tool that the caller may not use.
fn next_actions(seen: &Seen<'_>, own: Vec<SuggestedAction>) -> Vec<SuggestedAction> {
    let mut actions = own;
    if let (Some(tool), Body::Error(error)) = (seen.tool, seen.body)
        && error.code == ErrorCode::InvalidInput
        && !seen.shaped
    {
        actions.extend(repair(tool, seen, error));
    }
    let repaired = !actions.is_empty();
    let failed = matches!(seen.body, Body::Error(_));
    let rules = seen.tool.map(|tool| tool.definition().next_actions.as_slice()).unwrap_or_default();
    for rule in rules {
        let fits = match rule.when {
            When::Success => !failed,
            When::Error => failed,
            When::Always => true,
        };
        if fits && !actions.iter().any(|action| action.action == rule.action) {
            actions.extend(fill(rule, seen));
        }
    }
    actions.retain_mut(|action| rename(action, seen));
    if let Body::Error(error) = seen.body
        && (actions.is_empty() || (!repaired && recovery::comes_first(error.code)))
    {
        actions.splice(0..0, recovery::step(seen, error));
    }
    // The sort is stable: what the handler put first stays first among equals.
    actions.sort_by_key(|action| action.priority);
    actions
}

/// Gives a suggested tool the name that the caller knows it by; whether they may call it at all.
fn rename(action: &mut SuggestedAction, seen: &Seen<'_>) -> bool {
    let Some(tool) = seen.snapshot.tools.get(&action.action) else { return true };
    let Some(name) = seen.view.and_then(|view| view.name_of(tool)) else { return false };
    if seen.shaped {
        // They are those of the tool itself, which the profile's own may not know.
        action.data = None;
    }
    if action.action != name {
        name.clone_into(&mut action.action);
    }
    true
}

/// A rule of the contract with its arguments filled in; nothing if one of them is not there.
fn fill(rule: &NextAction, seen: &Seen<'_>) -> Option<SuggestedAction> {
    let mut data = Map::new();
    for (name, argument) in &rule.arguments {
        let value = match argument {
            Argument::Value(value) => value.clone(),
            Argument::From(pointer) => {
                let value = look_up(pointer, seen)?;
                let hidden = pointer.strip_prefix("/params").is_some_and(|rest| seen.mask.hides(rest));
                (!hidden).then(|| value.clone())?
            }
        };
        data.insert(name.clone(), value);
    }
    let mut action = SuggestedAction::new(rule.action.clone(), rule.priority);
    action.description.clone_from(&rule.description);
    action.data = (!data.is_empty()).then_some(data);
    if let Some(next) = seen.snapshot.tools.get(&rule.action) {
        action.reversible = Some(!next.policy.needs_approval);
        action.confidence = Some(thousandths(next.record.read().lower_bound()));
    }
    Some(action)
}

fn look_up<'a>(pointer: &str, seen: &'a Seen<'_>) -> Option<&'a Value> {
    let (root, rest) = match pointer.strip_prefix('/')?.split_once('/') {
        Some((root, rest)) => (root, format!("/{rest}")),
        None => (pointer.strip_prefix('/')?, String::new()),
    };
    match (root, seen.body) {
        ("params", _) => seen.params.pointer(&rest),
        ("data", Body::Data(data)) => data.pointer(&rest),
        _ => None,
    }
}

/// The same call with its bad fields replaced by those of an example, if that makes it fit.
fn repair(tool: &Tool, seen: &Seen<'_>, error: &ErrorBody) -> Option<SuggestedAction> {
    let example = tool.definition().examples.first()?;
    let mut fixed = seen.params.as_object().cloned().unwrap_or_default();
    for detail in &error.details {
        let field = detail.pointer.split('/').nth(1 + usize::from(seen.forwarded)).unwrap_or_default();
        match example.params.get(field) {
            Some(value) => fixed.insert(field.to_owned(), value.clone()),
            None => fixed.shift_remove(field),
        };
    }
    let fixed = Value::Object(fixed);
    let fixed = if tool.parameters.accepts_at_once(&fixed) { fixed } else { json!(example.params) };
    let Value::Object(mut data) = fixed else { return None };
    let left_out = recovery::strip(seen, &mut data);
    let mut action = SuggestedAction::new(tool.name(), Priority::High)
        .described(format!("Call again with parameters that fit, such as these.{left_out}"));
    action.category = Some(toolroom_contract::hints::ActionCategory::Correction);
    action.data = Some(data);
    Some(action)
}

/// Kept answers hold as long as the cache keeps them; after a mutation the next step is what counts.
fn validity(seen: &Seen<'_>) -> ValidityPeriod {
    let Some(tool) = seen.tool else { return ValidityPeriod::Immediate };
    match tool.policy.cache.map(|ttl| ttl.as_secs()) {
        Some(0..=300) => ValidityPeriod::Short,
        Some(301..=3_600) => ValidityPeriod::Medium,
        Some(3_601..=86_400) => ValidityPeriod::Long,
        Some(_) => ValidityPeriod::Indefinite,
        None if tool.policy.read_only => ValidityPeriod::Short,
        None => ValidityPeriod::Immediate,
    }
}

/// Benefit: how urgent the best suggestion is, times the confidence. Effort: how long it takes to run.
fn impact(seen: &Seen<'_>, actions: &[SuggestedAction], confidence: f64) -> EstimatedImpact {
    let Some(best) = actions.first() else {
        return EstimatedImpact { benefit: 0.0, effort: 0.0, roi: 0.0, affected_metrics: Vec::new() };
    };
    let urgency = match best.priority {
        Priority::Critical => 1.0,
        Priority::High => 0.75,
        Priority::Medium => 0.5,
        Priority::Low => 0.25,
    };
    let effort = match seen.snapshot.tools.get(&best.action).map(|tool| tool.definition().response_time) {
        Some(ResponseTime::Fast) => 0.1,
        Some(ResponseTime::Medium) | None => 0.3,
        Some(ResponseTime::Slow) => 0.6,
    };
    let benefit = thousandths(urgency * confidence);
    EstimatedImpact { benefit, effort, roi: thousandths(benefit / effort), affected_metrics: Vec::new() }
}

fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
