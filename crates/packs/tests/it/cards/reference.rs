//! Our FSRS-6 gives the same intervals as the public Python package, over random histories.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use toolroom_packs::cards::fsrs::{Memory, Rating, review};

const HISTORIES: usize = 1000;

/// A rating from 1 to 4, and the seconds since the review before.
type Step = (u8, i64);

#[test]
fn a_thousand_random_histories_have_the_intervals_of_the_public_package() {
    for retention in [0.8, 0.9, 0.95] {
        let mut random = Random(7);
        let histories: Vec<Vec<Step>> = (0..HISTORIES).map(|_| history(&mut random)).collect();
        let expected = reference(retention, &histories);
        assert_eq!(expected.len(), HISTORIES);
        for (history, expected) in histories.iter().zip(&expected) {
            follow(retention, history, expected);
        }
    }
}

fn follow(retention: f64, history: &[Step], expected: &[[f64; 3]]) {
    let mut memory: Option<Memory> = None;
    let mut now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    assert_eq!(history.len(), expected.len());
    for (&(rating, seconds), &[interval, stability, difficulty]) in history.iter().zip(expected) {
        now += SignedDuration::from_secs(seconds);
        let outcome = review(memory.as_ref(), named(rating), now, retention);
        assert_eq!(outcome.due.duration_since(now).as_secs_f64(), interval, "{history:?} at {retention}");
        let close = |ours: f64, theirs: f64| (ours - theirs).abs() <= 1e-9 * theirs.abs();
        assert!(close(outcome.memory.stability, stability), "{history:?}");
        assert!(close(outcome.memory.difficulty, difficulty), "{history:?}");
        memory = Some(outcome.memory);
    }
}

fn reference(retention: f64, histories: &[Vec<Step>]) -> Vec<Vec<[f64; 3]>> {
    let python =
        std::env::var_os("TOOLROOM_TEST_PYTHON").expect("TOOLROOM_TEST_PYTHON is set by `cargo xtask test`");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/python/fsrs_reference.py");
    let mut child =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let given = json!({ "retention": retention, "histories": histories }).to_string();
    child.stdin.take().unwrap().write_all(given.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Short and long gaps, so that every phase of a card is passed through.
fn history(random: &mut Random) -> Vec<Step> {
    let gap = |random: &mut Random| match random.below(4) {
        0 => random.below(3_600),
        1 => random.below(3 * 86_400),
        2 => random.below(60 * 86_400),
        _ => random.below(900 * 86_400),
    };
    let length = 1 + random.below(20);
    (0..length).map(|_| (1 + random.below(4) as u8, gap(random) as i64)).collect()
}

fn named(rating: u8) -> Rating {
    [Rating::Again, Rating::Hard, Rating::Good, Rating::Easy][usize::from(rating) - 1]
}

/// A small generator with a fixed seed: the same histories in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
