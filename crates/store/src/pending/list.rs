//! Lists of pending requests, in pages. What is open is shown in turns, the newest of each user first, so that nobody
//! can hide what waits for somebody else; everything, decided or not, is shown by age.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use toolroom_contract::ids::{KeyId, PendingId, UserId};

use super::model::{COLUMNS, PendingRequest, State, pending};
use crate::engine::{Arg, args};
use crate::{StoreError, Unit};

/// Which requests to list.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Only those of this user, and what the key asked for others.
    pub user: Option<UserId>,
    pub key: Option<KeyId>,
    /// Only those that were made under one of these profiles.
    pub profiles: Option<Vec<String>>,
    /// Only those that can still be decided.
    pub open_only: bool,
    /// At most this many.
    pub limit: u32,
    /// Those behind the page that gave this out.
    pub after: Option<Cursor>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { user: None, key: None, profiles: None, open_only: false, limit: 1000, after: None }
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The requests.
    pub found: Vec<PendingRequest>,
    /// Where the next page starts; `None` on the last page.
    pub next: Option<Cursor>,
}

/// A place in a list. Turns are counted as of the first page, so that decisions made since move nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    as_of: Timestamp,
    turn: i64,
    created_at: Timestamp,
    id: PendingId,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (as_of, created) = (self.as_of.as_microsecond(), self.created_at.as_microsecond());
        write!(f, "{as_of}.{}.{created}.{}", self.turn, self.id)
    }
}

impl FromStr for Cursor {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let read = || {
            let mut parts = text.splitn(4, '.');
            let time = |part: &str| Timestamp::from_microsecond(part.parse().ok()?).ok();
            let as_of = time(parts.next()?)?;
            let turn = parts.next()?.parse().ok()?;
            let created_at = time(parts.next()?)?;
            Some(Self { as_of, turn, created_at, id: parts.next()?.parse().ok()? })
        };
        read().ok_or(StoreError::Decode { column: 0, expected: "a cursor" })
    }
}

/// What can still be decided, whosever it is.
pub fn open_ids(unit: &mut Unit<'_>) -> Result<Vec<PendingId>, StoreError> {
    let sql =
        "SELECT id FROM pending WHERE state = 'open' AND expires_at > $1 ORDER BY expires_at LIMIT 10000";
    unit.query(sql, args![unit.now])?.iter_mut().map(|row| row.take(0)).collect()
}

/// The requests that match the filter.
pub fn list(unit: &mut Unit<'_>, filter: &Filter) -> Result<Page, StoreError> {
    let as_of = filter.after.map_or(unit.now, |after| after.as_of);
    let mut args: Vec<Arg<'_>> = vec![as_of.into()];
    let mut wanted = "created_at <= $1".to_owned();
    if let Some(user) = filter.user {
        // No key has the number 0.
        args.extend([user.into(), filter.key.map_or(0, |key| key.0).into()]);
        wanted += &format!(" AND (user_id = ${} OR key_id = ${})", args.len() - 1, args.len());
    }
    if let Some(profiles) = &filter.profiles {
        let first = args.len() + 1;
        args.extend(profiles.iter().map(Arg::from));
        let names: Vec<String> = (first..=args.len()).map(|at| format!("${at}")).collect();
        let names = if names.is_empty() { "''".to_owned() } else { names.join(", ") };
        wanted += &format!(" AND profile IN ({names})");
    }
    let (turn, mut shown) = if filter.open_only {
        // What was open then; of that, what still is.
        wanted += " AND expires_at > $1 AND (decided_at IS NULL OR decided_at > $1)";
        args.push(unit.now.into());
        let turn = "ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY created_at DESC, id DESC)";
        (turn, format!("state = 'open' AND expires_at > ${}", args.len()))
    } else {
        ("CAST(0 AS BIGINT)", "1 = 1".to_owned())
    };
    if let Some(after) = filter.after {
        args.extend([after.turn.into(), after.created_at.into(), after.id.into()]);
        let (turn, created, id) = (args.len() - 2, args.len() - 1, args.len());
        shown += &format!(
            " AND (turn > ${turn} OR (turn = ${turn} AND (created_at < ${created}
                   OR (created_at = ${created} AND id < ${id}))))"
        );
    }
    let limit = filter.limit.max(1);
    let sql = format!(
        "SELECT {COLUMNS}, turn FROM (SELECT {COLUMNS}, {turn} AS turn FROM pending WHERE {wanted}) AS found
         WHERE {shown} ORDER BY turn, created_at DESC, id DESC LIMIT {}",
        i64::from(limit) + 1
    );
    let mut rows = unit.query(&sql, &args)?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let (mut found, mut next) = (Vec::with_capacity(rows.len()), None);
    for row in &mut rows {
        let turn: i64 = row.take(super::model::WIDTH)?;
        let one = pending(row, unit.now)?;
        next = Some(Cursor { as_of, turn, created_at: one.created_at, id: one.id });
        // A request can be past its deadline although the clock, set back, says otherwise.
        if !filter.open_only || one.state == State::Open {
            found.push(one);
        }
    }
    Ok(Page { found, next: next.filter(|_| more) })
}
