//! What a tool can ask of the program that called it, and what that program answered: input from the client.
//!
//! Such a question keeps nothing alive. The call ends with [`Ending::NeedsClient`](crate::Ending::NeedsClient);
//! the client makes it again with its answers, and it goes through every step again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

/// What a tool needs from the client before it can continue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientInput {
    /// What is asked, under keys of the tool's own. Empty only with a state.
    pub requests: BTreeMap<String, ClientRequest>,
    /// What the tool wants back with the answers. The edge protects it from changes.
    pub state: Option<String>,
}

/// One request to the client.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientRequest {
    /// By the client protocol's own name, such as `elicitation/create`.
    pub method: String,
    /// The parameters.
    pub params: Value,
}

/// The client, as a tool sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientSide {
    /// What it declared that it can be asked for.
    pub capabilities: Arc<Map<String, Value>>,
    /// Its answers, under the keys of the requests. Made by the client: to be checked like any input.
    pub responses: Map<String, Value>,
    /// The state that came with the requests.
    pub state: Option<String>,
}
