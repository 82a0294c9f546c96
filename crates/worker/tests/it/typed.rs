//! Typed Python functions: called by their hints, with content, refusals and questions.

use std::pin::Pin;
use std::sync::Mutex;

use serde_json::{Value, json};
use toolroom_worker::{Asked, BadValue, Block, Media, Openings, Refusal, ScriptError, Sink};

use crate::test_folder::TestFolder;

const SHOP: &str = include_str!("../../../../tests/python/authoring/shop.py");

fn shop() -> TestFolder {
    let folder = TestFolder::authoring();
    folder.write("shop.py", SHOP);
    folder
}

#[tokio::test]
async fn a_typed_function_takes_converted_values_and_gives_plain_ones() {
    let folder = shop();
    let price = folder.function("shop.py", "get_price");
    assert_eq!(folder.data(&price, json!({"item": "tea", "size": "large"})).await, json!(7.0));
    let quote = folder.function("shop.py", "quote");
    let answer = folder.data(&quote, json!({"item": "tea", "when": "2026-01-02T03:04:05+01:00"})).await;
    assert_eq!(answer, json!({"amount": 3.5, "size": "small", "at": "2026-01-02T02:04:05+00:00"}));
}

#[tokio::test]
async fn a_refusal_and_a_bad_value_are_told_apart_from_a_failure_and_keep_the_worker() {
    let folder = shop();
    let price = folder.function("shop.py", "get_price");
    let refused = folder.call(&price, json!({"item": "rum"})).await.unwrap_err();
    let ScriptError::Refused(Refusal { code, message, data, retry_after, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((code.as_str(), message.as_str()), ("not_found", "No item 'rum'"));
    assert_eq!((data, retry_after), (Some(json!({"known": ["coffee", "tea"]})), Some(1500)));
    let bad = folder.call(&price, json!({"item": "tea", "size": "huge"})).await.unwrap_err();
    let ScriptError::Invalid(values) = bad else { panic!("{bad:?}") };
    assert!(matches!(&values[..], [BadValue { pointer, .. }] if pointer == "/size"), "{values:?}");
    assert_eq!(folder.scripts.stats()[0].idle, 1);
}

#[tokio::test]
async fn content_comes_in_the_frame_or_as_a_file_that_is_then_gone() {
    for boxed in [false, true] {
        let folder = shop();
        let mut draw = folder.function("shop.py", "draw");
        draw.sandbox = boxed.then(|| openings(&folder));
        let both = folder.call(&draw, json!({"kind": "both"})).await.unwrap();
        assert_eq!((both.data, both.hints), (json!({"drawn": 1}), Some(json!({"reasoning": "asked"}))));
        let csv = Block::Media {
            kind: Media::File,
            mime_type: "text/csv".to_owned(),
            name: Some("t.csv".to_owned()),
            data: "YSxi".to_owned(),
        };
        assert_eq!(both.content[1], csv);
        let large = folder.call(&draw, json!({"kind": "large"})).await.unwrap();
        let [Block::Media { kind: Media::Image, data, .. }] = &large.content[..] else { panic!("{large:?}") };
        assert_eq!(data.len(), 100_004usize.div_ceil(3) * 4);
        if !boxed {
            assert_eq!(std::fs::read_dir(folder.path().join("work")).unwrap().count(), 0);
        }
    }
}

#[tokio::test]
async fn a_file_that_is_a_link_or_has_a_name_of_its_own_is_not_brought_back() {
    let folder = TestFolder::authoring();
    let name = format!("toolroom-{}", "a".repeat(24));
    for (made, named) in
        [(format!("os.symlink('/etc/passwd', '{name}')"), name.as_str()), ("0".to_owned(), "../x")]
    {
        let text = format!(
            "import os\nfrom toolroom import tool, Image\nclass Bad(Image):\n    def block(self):\n        {made}\n        \
             return {{'type': 'image', 'mimeType': 'image/png', 'file': '{named}'}}\n@tool\ndef draw():\n    \
             \"\"\"Draws.\"\"\"\n    return Bad(b'x')\n"
        );
        folder.write("bad.py", &text);
        let error = folder.call(&folder.function("bad.py", "draw"), json!({})).await.unwrap_err();
        assert!(matches!(error, ScriptError::BadOutput { .. }), "{error:?}");
    }
}

const NESTS: &str = "def run(params, context):\n    made = []\n    for _ in range(params['depth'] - 1):\n        \
                     made = [made]\n    return made\n";

#[tokio::test]
async fn an_answer_that_is_nested_too_deep_or_not_exact_says_so_and_keeps_the_worker() {
    let folder = TestFolder::authoring();
    let nests = folder.python("nests", NESTS);
    folder.data(&nests, json!({"depth": 125})).await;
    folder.write(
        "nests.ts",
        "import { defineTool } from 'toolroom';\nexport default defineTool({ name: 'nests-too', description: 'Nests.', \
         handler: ({ depth }) => { let made = []; while (--depth) made = [made]; return made; } });\n",
    );
    let node = folder.node("nests.ts", "nests-too");
    folder.data(&node, json!({"depth": 125})).await;
    for spec in [&nests, &node] {
        let error = folder.call(spec, json!({"depth": 126})).await.unwrap_err();
        let ScriptError::BadOutput { reason: Some(reason), .. } = error else { panic!("{error:?}") };
        assert_eq!(reason, "it is nested deeper than 125 levels");
    }
    let large = folder.python("large", "def run(params, context):\n    return {'n': [123**20]}\n");
    let error = folder.call(&large, json!({})).await.unwrap_err();
    let ScriptError::BadOutput { reason: Some(reason), .. } = error else { panic!("{error:?}") };
    assert!(reason.contains("at /n/0"), "{reason}");
    assert_eq!(folder.scripts.stats().iter().map(|pool| pool.idle).sum::<usize>(), 3);
}

#[derive(Default)]
struct Person(Mutex<Vec<Asked>>);

impl Sink for Person {
    fn ask(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Option<Value>> + Send + '_>> {
        self.0.lock().unwrap().push(asked);
        Box::pin(async {
            tokio::task::yield_now().await;
            Some(json!("water"))
        })
    }
}

#[tokio::test]
async fn a_question_is_answered_in_the_middle_of_the_call() {
    let folder = shop();
    let choose = folder.function("shop.py", "choose");
    let person = Person::default();
    let params = json!({"drinks": ["tea", "water"]});
    let answer = folder.scripts.call(&choose, &params, &json!({}), &person).await.unwrap();
    assert_eq!(answer.data, json!("water"));
    let asked = person.0.lock().unwrap()[0].clone();
    assert_eq!(asked.choices.as_deref(), Some(&["tea".to_owned(), "water".to_owned()][..]));
    assert_eq!(folder.data(&choose, json!({})).await, json!("none"), "nobody to ask");
}

pub fn openings(folder: &TestFolder) -> Openings {
    Openings {
        home: folder.path().join("home"),
        read: Vec::new(),
        write: Vec::new(),
        host_network: false,
        memory: Openings::MEMORY,
        disk: Openings::DISK,
        is_resolved: false,
    }
}
