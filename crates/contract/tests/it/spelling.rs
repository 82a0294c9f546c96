//! The spelling in which schemas are published: every client's reader takes it, and it means the same.

use serde_json::{Map, Value, json};
use toolroom_contract::spelling;
use toolroom_contract::validator::Validator;
use toolroom_work::counted;
use toolroom_work::fuzz::Maker;

use crate::schema_lint::faults;

/// Schemas as generators of many languages write them.
pub fn odd_schemas() -> Vec<Value> {
    vec![
        json!({ "type": ["string", "null"], "maxLength": 3, "description": "A text", "default": null }),
        json!({ "type": ["integer", "number", "string"], "minimum": 2, "pattern": "^a", "format": "date" }),
        json!({ "type": ["object", "array"], "required": ["a"], "items": { "type": "string" }, "minItems": 1 }),
        json!({ "type": ["string", "null"], "enum": ["red", null, 3] }),
        json!({ "enum": ["red", "green", 3, null] }),
        json!({ "const": "red" }),
        json!({ "type": "object" }),
        json!({ "type": "object", "additionalProperties": { "type": ["integer"] } }),
        json!({ "properties": { "a": true, "b": false, "c": {} }, "additionalProperties": false }),
        json!({ "type": "array", "items": true }),
        json!({ "type": "array", "prefixItems": [{ "const": 1 }, true], "items": false }),
        json!({ "oneOf": [
            { "type": "string", "const": "fast", "description": "Under 100 ms." },
            { "const": "slow", "description": "Over a second." },
            { "type": "string", "enum": ["unknown", "other"] },
        ] }),
        json!({ "oneOf": [{ "const": "red" }, { "const": "green" }, { "type": "null" }], "title": "Colour" }),
        json!({ "oneOf": [{ "const": "red" }, { "enum": ["red", "green"] }] }),
        json!({ "anyOf": [{ "anyOf": [{ "type": "string" }, { "type": "null" }] }, { "type": "null" }] }),
        json!({ "$ref": "#/$defs/a", "description": "Mine", "$defs": { "a": { "type": ["string", "null"] } } }),
        json!({ "allOf": [{ "$ref": "#/$defs/a" }], "default": "red", "$defs": { "a": { "enum": ["red", "green"] } } }),
        json!({ "$ref": "#/$defs/a", "required": ["b"], "$defs": {
            "a": { "type": "object", "properties": { "b": { "$ref": "#/$defs/c" } }, "additionalProperties": false },
            "c": { "type": ["string", "integer"] },
        } }),
        json!({ "$ref": "#/$defs/a", "properties": { "c": true }, "additionalProperties": false,
            "$defs": { "a": { "properties": { "b": { "type": "string" } } } } }),
        json!({ "$ref": "#/$defs/a", "properties": { "c": true }, "unevaluatedProperties": false,
            "$defs": { "a": { "properties": { "b": { "type": "string" } } } } }),
        json!({ "$ref": "#there", "$defs": { "a": { "$anchor": "there", "type": "integer" } } }),
        json!({ "type": ["string", "integer"], "anyOf": [{ "minLength": 2 }, { "minimum": 3 }] }),
        json!({ "if": { "type": ["string"] }, "then": { "const": "red" }, "else": true }),
        json!({ "not": { "type": ["string", "null"] } }),
        json!({ "type": "object", "patternProperties": { "^a": { "type": ["string", "null"] } },
            "dependentSchemas": { "a": { "required": ["b"] } }, "propertyNames": { "enum": ["a", "b"] } }),
    ]
}

/// Schemas that lead back to themselves, or grow without end when they are written out.
fn endless_schemas() -> Vec<Value> {
    let mut doubling = json!({ "$ref": "#/$defs/d0", "$defs": { "d10": { "type": "string" } } });
    for at in 0..10 {
        let next = format!("#/$defs/d{}", at + 1);
        doubling["$defs"][format!("d{at}")] = json!({ "type": "object", "properties": { "left": { "$ref": next }, "right": { "$ref": next } } });
    }
    vec![
        json!({ "type": "object", "properties": { "value": { "type": "integer" }, "next": { "$ref": "#" } } }),
        json!({ "type": "object", "properties": { "next": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] } },
            "required": ["next"], "additionalProperties": false }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "oneOf": [{ "type": "string" }, { "items": { "$ref": "#/$defs/a" },
            "type": "array" }] } } }),
        json!({ "$ref": "#/$defs/a", "unevaluatedProperties": false,
            "$defs": { "a": { "properties": { "a": { "$ref": "#/$defs/a" } }, "allOf": [{ "$ref": "#/$defs/b" }] },
                "b": { "properties": { "b": { "not": { "$ref": "#/$defs/a" } } } } } }),
        doubling,
    ]
}

