//! Whatever is typed: no panic, sound scores, bounded work.

use proptest::prelude::*;
use toolroom_selection::{Class, Index, LONGEST_TEXT, ToolText};

use crate::index;

#[test]
fn only_the_first_characters_of_a_long_text_are_read() {
    let index = index();
    let start: String = "please delete the task about milk ".chars().cycle().take(LONGEST_TEXT).collect();
    let long = format!("{start}{}", "play music ".repeat(100_000));
    assert_eq!(index.search(&long, 10), index.search(&start, 10));
    assert_eq!(index.select(&long), index.select(&start));
}

#[test]
fn nothing_readable_is_never_a_change() {
    let index = index();
    for prompt in ["", " ", "\0", "\u{200d}\u{fe0f}", "🦀🦀🦀", "ﷺ", "\u{301}\u{301}", "删除它", "????"]
    {
        assert!(!index.select(prompt).changes(), "{prompt:?}: {:?}", index.select(prompt));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_gives_sound_scores(prompt in "\\PC{0,80}") {
        let index = index();
        for hit in index.search(&prompt, 50) {
            prop_assert!(hit.score > 0.0 && hit.score <= 1.0);
        }
        let selection = index.select(&prompt);
        prop_assert!((0.0..=1.0).contains(&selection.confidence));
        let sum: f64 = Class::ALL.into_iter().map(|class| selection.chances.class(class)).sum();
        prop_assert!((sum - 1.0).abs() < 1e-3);
    }

    #[test]
    fn any_tool_can_be_indexed(name in "\\PC{0,20}", description in "\\PC{0,80}", query in "\\PC{0,20}") {
        let tool = ToolText { name: &name, description: &description, ..ToolText::default() };
        let index = Index::build(&[tool]);
        prop_assert!(index.search(&query, 5).len() <= 1);
        index.select(&query);
    }
}

#[test]
fn promise_any_text_takes_bounded_work_to_search_and_to_choose() {
    let index = index();
    let target = toolroom_work::fuzz::Target {
        name: "search of tools",
        words: &[
            "delete",
            "task",
            "tasks",
            "the",
            "milk",
            "weather",
            "zqxjzqxjzqxjzqxjzqxjzqxjzqxjzqxjzqxjzq",
            "zqxj\u{fdfa}",
            "a",
            "b",
            "c",
            "1",
            "\u{e9}",
            "\u{301}",
            "\u{fb01}",
            "\u{130}",
            "search",
            "run",
        ],
        sample: 100,
        longest: 20_000,
        // No more than 2,000 characters are read.
        fixed: 3_000_000,
        per_byte: 1,
    };
    target.run(|text| {
        index.search(text, 10);
        index.select(text);
    });
}
