//! Calls that a model writes into its text are taken out of it, in whatever pieces they come.

use toolroom_model::openai::TextCalls;

fn read(text: &str, letters: usize) -> (String, Vec<String>) {
    let mut calls = TextCalls::default();
    let all: Vec<char> = text.chars().collect();
    let mut said: String =
        all.chunks(letters).map(|piece| calls.pass(&piece.iter().collect::<String>())).collect();
    let (rest, found) = calls.rest();
    said.push_str(&rest);
    (said, found)
}

#[test]
fn calls_between_marks_are_found_and_not_said() {
    for (text, said, found) in [
        ("Hi <tool_call>{\"a\": 1}</tool_call> there", "Hi  there", vec!["{\"a\": 1}"]),
        ("<tool_call>a</tool_call>\n<tool_call>b</tool_call>", "\n", vec!["a", "b"]),
        ("cut <tool_call>{\"na", "cut ", vec!["{\"na"]),
        ("[TOOL_CALLS][{\"name\": \"x\"}]", "", vec!["[{\"name\": \"x\"}]"]),
        ("<function_call>x</function_call>", "", vec!["x"]),
    ] {
        for letters in [1, 2, 7, 100] {
            let expected = (said.to_owned(), found.iter().map(|one| (*one).to_owned()).collect());
            assert_eq!(read(text, letters), expected, "{text}");
        }
    }
}

#[test]
fn code_and_what_only_looks_like_a_mark_is_said() {
    for text in [
        "a < b, <tool>, <tool_cal",
        "write `<tool_call>` here",
        "```xml\n<tool_call>x</tool_call>\n```\ndone",
        "``<tool_call>`` and\nmore",
        "[TOOL] [TOOL_CALL]",
    ] {
        for letters in [1, 3, 100] {
            assert_eq!(read(text, letters), (text.to_owned(), Vec::new()));
        }
    }
}

#[test]
fn promise_looking_for_calls_in_text_takes_work_that_grows_with_its_length_alone() {
    let target = toolroom_work::fuzz::Target {
        name: "calls in text",
        words: &[
            "<tool_call>",
            "</tool_call>",
            "<tool_calls>",
            "<function_call>",
            "[TOOL_CALLS]",
            "<",
            "[",
            "`",
            "```",
            "\n",
            "{\"name\": \"x\"}",
            "\u{e9}",
            " ",
            "<tool_",
        ],
        sample: 200,
        longest: 20_000,
        fixed: 10,
        per_byte: 4,
    };
    target.run(|text| assert_eq!(read(text, 3), read(text, 1 << 20)));
}