fn values() -> Vec<Value> {
    let plain = json!([
        null,
        true,
        0,
        1,
        2,
        3,
        2.5,
        1.0,
        "",
        "a",
        "abcd",
        "red",
        "green",
        "fast",
        "slow",
        "other",
        "2026-11-15",
        [],
        [1],
        [1, 2],
        [1, 2, 3],
        ["a"],
        {}
    ]);
    let mut all: Vec<Value> = plain.as_array().unwrap().clone();
    for value in plain.as_array().unwrap() {
        for name in ["a", "b", "c", "value", "next", "left"] {
            all.push(json!({ name: value }));
        }
        all.push(json!({ "a": value, "b": "b" }));
        all.push(json!({ "b": "b", "c": value }));
        all.push(json!({ "next": { "next": { "next": value } } }));
        all.push(json!({ "value": 1, "next": { "value": value } }));
        all.push(json!([[value]]));
    }
    all
}

#[test]
fn every_schema_is_published_in_a_spelling_that_all_clients_read() {
    for schema in odd_schemas().iter().chain(&endless_schemas()) {
        let spelled = spelling::of(schema);
        assert_eq!(faults(&spelled), [""; 0], "{schema}\n{spelled}");
        assert_eq!(spelling::of(&spelled), spelled, "spelled once is spelled for good");
        assert_eq!(faults(&spelling::of_object(schema)), [""; 0]);
    }
}

#[test]
fn the_published_spelling_means_the_same() {
    for schema in odd_schemas() {
        let spelled = spelling::of(&schema);
        let (one, other) = (Validator::compile(&schema).unwrap(), Validator::compile(&spelled).unwrap());
        for value in values() {
            assert_eq!(one.accepts(&value), other.accepts(&value), "{schema}\n{spelled}\n{value}");
        }
    }
}

#[test]
fn what_goes_on_without_end_is_published_wider_and_bounded() {
    for schema in endless_schemas() {
        let spelled = spelling::of(&schema);
        assert!(spelled.to_string().len() < 512 * 1024, "{}", spelled.to_string().len());
        let (one, other) = (Validator::compile(&schema).unwrap(), Validator::compile(&spelled).unwrap());
        for value in values().iter().filter(|value| one.accepts(value)) {
            assert!(other.accepts(value), "{schema}\n{spelled}\n{value}");
        }
    }
}

#[test]
fn the_words_of_a_schema_stay_where_people_read_them() {
    assert_eq!(
        spelling::of(&json!({ "type": ["string", "null"], "maxLength": 3, "description": "A text" })),
        json!({ "anyOf": [{ "type": "string", "maxLength": 3 }, { "type": "null" }], "description": "A text" })
    );
    assert_eq!(
        spelling::of(&json!({ "oneOf": [{ "const": "a", "description": "First." }, { "const": "b" }] })),
        json!({ "type": "string", "enum": ["a", "b"], "description": "a: First." })
    );
    let referred = json!({ "$ref": "#/$defs/a", "description": "Mine",
        "$defs": { "a": { "type": "string", "enum": ["x"], "description": "Of all" } } });
    assert_eq!(spelling::of(&referred), json!({ "type": "string", "enum": ["x"], "description": "Mine" }));
}

/// A schema of the words that the speller knows, wide in one place, with references to others and to itself.
fn hostile(maker: &mut Maker, depth: usize, left: &mut usize) -> Value {
    let wide = |maker: &mut Maker| if maker.below(4) == 0 { 400 } else { 3 };
    let list = |maker: &mut Maker, left: &mut usize| -> Value {
        (0..1 + maker.below(3)).map(|_| hostile(maker, depth + 1, left)).collect()
    };
    // So many in all, or there would be no end to some.
    if depth > 30 || *left == 0 {
        return json!({ "$ref": "#" });
    }
    *left -= 1;
    match maker.below(16) {
        0 => json!({ "allOf": list(maker, left), "x-a": 1, "x-b": 2 }),
        1 => json!({ "anyOf": list(maker, left), "type": ["string", "null", "no such type"] }),
        2 => json!({ "oneOf": list(maker, left), "anyOf": list(maker, left) }),
        3 | 4 => {
            let word = ["oneOf", "anyOf"][maker.below(2)];
            let (count, kinds) = (wide(maker), 1 + maker.below(400));
            let constants =
                (0..count).map(|at| json!({ "const": format!("c{}", at % kinds), "description": "One." }));
            let nulls = (0..maker.below(count)).map(|_| json!({ "type": "null" }));
            json!({ word: constants.chain(nulls).collect::<Value>() })
        }
        5 => {
            let types: Vec<String> = (0..wide(maker)).map(|at| format!("t{at}")).collect();
            let values: Vec<usize> = (0..wide(maker)).collect();
            json!({ "type": types, "enum": values })
        }
        6 => {
            let notes = |maker: &mut Maker, from: &str| -> Map<String, Value> {
                (0..wide(maker)).map(|at| (format!("x-{from}{at}"), at.into())).collect()
            };
            let mut schema = notes(maker, "outer");
            schema.insert("allOf".into(), json!([notes(maker, "inner")]));
            schema.into()
        }
        7 => {
            let words =
                ["minLength", "pattern", "minimum", "items", "required", "format", "const", "default"];
            let mut schema = json!({ "type": ["string", "integer", "array", "object"] });
            for _ in 0..maker.below(8) {
                schema[words[maker.below(words.len())]] = hostile(maker, depth + 1, left);
            }
            schema
        }
        8 => {
            let named: Map<String, Value> = (0..wide(maker))
                .map(|at| (format!("f{at}"), json!({ "$ref": format!("#/$defs/d{}", at % 7) })))
                .collect();
            json!({ "type": "object", "properties": named })
        }
        9 => {
            let anchors: Vec<Value> = (0..wide(maker)).map(|_| json!({ "$anchor": "here" })).collect();
            let references: Vec<Value> =
                (0..wide(maker)).map(|_| json!({ "$dynamicRef": "#here" })).collect();
            json!({ "allOf": anchors, "anyOf": references })
        }
        10 => {
            json!({ "$id": "https://example.com/a", "$ref": "a#/$defs/d1", "items": hostile(maker, depth + 1, left) })
        }
        11 => {
            json!({ "not": hostile(maker, depth + 1, left), "if": true, "then": hostile(maker, depth + 1, left) })
        }
        12 => json!(maker.below(2) == 0),
        13 => json!({ "$ref": format!("#/$defs/d{}", maker.below(9)) }),
        14 => json!({ "$ref": format!("#{}", "/properties/x".repeat(maker.below(60))) }),
        _ => {
            json!({ "properties": { "x": hostile(maker, depth + 1, left), "y": hostile(maker, depth + 1, left) } })
        }
    }
}

