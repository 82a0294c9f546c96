//! Whatever a handler says, the hints of the answer are in range.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;
use toolroom_contract::hints::{
    Alignment, Alternative, PreferenceAlignment, Priority, RelatedResource, RiskFactor, RiskKind,
    SuggestedAction,
};
use toolroom_contract::{Answer, Ending, HintsDraft, ToolResult};

use crate::test_runtime::{TestRuntime, wire};
use crate::tools::query;

fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -2.0..2.0,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(-0.0),
    ]
}

fn draft(n: [f64; 10]) -> HintsDraft {
    let mut action = SuggestedAction::new("get-note", Priority::High);
    (action.confidence, action.estimated_time, action.estimated_cost) = (Some(n[0]), Some(n[1]), Some(n[2]));
    HintsDraft {
        next: vec![action],
        related: vec![RelatedResource {
            kind: "note".into(),
            id: "1".into(),
            label: "One".into(),
            relevance: n[3],
            metadata: None,
        }],
        risks: vec![RiskFactor {
            kind: RiskKind::Accuracy,
            severity: Priority::Low,
            description: "Some".into(),
            probability: n[4],
            impact: n[5],
            mitigation: None,
        }],
        alignment: vec![PreferenceAlignment {
            action: "get-note".into(),
            preference: "short".into(),
            alignment: Alignment::Weak,
            score: n[6],
            explanation: None,
        }],
        alternatives: vec![Alternative {
            approach: "Another".into(),
            confidence: n[7],
            reasoning: "It exists".into(),
            pros: Vec::new(),
            cons: Vec::new(),
            estimated_impact: Some(n[7]),
        }],
        matched: Some(n[8]),
        complete: Some(n[9]),
        ..HintsDraft::default()
    }
}

#[test]
fn the_hints_of_an_answer_are_in_range_whatever_the_handler_says() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = tokio.enter();
    let said = Arc::new(Mutex::new(HintsDraft::default()));
    let saying = Arc::clone(&said);
    let runtime = TestRuntime::new(vec![
        query("get-note")
            .runs(move |_, _| {
                let hints = saying.lock().unwrap().clone();
                async { Ending::Done(Answer::new(json!({ "ok": true })).unwrap().with_hints(hints)) }
            })
            .build(),
    ]);
    let who = tokio.block_on(runtime.owner());
    let schema = toolroom_contract::handler::schema_of::<ToolResult>();
    let validator = toolroom_contract::validator::Validator::compile(&schema).unwrap();
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    let ran = TestRunner::new(config).run(&proptest::array::uniform10(wild()), |numbers| {
        *said.lock().unwrap() = draft(numbers);
        let reply = tokio.block_on(runtime.call(&who, "get-note", json!({})));
        let problems = reply.result.agent_hints.problems();
        prop_assert!(problems.is_empty(), "{problems:?}");
        let envelope = wire(&reply);
        prop_assert!(validator.accepts(&envelope), "{:?}", validator.refusals(&envelope));
        Ok(())
    });
    ran.unwrap();
}
