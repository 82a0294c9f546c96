//! Canonical JSON: the same value has one text and one digest, whatever its spelling.

use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};
use toolroom_contract::canonical::{digest, to_string};

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Any JSON, three levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| Number::from_f64(float).map_or(Value::Null, Value::Number)),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// The same value with the keys of every object the other way round.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(map) => Value::Object(
            map.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect::<Map<_, _>>(),
        ),
        other => other.clone(),
    }
}

/// Equal as JSON values: numbers by what they are worth.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => match (exact(a), exact(b)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => a.as_f64() == b.as_f64(),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// A whole number as an integer.
fn exact(number: &Number) -> Option<i128> {
    number.as_i128().or_else(|| {
        let float = number.as_f64()?;
        (float.fract() == 0.0 && float.abs() < 1e30).then_some(float as i128)
    })
}

#[test]
fn spelling_of_numbers_does_not_count() {
    let one = digest("t", &parse("{\"n\":1}"));
    for text in ["{\"n\":1.0}", "{\"n\":1e0}", "{\"n\":10e-1}", "{ \"n\" : 1.000 }"] {
        assert_eq!(digest("t", &parse(text)), one, "{text}");
    }
    for (one, other) in [
        ("100000000000000000", "1e17"),
        ("10000000000000000000", "1e19"),
        ("-9223372036854775808", "-9223372036854775808.0"),
        ("0", "-0.0"),
        ("0.5", "5e-1"),
        ("1e300", "10e299"),
    ] {
        assert_eq!(digest("t", &parse(one)), digest("t", &parse(other)), "{one} and {other}");
    }
}

#[test]
fn the_text_is_sorted_and_compact() {
    let value = parse("{ \"b\": [1.0, null, \"x\\ny\"], \"a\": { \"z\": true, \"Z\": false } }");
    assert_eq!(to_string(&value), r#"{"a":{"Z":false,"z":true},"b":[1,null,"x\ny"]}"#);
}

#[test]
fn values_that_look_alike_differ() {
    let alike = [
        json!(null),
        json!(false),
        json!(0),
        json!(""),
        json!("0"),
        json!("null"),
        json!([]),
        json!({}),
        json!([null]),
        json!([[]]),
        json!([{}]),
        json!({ "": null }),
        json!([0, 0]),
        json!([[0], 0]),
        json!("é"),
        json!("e\u{301}"),
        json!(9_007_199_254_740_993_i64),
        json!(9_007_199_254_740_992_i64),
        json!(u64::MAX),
        json!(u64::MAX - 1),
        json!(0.1),
        json!(0.1 + 0.2 - 0.2),
    ];
    for (at, one) in alike.iter().enumerate() {
        for other in &alike[at + 1..] {
            assert_ne!(digest("t", one), digest("t", other), "{one} and {other}");
        }
    }
}

#[test]
fn a_digest_is_bound_to_its_scope() {
    let value = json!({ "a": 1 });
    assert_ne!(digest("get-task", &value), digest("list-tasks", &value));
    assert_ne!(digest("a", &json!("b")), digest("a\"b", &json!("")));
    assert_eq!(digest("a", &value).to_hex().len(), 64);
    assert_eq!(format!("{:?}", digest("a", &value)), digest("a", &value).to_hex());
    assert_eq!(digest("a", &value).as_bytes().len(), 32);
}

proptest! {
    #[test]
    fn order_of_keys_and_white_space_do_not_count(value in any_json()) {
        let spaced = parse(&serde_json::to_string_pretty(&reversed(&value)).unwrap());
        prop_assert_eq!(digest("t", &spaced), digest("t", &value));
    }

    #[test]
    fn the_canonical_text_means_the_same_and_is_its_own_canonical_text(value in any_json()) {
        let text = to_string(&value);
        let back = parse(&text);
        prop_assert!(same(&back, &value), "{} from {}", text, value);
        prop_assert_eq!(to_string(&back), text);
    }

    #[test]
    fn digests_are_equal_exactly_if_values_are(one in any_json(), other in any_json()) {
        prop_assert_eq!(digest("t", &one) == digest("t", &other), same(&one, &other));
    }

    #[test]
    fn whole_numbers_do_not_care_how_they_are_written(number in -9_007_199_254_740_992_i64..=9_007_199_254_740_992) {
        prop_assert_eq!(digest("t", &json!(number)), digest("t", &json!(number as f64)));
        prop_assert_ne!(digest("t", &json!(number)), digest("t", &json!(number + 1)));
    }

    #[test]
    fn a_scope_never_shares_a_digest(one in ".{0,12}", other in ".{0,12}", value in any_json()) {
        prop_assert_eq!(digest(&one, &value) == digest(&other, &value), one == other);
    }
}
