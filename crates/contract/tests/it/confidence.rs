//! Confidence: within its range, growing with the evidence, and never a constant.

use std::collections::HashSet;

use proptest::prelude::*;
use toolroom_contract::Evidence;
use toolroom_contract::confidence::{Record, Source};
use toolroom_contract::hints::SourceQuality;

/// From the least trusted to the most.
const SOURCES: [Source; 4] = [Source::Unknown, Source::Upstream, Source::Script, Source::Native];

fn fresh(record: Record) -> Evidence {
    Evidence { source: Source::Native, staleness: None, matched: None, complete: None, record }
}

/// Any float at all, most often one that makes sense.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..=1.0_f64,
        1 => prop::num::f64::ANY,
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MAX, f64::MIN]),
    ]
}

/// Two floats, the smaller first.
fn ordered() -> impl Strategy<Value = (f64, f64)> {
    (number(), number())
        .prop_filter("NaN has no order", |(one, other)| !one.is_nan() && !other.is_nan())
        .prop_map(|(one, other)| (one.min(other), one.max(other)))
}

fn record() -> impl Strategy<Value = Record> {
    prop_oneof![
        (0..2_000_u32, 0..2_000_u32).prop_map(|(good, bad)| Record { good, all: good + bad }),
        (any::<u32>(), any::<u32>()).prop_map(|(good, all)| Record { good, all }),
    ]
}

fn evidence() -> impl Strategy<Value = Evidence> {
    let part = || prop::option::of(number());
    (prop::sample::select(SOURCES.to_vec()), part(), part(), part(), record()).prop_map(
        |(source, staleness, matched, complete, record)| Evidence {
            source,
            staleness,
            matched,
            complete,
            record,
        },
    )
}

proptest! {
    #[test]
    fn confidence_is_within_its_range_for_any_evidence(evidence in evidence()) {
        let confidence = evidence.confidence();
        prop_assert!((0.0..=1.0).contains(&confidence), "{} from {:?}", confidence, evidence);
    }

    #[test]
    fn better_evidence_never_lowers_it(base in evidence(), (low, high) in ordered()) {
        let confidence = |change: &dyn Fn(&mut Evidence)| {
            let mut evidence = base;
            change(&mut evidence);
            evidence.confidence()
        };
        let matched = |score| confidence(&|evidence| evidence.matched = Some(score));
        prop_assert!(matched(low) <= matched(high), "match");
        let complete = |share| confidence(&|evidence| evidence.complete = Some(share));
        prop_assert!(complete(low) <= complete(high), "completeness");
        let stale = |share| confidence(&|evidence| evidence.staleness = Some(share));
        prop_assert!(stale(low) >= stale(high), "staleness");
        prop_assert!(stale(low) <= confidence(&|evidence| evidence.staleness = None), "fresh is best");
        for pair in SOURCES.windows(2) {
            let from = |source| confidence(&|evidence| evidence.source = source);
            prop_assert!(from(pair[0]) <= from(pair[1]), "{:?}", pair);
        }
    }

    #[test]
    fn what_is_not_a_number_counts_as_the_worst(base in evidence()) {
        let with = |matched: f64, complete: f64, staleness: f64| {
            Evidence { matched: Some(matched), complete: Some(complete), staleness: Some(staleness), ..base }.confidence()
        };
        prop_assert_eq!(with(0.5, 0.5, f64::NAN), with(0.5, 0.5, 1.0));
        prop_assert_eq!(with(0.5, f64::NAN, 0.5), with(0.5, 0.0, 0.5));
        prop_assert_eq!(with(f64::NAN, 0.5, 0.5), 0.0);
    }

    #[test]
    fn the_record_grows_with_good_calls_and_falls_with_bad_ones(good in 0..50_000_u32, bad in 0..50_000_u32) {
        let bound = |good, bad| Record { good, all: good + bad }.lower_bound();
        let now = bound(good, bad);
        prop_assert!(bound(good + 1, bad) > now, "a good call");
        prop_assert!(bound(good, bad + 1) < now, "a bad call");
        prop_assert!(now < f64::from(good + 20) / f64::from(good + bad + 20), "below the plain share");
        let confidence = |good, bad| fresh(Record { good, all: good + bad }).confidence();
        prop_assert!(confidence(good + 1, bad) >= confidence(good, bad));
        prop_assert!(confidence(good, bad + 1) <= confidence(good, bad));
    }

    #[test]
    fn the_words_name_every_factor_that_was_used(evidence in evidence()) {
        let words = evidence.explain();
        let source = format!("Source {:.2}", evidence.source.trust());
        prop_assert!(words.starts_with(&source), "{}", words);
        prop_assert_eq!(words.contains("freshness"), evidence.staleness.is_some());
        prop_assert_eq!(words.contains("match"), evidence.matched.is_some());
        prop_assert_eq!(words.contains("completeness"), evidence.complete.is_some());
        let record: f64 = words.split("× record ").nth(1).and_then(|rest| rest.get(..4)).unwrap().parse().unwrap();
        prop_assert!((record - evidence.record.lower_bound()).abs() < 0.0051, "{}", words);
        prop_assert!(!words.contains("NaN") && !words.contains("inf"), "{}", words);
    }
}

#[test]
fn different_records_give_different_confidences() {
    let records =
        [(0, 0), (1, 1), (5, 5), (20, 20), (100, 100), (99, 100), (95, 100), (50, 100), (1, 100), (0, 100)];
    let values: HashSet<String> =
        records.iter().map(|&(good, all)| fresh(Record { good, all }).confidence().to_string()).collect();
    assert_eq!(values.len(), records.len());
}

#[test]
fn each_piece_of_evidence_moves_it() {
    let base = Evidence {
        source: Source::Native,
        staleness: Some(0.5),
        matched: Some(0.5),
        complete: Some(0.5),
        record: Record { good: 10, all: 12 },
    };
    let moved = [
        Evidence { source: Source::Upstream, ..base },
        Evidence { staleness: Some(0.9), ..base },
        Evidence { matched: Some(0.9), ..base },
        Evidence { complete: Some(0.9), ..base },
        Evidence { record: Record { good: 12, all: 12 }, ..base },
    ];
    for other in moved {
        assert_ne!(base.confidence(), other.confidence(), "{other:?}");
    }
}

#[test]
fn a_record_with_more_good_calls_than_calls_counts_as_all_good() {
    assert_eq!(Record { good: 9, all: 3 }.lower_bound(), Record { good: 3, all: 3 }.lower_bound());
}

#[test]
fn source_quality_follows_from_the_source() {
    let expected =
        [SourceQuality::Unknown, SourceQuality::Medium, SourceQuality::Medium, SourceQuality::High];
    assert_eq!(SOURCES.map(Source::quality), expected);
}
