//! The closed table of errors, what a retry can do, and what a caller never sees.

use serde_json::json;
use toolroom_contract::error::{ErrorBody, Outcome, Retry};
use toolroom_contract::{ErrorClass, ErrorCode, FieldError, ToolError};

use ErrorClass::{Business, System, Validation};

#[test]
fn the_table_is_the_published_one() {
    let expected = [
        ("invalid_input", Validation, 400, Retry::No),
        ("not_found", Business, 404, Retry::No),
        ("tool_not_found", Validation, 404, Retry::No),
        ("tool_removed", Validation, 410, Retry::No),
        ("no_changes", Business, 200, Retry::No),
        ("version_conflict", Business, 409, Retry::After("after a read")),
        ("idempotency_conflict", Business, 409, Retry::No),
        ("already_exists", Business, 409, Retry::No),
        ("breaking_change", Business, 409, Retry::No),
        ("in_progress", Business, 409, Retry::Yes),
        ("ambiguous", Business, 409, Retry::After("with an id")),
        ("approval_required", Business, 202, Retry::After("after the decision")),
        ("input_required", Business, 409, Retry::After("with the client's answers")),
        ("approval_denied", Business, 403, Retry::No),
        ("definition_pending", Business, 403, Retry::After("after a review")),
        ("approval_expired", Business, 410, Retry::After("anew")),
        ("unauthenticated", Validation, 401, Retry::No),
        ("forbidden", Validation, 403, Retry::No),
        ("body_too_large", Validation, 413, Retry::No),
        ("unsupported_media_type", Validation, 415, Retry::No),
        ("not_acceptable", Validation, 406, Retry::No),
        ("request_timeout", Validation, 408, Retry::Yes),
        ("rate_limited", System, 429, Retry::Yes),
        ("busy", System, 503, Retry::Yes),
        ("tool_timeout", System, 504, Retry::IfIdempotent),
        ("tool_execution_error", System, 502, Retry::No),
        ("invalid_output", System, 502, Retry::No),
        ("output_too_large", System, 502, Retry::No),
        ("cancelled", System, 499, Retry::Yes),
        ("service_unavailable", System, 503, Retry::Yes),
        ("journal_unavailable", System, 503, Retry::Yes),
        ("not_configured", System, 501, Retry::No),
        ("internal", System, 500, Retry::Yes),
    ];
    let table: Vec<_> = ErrorCode::ALL
        .iter()
        .map(|code| (code.as_str(), code.class(), code.http_status(), code.retry()))
        .collect();
    assert_eq!(table, expected);
}

#[test]
fn a_code_is_written_the_same_everywhere_and_says_when_it_occurs() {
    for code in ErrorCode::ALL {
        assert_eq!(json!(code), json!(code.as_str()));
        assert_eq!(code.to_string(), code.as_str());
        assert_eq!(serde_json::from_value::<ErrorCode>(json!(code.as_str())).unwrap(), *code);
        assert!(code.when().ends_with('.'), "{code}");
    }
    assert!(serde_json::from_value::<ErrorCode>(json!("something_else")).is_err());
}

#[test]
fn a_retry_helps_as_the_table_says() {
    for &code in ErrorCode::ALL {
        let error = ToolError::new(code, "x");
        let (repeatable, once) = (error.is_retryable(true), error.is_retryable(false));
        match code.retry() {
            Retry::No | Retry::After(_) => assert!(!repeatable && !once, "{code}"),
            Retry::Yes => assert!(repeatable && once, "{code}"),
            Retry::IfIdempotent => assert!(repeatable && !once, "{code}"),
        }
    }
}

#[test]
fn a_mutation_whose_effect_is_uncertain_is_never_to_be_repeated() {
    for &code in ErrorCode::ALL {
        for outcome in [Outcome::Unknown, Outcome::Applied] {
            let plain = ToolError::new(code, "x");
            let error = plain.clone().with_outcome(outcome);
            assert!(!error.is_retryable(false), "{code} {outcome:?}");
            assert_eq!(error.is_retryable(true), plain.is_retryable(true), "{code} {outcome:?}");
        }
    }
}

#[test]
fn the_cause_reaches_the_log_and_never_the_caller() {
    let cause = "SELECT secret FROM /srv/someone/db.sqlite failed at store.rs:12";
    let error = ToolError::new(ErrorCode::ServiceUnavailable, "The database cannot be reached.")
        .caused_by(cause)
        .retry_after_ms(250);
    let seen = serde_json::to_string(&ErrorBody::of(&error, true)).unwrap();
    assert!(!seen.contains("SELECT") && !seen.contains("/home") && !seen.contains("cause"), "{seen}");
    assert!(!error.to_string().contains("SELECT"));
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), cause);

    let internal = ToolError::internal(cause);
    let seen = serde_json::to_string(&ErrorBody::of(&internal, false)).unwrap();
    assert!(!seen.contains("SELECT") && seen.contains("trace id"), "{seen}");
}

#[test]
fn a_body_carries_what_a_caller_needs_to_repair_the_call() {
    let error = ToolError::invalid("/title", "must not be empty")
        .with_detail(FieldError {
            pointer: "/due".into(),
            message: "must be a valid date".into(),
            expected: Some("When it is due.".into()),
            example: Some(json!("2026-12-01")),
        })
        .with_outcome(Outcome::Applied)
        .with_data(json!({ "version": 4 }))
        .retry_after_ms(10);
    assert_eq!(
        serde_json::to_value(ErrorBody::of(&error, false)).unwrap(),
        json!({
            "code": "invalid_input",
            "class": "validation",
            "message": "/title: must not be empty",
            "retryable": false,
            "retryAfter": 10,
            "details": [
                { "pointer": "/title", "message": "must not be empty" },
                {
                    "pointer": "/due", "message": "must be a valid date",
                    "expected": "When it is due.", "example": "2026-12-01"
                }
            ],
            "outcome": "applied",
            "data": { "version": 4 }
        })
    );
}
