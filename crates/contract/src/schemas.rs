//! Parameter shapes that many tools share: paging, sorting, date ranges, metadata.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Paging of a list by a cursor (preferred) or an offset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    /// At most this many items (1 to 100; 20 if not given).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
    /// Skip this many items. Not together with `cursor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_000_000))]
    pub offset: Option<u32>,
    /// Go on where the page before ended: its `nextCursor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub cursor: Option<String>,
}

impl Pagination {
    /// The default limit.
    pub const DEFAULT_LIMIT: u32 = 20;

    /// The limit.
    pub fn limit(&self) -> u32 {
        self.limit.unwrap_or(Self::DEFAULT_LIMIT)
    }
}

/// Which way a list is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortOrder {
    /// Smallest, oldest or first in the alphabet first.
    Asc,
    /// The other way round.
    #[default]
    Desc,
}

/// Sorting of a list by one of the fields that a tool names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sorting<Field> {
    /// The field to sort by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_by: Option<Field>,
    /// Ascending or descending (descending if not given).
    #[serde(default)]
    pub sort_order: SortOrder,
}

/// A half-open range of instants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DateRange {
    /// The first instant inside the range; open if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// The first instant after the range; open if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

impl DateRange {
    /// Whether the instant lies in the range.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && self.to.is_none_or(|to| at < to)
    }
}

/// When something was created and last changed, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceMetadata {
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// How often it was changed, from 1.
    pub version: i64,
    /// What else its owner noted.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}
