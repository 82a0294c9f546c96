//! What a tool asks of the client. Stateless clients are told so by the result, and make the request again with
//! their answers; older ones are sent requests, and the call goes on when they have answered.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::try_join_all;
use serde_json::{Map, Value, json};
use toolroom_contract::ClientRequest;
use toolroom_mcp::{Capabilities, RpcError};

use super::peer::{AskError, Peer};

/// How long a client may take over one request of ours.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// How often one request of an older client may ask it for more.
pub(crate) const MOST_ROUNDS: usize = 10;

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
