//! One request as a method sees it: who asks, what their client can do, and the way back to it.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use toolroom_contract::context::ContextFields;
use toolroom_mcp::frame::refused;
use toolroom_mcp::meta::RequestMeta;
use toolroom_mcp::{Client, Id, Params, RpcError};

use crate::app::App;
use crate::mcp::caller::{Caller, Visitor};
use crate::mcp::peer::Peer;
use crate::middleware::trace;

/// A request that is ready for its method.
pub(crate) struct Request<'a> {
    pub(crate) app: &'a Arc<App>,
    pub(crate) id: &'a Id,
    pub(crate) caller: &'a Caller,
    pub(crate) client: &'a Client,
    pub(crate) meta: &'a RequestMeta<'a>,
    /// The parameters.
    pub(crate) fields: Params<'a>,
    /// The way back to the client while the request is worked on.
    pub(crate) peer: &'a Peer,
}

impl Request<'_> {
    /// The parameters as the method knows them.
    pub(crate) fn params<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        serde_json::from_str(self.fields.text.unwrap_or("{}")).map_err(refused)
    }

    /// Who looks at resources and prompts.
    pub(crate) fn visitor(&self) -> Visitor<'_> {
        self.caller.visitor(self.app)
    }

    /// What goes into the context of a call.
    pub(crate) fn context(&self) -> ContextFields {
        let info = self.meta.client_info.as_ref().or(self.client.info.as_ref());
        let trace = self.meta.traceparent.as_ref().and_then(|text| trace::from_traceparent(&text.0));
        ContextFields {
            // Whether the caller may is decided where the call is checked.
            user_id: self.meta.user.clone(),
            session_id: self.caller.session.as_deref().map(str::to_owned),
            trace_id: Some(trace.unwrap_or(self.caller.trace)),
            agent_id: info.map(|info| info.name.clone()),
            agent_version: info.map(|info| info.version.clone()),
            idempotency_key: self.meta.idempotency_key.clone(),
            approval_id: self.meta.approval_id,
            dry_run: self.meta.dry_run || self.caller.dry_run,
            ..ContextFields::default()
        }
    }
}
