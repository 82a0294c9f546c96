//! Sentences and what they are read as; `sentences.txt` is a line each, `sentence => wishes`.

use super::{heard, short};

const SENTENCES: &str = include_str!("sentences.txt");

#[test]
fn sentences_are_read_as_the_table_says() {
    let mut wrong = Vec::new();
    let mut all = 0;
    for line in SENTENCES.lines().filter(|line| !line.is_empty() && !line.starts_with("## ")) {
        let (sentence, expected) = line.split_once(" => ").expect(line);
        let read = short(&heard(&sentence.replace("\\n", "\n")));
        all += 1;
        if !fits(&read, expected) {
            wrong.push(format!("{sentence}\n    expected {expected}\n    read     {read}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {all} are read otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

/// `nothing` is any talk: no tool is called. Choices are parted by ` // `.
fn fits(read: &str, expected: &str) -> bool {
    expected.split(" // ").any(|one| match one {
        "nothing" => TALK.contains(&read),
        one => one == read,
    })
}

const TALK: &[&str] = &[
    "greeting",
    "howareyou",
    "thanks",
    "farewell",
    "help",
    "identity",
    "today",
    "leave",
    "hypothetical",
    "howto",
    "cancel",
    "yes",
    "no",
    "remark",
    "knowledge",
    "vague",
    "unknown",
];
