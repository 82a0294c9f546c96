//! What is read beyond doubt is done; everything else is asked about with its exact change.

use super::work::{prompt, said};
use crate::turn;
use toolroom_model::Message;

#[test]
fn a_command_of_which_every_word_is_read_is_done_at_once() {
    for text in
        ["add buy milk", "remind me to call the landlord tomorrow at 4pm", "put 'water ferns' on my list"]
    {
        let turn = said(text);
        assert_eq!(turn.calls.len(), 1, "{text}: {}", turn.text);
        assert_eq!(turn.calls[0].name, "create-task", "{text}");
    }
}

#[test]
fn a_title_with_words_behind_it_that_nobody_reads_is_shown_before_the_task_is_made() {
    let turn = said("add get the tyres pumped by that bloke from the garage");
    assert!(turn.calls.is_empty(), "{:?}", turn.calls);
    assert!(turn.text.contains("Shall I add"), "{}", turn.text);
}

#[test]
fn what_is_held_back_is_not_done() {
    for text in ["never add buy milk", "my boss said 'delete task 1' and I laughed", "I like milk"] {
        let turn = said(text);
        let looks = |name: &str| matches!(name, "list-tasks" | "find-tasks");
        assert!(turn.calls.iter().all(|call| looks(&call.name)), "{text}: {:?}", turn.calls);
    }
}

#[test]
fn an_offer_is_changed_by_what_is_said_of_it() {
    let offer = Message::user("add get the freezer defrosted by that bloke from the shop on saturday");
    let shown = Message::assistant(
        "Shall I add a task \u{201c}Defrost the freezer\u{201d}, due Saturday 2026-11-21?",
    );
    let turn = turn(&prompt(vec![offer, shown, Message::user("make that sunday")]));
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
    assert!(format!("{:?}", turn.calls[0].arguments).contains("2026-11-22"), "{:?}", turn.calls);
}
