//! `request-human-input`, as far as the handler goes; the way through the pipeline is tested in the runtime.

use serde_json::json;
use toolroom_contract::handler::Question;
use toolroom_contract::{Ending, ErrorCode};

use super::test_tools::TestTools;

#[tokio::test]
async fn without_an_answer_it_asks_and_with_one_it_gives_it_back() {
    let mut tools = TestTools::new(None);
    let params = json!({ "question": "Which colour?", "choices": ["red", "blue"], "timeout": 60 });
    let Ending::NeedsInput(question) = tools.end("request-human-input", params.clone()).await else {
        panic!("it asks nobody")
    };
    let expected = Question {
        text: "Which colour?".into(),
        choices: vec!["red".into(), "blue".into()],
        schema: None,
        timeout: 60.0,
    };
    assert_eq!(question, expected);
    assert!(tools.tools["request-human-input"].1.asks());
    tools.context.answer = Some(json!("blue"));
    assert_eq!(
        tools.call("request-human-input", params).await.data,
        json!({ "answer": "blue", "choice": 1 })
    );
    let free = json!({ "question": "Which colour?" });
    tools.context.answer = Some(json!("a sort of teal"));
    assert_eq!(
        tools.call("request-human-input", free.clone()).await.data,
        json!({ "answer": "a sort of teal" })
    );
    tools.context.answer = Some(json!(7));
    assert_eq!(tools.call("request-human-input", free).await.data, json!({ "answer": "7" }));
}

#[tokio::test]
async fn bad_questions_are_refused() {
    let tools = TestTools::new(None);
    for bad in [
        json!({}),
        json!({ "question": "" }),
        json!({ "question": "Which?", "choices": ["a", "a"] }),
        json!({ "question": "Which?", "choices": [" "] }),
        json!({ "question": "Which?", "timeout": 0 }),
        json!({ "question": "Which?", "timeout": 1_000_000 }),
    ] {
        assert_eq!(tools.refused("request-human-input", bad).await.code, ErrorCode::InvalidInput);
    }
}
