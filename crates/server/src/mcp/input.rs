//! What a tool asks of the client. Stateless clients are told so by the result, and make the request again with
//! their answers; older ones are sent requests, and the call goes on when they have answered.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::try_join_all;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolroom_contract::ClientRequest;
use toolroom_mcp::content::INPUT_REQUIRED;
use toolroom_mcp::frame::refused;
use toolroom_mcp::{Capabilities, Client, Params, RpcError};

use super::peer::{AskError, Peer};
use super::result;

/// How long a client may take over one request of ours.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// How often one request of an older client may ask it for more.
pub(crate) const MOST_ROUNDS: usize = 10;

/// The parameters of a method whose answer may depend on what the client is asked.
pub(crate) struct CallParams {
    pub(crate) name: String,
    pub(crate) arguments: Option<Map<String, Value>>,
    /// A client's answers to what an earlier try asked.
    pub(crate) input_responses: Option<Map<String, Value>>,
    pub(crate) request_state: Option<String>,
}

impl CallParams {
    pub(crate) fn of(fields: &Params<'_>) -> Result<Self, RpcError> {
        Ok(Self {
            name: read(fields.name)?.ok_or_else(|| RpcError::invalid_params("'name' is missing."))?,
            arguments: read(fields.arguments)?,
            input_responses: read(fields.input_responses)?,
            request_state: read(fields.request_state)?,
        })
    }
}

fn read<T: DeserializeOwned>(text: Option<&str>) -> Result<Option<T>, RpcError> {
    text.map(serde_json::from_str).transpose().map_err(refused)
}

/// Requests to the client, by key.
pub(crate) type Requests = BTreeMap<String, ClientRequest>;

/// Nothing may be asked that the client did not declare.
pub(crate) fn check_capabilities(capabilities: &Capabilities, requests: &Requests) -> Result<(), RpcError> {
    let mut missing = Map::new();
    for request in requests.values() {
        if let Some(Value::Object(lacks)) = capabilities.missing_for(&request.method, &request.params) {
            missing.extend(lacks);
            if missing.is_empty() {
                return Err(RpcError::missing_capability(
                    &json!({ "experimental": { &request.method: {} } }),
                ));
            }
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(RpcError::missing_capability(&Value::Object(missing))) }
}

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
    let mut out = Vec::with_capacity(512);
    result::open(&mut out, client.revision, INPUT_REQUIRED, |_| {});
    result::append(&mut out, &Body { input_requests, request_state: state });
    out
}

/// Asks an older client, everything at once.
pub(crate) async fn ask(peer: &Peer, requests: &Requests) -> Result<Map<String, Value>, AskError> {
    let asked = requests.iter().map(|(key, request)| async move {
        let answer = ask_one(peer, &request.method, &request.params).await?;
        Ok::<_, AskError>((key.clone(), answer))
    });
    Ok(try_join_all(asked).await?.into_iter().collect())
}

/// Asks an older client one thing.
pub(crate) async fn ask_one(peer: &Peer, method: &str, params: &Value) -> Result<Value, AskError> {
    tokio::time::timeout(PATIENCE, peer.ask(method, params)).await.map_err(|_| AskError::Late)?
}
