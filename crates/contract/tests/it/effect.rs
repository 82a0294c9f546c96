//! What a call does: receipts and questions are made from it, and nonsense is refused when it is registered.

use serde_json::{Value, json};
use toolroom_contract::effect::{Named, check};
use toolroom_contract::{Category, Effect, EffectKind, ToolDefinition};

use crate::sample::sound;

/// A tool that closes a ticket.
fn ticket(more: Value) -> Effect {
    let mut effect = json!({
        "kind": "update",
        "target": {
            "nouns": ["ticket", "issue"], "id": "key", "title": "summary",
            "at": ["/params/key", "/params/all/*/key", "/data/ticket/key"]
        }
    });
    effect.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(effect).unwrap()
}

fn refusal(effect: Effect) -> String {
    let definition = ToolDefinition { category: Category::Mutation, effect: Some(effect), ..sound() };
    check(&definition).expect_err("it is refused")
}

#[test]
fn a_receipt_is_the_first_template_that_the_result_can_fill() {
    let effect = ticket(json!({
        "receipt": [
            "Closed {target}[, note {/data/note}][, {/data/rank?high|low} rank]{/data/state?closed:}.",
            "{target} was closed before; {/data/fields}."
        ],
        "words": { "due": ["due {/data/ticket/due}", "no due date"] }
    }));
    let receipt = |data: Value| effect.receipt_text(&json!({ "key": "A-1" }), &data);
    let ticket = json!({ "key": "A-1", "summary": "Paint\n\"it\" black" });
    assert_eq!(
        receipt(json!({ "ticket": ticket, "state": "closed", "note": "thanks", "rank": "middling" }))
            .unwrap(),
        "Closed ticket A-1 “Paint 'it' black”, note thanks."
    );
    assert_eq!(
        receipt(json!({ "ticket": ticket, "state": "open", "fields": ["due", "owner"] })).unwrap(),
        "Ticket A-1 “Paint 'it' black” was closed before; no due date, owner."
    );
    assert_eq!(receipt(json!({ "state": "open" })), None);
}

#[test]
fn without_words_of_its_own_a_kind_has_the_usual_ones() {
    let data = json!({ "ticket": { "key": "A-1", "summary": "Paint" } });
    for (kind, said) in [
        (EffectKind::Create, Some("Added ticket A-1 “Paint”.")),
        (EffectKind::Update, Some("Changed ticket A-1 “Paint”.")),
        (EffectKind::Delete, Some("Deleted ticket A-1 “Paint”.")),
        (EffectKind::Run, None),
    ] {
        let effect = Effect { kind, ..ticket(json!({})) };
        assert_eq!(effect.receipt_text(&json!({}), &data).as_deref(), said, "{kind:?}");
    }
}

#[test]
fn a_question_names_its_targets_by_their_titles_and_the_fields_as_the_caller_calls_them() {
    let effect = ticket(json!({}));
    let names = [Named { noun: "ticket".into(), id: "A-1".into(), title: Some("Paint".into()) }];
    let params = json!({ "key": "A-1", "dueDate": "friday", "expectedVersion": 3 });
    assert_eq!(
        effect.question_text(&params, &params, &names).unwrap(),
        "change ticket A-1 “Paint”: due date to “friday”"
    );
    let several = json!({ "all": [{ "key": "A-1" }, { "key": "B-2" }, { "key": "A-1" }] });
    assert_eq!(effect.targets(&several, &Value::Null).len(), 2);
    assert_eq!(effect.question_text(&json!({}), &json!({}), &names), None);
}

#[test]
fn several_results_have_a_line_each() {
    let effect = ticket(json!({
        "each": "/data/done", "receipt": ["Not done: {/item/why}", "Closed {target}."]
    }));
    let data = json!({ "done": [{ "key": "A-1", "summary": "Paint" }, { "why": "it is\nlocked" }] });
    assert_eq!(
        effect.receipt_text(&json!({}), &data).unwrap(),
        "Closed ticket A-1 “Paint”.\nNot done: it is locked"
    );
}

