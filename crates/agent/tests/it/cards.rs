//! A second domain of tools is first-class in the chat by its contracts alone: receipts, questions, and the guard.

use serde_json::json;

use crate::test_chat::{TestChat, names};

#[tokio::test(flavor = "multi_thread")]
async fn new_cards_and_decks_have_receipts_with_the_call_that_takes_them_back() {
    let chat = TestChat::with_cards();
    let anna = chat.user("anna").await;
    chat.script
        .calls("create-deck", json!({ "name": "Spanish" }))
        .calls("create-card", json!({ "deckId": 1, "front": "the bread", "back": "el pan" }))
        .says("I've added the card.");
    let answer = chat.talk(&anna, "default").say("make a Spanish deck with a card for bread").await;
    assert_eq!(answer.response, "Added deck 1 “Spanish”.\nAdded card 1 “the bread”.\n\nI've added the card.");
    assert_eq!(answer.receipts[1].ids, [1]);
    assert_eq!(answer.receipts[1].undo, Some(json!({ "name": "delete-card", "params": { "cardId": 1 } })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_deleted_after_a_question_with_its_words_and_a_yes() {
    let chat = TestChat::with_cards();
    let anna = chat.user("anna").await;
    chat.script
        .calls("create-deck", json!({ "name": "Spanish" }))
        .calls("create-card", json!({ "deckId": 1, "front": "the bread", "back": "el pan" }))
        .says("");
    chat.talk(&anna, "default").say("make a Spanish deck with a card for bread").await;
    let mut talk = chat.talk(&anna, "default");
    chat.script.calls("delete-card", json!({ "cardId": 1 }));
    let asked = talk.say("delete card 1").await;
    assert_eq!(asked.response, "Shall I delete card 1 “the bread”? Please answer yes or no.");
    assert_eq!(names(&asked), ["get-card"], "it is looked up");
    let pending = asked.pending_confirmation.unwrap();
    assert_eq!((pending.task_id, pending.task_title), (json!(1), json!("the bread")));
    chat.script.says("The card is gone.");
    assert_eq!(talk.say("yes").await.response, "Deleted card 1 “the bread”.\n\nThe card is gone.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_nobody_named_is_not_touched_and_a_deck_of_that_number_is_no_card() {
    let chat = TestChat::with_cards();
    let anna = chat.user("anna").await;
    chat.script.calls("create-deck", json!({ "name": "Spanish" })).says("");
    let mut talk = chat.talk(&anna, "default");
    talk.say("make a deck").await;
    chat.script.calls("delete-card", json!({ "cardId": 1 })).says("Which card?");
    let answer = talk.say("delete my card").await;
    assert_eq!(
        (answer.response.as_str(), answer.tool_calls.len()),
        ("Which card?\n\nNothing was changed by this message.", 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_about_a_card_is_contradicted() {
    let chat = TestChat::with_cards();
    let anna = chat.user("anna").await;
    chat.script.says("I've deleted the card.");
    let answer = chat.talk(&anna, "default").say("delete the bread card").await;
    assert_eq!(answer.response, "I've deleted the card.\n\nNothing was changed.");
    // A task that was made is no card, and the receipt says so.
    chat.script.calls("create-task", json!({ "title": "Bread" })).says("I've added the card.");
    let answer = chat.talk(&anna, "default").say("add a card for bread").await;
    assert_eq!(answer.response, "Added task 1 “Bread”.\n\nI've added the card.");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_cards_at_once_are_asked_about() {
    let chat = TestChat::with_cards();
    let anna = chat.user("anna").await;
    let card = |front: &str| ("create-card", json!({ "deckId": 1, "front": front, "back": "?" }));
    chat.script
        .calls("create-deck", json!({ "name": "Spanish" }))
        .calls_all(&[card("bread"), card("milk")])
        .says("");
    let mut talk = chat.talk(&anna, "default");
    talk.say("make a Spanish deck with cards for bread and milk").await;
    let changed = |id: i64| ("update-card", json!({ "cardId": id, "back": "!" }));
    chat.script.calls_all(&[changed(1), changed(2)]);
    let asked = talk.say("put ! on both").await;
    assert_eq!(
        asked.response,
        "Shall I make these 2 changes?\n- change card 1 “bread”: back to “!”\n- change card 2 “milk”: back to \
         “!”\nPlease answer yes or no."
    );
    chat.script.says("");
    assert_eq!(
        talk.say("yes").await.response,
        "Changed card 1 “bread”: new answer.\nChanged card 2 “milk”: new answer."
    );
}
