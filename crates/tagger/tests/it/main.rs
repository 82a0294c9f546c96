//! The crate reads a text as the training did, within a bounded number of steps.

use serde_json::Value;
use toolroom_tagger::{FIRST_WORDS, Intent, LAST_WORDS, SpanKind, tag};
use toolroom_work::counted;
use toolroom_work::fuzz::Target;

/// Each line has a sentence and the spans and clauses that Python found: `[first word, behind the last, label]`.
#[test]
fn spans_and_clauses_are_those_that_the_training_computed() {
    for line in include_str!("../../data/check.jsonl").lines() {
        let expected: Value = serde_json::from_str(line).unwrap();
        let text = expected["text"].as_str().unwrap();
        let found = tag(text);
        let spans: Vec<Value> = found
            .spans
            .iter()
            .map(|span| (span.words.start, span.words.end, format!("{:?}", span.kind).to_lowercase()))
            .map(|span| serde_json::to_value(span).unwrap())
            .collect();
        assert_eq!(Value::from(spans), expected["spans"], "{text}");
        let clauses: Vec<Value> = found
            .clauses
            .iter()
            .map(|one| (one.words.start, one.words.end, format!("{:?}", one.intent).to_lowercase()))
            .map(|one| serde_json::to_value(one).unwrap())
            .collect();
        assert_eq!(Value::from(clauses), expected["clauses"], "{text}");
        let targets = expected["targets"].as_array().unwrap();
        for (word, wanted) in found.words.iter().zip(targets) {
            let wanted = wanted.as_f64().unwrap();
            assert!(
                (f64::from(word.target) - wanted).abs() < 0.01,
                "{text}: {} is not {wanted}",
                word.target
            );
        }
        assert_eq!(found.words.len(), targets.len(), "{text}");
    }
}

#[test]
fn a_plain_wish_is_read() {
    let text = "remind me to water the ferns tomorrow at 5pm";
    let found = tag(text);
    assert_eq!(found.clauses.len(), 1, "{found:?}");
    assert_eq!(found.clauses[0].intent, Intent::Create);
    let spans: Vec<(SpanKind, &str)> =
        found.spans.iter().map(|span| (span.kind, &text[span.place.clone()])).collect();
    assert_eq!(spans, [(SpanKind::Title, "water the ferns"), (SpanKind::When, "tomorrow at 5pm")]);
}

#[test]
fn of_a_long_message_the_first_and_the_last_words_are_read_and_the_rest_is_counted() {
    let text = format!("delete the milk task {} please", "word ".repeat(1_000));
    let found = tag(&text);
    assert_eq!(found.words.len(), FIRST_WORDS + LAST_WORDS);
    assert_eq!(found.unread, 1_005 - FIRST_WORDS - LAST_WORDS);
    let last = found.words.last().unwrap();
    assert_eq!(&text[last.place.clone()], "please");
}

#[test]
fn promise_the_tagger_takes_steps_in_proportion_to_the_text_and_never_panics() {
    let target = Target {
        name: "the word tagger",
        words: &[
            "add", "delete", "the", "milk", "'", "\u{2019}", "\n", "12", "\u{e9}", "\u{301}", "\u{130}", ",",
            "if", "don't",
        ],
        sample: 60,
        longest: 10_000,
        // Of 128 words at most, whatever their number.
        fixed: 1_400_000,
        per_byte: 4,
    };
    target.run(|text| {
        tag(text);
    });
}

#[test]
fn a_message_of_ten_thousand_characters_costs_as_many_steps_as_one_of_a_thousand_and_its_letters() {
    let short = "water the ferns and ".repeat(50);
    let long = "water the ferns and ".repeat(500);
    let ((), few) = counted(|| drop(tag(&short)));
    let ((), many) = counted(|| drop(tag(&long)));
    assert!(many <= few + 2 * long.len() as u64, "{few} and {many} steps");
}
