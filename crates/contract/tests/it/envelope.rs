//! The envelope of every call: data or error, agentHints and metadata always.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_contract::error::ErrorBody;
use toolroom_contract::hints::{EstimatedImpact, SourceQuality, ValidityPeriod};
use toolroom_contract::result::Body;
use toolroom_contract::{AgentHints, ErrorCode, Metadata, ToolError, ToolResult};

use crate::sample::rich_hints;

const REQUIRED_HINTS: [&str; 11] = [
    "suggestedNextActions",
    "relatedResources",
    "confidence",
    "sourceQuality",
    "validityPeriod",
    "contextNeeded",
    "assumptions",
    "riskFactors",
    "dependencies",
    "estimatedImpact",
    "preferenceAlignment",
];

fn bare_hints() -> AgentHints {
    AgentHints {
        suggested_next_actions: vec![],
        related_resources: vec![],
        confidence: 0.5,
        source_quality: SourceQuality::Unknown,
        validity_period: ValidityPeriod::Immediate,
        context_needed: vec![],
        assumptions: vec![],
        risk_factors: vec![],
        dependencies: vec![],
        estimated_impact: EstimatedImpact { benefit: 0.0, effort: 0.0, roi: 0.0, affected_metrics: vec![] },
        preference_alignment: vec![],
        reasoning: None,
        warnings: vec![],
        alternatives: vec![],
        constraints: vec![],
        metadata: None,
    }
}

