use serde_json::json;

use super::*;

const CANARY: &str = "CANARY-5ec2e7";

#[test]
fn secrets_by_schema_and_by_name_never_reach_the_journal() {
    let schema = json!({
        "type": "object",
        "properties": {
            "pin": {"type": "string", "writeOnly": true},
            "login": {"properties": {"phrase": {"format": "password"}}},
            "rows": {"items": {"properties": {"pin": {"writeOnly": true}}}},
            "either": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/hidden"}]},
            "tree": {"$ref": "#/$defs/tree"},
            "extra": {"additionalProperties": {"writeOnly": true}, "properties": {"seen": {}}},
            "pair": {"prefixItems": [{"type": "string"}, {"format": "password"}]},
        },
        "$defs": {
            "hidden": {"properties": {"code": {"writeOnly": true}}},
            "tree": {"properties": {"leaf": {"writeOnly": true}, "kids": {"items": {"$ref": "#/$defs/tree"}}}},
        },
    });
    let input = json!({
        "pin": CANARY,
        "login": {"phrase": CANARY, "name": "seen-1"},
        "rows": [{"pin": CANARY, "n": "seen-2"}, {"pin": {"deep": [CANARY]}}],
        "either": {"code": CANARY},
        "tree": {"kids": [{"kids": [{"leaf": CANARY}], "leaf": CANARY}]},
        "extra": {"any": CANARY, "seen": "seen-3"},
        "pair": ["a", CANARY],
        "unknown": [{"Api-Key": CANARY, "apiKey": CANARY, "API_KEY": CANARY, "AUTHORIZATION": [CANARY]}],
        "nested": {"password": CANARY, "Token": CANARY, "secret": {"x": CANARY}, "tokens": "seen-4"},
    });
    let mask = Mask::compile(&schema);
    assert!(!mask.is_trivial());
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let id = ExecutionId::new();
    journal.start(&start(id, &input, &mask)).unwrap();
    journal.end(&end(id, &input, &mask)).unwrap();
    let text = String::from_utf8(bytes(dir.path())).unwrap();
    assert!(!text.contains(CANARY));
    for seen in ["seen-1", "seen-2", "seen-3", "seen-4"] {
        assert_eq!(text.matches(seen).count(), 2, "{seen}");
    }
}

#[test]
fn secrets_in_another_shape_than_the_schema_says_never_reach_the_journal() {
    let schema = json!({
        "type": "object",
        "properties": {
            "keys": {"type": "array", "items": {"format": "password"}},
            "vault": {"additionalProperties": {"writeOnly": true}},
            "login": {"properties": {"pin": {"writeOnly": true}}},
            "free": {"type": "object"},
        },
    });
    let mask = Mask::compile(&schema);
    let twice = json!({"password": CANARY, "plain": "seen"}).to_string();
    let wrong = [
        json!({"keys": CANARY}),
        json!({"keys": {"first": CANARY}}),
        json!({"vault": [CANARY]}),
        json!({"vault": CANARY}),
        json!({"login": format!("{{\"pin\": \"{CANARY}\"}}")}),
        json!([{"login": {"pin": CANARY}}]),
        json!({"free": twice}),
        json!({"free": [format!(" {twice} ")]}),
        json!(twice),
    ];
    for value in wrong {
        let shown = serde_json::to_string(&Masked::new(&value, &mask)).unwrap();
        assert!(!shown.contains(CANARY), "{shown}");
    }
    let encoded = serde_json::to_string(&Masked::new(&json!({"free": twice}), &mask)).unwrap();
    assert!(encoded.contains("seen"), "only the secret is masked: {encoded}");
    // What cannot hold a secret stays as it is.
    for value in [json!({"keys": null, "vault": null, "free": "{not json}"}), json!({"free": "[1, 2]"})] {
        assert_eq!(serde_json::to_value(Masked::new(&value, &mask)).unwrap(), value);
    }
}

#[test]
fn a_schema_without_secrets_is_trivial_and_changes_nothing() {
    let recursive = json!({"properties": {"kids": {"items": {"$ref": "#"}}, "name": {"type": "string"}}});
    let mask = Mask::compile(&recursive);
    assert!(mask.is_trivial());
    let value = json!({"name": "a", "kids": [{"name": "b", "kids": []}], "passwords": 3, "": null});
    assert_eq!(serde_json::to_value(Masked::new(&value, &mask)).unwrap(), value);
}

#[test]
fn a_secret_schema_masks_the_whole_value() {
    let mask = Mask::compile(&json!({"writeOnly": true}));
    assert_eq!(serde_json::to_value(Masked::new(&json!({"a": CANARY}), &mask)).unwrap(), json!(mask::MASKED));
}

#[test]
fn secrets_do_not_show_in_the_preview_of_a_large_value() {
    let input = json!({"password": CANARY, "text": "x".repeat(100_000)});
    let dir = tempfile::tempdir().unwrap();
    let mask = Mask::default();
    open(dir.path()).start(&start(ExecutionId::new(), &input, &mask)).unwrap();
    assert!(!String::from_utf8(bytes(dir.path())).unwrap().contains(CANARY));
}

#[test]
fn a_secret_is_hidden_in_the_forms_that_json_and_python_print_it_in() {
    let secret = r#"a\b"c'dé😀"#;
    let secrets = Secrets::of(&json!({ "password": secret }), &Mask::default());
    let python = r#"a\\b"c\'dé😀"#;
    let json = r#"a\\b\"c'dé😀"#;
    let ascii = r#"a\\b\"c'd\u00e9\ud83d\ude00"#;
    for form in [secret, python, json, ascii] {
        assert_eq!(secrets.hide(&format!("<{form}>")), "<[masked]>", "{form}");
    }
}
