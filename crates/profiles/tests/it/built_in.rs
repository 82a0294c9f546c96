//! Which profiles and tools there are, and their OpenAI form.

use serde_json::{Value, json};
use toolroom_contract::spelling;
use toolroom_contract::validator::Validator;
use toolroom_profiles::{Picked, Tools, built_in, openai};

use crate::published::bindings;

#[test]
fn six_profiles_are_built_in_and_those_that_publish_tasks_do_not_wait_for_approval() {
    let found: Vec<(String, bool)> = built_in()
        .into_iter()
        .map(|profile| (profile.name.into_owned(), profile.requires_approval))
        .collect();
    let expected = [
        ("default", true),
        ("plain", true),
        ("todo-chatbot", false),
        ("todo_tasks", false),
        ("assistant", false),
        ("executor", true),
    ];
    assert_eq!(found, expected.map(|(name, requires_approval)| (name.to_owned(), requires_approval)));
}

#[test]
fn each_published_name_has_its_canonical_tool() {
    let pairs = |profile: &str| -> Vec<(String, String)> {
        bindings(profile)
            .into_iter()
            .map(|each| (each.name.into_owned(), each.canonical.into_owned()))
            .collect()
    };
    let expect = |profile: &str, expected: &[(&str, &str)]| {
        let expected: Vec<_> =
            expected.iter().map(|(name, tool)| ((*name).to_owned(), (*tool).to_owned())).collect();
        assert_eq!(pairs(profile), expected);
    };
    expect(
        "todo-chatbot",
        &[
            ("create_task", "create-task"),
            ("list_tasks", "list-tasks"),
            ("get_task", "get-task"),
            ("update_task", "update-task"),
            ("delete_task", "delete-task"),
        ],
    );
    expect(
        "todo_tasks",
        &[
            ("add_task", "create-task"),
            ("list_tasks", "list-tasks"),
            ("complete_task", "complete-task"),
            ("delete_task", "delete-task"),
            ("update_task", "update-task"),
        ],
    );
    expect(
        "assistant",
        &[
            ("add_task", "create-task"),
            ("list_tasks", "list-tasks"),
            ("update_task", "update-task"),
            ("delete_task", "delete-task"),
            ("complete_task", "complete-task"),
            ("find_task", "find-tasks"),
        ],
    );
    expect(
        "executor",
        &[
            ("web_search", "search-web"),
            ("code_execution", "execute-code"),
            ("request_human_input", "request-human-input"),
        ],
    );
}

#[test]
fn every_schema_compiles_and_is_closed_to_unknown_fields() {
    for profile in ["todo-chatbot", "todo_tasks", "assistant", "executor"] {
        for binding in bindings(profile) {
            let validator = Validator::compile(&binding.parameters).unwrap();
            let refusals = validator.refusals(&json!({"no_such_field": 1}));
            assert!(refusals.iter().any(|refusal| refusal.pointer == "/no_such_field"), "{}", binding.name);
            for name in binding.trimmed {
                let unbounded = profile == "assistant" && *name == "query";
                assert_eq!(binding.parameters["properties"][*name]["maxLength"].is_null(), unbounded);
            }
        }
    }
}

#[test]
fn functions_have_the_openai_form() {
    let parameters = json!({"type": "object"});
    let functions = openai::functions([("create-task", "Makes a task.", &parameters)]);
    let expected = r#"[{"type":"function","function":{"name":"create-task","description":"Makes a task.","parameters":{"type":"object"}}}]"#;
    assert_eq!(Value::from(functions).to_string(), expected);
}

#[test]
fn a_listed_profile_gives_its_functions_and_a_whole_one_none() {
    for profile in built_in() {
        let functions = openai::of_profile(&profile);
        match &profile.tools {
            Tools::Whole => assert_eq!(functions, None),
            Tools::Listed(bindings) | Tools::Picked(Picked { listed: bindings, .. }) => {
                let functions = functions.unwrap();
                assert_eq!(functions.len(), bindings.len());
                for (function, binding) in functions.iter().zip(bindings) {
                    assert_eq!(function["function"]["parameters"], spelling::of_object(&binding.parameters));
                }
            }
        }
    }
}
