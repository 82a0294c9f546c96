//! Messages of servers, read leniently: one that is odd hides nothing of the others.

use serde_json::value::RawValue;

use super::envelope::Envelope;
use super::{Message, Params, Text, peer_error};
use crate::{Id, RpcError};

/// How many messages one batch may hold.
const MOST_IN_BATCH: usize = 1000;

/// Takes a text apart; `None` if it is not JSON-RPC. A batch, which one revision had, is several messages.
pub fn read_leniently(bytes: &[u8], mut take: impl FnMut(Message<'_>)) -> Option<()> {
    let text = std::str::from_utf8(bytes).ok()?;
    if text.trim_start().starts_with('[') {
        let batch: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        batch.into_iter().take(MOST_IN_BATCH).filter_map(|one| message(one.get())).for_each(take);
    } else {
        take(message(text)?);
    }
    Some(())
}

fn message(text: &str) -> Option<Message<'_>> {
    let envelope = Envelope::read(text)?;
    let id = envelope.id.map(serde_json::from_str::<Id>);
    let given = |piece: Option<&'_ str>| piece.is_some_and(|piece| piece != "null");
    if given(envelope.method) {
        let Text(method) = serde_json::from_str(envelope.method?).ok()?;
        let params = envelope.params.filter(|params| *params != "null");
        return match id {
            Some(id) => Some(Message::Request { id: id.ok()?, method, params: Params::read(params) }),
            None => Some(Message::Notification { method, params }),
        };
    }
    if given(envelope.error) {
        let (error, id) = (envelope.error?, id.and_then(Result::ok));
        // Without an id of ours, what is not an error of JSON-RPC is a page of another kind.
        let known = id.is_some() || serde_json::from_str::<RpcError>(error).is_ok();
        return known.then(|| Message::Response { id, outcome: Err(peer_error(error)) });
    }
    // A result of `null` is a result.
    Some(Message::Response { id: id?.ok(), outcome: Ok(envelope.result?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(id: Option<Id>) -> String {
        format!("{:?}", id.as_ref().and_then(Id::number))
    }

    fn seen(text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        let parsed = read_leniently(text.as_bytes(), |message| {
            seen.push(match message {
                Message::Response { id, outcome: Ok(result) } => format!("result {} {result}", number(id)),
                Message::Response { id, outcome: Err(error) } => {
                    format!("error {} {}", number(id), error.code.number())
                }
                Message::Request { id, method, .. } => format!("request {id:?} {method}"),
                Message::Notification { method, .. } => format!("notification {method}"),
            });
        });
        if parsed.is_none() {
            seen.push("garbage".into());
        }
        seen
    }

    #[test]
    fn each_kind_of_message_is_told_apart() {
        assert_eq!(seen(r#"{"jsonrpc":"2.0","id":7,"result":{"a" : 1}}"#), [r#"result Some(7) {"a" : 1}"#]);
        assert_eq!(seen(r#"{"result":null,"id":7}"#), ["result Some(7) null"]);
        assert_eq!(seen(r#"{"id":"7","result":1}"#), ["result None 1"]);
        assert_eq!(seen(r#"{"id":null,"error":{"code":-32700,"message":"x"}}"#), ["error None -32700"]);
        assert_eq!(seen(r#"{"error":{"code":1}}"#), ["error None 1"]);
        assert_eq!(seen(r#"{"id":4,"error":"odd"}"#), ["error Some(4) -32603"]);
        assert_eq!(seen(r#"{"error":"a page of another kind"}"#), ["garbage"]);
        assert_eq!(seen(r#"{"id":4,"result":{},"error":null}"#), ["result Some(4) {}"]);
        assert_eq!(seen(r#"{"id":"a","method":"ping"}"#), [r#"request Text("a") ping"#]);
        assert_eq!(seen(r#"{"method":"notifications/x","params":{}}"#), ["notification notifications/x"]);
        assert_eq!(
            seen(r#" [{"method":"a"},7,{"id":1,"result":2}]"#),
            ["notification a", "result Some(1) 2"]
        );
        for garbage in ["", "hello", "{", "{}", "7", r#"{"id":1}"#, "[1", "\u{feff}{}"] {
            let seen = seen(garbage);
            assert!(seen == ["garbage"], "{garbage}: {seen:?}");
        }
    }
}
