//! Learning with cards, on both engines.

use serde_json::{Value, json};
use toolroom_contract::ErrorCode;

use crate::test_tools::{TestTools, first_detail, on_both};

async fn deck(tools: &TestTools, name: &str) -> i64 {
    tools.call("create-deck", json!({ "name": name })).await["deck"]["deckId"].as_i64().unwrap()
}

async fn card(tools: &TestTools, deck: i64, front: &str) -> i64 {
    let made = tools.call("create-card", json!({ "deckId": deck, "front": front, "back": "answer" })).await;
    made["card"]["cardId"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_asked_rated_and_asked_again_when_it_is_due() {
    on_both(|tools| async move {
        let deck = deck(&tools, "Spanish").await;
        let first = card(&tools, deck, "the bread").await;
        let second = card(&tools, deck, "the milk").await;
        let next = tools.call("review-next-card", json!({ "deckId": deck })).await;
        assert_eq!((&next["card"]["cardId"], &next["due"]), (&json!(first), &json!(2)));
        let rated = tools.call("review-card", json!({ "cardId": first, "rating": "good" })).await;
        assert_eq!(rated["card"]["state"], "learning");
        assert_eq!(rated["review"]["interval"], 600);
        assert_eq!(rated["review"]["predicted"], Value::Null);
        let next = tools.call("review-next-card", json!({})).await;
        assert_eq!((&next["card"]["cardId"], &next["due"]), (&json!(second), &json!(1)));
        tools.call("review-card", json!({ "cardId": second, "rating": "easy" })).await;
        let none = tools.call("review-next-card", json!({})).await;
        assert_eq!((&none["card"], &none["due"]), (&Value::Null, &json!(0)));
        assert_eq!(none["nextDue"], rated["card"]["due"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hints_of_a_review_are_worked_out_from_reviews_that_took_place() {
    on_both(|tools| async move {
        let deck = deck(&tools, "Spanish").await;
        let known = card(&tools, deck, "the bread").await;
        card(&tools, deck, "the milk").await;
        for duration in [900, 1000, 1100] {
            let params = json!({ "cardId": known, "rating": "good", "durationMs": duration });
            tools.call("review-card", params).await;
        }
        let slow = json!({ "cardId": known, "rating": "hard", "durationMs": 5000 });
        let hints = tools.answer("review-card", slow).await.unwrap().hints;
        let go_on = hints.next.iter().find(|action| action.action == "review-next-card").unwrap();
        assert_eq!(go_on.data.as_ref().unwrap()["deckId"], deck);
        assert_eq!(go_on.estimated_time, Some(1000.0), "the middle of the durations");
        assert!(go_on.expected_outcome.is_some() && go_on.confidence.is_some());
        assert_eq!(hints.dependencies[0].action, "adjust-difficulty");
        assert_eq!(hints.related[0].label, "Spanish");
        assert!(hints.warnings[0].message.contains("5000 ms"), "{:?}", hints.warnings);
        assert!(hints.alignment[0].explanation.as_ref().unwrap().contains("1 of the last 7 days"));
        assert!(!hints.assumptions.is_empty() && !hints.context_needed.is_empty());
        assert!(hints.matched.is_some() && hints.reasoning.is_some());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_another_users_does_not_exist() {
    on_both(|tools| async move {
        let deck = deck(&tools, "Mine").await;
        let mine = card(&tools, deck, "secret").await;
        let other = tools.for_user("bert").await;
        for (tool, params) in [
            ("get-card", json!({ "cardId": mine })),
            ("update-card", json!({ "cardId": mine, "front": "x" })),
            ("delete-card", json!({ "cardId": mine })),
            ("review-card", json!({ "cardId": mine, "rating": "good" })),
            ("adjust-difficulty", json!({ "cardId": mine, "difficulty": 2 })),
            ("create-card", json!({ "deckId": deck, "front": "x", "back": "y" })),
            ("review-next-card", json!({ "deckId": deck })),
        ] {
            let theirs = other.refused(tool, params.clone()).await;
            let missing = params
                .to_string()
                .replace(&format!(":{mine}"), ":999999")
                .replace(&format!(":{deck}"), ":999999");
            let never = other.refused(tool, serde_json::from_str(&missing).unwrap()).await;
            assert_eq!(theirs.code, ErrorCode::NotFound, "{tool}");
            assert_eq!((theirs.code, theirs.message), (never.code, never.message), "{tool}");
        }
        assert_eq!(other.call("search-cards", json!({})).await["total"], 0);
        assert_eq!(other.call("list-decks", json!({})).await["decks"], json!([]));
        assert_eq!(tools.call("get-card", json!({ "cardId": mine })).await["card"]["version"], 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_idempotency_key_reviews_once() {
    on_both(|tools| async move {
        let deck = deck(&tools, "Spanish").await;
        let id = card(&tools, deck, "the bread").await;
        let keyed = tools.with_key("review-1", "same");
        let params = json!({ "cardId": id, "rating": "good" });
        let first = keyed.call("review-card", params.clone()).await;
        assert_eq!(keyed.call("review-card", params).await, first);
        assert_eq!(tools.call("get-card", json!({ "cardId": id })).await["card"]["reviews"], 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_are_found_by_words_deck_and_page_and_decks_despite_a_slip() {
    on_both(|tools| async move {
        let spanish = deck(&tools, "Spanish").await;
        let other = deck(&tools, "100% History").await;
        for number in 0..25 {
            card(&tools, spanish, &format!("word {number}")).await;
        }
        card(&tools, other, "Battle of 50%_off").await;
        assert_eq!(
            tools.call("search-decks", json!({ "query": "spansh" })).await["decks"][0]["deck"]["deckId"],
            spanish
        );
        let page = tools.call("search-cards", json!({ "query": "WORD", "limit": 20 })).await;
        assert_eq!((&page["total"], page["cards"].as_array().unwrap().len()), (&json!(25), 20));
        let rest = json!({ "query": "word", "limit": 20, "cursor": page["nextCursor"] });
        let rest = tools.call("search-cards", rest).await;
        assert_eq!((rest["cards"].as_array().unwrap().len(), &rest["nextCursor"]), (5, &Value::Null));
        assert_eq!(tools.call("search-cards", json!({ "query": "50%_" })).await["total"], 1);
        assert_eq!(
            tools.call("search-cards", json!({ "deckId": other, "state": "new", "due": true })).await["total"],
            1
        );
        let taken = tools.refused("create-deck", json!({ "name": "SPANISH" })).await;
        assert_eq!(taken.code, ErrorCode::AlreadyExists);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difficulty_is_set_as_asked_and_fitted_only_to_enough_reviews() {
    on_both(|tools| async move {
        let deck = deck(&tools, "Spanish").await;
        let id = card(&tools, deck, "the bread").await;
        tools.call("review-card", json!({ "cardId": id, "rating": "good" })).await;
        let early = tools.refused("adjust-difficulty", json!({ "cardId": id })).await;
        assert_eq!(early.code, ErrorCode::NoChanges);
        let set = tools.call("adjust-difficulty", json!({ "cardId": id, "difficulty": 7.5 })).await;
        assert_eq!(set["card"]["difficulty"], 7.5);
        assert_ne!(set["previousDifficulty"], 7.5);
        let bad = tools.refused("adjust-difficulty", json!({ "cardId": id, "difficulty": 11 })).await;
        assert_eq!(first_detail(&bad).0, "/difficulty");
        let moved = json!({ "cardId": id, "front": "bread", "expectedVersion": 1 });
        assert_eq!(tools.refused("update-card", moved).await.code, ErrorCode::VersionConflict);
    })
    .await;
}
