//! The result that asks a stateless client for something.
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use toolroom_mcp::Client;
use toolroom_mcp::content::INPUT_REQUIRED;

use super::result::{self, Nothing};
use crate::mcp::input::Requests;

/// The result that asks a stateless client.
pub(crate) fn required(client: &Client, requests: &Requests, state: Option<String>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Wire<'a> {
        method: &'a str,
        params: &'a Value,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Body<'a> {
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        input_requests: BTreeMap<&'a str, Wire<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        request_state: Option<String>,
    }
    let input_requests = requests
        .iter()
        .map(|(key, request)| (key.as_str(), Wire { method: &request.method, params: &request.params }))
        .collect();
    let body = Body { input_requests, request_state: state };
    result::write(client.revision, INPUT_REQUIRED, &Nothing {}, &body)
}
