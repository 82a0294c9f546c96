//! Laws over any text.

use proptest::prelude::*;

use super::{heard, short};

fn sentence_like() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "add",
        "delete",
        "task",
        "tasks",
        "the",
        "milk",
        "and",
        "mark",
        "as",
        "done",
        "\"",
        "'",
        "`",
        "```",
        ",",
        ".",
        "?",
        "#3",
        "3",
        "all",
        "completed",
        "to",
        "on",
        "friday",
        "tomorrow",
        "at",
        "5pm",
        "high",
        "priority",
        "not",
        "don't",
        "remind",
        "me",
        "no",
        "other",
        "one",
        "it",
        "list",
        "my",
        "show",
        "what",
        "is",
        "é",
        "日本",
        "\n",
        ":",
        "-",
        "rename",
        "undo",
        "postpone",
        "by",
        "two",
        "days",
        "run",
        "python",
        "search",
        "web",
        "ask",
        "whether",
        "the first",
        "😀",
        "\u{200d}",
        "description",
        "tag",
        "'s",
    ]);
    prop::collection::vec((words, prop::sample::select(vec!["", " ", "  "])), 0..24)
        .prop_map(|parts| parts.into_iter().map(|(word, glue)| format!("{word}{glue}")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_text_is_read_without_a_panic_and_as_at_least_one_wish(text in prop_oneof![sentence_like(), any::<String>()]) {
        let read = heard(&text);
        prop_assert!(!read.is_empty());
        let padded = heard(&format!("  {text}\n"));
        prop_assert_eq!(short(&read), short(&padded), "white space around it means nothing");
    }
}

#[test]
fn white_space_behind_a_fence_without_its_end_means_nothing() {
    assert_eq!(short(&heard("```add")), short(&heard("```add\n")));
}
