//! The crate reads a text as the training did.

use std::collections::HashSet;

use serde_json::Value;
use sha2::{Digest, Sha256};
use toolroom_selection::{Class, Index, Intent};

#[test]
fn chances_are_those_that_the_training_computed() {
    let index = Index::build(&[]);
    for line in include_str!("../../data/check.jsonl").lines() {
        let expected: Value = serde_json::from_str(line).unwrap();
        let prompt = expected["prompt"].as_str().unwrap();
        let chances = index.select(prompt).chances;
        let found = Intent::ALL
            .map(|intent| chances.intent(intent))
            .into_iter()
            .chain([Class::Web, Class::Code, Class::Human, Class::None].map(|class| chances.class(class)));
        for (at, (found, expected)) in found.zip(expected["chances"].as_array().unwrap()).enumerate() {
            let expected = expected.as_f64().unwrap();
            assert!((found - expected).abs() < 0.01, "{prompt}, label {at}: {found} is not {expected}");
        }
    }
}

#[test]
fn no_test_prompt_was_learned_from() {
    let prompts = |text: &'static str| {
        text.lines().map(|line| {
            let gold: Value = serde_json::from_str(line).unwrap();
            let prompt = gold["prompt"].as_str().unwrap().to_lowercase();
            prompt
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        })
    };
    let learned: HashSet<String> = prompts(include_str!("../../../../eval/learn.jsonl")).collect();
    let both: Vec<String> = prompts(include_str!("../../../../eval/test.jsonl"))
        .filter(|prompt| learned.contains(prompt))
        .collect();
    assert!(both.is_empty(), "{both:?}");
}

#[test]
fn the_test_prompts_are_the_ones_that_were_sealed() {
    let readme = include_str!("../../../../eval/README.md");
    for (name, file) in [
        ("test.jsonl", include_bytes!("../../../../eval/test.jsonl").as_slice()),
        ("search.jsonl", include_bytes!("../../../../eval/search.jsonl").as_slice()),
        ("dialogues.jsonl", include_bytes!("../../../../eval/dialogues.jsonl").as_slice()),
        ("dialogues-fresh.jsonl", include_bytes!("../../../../eval/dialogues-fresh.jsonl").as_slice()),
        ("dialogues-third.jsonl", include_bytes!("../../../../eval/dialogues-third.jsonl").as_slice()),
    ] {
        let hash: String = Sha256::digest(file).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(readme.contains(&format!("{hash}  {name}")), "{name} is now {hash}");
    }
}