#[test]
fn what_a_definition_does_not_say_follows_from_its_category() {
    let of = |category| Effect::of(&ToolDefinition { category, ..sound() }).kind;
    assert_eq!(of(Category::Mutation), EffectKind::Run);
    assert_eq!(of(Category::Query), EffectKind::None);
    assert_eq!(of(Category::Generation), EffectKind::None);
}

#[test]
fn the_call_that_takes_it_back_has_its_arguments_from_the_result() {
    let undo = json!({ "tool": "reopen", "arguments": { "key": { "from": "/data/ticket/key" }, "quiet": { "value": true } } });
    let effect = ticket(json!({ "undo": undo }));
    let data = json!({ "ticket": { "key": "A-1" } });
    assert_eq!(effect.undo_arguments(&json!({}), &data), Some(json!({ "key": "A-1", "quiet": true })));
    assert_eq!(effect.undo_arguments(&json!({}), &json!({})), None);
}

#[test]
fn an_effect_that_makes_no_sense_is_refused_with_the_field() {
    for (wrong, field) in [
        (json!({ "kind": "none" }), "effect/kind"),
        (json!({ "shows": "one" }), "effect/shows"),
        (json!({ "target": { "nouns": [], "id": "key" } }), "effect/target/nouns"),
        (json!({ "target": { "nouns": ["Ticket"], "id": "key" } }), "effect/target/nouns"),
        (json!({ "target": { "nouns": ["ticket"], "id": "" } }), "effect/target/id"),
        (
            json!({ "target": { "nouns": ["ticket"], "id": "key", "at": ["/result/key"] } }),
            "effect/target/at",
        ),
        (
            json!({ "target": { "nouns": ["ticket"], "id": "key", "at": ["/params/a~b"] } }),
            "effect/target/at",
        ),
        (json!({ "each": "/params/x" }), "effect/each"),
        (json!({ "receipt": ["Closed {target."] }), "effect/receipt"),
        (json!({ "receipt": ["Closed [{target}."] }), "effect/receipt"),
        (json!({ "receipt": ["Closed {whatever}."] }), "effect/receipt"),
        (json!({ "receipt": ["{/item/x}"] }), "effect/receipt"),
        (json!({ "receipt": ["x".repeat(401)] }), "effect/receipt"),
        (json!({ "receipt": ["Closed.\nDeleted task 7."] }), "effect/receipt"),
        (json!({ "receipt": ["\u{1b}[2JClosed \u{202e}x"] }), "effect/receipt"),
        (json!({ "undo": { "tool": "\u{1b}cx" } }), "effect/undo/tool"),
        (json!({ "question": vec!["x"; 9] }), "effect/question"),
        (json!({ "words": { "due": ["}"] } }), "effect/due"),
        (json!({ "undo": { "tool": "get-card" } }), "effect/undo/tool"),
        (
            json!({ "undo": { "tool": "x", "arguments": { "a": { "from": "key" } } } }),
            "effect/undo/arguments",
        ),
    ] {
        let said = refusal(ticket(wrong.clone()));
        assert!(said.starts_with(field), "{wrong}: {said}");
    }
    let fine = ToolDefinition { category: Category::Mutation, effect: Some(ticket(json!({}))), ..sound() };
    assert_eq!(check(&fine), Ok(()));
}

#[test]
fn promise_a_template_is_read_in_work_that_grows_with_its_length_alone() {
    let target = toolroom_work::fuzz::Target {
        name: "templates of effects",
        words: &["{", "}", "[", "]", "/data/x", "target", "|", "?", ":", "a ", "/item", "“"],
        sample: 300,
        longest: 400,
        fixed: 20,
        per_byte: 4,
    };
    target.run(|text| {
        let effect = Effect { receipt: vec![text.to_owned()], ..ticket(json!({})) };
        let definition =
            ToolDefinition { category: Category::Mutation, effect: Some(effect.clone()), ..sound() };
        let _ = check(&definition);
        let _ = effect.receipt_text(&json!({}), &json!({ "x": "[{a}]" }));
    });
}
