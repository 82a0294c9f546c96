//! The registry's own tools: find a tool, read its contract, call it, ask how the service is.

pub(crate) mod call_tool;
mod describe_tool;
mod get_status;
pub(crate) mod search_tools;

use std::sync::{Arc, OnceLock, Weak};

use toolroom_contract::ToolError;

use crate::Runtime;
use crate::catalogue::NewTool;

/// A way back to the runtime, for tools that are part of it. Filled once the runtime stands.
#[derive(Clone, Default)]
pub(crate) struct Handle(Arc<OnceLock<Weak<Runtime>>>);

impl Handle {
    pub(crate) fn fill(&self, runtime: &Arc<Runtime>) {
        // A handle belongs to one runtime, which fills it once.
        let _ = self.0.set(Arc::downgrade(runtime));
    }

    fn runtime(&self) -> Result<Arc<Runtime>, ToolError> {
        self.0.get().and_then(Weak::upgrade).ok_or_else(|| ToolError::internal("the runtime has stopped"))
    }
}

pub(crate) fn all(handle: &Handle) -> Vec<NewTool> {
    vec![
        search_tools::tool(handle.clone()),
        describe_tool::tool(handle.clone()),
        call_tool::tool(),
        get_status::tool(handle.clone()),
    ]
}
