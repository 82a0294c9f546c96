//! Logins at other MCP servers, for processes that share a PostgreSQL database: one sealed row each, and the turn to renew
//! it, so that no two of them use one refresh token.

use std::time::Duration;

use toolroom_contract::ids::RunId;

use crate::engine::args;
use crate::{StoreError, Unit, slots};

/// How long a process may take to renew a token.
const LONGEST_TURN: Duration = Duration::from_secs(60);

/// The login at a server, sealed. By one statement.
pub fn get(unit: &mut Unit<'_>, server: &str) -> Result<Option<String>, StoreError> {
    let row = unit.query_first("SELECT sealed FROM logins WHERE server = $1", args![server])?;
    row.map(|mut row| row.take(0)).transpose()
}

/// Keeps a login, instead of the one before. By one statement.
pub fn put(unit: &mut Unit<'_>, server: &str, sealed: &str) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO logins (server, sealed, updated_at) VALUES ($1, $2, {})
         ON CONFLICT (server) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at",
        unit.clock()
    );
    unit.execute(&sql, args![server, sealed]).map(drop)
}

/// Keeps it no longer. By one statement.
pub fn remove(unit: &mut Unit<'_>, server: &str) -> Result<(), StoreError> {
    unit.execute("DELETE FROM logins WHERE server = $1", args![server]).map(drop)
}

/// Takes the turn to see to a server's login, if nobody else has it; a process asks for one at a time. By one statement.
pub fn take_turn(unit: &mut Unit<'_>, server: &str, run: RunId, token: &str) -> Result<bool, StoreError> {
    slots::take_named(unit, &name(server), run, token, LONGEST_TURN)
}

/// Gives the turn back. By one statement.
pub fn end_turn(unit: &mut Unit<'_>, server: &str, token: &str) -> Result<(), StoreError> {
    slots::give_back_named(unit, &name(server), token)
}

fn name(server: &str) -> String {
    format!("login:{server}")
}
