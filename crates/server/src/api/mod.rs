//! The REST API, a file per resource. Handlers turn wire forms into calls on the runtime, and nothing more.

pub(crate) mod approval_view;
pub(crate) mod approvals;
pub(crate) mod call;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod conversations;
pub(crate) mod drafts;
pub(crate) mod events;
pub(crate) mod executions;
pub(crate) mod health;
pub(crate) mod home;
pub(crate) mod imports;
pub(crate) mod keys;
pub(crate) mod login;
pub(crate) mod login_callback;
pub(crate) mod me;
pub(crate) mod pages;
pub(crate) mod profile_settings;
pub(crate) mod profiles;
pub(crate) mod registration;
pub(crate) mod registry;
pub(crate) mod scripts;
pub(crate) mod sealed_cursor;
pub(crate) mod secrets;
pub(crate) mod servers;
pub(crate) mod standing;
pub(crate) mod stats;
pub(crate) mod tool_views;
pub(crate) mod tools;
pub(crate) mod validate;
pub(crate) mod wait;

use std::sync::Arc;

use axum::Extension;
use toolroom_contract::Principal;

/// Who calls, as the auth layer found out.
pub(crate) type Caller = Extension<Arc<Principal>>;
