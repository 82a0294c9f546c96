//! From what clients send to typed requests. [`toolroom_mcp::frame`] reads the frames; here they meet who sent them.
//!
//! | file | what is there |
//! | --- | --- |
//! | `posted` | the body of a `POST`: a request that stands alone, or a frame of an older revision |
//! | `headers`, `mirrored` | the headers that repeat the body, and must agree with it |
//! | `request` | one request as a method sees it, and how it becomes the context of a call |
//! | `call_params` | the parameters of `tools/call` and `prompts/get` |

pub(super) mod call_params;
pub(super) mod headers;
mod mirrored;
pub(super) mod posted;
pub(super) mod request;
