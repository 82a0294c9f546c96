//! The card tools are there when the home's owner wants them, and learning works through the command line.

use std::fs;

use crate::test_home::TestHome;

#[test]
fn card_tools_are_switched_on_by_a_setting_and_a_card_is_learned() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    assert_eq!(home.run(&["call", "list-decks"]).code, 1, "off unless asked for");
    let settings = home.home().join("toolroom.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("# cards = false", "cards = true")).unwrap();

    let made = home.json(&["call", "create-deck", "--param", "name=Spanish"]);
    assert_eq!(made["data"]["deck"]["deckId"], 1, "{made}");
    let card = r#"{"deckId": 1, "front": "the bread", "back": "el pan"}"#;
    let made = home.json(&["call", "create-card", "--params", card]);
    assert_eq!(made["data"]["card"]["state"], "new", "{made}");
    let next = home.json(&["call", "review-next-card"]);
    assert_eq!(next["data"]["card"]["front"], "the bread", "{next}");
    let reviewed = home.json(&["call", "review-card", "--params", r#"{"cardId": 1, "rating": "good"}"#]);
    assert_eq!(reviewed["data"]["review"]["interval"], 600, "{reviewed}");
    let hints = &reviewed["agentHints"];
    for field in
        ["suggestedNextActions", "relatedResources", "assumptions", "dependencies", "preferenceAlignment"]
    {
        assert!(!hints[field].as_array().unwrap().is_empty(), "{field}: {hints}");
    }
    assert!(
        hints["confidence"].as_f64().is_some_and(|confidence| confidence > 0.0 && confidence < 1.0),
        "{hints}"
    );
    let waiting = home.run(&["call", "delete-card", "--params", r#"{"cardId": 1}"#]);
    assert_eq!(waiting.code, 1, "a person is asked first: {waiting:?}");
}
