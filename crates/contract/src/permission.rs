//! Permissions that tools require, and grants that principals have.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a tool requires: `resource:action`, both named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^[A-Za-z0-9._-]+:[A-Za-z0-9._-]+$"))]
pub struct Permission {
    text: Box<str>,
    colon: usize,
}

impl Permission {
    /// The resource half: what a mutation changes and a cached query depends on.
    pub fn resource(&self) -> &str {
        &self.text[..self.colon]
    }

    /// The action half.
    pub fn action(&self) -> &str {
        &self.text[self.colon + 1..]
    }

    /// Both halves, as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// What a principal has: `resource:action`, `resource:*`, `*:action` or `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Grant {
    /// `*`: everything.
    All,
    /// Either half may be `None`, which stands for `*`.
    Part {
        /// The resource, or any.
        resource: Option<Box<str>>,
        /// The action, or any.
        action: Option<Box<str>>,
    },
}

impl Grant {
    /// Whether this grant covers the permission.
    pub fn covers(&self, wanted: &Permission) -> bool {
        let fits = |half: &Option<Box<str>>, name: &str| half.as_deref().is_none_or(|half| half == name);
        match self {
            Grant::All => true,
            Grant::Part { resource, action } => {
                fits(resource, wanted.resource()) && fits(action, wanted.action())
            }
        }
    }
}

/// The grant of every script and every tool of another server, whatever permissions each of them names.
pub const ADDED_TOOLS: (&str, &str) = ("added-tools", "use");

fn part(resource: &str, action: Option<&str>) -> Grant {
    Grant::Part { resource: Some(resource.into()), action: action.map(Into::into) }
}

/// The grants of one principal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Grants(Vec<Grant>);

impl Grants {
    /// No grant at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// `*`.
    pub fn all() -> Self {
        Self(vec![Grant::All])
    }

    /// What a key gets when its maker names no grant.
    pub fn of_a_plain_key() -> Self {
        Self(vec![
            part("tasks", None),
            part("cards", None),
            part("web", Some("search")),
            part("humans", Some("ask")),
        ])
    }

    /// What requests of this machine get in a home without keys: what a plain key gets, and every tool that was added
    /// to the home. Code and administration stay with the home's owner.
    pub fn without_a_key() -> Self {
        let mut grants = Self::of_a_plain_key();
        grants.0.push(part(ADDED_TOOLS.0, Some(ADDED_TOOLS.1)));
        grants
    }

    /// Whether some grant covers the permission.
    pub fn cover(&self, wanted: &Permission) -> bool {
        self.0.iter().any(|grant| grant.covers(wanted))
    }

    /// Whether every permission of a tool is covered.
    pub fn cover_all<'a>(&self, wanted: impl IntoIterator<Item = &'a Permission>) -> bool {
        wanted.into_iter().all(|permission| self.cover(permission))
    }

    /// Whether there is an administrative grant such as `registry:write`.
    pub fn hold(&self, resource: &str, action: &str) -> bool {
        Permission::new(resource, action).is_ok_and(|wanted| self.cover(&wanted))
    }

    /// The grants, as given.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.0.iter()
    }
}

impl FromIterator<Grant> for Grants {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        Self(grants.into_iter().collect())
    }
}

/// A permission or grant that is not of the form `resource:action`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' is not of the form resource:action (letters, digits, '.', '_' and '-')")]
pub struct NotAPermission(String);

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

impl Permission {
    /// A permission from its halves.
    pub fn new(resource: &str, action: &str) -> Result<Self, NotAPermission> {
        format!("{resource}:{action}").parse()
    }
}

impl FromStr for Permission {
    type Err = NotAPermission;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((resource, action)) if is_name(resource) && is_name(action) => {
                Ok(Self { text: text.into(), colon: resource.len() })
            }
            _ => Err(NotAPermission(text.into())),
        }
    }
}

impl FromStr for Grant {
    type Err = NotAPermission;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "*" {
            return Ok(Grant::All);
        }
        let half = |name: &str| match name {
            "*" => Some(None),
            name if is_name(name) => Some(Some(name.into())),
            _ => None,
        };
        let (resource, action) = text.split_once(':').ok_or_else(|| NotAPermission(text.into()))?;
        match (half(resource), half(action)) {
            (Some(resource), Some(action)) => Ok(Grant::Part { resource, action }),
            _ => Err(NotAPermission(text.into())),
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Grant::All => f.write_str("*"),
            Grant::Part { resource, action } => {
                write!(f, "{}:{}", resource.as_deref().unwrap_or("*"), action.as_deref().unwrap_or("*"))
            }
        }
    }
}

macro_rules! text_conversions {
    ($($name:ty),+) => {$(
        impl TryFrom<String> for $name {
            type Error = NotAPermission;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    )+};
}

text_conversions!(Permission, Grant);
