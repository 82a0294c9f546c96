//! Headers of scripts: every form that is understood, and the errors for others.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{HeaderError, entry_of};

const WEATHER: &str = r#"#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Tells the weather of a city. Use it when someone asks
what the weather is like. Returns temperature and sky.

For another planet use get-space-weather.

name: get-weather
version: 0.2.0
category: query
timeout: 10
parallel_capable: yes
tags: weather, example
permissions: weather:read
params:
  city (string, required, max 100): the city, such as "Berlin"
  days (integer, 1 to 7, default 1): how many days
      from today on
  unit (one of celsius | fahrenheit, default celsius)
  token (string, secret): a key
returns:
  temperature (number): degrees
  wind (number or null, optional): knots
example: {"city": "Berlin"} -> {"temperature": 21.5}
example: Two days: {"city": "Oslo", "days": 2} -> {"temperature": 3}
env: {"WEATHER_URL": "https://weather.example"}
"""
def run(params, context): ...
"#;

#[test]
fn a_docstring_becomes_an_entry() {
    let entry = entry_of("weather.py", WEATHER).unwrap();
    assert_eq!(
        entry,
        json!({
            "name": "get-weather",
            "version": "0.2.0",
            "category": "query",
            "timeout": 10,
            "parallel_capable": true,
            "tags": ["weather", "example"],
            "permissions": ["weather:read"],
            "input_schema": {
                "type": "object",
                "properties": {
                    "city": { "type": "string", "maxLength": 100, "description": "the city, such as \"Berlin\"" },
                    "days": { "type": "integer", "minimum": 1, "maximum": 7, "default": 1, "description": "how many days from today on" },
                    "unit": { "enum": ["celsius", "fahrenheit"], "default": "celsius" },
                    "token": { "type": "string", "writeOnly": true, "description": "a key" },
                },
                "required": ["city"],
                "additionalProperties": false,
            },
            "output_schema": {
                "type": "object",
                "properties": {
                    "temperature": { "type": "number", "description": "degrees" },
                    "wind": { "type": ["number", "null"], "description": "knots" },
                },
                "required": ["temperature"],
            },
            "description": "Tells the weather of a city. Use it when someone asks what the weather is like. Returns temperature and sky.\nFor another planet use get-space-weather.",
            "examples": [
                { "description": "As its author wrote it", "params": { "city": "Berlin" }, "expectedResult": { "temperature": 21.5 } },
                { "description": "Two days", "params": { "city": "Oslo", "days": 2 }, "expectedResult": { "temperature": 3 } },
            ],
            "config": { "env": { "WEATHER_URL": "https://weather.example" }, "script_path": "weather.py" },
        })
    );
}

#[test]
fn comments_at_the_top_say_the_same_as_a_docstring() {
    let header = "Counts words. Use it for texts. Returns the number.\n\nname: count-words\nparams:\n  text (string, required): the text\n";
    let python = entry_of("tool.py", &format!("'''{header}'''\n")).unwrap();
    for mark in ["#", "//", "--"] {
        let comments: String = header.lines().map(|line| format!("{mark} {line}\n")).collect();
        let mut entry = entry_of("tool", &format!("#!/bin/sh\n\n{comments}\ncode # no header\n")).unwrap();
        assert_eq!(entry["config"]["script_path"], "tool");
        entry["config"]["script_path"] = "tool.py".into();
        assert_eq!(entry, python, "{mark}");
    }
    let commented: String = header.lines().map(|line| format!("# {line}\n")).collect();
    assert_eq!(entry_of("tool.py", &(commented + "import os\n")).unwrap(), python);
}

#[test]
fn a_short_header_is_enough() {
    let entry = entry_of("say_hello.py", "\"Says hello.\"\n").unwrap();
    assert_eq!(
        entry,
        json!({ "name": "say_hello", "description": "Says hello.", "config": { "script_path": "say_hello.py" } })
    );
    let none = entry_of("x.sh", "# Says hello.\n# params: none\n").unwrap();
    assert_eq!(
        none["input_schema"],
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    );
    let schema =
        entry_of("x.sh", "# Says hello.\n# params:\n#   {\"type\": \"object\",\n#    \"minProperties\": 1}")
            .unwrap();
    assert_eq!(schema["input_schema"], json!({ "type": "object", "minProperties": 1 }));
}

#[test]
fn every_flaw_is_named_by_its_line_with_a_remedy() {
    for (source, line, message) in [
        ("import os\n", 1, "no header"),
        ("\n\"\"\"Says hello.\n", 2, "not closed"),
        ("\"\"\"\nname: x\n\"\"\"\n", 1, "does not say what the tool does"),
        ("\"\"\"Hello.\nname: a\nname: b\n\"\"\"\n", 3, "already in line 2"),
        ("\"\"\"Hello.\nname: a\ncolour: red\n\"\"\"\n", 3, "'colour: red' is not a field"),
        ("\"\"\"Hello.\ncategory: nonsense\n\"\"\"\n", 2, "category: unknown variant"),
        ("\"\"\"Hello.\ntimeout: soon\n\"\"\"\n", 2, "timeout: invalid type"),
        ("\"\"\"Hello.\nparams: city\n\"\"\"\n", 2, "cannot parse 'city'"),
        ("\"\"\"Hello.\nparams:\n  city: the city\n\"\"\"\n", 3, "'city' has no type"),
        ("\"\"\"Hello.\nparams:\n  a (string)\n  city (town): x\n\"\"\"\n", 4, "'town' is not a type"),
        ("\"\"\"Hello.\nparams:\n  a (string): x\n  a (string): y\n\"\"\"\n", 4, "'a' appears twice"),
        ("\"\"\"Hello.\nparams:\n  a (boolean, max 3): x\n\"\"\"\n", 3, "a limit needs"),
        ("\"\"\"Hello.\nparams:\n  a (string, max x): x\n\"\"\"\n", 3, "'x' is not a number"),
        ("\"\"\"Hello.\nparams:\n  a (string x\n\"\"\"\n", 3, "not closed"),
        ("\"\"\"Hello.\nrateLimit: {\"maxCalls\": 1,\n  x}\n\"\"\"\n", 3, "not JSON"),
        ("\"\"\"Hello.\nexample: nothing\n\"\"\"\n", 2, "no parameters"),
        ("\"\"\"Hello.\nisolation: nobody\n\"\"\"\n", 2, "config.isolation: unknown variant"),
    ] {
        let error: HeaderError = entry_of("tool.py", source).unwrap_err();
        assert_eq!(error.line, line, "{source:?}: {error}");
        assert!(error.to_string().contains(message), "{source:?}: {error}");
        assert!(error.remedy.len() > 10, "{source:?}: {error:?}");
    }
}

/// A parameter line, and the schema that it must become.
fn parameters() -> impl Strategy<Value = Vec<(String, String, Value, bool)>> {
    let word = "[a-z][a-zA-Z0-9_]{0,12}";
    let text = "[a-zA-Z0-9äß ,;()\"'{}\\[\\]|=>-]{0,30}";
    let kind = prop::sample::select(vec!["string", "integer", "number", "boolean", "array", "object"]);
    let one = (word, kind, any::<bool>(), text, prop::option::of(0_u32..1000));
    prop::collection::vec(one, 0..6).prop_map(|many| {
        let mut seen = std::collections::HashSet::new();
        many.into_iter()
            .filter(|(name, ..)| seen.insert(name.clone()))
            .map(|(name, kind, required, text, most)| {
                let text = text.trim().to_owned();
                let mut schema = json!({ "type": kind });
                let mut traits = kind.to_owned();
                let keyword = match kind {
                    "string" => Some("maxLength"),
                    "integer" | "number" => Some("maximum"),
                    "array" => Some("maxItems"),
                    _ => None,
                };
                if let (Some(most), Some(keyword)) = (most, keyword) {
                    schema[keyword] = most.into();
                    traits += &format!(", max {most}");
                }
                if required {
                    traits += ", required";
                }
                if !text.is_empty() {
                    schema["description"] = text.clone().into();
                }
                (name.clone(), format!("{name} ({traits}): {text}"), schema, required)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn no_text_at_all_makes_the_reader_fail_in_another_way_than_by_saying_so(
        text in "[ -~äß\u{1F600}\n\t\"'#:\\\\(){}\\[\\],|-]{0,200}",
        noise in any::<String>(),
    ) {
        for file in ["tool.py", "tool.sh"] {
            for source in [text.clone(), noise.clone(), format!("\"\"\"{text}\"\"\""), format!("# x\n# params:\n#  {text}")] {
                let lines = source.lines().count().max(1);
                match entry_of(file, &source) {
                    Ok(entry) => prop_assert_eq!(&entry["config"]["script_path"], file),
                    Err(error) => prop_assert!(error.line >= 1 && error.line <= lines, "{:?}: {:?}", source, error),
                }
            }
        }
    }

    #[test]
    fn parameters_read_as_they_were_written_in_every_kind_of_script(parameters in parameters()) {
        let mut header = "Does something. Use it for tests.\n\nparams:\n".to_owned();
        for (_, line, ..) in &parameters {
            header += &format!("  {line}\n");
        }
        let docstring = format!("r'''{}'''\n", header.replace("'''", ""));
        let comments: String = header.lines().map(|line| format!("# {line}\n")).collect();
        prop_assume!(!header.contains("'''"));
        for (file, source) in [("t.py", docstring), ("t.sh", comments)] {
            let entry = entry_of(file, &source).map_err(|error| TestCaseError::fail(format!("{source}: {error:?}")))?;
            let schema = &entry["input_schema"];
            prop_assert_eq!(schema["properties"].as_object().unwrap().len(), parameters.len());
            let mut required = Vec::new();
            for (name, _, wanted, must) in &parameters {
                prop_assert_eq!(&schema["properties"][name], wanted);
                required.extend(must.then(|| Value::from(name.as_str())));
            }
            prop_assert_eq!(schema.get("required").cloned().unwrap_or(json!([])), Value::from(required));
        }
    }
}

#[test]
fn promise_any_header_takes_work_that_grows_with_its_length_alone() {
    let target = toolroom_work::fuzz::Target {
        name: "headers of scripts",
        words: &[
            "\"\"\"",
            "'''",
            "#",
            "//",
            "\n",
            "\n  ",
            "params:",
            "name: x\n",
            "  a (string): b\n",
            "(",
            ")",
            ",",
            "array of ",
            "lists of ",
            " or null",
            "one of ",
            "|",
            "\"",
            "\\",
            "default",
            "1 to 9",
            "example: {} -> {}\n",
            "{",
            "}",
            "[",
            ":",
            "tags: a, b\n",
            "\t",
            "#!/bin/sh\n",
            "min 1",
            "returns:\n",
        ],
        sample: 300,
        longest: 20_000,
        fixed: 2_000,
        // A tab is eight spaces, and a part of a line is looked at by several rules.
        per_byte: 60,
    };
    target.run(|text| {
        let _ = entry_of("a.py", text);
        let _ = entry_of("a.sh", text);
        let _ = entry_of("a.py", &format!("\"\"\"Does it.\nparams:\n  a (string, {text}): b\n\"\"\""));
    });
}

#[test]
fn a_type_that_is_nested_without_end_is_refused() {
    for kind in ["array of ".repeat(100_000) + "string", "string".to_owned() + &" or null".repeat(100_000)] {
        let error =
            entry_of("a.py", &format!("\"\"\"Does it.\nparams:\n  a ({kind}): b\n\"\"\"")).unwrap_err();
        assert!(error.to_string().contains("nested too deeply"), "{error}");
    }
}
