//! Branded ids do not mix, and a trace id is read in both of its spellings.

use std::any::TypeId;
use std::collections::HashSet;

use serde_json::json;
use toolroom_contract::TraceId;
use toolroom_contract::ids::{CardId, DeckId, ExecutionId, KeyId, PendingId, RunId, TaskId, UserId};

#[test]
fn each_kind_of_id_is_a_type_of_its_own() {
    let types = [
        TypeId::of::<UserId>(),
        TypeId::of::<KeyId>(),
        TypeId::of::<TaskId>(),
        TypeId::of::<CardId>(),
        TypeId::of::<DeckId>(),
        TypeId::of::<ExecutionId>(),
        TypeId::of::<PendingId>(),
        TypeId::of::<RunId>(),
        TypeId::of::<i64>(),
        TypeId::of::<uuid::Uuid>(),
    ];
    assert_eq!(types.iter().collect::<HashSet<_>>().len(), types.len());
}

#[test]
fn a_numeric_id_is_written_as_its_number() {
    assert_eq!(json!([UserId(7), TaskId(8), CardId(9), DeckId(10), KeyId(11)]), json!([7, 8, 9, 10, 11]));
    assert_eq!(serde_json::from_str::<TaskId>("8").unwrap(), TaskId(8));
    assert!(serde_json::from_str::<TaskId>("\"8\"").is_err());
    assert!(serde_json::from_str::<TaskId>("8.5").is_err());
    assert_eq!(TaskId(8).to_string(), "8");
}

#[test]
fn a_random_id_is_written_as_a_hyphenated_uuid_and_later_ones_sort_later() {
    let (first, second) = (ExecutionId::new(), ExecutionId::new());
    assert!(first < second);
    let text = first.to_string();
    assert_eq!((text.len(), json!(first)), (36, json!(text)));
    assert_eq!(text.parse::<ExecutionId>().unwrap(), first);
    assert!("not-an-id".parse::<PendingId>().is_err());
    assert_ne!(RunId::default(), RunId::default());
}

#[test]
fn a_trace_id_is_read_with_or_without_hyphens_and_given_back_as_it_was_sent() {
    let hex = "4bf92f3577b34da6a3ce929d0e0e4736";
    for text in [hex, "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", "4BF92F35-77B3-4DA6-A3CE-929D0E0E4736"] {
        let id: TraceId = serde_json::from_value(json!(text)).unwrap();
        assert_eq!((id.to_string().as_str(), json!(id)), (text, json!(text)));
        assert_eq!(id.encode_w3c(&mut [0; 32]), hex);
        assert_eq!(id, hex.parse().unwrap(), "two forms of one id");
    }
    for bad in [
        "",
        "4bf92f35",
        "zzf92f3577b34da6a3ce929d0e0e4736",
        "4bf92f3577b34da6a3ce929d0e0e473600",
        "4bf92f35--77b34da6a3ce929d0e0e4736",
    ] {
        assert!(bad.parse::<TraceId>().is_err(), "{bad}");
    }
    assert_ne!(TraceId::new(), TraceId::new());
}
