//! Documents that mean harm: every one is read in work that its length bounds, and leaves out what cannot be a tool.

use serde_json::{Map, Value, json};
use toolroom_openapi::{Wish, read};
use toolroom_work::counted;
use toolroom_work::fuzz::Maker;

/// What the reader itself allows, and a little for what comes after the budget is spent.
const FIXED: u64 = 4_500_000;
const PER_BYTE: u64 = 24;

fn document(schemas: Map<String, Value>, roots: &[String]) -> Value {
    let mut paths = Map::new();
    for (at, root) in roots.iter().enumerate() {
        let schema = json!({ "$ref": format!("#/components/schemas/{root}") });
        let content = json!({ "application/json": { "schema": schema } });
        let operation = json!({
            "requestBody": { "required": true, "content": content },
            "responses": { "200": { "description": "", "content": content } },
        });
        paths.insert(format!("/p{at}/{{id}}"), json!({ "post": operation }));
    }
    json!({
        "openapi": "3.1.0", "info": { "title": "hostile" }, "servers": [{ "url": "https://h.example.com" }],
        "paths": paths, "components": { "schemas": schemas },
    })
}

/// A schema of the words that the reader knows, with references to others.
fn schema(maker: &mut Maker, names: usize, depth: usize) -> Value {
    let reference =
        |maker: &mut Maker| json!({ "$ref": format!("#/components/schemas/S{}", maker.below(names)) });
    let list = |maker: &mut Maker, depth: usize| -> Value {
        (0..1 + maker.below(3)).map(|_| schema(maker, names, depth + 1)).collect()
    };
    if depth > 3 {
        return reference(maker);
    }
    match maker.below(12) {
        0 => json!({ "allOf": list(maker, depth) }),
        1 => json!({ "allOf": [reference(maker), reference(maker)] }),
        2 => json!({ "anyOf": list(maker, depth), "nullable": true }),
        3 => json!({ "oneOf": list(maker, depth), "discriminator": {} }),
        4 => json!({ "type": "array", "items": schema(maker, names, depth + 1) }),
        5 | 6 => {
            let fields = (0..maker.below(4))
                .map(|_| (format!("f{}", maker.below(9)), schema(maker, names, depth + 1)));
            json!({ "type": "object", "properties": fields.collect::<Map<_, _>>(), "required": ["f1", "f1", 2] })
        }
        7 => json!({ "type": ["string", "null", 7], "pattern": "(?=a)", "enum": [], "maxLength": -1 }),
        8 => json!({ "additionalProperties": reference(maker), "readOnly": maker.below(2) == 0 }),
        9 => json!(maker.below(2) == 0),
        10 => {
            let odd = ["#/nowhere", "file.json", "#", "#/components/schemas/S0/items"][maker.below(4)];
            json!({ "$ref": odd })
        }
        _ => reference(maker),
    }
}

#[test]
fn promise_any_document_takes_work_that_grows_with_its_length_alone() {
    let soaks = std::env::var_os("TOOLROOM_SOAK").is_some();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(600);
    let (mut seed, mut tools) = (0, 0);
    while if soaks { std::time::Instant::now() < end } else { seed < 300 } {
        let mut maker = Maker::new(seed);
        let names = 1 + maker.below(60);
        let schemas = (0..names).map(|at| (format!("S{at}"), schema(&mut maker, names, 0))).collect();
        let roots: Vec<String> = (0..names.min(12)).map(|at| format!("S{at}")).collect();
        let document = document(schemas, &roots);
        let length = document.to_string().len();
        let (read, taken) = counted(|| read(&document, length, &Wish::default()));
        let most = FIXED + PER_BYTE * length as u64;
        assert!(taken <= most, "seed {seed}: {length} bytes took {taken} steps, at most {most}");
        tools += read.map_or(0, |read| read.tools.len());
        seed += 1;
    }
    assert!(tools > 100, "the documents must not all be refused: {tools}");
}

#[test]
fn promise_schemas_that_double_at_every_step_do_not() {
    // Each is made of the next, twice: written out, the first has 2^200 fields.
    let twice = |keyword: &str| {
        let one = |at: usize| {
            let next = json!({ "$ref": format!("#/components/schemas/S{}", at + 1) });
            let schema = match keyword {
                "properties" => json!({ "type": "object", "properties": { "a": next, "b": next } }),
                keyword => json!({ keyword: [next, next], "description": format!("{at}") }),
            };
            (format!("S{at}"), schema)
        };
        let mut schemas: Map<String, Value> = (0..200).map(one).collect();
        schemas.insert(
            "S200".to_owned(),
            json!({ "type": "object", "properties": { "x": { "type": "string" } } }),
        );
        document(schemas, &["S0".to_owned()])
    };
    for keyword in ["allOf", "anyOf", "oneOf", "properties"] {
        let document = twice(keyword);
        let length = document.to_string().len();
        let (read, taken) = counted(|| read(&document, length, &Wish::default()));
        assert!(taken < 400_000, "{keyword}: {taken} steps for {length} bytes");
        let read = read.unwrap();
        let size: usize =
            read.tools.iter().map(|tool| tool.parameters.as_ref().unwrap().to_string().len()).sum();
        assert!(size < 200_000, "{keyword}: {size} bytes");
    }
}

#[test]
fn promise_a_schema_larger_than_the_contract_takes_leaves_out_its_tool_and_no_other() {
    let fields = (0..4_000).map(|at| (format!("field{at}"), json!({ "description": "x".repeat(80) })));
    let mut schemas = Map::new();
    schemas.insert("Large".into(), json!({ "type": "object", "properties": fields.collect::<Map<_, _>>() }));
    schemas.insert(
        "Wrapped".into(),
        json!({ "type": "array", "items": { "$ref": "#/components/schemas/Large" } }),
    );
    schemas.insert("Small".into(), json!({ "type": "object", "properties": { "a": { "type": "string" } } }));
    let document = document(schemas, &["Wrapped".to_owned(), "Small".to_owned()]);
    let read = read(&document, document.to_string().len(), &Wish::default()).unwrap();
    assert_eq!(read.tools.len(), 1);
    assert!(read.refused[0].reason.contains("more than 256 KiB"), "{:?}", read.refused);
}