fn metadata() -> Metadata {
    Metadata {
        tool_version: "1.2.3".into(),
        timestamp: "2026-11-15T10:00:00Z".parse().unwrap(),
        execution_time: 1.5,
        service_version: "0.1.0".into(),
        trace_id: None,
        correlation_id: None,
        cached: None,
        execution_id: None,
        replayed: false,
        dry_run: false,
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_result_has_data_or_error_and_always_hints_and_metadata() {
    let success = ToolResult {
        body: Body::Data(Arc::new(json!({ "id": 7 }))),
        agent_hints: bare_hints(),
        metadata: metadata(),
        content: None,
    };
    let error = ErrorBody::of(&ToolError::new(ErrorCode::NotFound, "no such task"), false);
    let failure = ToolResult { body: Body::Error(Box::new(error)), ..success.clone() };
    let (good, bad) = (serde_json::to_value(&success).unwrap(), serde_json::to_value(&failure).unwrap());
    assert_eq!(keys(&good), ["data", "agentHints", "metadata"]);
    assert_eq!(keys(&bad), ["error", "agentHints", "metadata"]);
    assert_eq!(
        bad["error"],
        json!({
            "code": "not_found", "class": "business", "message": "no such task", "retryable": false
        })
    );
    assert_eq!((success.data(), success.error().is_some()), (Some(&json!({ "id": 7 })), false));
    assert_eq!((failure.data(), failure.error().map(|e| e.code)), (None, Some(ErrorCode::NotFound)));
    for result in [success, failure] {
        let text = serde_json::to_string(&result).unwrap();
        assert_eq!(serde_json::from_str::<ToolResult>(&text).unwrap(), result);
    }
}

#[test]
fn a_result_without_hints_or_metadata_or_body_is_no_result() {
    let whole = json!({ "data": 1, "agentHints": rich_hints(), "metadata": metadata() });
    assert!(serde_json::from_value::<ToolResult>(whole.clone()).is_ok());
    for field in ["data", "agentHints", "metadata"] {
        let mut part = whole.clone();
        part.as_object_mut().unwrap().shift_remove(field);
        assert!(serde_json::from_value::<ToolResult>(part).is_err(), "{field}");
    }
}

#[test]
fn the_eleven_required_hints_are_always_there_and_the_others_only_if_they_say_something() {
    let bare = serde_json::to_value(bare_hints()).unwrap();
    assert_eq!(keys(&bare), REQUIRED_HINTS);
    assert_eq!(keys(&bare["estimatedImpact"]), ["benefit", "effort", "roi"]);
    for field in REQUIRED_HINTS {
        let mut part = bare.clone();
        part.as_object_mut().unwrap().shift_remove(field);
        assert!(serde_json::from_value::<AgentHints>(part).is_err(), "{field}");
    }
    let rich = serde_json::to_value(serde_json::from_value::<AgentHints>(rich_hints()).unwrap()).unwrap();
    assert_eq!(keys(&rich), [REQUIRED_HINTS.as_slice(), &["reasoning", "warnings"]].concat());
}

#[test]
fn the_rich_hints_of_the_contract_round_trip_and_have_no_problems() {
    let hints: AgentHints = serde_json::from_value(rich_hints()).unwrap();
    assert_eq!(serde_json::to_value(&hints).unwrap(), rich_hints());
    assert_eq!(hints.problems(), vec![]);
}

/// All numbers of hints that have a range.
fn numbered() -> Value {
    let mut hints = rich_hints();
    hints["suggestedNextActions"][0]["estimatedTime"] = json!(120.0);
    hints["suggestedNextActions"][0]["estimatedCost"] = json!(0.5);
    hints["alternatives"] =
        json!([{ "approach": "a", "confidence": 0.4, "reasoning": "r", "estimatedImpact": 0.3 }]);
    hints
}

#[test]
fn each_number_outside_its_range_is_found() {
    let unit = [-0.001, 1.001];
    let positive = [-0.001, f64::INFINITY];
    let places = [
        ("/confidence", unit),
        ("/estimatedImpact/benefit", unit),
        ("/estimatedImpact/effort", unit),
        ("/estimatedImpact/roi", positive),
        ("/suggestedNextActions/0/confidence", unit),
        ("/suggestedNextActions/0/estimatedTime", positive),
        ("/suggestedNextActions/0/estimatedCost", positive),
        ("/relatedResources/0/relevance", unit),
        ("/riskFactors/0/probability", unit),
        ("/riskFactors/0/impact", unit),
        ("/preferenceAlignment/0/score", [-1.001, 1.001]),
        ("/alternatives/0/confidence", unit),
        ("/alternatives/0/estimatedImpact", unit),
    ];
    let sound: AgentHints = serde_json::from_value(numbered()).unwrap();
    assert_eq!(sound.problems(), vec![]);
    for (pointer, bad) in places {
        for number in bad.into_iter().chain([f64::NAN]) {
            let mut hints = sound.clone();
            *number_at(&mut hints, pointer) = number;
            let found = hints.problems();
            assert_eq!(found.len(), 1, "{pointer} = {number}: {found:?}");
            assert_eq!(found[0].pointer, format!("/agentHints{pointer}"));
        }
    }
}

/// JSON has no NaN, so the numbers are set in place.
fn number_at<'a>(hints: &'a mut AgentHints, pointer: &str) -> &'a mut f64 {
    match pointer {
        "/confidence" => &mut hints.confidence,
        "/estimatedImpact/benefit" => &mut hints.estimated_impact.benefit,
        "/estimatedImpact/effort" => &mut hints.estimated_impact.effort,
        "/estimatedImpact/roi" => &mut hints.estimated_impact.roi,
        "/suggestedNextActions/0/confidence" => hints.suggested_next_actions[0].confidence.as_mut().unwrap(),
        "/suggestedNextActions/0/estimatedTime" => {
            hints.suggested_next_actions[0].estimated_time.as_mut().unwrap()
        }
        "/suggestedNextActions/0/estimatedCost" => {
            hints.suggested_next_actions[0].estimated_cost.as_mut().unwrap()
        }
        "/relatedResources/0/relevance" => &mut hints.related_resources[0].relevance,
        "/riskFactors/0/probability" => &mut hints.risk_factors[0].probability,
        "/riskFactors/0/impact" => &mut hints.risk_factors[0].impact,
        "/preferenceAlignment/0/score" => &mut hints.preference_alignment[0].score,
        "/alternatives/0/confidence" => &mut hints.alternatives[0].confidence,
        "/alternatives/0/estimatedImpact" => hints.alternatives[0].estimated_impact.as_mut().unwrap(),
        other => unreachable!("{other}"),
    }
}

#[test]
fn metadata_has_its_required_fields_and_the_rest_only_if_set() {
    let bare = serde_json::to_value(metadata()).unwrap();
    assert_eq!(keys(&bare), ["toolVersion", "timestamp", "executionTime", "serviceVersion"]);
    assert_eq!(bare["timestamp"], json!("2026-11-15T10:00:00Z"));
    for field in ["toolVersion", "timestamp", "executionTime", "serviceVersion"] {
        let mut part = bare.clone();
        part.as_object_mut().unwrap().shift_remove(field);
        assert!(serde_json::from_value::<Metadata>(part).is_err(), "{field}");
    }
    let full = Metadata {
        trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736".parse().unwrap()),
        correlation_id: Some("c-1".into()),
        cached: Some(false),
        ..metadata()
    };
    let full = serde_json::to_value(full).unwrap();
    assert_eq!(keys(&full)[4..], ["traceId", "correlationId", "cached"]);
    assert_eq!(full["cached"], json!(false));
}
