//! What a `POST` holds: a request that stands alone, with its headers in order, or a frame of an older revision.
use std::sync::Arc;

use http::HeaderMap;
use toolroom_mcp::meta::RequestMeta;
use toolroom_mcp::{Client, Code, Frame, Id, Malformed, Message, Method, Params, Revision, RpcError, frame};

use super::{headers, mirrored};
use crate::app::App;
use crate::mcp::caller::Caller;
use crate::mcp::name_index::is_shown;

/// A request that stands alone, its envelope and headers in order.
pub(crate) struct Standalone<'a> {
    pub(crate) method: Method,
    pub(crate) id: Id,
    pub(crate) client: Client,
    pub(crate) meta: RequestMeta<'a>,
    pub(crate) fields: Params<'a>,
}

/// What a frame turned out to be.
pub(crate) enum Posted<'a> {
    Standalone(Box<Standalone<'a>>),
    /// Nothing is answered to a notification.
    Notification,
    /// Of a revision with a handshake.
    Legacy(Frame<'a>),
}

/// A body before it is read, and who sent it.
pub(crate) struct PostedMessage<'a> {
    pub(crate) app: &'a Arc<App>,
    pub(crate) caller: &'a Caller,
    pub(crate) headers: &'a HeaderMap,
}

impl PostedMessage<'_> {
    pub(crate) fn read<'b>(&self, body: &'b [u8]) -> Result<Posted<'b>, Malformed> {
        let frame = frame::read(body)?;
        let declared =
            headers::protocol_version(self.headers).map_err(|error| Malformed { id: None, error })?;
        let modern_header =
            declared.is_some_and(|text| Revision::parse(text).is_none_or(Revision::is_stateless));
        match frame {
            Frame::One(Message::Request { id, method, params }) => {
                let meta = match params.meta() {
                    Ok(meta) => meta.unwrap_or_default(),
                    Err(error) => return Err(Malformed { id: Some(id), error: error.of_the_envelope() }),
                };
                if !meta.is_modern() && !modern_header {
                    return Ok(Posted::Legacy(Frame::One(Message::Request { id, method, params })));
                }
                match self.standalone(&method, meta, &params, declared) {
                    Ok((method, client, meta)) => {
                        let fields = params;
                        Ok(Posted::Standalone(Box::new(Standalone { method, id, client, meta, fields })))
                    }
                    Err(error) => Err(Malformed { id: Some(id), error }),
                }
            }
            Frame::One(Message::Notification { .. }) if modern_header => Ok(Posted::Notification),
            Frame::One(Message::Response { .. }) | Frame::Batch(_) if modern_header => {
                let error =
                    RpcError::new(Code::InvalidRequest, "Send one request or notification at a time.");
                Err(Malformed { id: None, error })
            }
            frame => Ok(Posted::Legacy(frame)),
        }
    }

    /// The checks of a request that stands alone, in the order in which their errors are told.
    fn standalone<'b>(
        &self,
        method: &str,
        mut meta: RequestMeta<'b>,
        fields: &Params<'_>,
        declared: Option<&str>,
    ) -> Result<(Method, Client, RequestMeta<'b>), RpcError> {
        headers::agree("MCP-Protocol-Version", declared, meta.version()?)?;
        let client = meta.client()?;
        headers::check_method(self.headers, method)?;
        let method = Method::find(method, client.revision).ok_or_else(RpcError::method_not_found)?;
        headers::check_name(self.headers, method, fields)?;
        self.check_mirrored(method, fields)?;
        Ok((method, client, meta))
    }

    fn check_mirrored(&self, method: Method, fields: &Params<'_>) -> Result<(), RpcError> {
        if method != Method::ToolsCall {
            return Ok(());
        }
        let snapshot = self.app.runtime.registry.snapshot();
        let index = self.app.mcp.indexes.of(&snapshot);
        match index.profile(&self.caller.profile) {
            Some(profile) if !profile.mirrored.is_empty() => {
                // A tool that the caller may not use must not be given away by its headers.
                let usable = |name: &str| is_shown(self.app, &snapshot, self.caller, name);
                mirrored::check(profile, self.headers, fields, usable)
            }
            _ => Ok(()),
        }
    }
}

impl Standalone<'_> {
    /// Whether something may have to be said before the answer.
    pub(crate) fn streams(&self) -> bool {
        self.method.always_streams() || self.meta.progress_token.is_some() || self.client.log_level.is_some()
    }
}
