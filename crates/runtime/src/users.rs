//! Users by name, looked up once and remembered.

use moka::sync::Cache;
use toolroom_contract::ids::UserId;
use toolroom_contract::{ErrorCode, ToolError, User};
use toolroom_store::{Store, StoreError, users};

/// The users that this process has met.
pub struct Users {
    store: Store,
    known: Cache<String, User>,
}

/// Someone who does not exist yet: nothing is theirs.
pub(crate) const NOBODY: UserId = UserId(0);

/// The number by which the calls of a user are counted. Those who do not exist yet have one each, by their names, which no
/// row has: two of them share one by chance only, by 63 bits of a hash.
pub(crate) fn counted_as(user: &User) -> UserId {
    if user.id != NOBODY {
        return user.id;
    }
    let hash = blake3::derive_key("toolroom: users who do not exist yet", user.key.as_bytes());
    let [a, b, c, d, e, f, g, h, ..] = hash;
    UserId(i64::from_le_bytes([a, b, c, d, e, f, g, h]) | i64::MIN)
}

impl Users {
    /// Nobody met yet.
    pub fn new(store: Store) -> Self {
        Self { store, known: Cache::new(10_000) }
    }

    /// The user of that name, created if needed.
    pub async fn ensure(&self, key: &str) -> Result<User, StoreError> {
        if let Some(user) = self.known.get(key) {
            return Ok(user);
        }
        let name = key.to_owned();
        let user = self.store.write(move |unit| users::ensure(unit, &name)).await?;
        Ok(self.remember(user))
    }

    /// The user of that name, for a caller who may act for others: made by a write, empty to a read.
    pub(crate) async fn act_as(&self, key: &str, write: bool) -> Result<User, ToolError> {
        users::check_key(key).map_err(|error| ToolError::new(ErrorCode::NotFound, error.to_string()))?;
        if write {
            return self.ensure(key).await.map_err(ToolError::from);
        }
        if let Some(user) = self.known.get(key) {
            return Ok(user);
        }
        let name = key.to_owned();
        let found = self.store.read(move |unit| users::find(unit, &name)).await;
        match found.map_err(|error: StoreError| ToolError::from(error))? {
            Some(user) => Ok(self.remember(user)),
            None => Ok(User { id: NOBODY, key: key.into() }),
        }
    }

    fn remember(&self, user: users::User) -> User {
        let known = User { id: user.id, key: user.key.as_str().into() };
        self.known.insert(user.key, known.clone());
        known
    }
}
