//! From what the runtime answers to what clients read.
//!
//! | file | what is there |
//! | --- | --- |
//! | `result` | results as each revision frames them |
//! | `tool_result` | the reply of a tool as content, structured content and `_meta` |
//! | `tool_list` | tools as clients are shown them, rendered once per catalogue, profile and grants |
//! | `input_required` | the result that asks a stateless client for something |
//! | `introduction` | what we say of ourselves |

pub(super) mod input_required;
pub(super) mod introduction;
pub(super) mod result;
pub(super) mod tool_list;
pub(super) mod tool_result;