#[test]
fn promise_publishing_any_schema_takes_work_that_grows_with_its_length_alone() {
    // What references bring is bounded, and a schema is looked at once for each that it is within.
    const FIXED: u64 = 200_000;
    const PER_BYTE: u64 = 40;
    let soaks = std::env::var_os("TOOLROOM_SOAK").is_some();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(600);
    let (mut seed, mut long) = (0, 0);
    while if soaks { std::time::Instant::now() < end } else { seed < 100 } {
        let mut maker = Maker::new(seed);
        let mut schema = json!({ "type": "object", "properties": { "a": hostile(&mut maker, 0, &mut 200) } });
        schema["$defs"] = (0..7)
            .map(|at| (format!("d{at}"), hostile(&mut maker, 0, &mut 200)))
            .collect::<Map<_, _>>()
            .into();
        let length = schema.to_string().len();
        let (spelled, taken) = counted(|| {
            let spelled = spelling::of_object(&schema);
            let outlined = spelling::outline(&spelled);
            (spelling::lean(&spelled, str::to_owned), outlined)
        });
        let most = FIXED + PER_BYTE * length as u64;
        assert!(taken <= most, "seed {seed}: {length} bytes took {taken} steps, at most {most}");
        let written = spelled.0.to_string().len();
        assert!(written <= 1_000_000 + 4 * length, "seed {seed}: {length} bytes became {written}");
        long += usize::from(length > 20_000);
        seed += 1;
    }
    assert!(long > 0, "the schemas must not all be short");
}

#[test]
fn wide_schemas_are_published_in_work_that_doubles_with_their_width() {
    let taken = |make: fn(usize) -> Value, width: usize| counted(|| spelling::of(&make(width))).1;
    let shapes: [fn(usize) -> Value; 6] = [
        |width| json!({ "oneOf": (0..width).map(|at| json!({ "const": at })).collect::<Value>() }),
        |width| json!({ "anyOf": (0..width).map(|at| json!({ "const": at % 9 })).collect::<Value>() }),
        |width| {
            let parts = (0..width)
                .map(|at| json!({ "minLength": at }))
                .chain((0..width).map(|_| json!({ "type": "null" })));
            json!({ "anyOf": parts.collect::<Value>() })
        },
        |width| json!({ "type": (0..width).map(|at| format!("t{at}")).collect::<Vec<_>>(), "enum": (0..width).collect::<Vec<_>>() }),
        |width| {
            let notes = |from: &str| -> Map<String, Value> {
                (0..width).map(|at| (format!("x-{from}{at}"), at.into())).collect()
            };
            let mut schema = notes("outer");
            schema.insert("allOf".into(), json!([notes("inner")]));
            schema.into()
        },
        |width| {
            let anchors: Vec<Value> = (0..width).map(|_| json!({ "$anchor": "here" })).collect();
            json!({ "allOf": anchors, "anyOf": (0..width).map(|_| json!({ "$ref": "#here" })).collect::<Value>() })
        },
    ];
    for (at, shape) in shapes.into_iter().enumerate() {
        let (one, two) = (taken(shape, 1_000), taken(shape, 2_000));
        assert!(one > 0 && two <= one * 5 / 2, "shape {at}: {one} steps, and {two} for twice as much");
    }
}
