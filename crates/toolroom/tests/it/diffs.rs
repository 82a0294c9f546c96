//! `toolroom diff` from outside.

use serde_json::{Value, json};

use crate::test_home::TestHome;

fn definition(home: &TestHome) -> Value {
    home.json(&["tools", "show", "create-task"])
}

#[test]
fn a_breaking_change_of_a_published_tool_fails_and_names_the_way_out() {
    let home = TestHome::new();
    let (old, new) = (home.path("old.json"), home.path("new.json"));
    let mut changed = definition(&home);
    std::fs::write(&old, changed.to_string()).unwrap();
    changed["parameters"]["properties"]["title"]["maxLength"] = json!(10);
    std::fs::write(&new, json!({ "tools": [changed] }).to_string()).unwrap();
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    let told = home.run(&["diff", old, new]);
    assert_eq!(told.code, 1);
    assert!(
        told.out.contains("breaking") && told.out.contains("/parameters/properties/title"),
        "{}",
        told.out
    );
    assert!(
        told.err.contains("create-task-v2") && told.err.contains("new ones are optional"),
        "{}",
        told.err
    );
    let json: Value = serde_json::from_str(&home.run(&["diff", old, new, "--json"]).out).unwrap();
    assert_eq!((&json["refused"], &json["tools"][0]["newName"]), (&json!(true), &json!("create-task-v2")));
    assert_eq!(home.run(&["diff", old, old]).code, 0);
}
