//! The page on hints states a formula and works it out: its numbers are those of the code.

use toolroom_contract::Evidence;
use toolroom_contract::confidence::{Record, Source};

use crate::committed::read;

/// The example of the page: a find in our own store, half way to expiry, 5 of 10 there, 38 of 40 calls good.
fn example() -> Evidence {
    Evidence {
        source: Source::Native,
        staleness: Some(0.5),
        matched: Some(0.87),
        complete: Some(0.5),
        record: Record { good: 38, all: 40 },
    }
}

#[track_caller]
fn states(text: &str) {
    assert!(read("docs/hints.md").contains(text), "docs/hints.md should state: {text}");
}

#[test]
fn the_worked_example_is_what_the_code_computes() {
    let evidence = example();
    states(&evidence.explain());
    states(&format!("\"confidence\": {}", evidence.confidence()));
    states(&format!("{:.4}", evidence.record.lower_bound()));
    let steps = 1.0 * 0.9 * 0.87 * 0.75 * evidence.record.lower_bound();
    assert_eq!(evidence.confidence(), (steps * 1000.0).round() / 1000.0);
}

#[test]
fn the_stated_formula_and_constants_are_those_of_the_code() {
    let (credit, z) = (20.0, 1.2816_f64);
    for text in ["K = 20", "z = 1.2816", "1 - 0.2 × age/TTL", "0.5 + 0.5 × share"] {
        states(text);
    }
    for (good, all) in [(0, 0), (3, 3), (38, 40), (500, 1_000), (0, 70)] {
        let n = f64::from(all) + credit;
        let p = (f64::from(good) + credit) / n;
        let wilson = (p + z * z / (2.0 * n) - z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt())
            / (1.0 + z * z / n);
        assert!((Record { good, all }.lower_bound() - wilson).abs() < 1e-12);
    }
    for source in [Source::Native, Source::Script, Source::Upstream, Source::Unknown] {
        states(&format!("{:.2}", source.trust()));
    }
}

#[test]
fn the_stated_first_answer_is_what_the_code_computes() {
    let first =
        Evidence { staleness: None, matched: None, complete: None, record: Record::default(), ..example() };
    states(&format!("{}", first.confidence()));
    let settled = Evidence { record: Record { good: 1_000, all: 1_000 }, ..first };
    states(&format!("{}", settled.confidence()));
}
