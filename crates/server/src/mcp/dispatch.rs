//! Every method, and the file that answers it.

use toolroom_mcp::{Method, RpcError};

use super::methods::{complete, discover, listen, ping, prompts, resources, tasks, tools_call, tools_list};
use super::read::request::Request;

/// Answers a request: the text of its result, or an error.
pub(crate) async fn dispatch(method: Method, request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    match method {
        Method::Complete => complete::answer(request).await,
        Method::Discover => discover::answer(request),
        Method::Listen => listen::answer(request).await,
        Method::Ping => ping::answer(request),
        Method::PromptsGet => prompts::get(request).await,
        Method::PromptsList => prompts::list(request).await,
        Method::ResourcesList => resources::list(request).await,
        Method::ResourcesRead => resources::read(request).await,
        Method::ResourceTemplates => resources::templates(request),
        Method::TasksCancel => tasks::cancel(request).await,
        Method::TasksGet => tasks::get(request).await,
        Method::TasksUpdate => tasks::update(request).await,
        Method::ToolsCall => tools_call::answer(request).await,
        Method::ToolsList => tools_list::answer(request),
        // Answered by the session itself, where there is one.
        Method::Initialize
        | Method::ResourcesSubscribe
        | Method::ResourcesUnsubscribe
        | Method::SetLogLevel => Err(RpcError::method_not_found()),
    }
}
