use serde_json::{Value, json};

use super::Session;

fn say(session: &mut Session, message: Value) -> Value {
    let line = session.from_client(message.to_string().into()).expect("passed on");
    serde_json::from_slice(&line).unwrap()
}

fn hear(session: &mut Session, message: Value) -> bool {
    session.from_engine(message.to_string().as_bytes())
}

fn values(lines: &[Vec<u8>]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn call(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "t", "arguments": {} } })
}

#[test]
fn a_call_without_an_answer_is_made_again_with_the_same_key() {
    let mut session = Session::default();
    let first = say(&mut session, call(1));
    let key = &first["params"]["_meta"]["dev.toolroom/idempotencyKey"];
    assert!(key.as_str().is_some_and(|key| key.starts_with("front-")), "{first}");
    say(&mut session, call(2));
    assert!(hear(&mut session, json!({ "jsonrpc": "2.0", "id": 2, "result": {} })));
    assert_eq!(values(&session.resume().to_engine), [first]);
}

#[test]
fn a_key_stands_where_it_belongs_and_every_other_byte_stays() {
    let mut session = Session::default();
    for (line, expected) in [
        (
            r#"{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"n":1e400,"m":-0,"s":"\u0061"}}}"#,
            r#"{"id":1,"method":"tools/call","params":{"_meta":{KEY},"name":"t","arguments":{"n":1e400,"m":-0,"s":"\u0061"}}}"#,
        ),
        (
            r#"{"id":2,"method":"tools/call","params":{"name":"t","_meta":{ "progressToken":7}} }"#,
            r#"{"id":2,"method":"tools/call","params":{"name":"t","_meta":{KEY, "progressToken":7}} }"#,
        ),
        (
            r#"{"id":3,"method":"tools/call","params":{}}"#,
            r#"{"id":3,"method":"tools/call","params":{"_meta":{KEY}}}"#,
        ),
        (
            r#"{"id":4,"method":"tools/call","params":{"_meta":{"dev.toolroom/idempotencyKey":"mine"}}}"#,
            r#"{"id":4,"method":"tools/call","params":{"_meta":{"dev.toolroom/idempotencyKey":"mine"}}}"#,
        ),
        (
            r#"{"id":7,"method":"tools/call","params":{"name":"t","_meta":null}}"#,
            r#"{"id":7,"method":"tools/call","params":{"name":"t","_meta":null}}"#,
        ),
        (r#"{"id":5,"method":"tools/call","params":[1]}"#, r#"{"id":5,"method":"tools/call","params":[1]}"#),
        (r#"{"id":6,"method":"tools/list"}"#, r#"{"id":6,"method":"tools/list"}"#),
        ("{ no JSON", "{ no JSON"),
    ] {
        let sent = String::from_utf8(session.from_client(line.into()).unwrap()).unwrap();
        let begins = "\"dev.toolroom/idempotencyKey\":\"front-";
        let sent = match sent.find(begins) {
            Some(at) => {
                let key_ends = at + begins.len() + 36 + 1;
                format!("{}KEY{}", &sent[..at], &sent[key_ends..])
            }
            None => sent,
        };
        assert_eq!(sent, expected);
    }
}

#[test]
fn a_session_is_set_up_again_before_anything_else_is_said() {
    let mut session = Session::default();
    let setup =
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "capabilities": {} } });
    say(&mut session, setup);
    assert!(hear(&mut session, json!({ "jsonrpc": "2.0", "id": 0, "result": {} })));
    say(&mut session, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    for (id, method, uri) in
        [(1, "resources/subscribe", "a"), (2, "resources/subscribe", "b"), (3, "resources/unsubscribe", "a")]
    {
        say(&mut session, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "uri": uri } }));
        hear(&mut session, json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    }
    // A client that uses an id again.
    say(&mut session, json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/list" }));
    let told = session.resume();
    let (id, line) = told.initialize.unwrap();
    let greeting: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!((greeting["method"].as_str(), &greeting["id"]), (Some("initialize"), &id));
    let said = values(&told.to_engine);
    let methods: Vec<&str> = said.iter().map(|one| one["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["notifications/initialized", "resources/subscribe", "tools/list"]);
    assert_eq!((&said[1]["params"]["uri"], &said[2]["id"]), (&json!("b"), &json!(0)));
    let own = said[1]["id"].clone();
    assert!(
        !hear(&mut session, json!({ "jsonrpc": "2.0", "id": own, "result": {} })),
        "the client never asked that"
    );
    assert_eq!(values(&told.to_client)[0]["method"], "notifications/tools/list_changed");
}

#[test]
fn questions_of_an_engine_that_is_gone_are_withdrawn_and_answers_to_them_dropped() {
    let mut session = Session::default();
    assert!(hear(&mut session, json!({ "jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage" })));
    let withdrawn = values(&session.resume().to_client);
    assert_eq!(withdrawn[0]["params"]["requestId"], 9);
    assert_eq!(session.from_client(br#"{"jsonrpc":"2.0","id":9,"result":{}}"#.to_vec()), None);
}

#[test]
fn what_ends_every_engine_or_was_called_in_a_batch_is_answered_instead_of_repeated() {
    let mut session = Session::default();
    say(&mut session, call(1));
    session.from_client(json!([call(2), call(3)]).to_string().into());
    let lost = values(&session.resume().to_client);
    assert_eq!([&lost[0]["id"], &lost[1]["id"]], [2, 3]);
    let bare = br#"{"id":8,"method":"tools/call","params":{"name":"t","_meta":null}}"#.to_vec();
    session.from_client(bare);
    assert_eq!(values(&session.resume().to_client)[0]["id"], 8, "a call that could not be given a key");
    assert!(lost[0]["error"]["message"].as_str().unwrap().contains("may have taken effect"));
    let tries = (0..10).take_while(|_| !session.resume().to_engine.is_empty()).count();
    assert_eq!(tries, 1, "three engines in all");
    say(&mut session, call(4));
    say(
        &mut session,
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 4 } }),
    );
    assert!(session.resume().to_engine.is_empty() && session.give_up("Why.").is_empty());
}

#[test]
fn an_id_that_looks_like_one_of_ours_is_the_clients_all_the_same() {
    let mut session = Session::default();
    let setup = json!({ "jsonrpc": "2.0", "id": "toolroom-front-1", "method": "initialize", "params": {} });
    say(&mut session, setup);
    assert!(hear(&mut session, json!({ "jsonrpc": "2.0", "id": "toolroom-front-1", "result": {} })));
    let own = session.resume().initialize.unwrap().0;
    say(&mut session, json!({ "jsonrpc": "2.0", "id": "toolroom-front-2", "method": "tools/list" }));
    assert!(hear(&mut session, json!({ "jsonrpc": "2.0", "id": "toolroom-front-2", "result": {} })));
    assert!(!hear(&mut session, json!({ "jsonrpc": "2.0", "id": own, "result": {} })));
    assert!(session.resume().to_engine.is_empty());
}

#[test]
fn of_two_requests_with_one_id_the_one_that_is_left_is_answered_and_not_guessed() {
    let mut session = Session::default();
    say(&mut session, call(1));
    say(&mut session, call(1));
    let again = session.resume();
    assert_eq!(again.to_engine.len(), 2, "neither has an answer: both are made again, under their own keys");
    assert!(hear(&mut session, json!({ "jsonrpc": "2.0", "id": 1, "result": {} })));
    let told = session.resume();
    assert!(told.to_engine.is_empty(), "which of the two was answered is not known");
    let told = values(&told.to_client);
    assert_eq!((told.len(), &told[0]["id"]), (1, &json!(1)));
    assert!(told[0]["error"]["message"].as_str().unwrap().contains("in use twice"), "{told:?}");
}

#[test]
fn what_was_cancelled_in_a_batch_or_by_one_is_not_asked_again() {
    let list = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
    let cancel = |id: u64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    let mut session = Session::default();
    say(&mut session, call(1));
    session.from_client(json!([cancel(1), list(2), list(3), list(4)]).to_string().into());
    say(&mut session, cancel(3));
    assert!(hear(&mut session, json!([{ "jsonrpc": "2.0", "id": 4, "result": {} }])));
    assert_eq!(values(&session.resume().to_engine), [json!([list(2)])]);
    let level =
        json!({ "jsonrpc": "2.0", "id": 5, "method": "logging/setLevel", "params": { "level": "debug" } });
    let setup = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} });
    say(&mut session, setup);
    hear(&mut session, json!({ "jsonrpc": "2.0", "id": 0, "result": {} }));
    session.from_client(json!([level]).to_string().into());
    hear(&mut session, json!([{ "jsonrpc": "2.0", "id": 5, "result": {} }]));
    let said = values(&session.resume().to_engine);
    assert_eq!(said[0]["method"], "logging/setLevel", "what a batch sets up counts too");
}

#[test]
fn what_was_refused_without_an_id_waits_for_nothing_and_is_not_said_again() {
    let refusal = || json!({ "jsonrpc": "2.0", "error": { "code": -32600, "message": "no" } });
    let mut session = Session::default();
    for odd in [json!({ "a": 1 }), json!(9.5), json!(true)] {
        say(&mut session, json!({ "jsonrpc": "2.0", "id": odd, "method": "ping" }));
        assert!(!session.is_waiting(), "{odd}");
    }
    say(&mut session, json!([{ "jsonrpc": "2.0", "id": 7, "method": "ping" }]));
    // Three answers are for the three above; the fourth is for the batch.
    for waits in [true, true, true, false] {
        assert!(hear(&mut session, refusal()));
        assert_eq!(session.is_waiting(), waits);
    }
    assert!(session.resume().to_engine.is_empty());
}
