//! Small facts about the installation itself.

use crate::engine::args;
use crate::{StoreError, Unit};

/// The value of a setting, if it was ever set.
pub fn get(unit: &mut Unit<'_>, key: &str) -> Result<Option<String>, StoreError> {
    let row = unit.query_first("SELECT value FROM settings WHERE key = $1", args![key])?;
    row.map(|mut row| row.take(0)).transpose()
}

/// The value of a setting; stores this one if there was none. All callers get the same.
pub fn get_or_set(unit: &mut Unit<'_>, key: &str, value: &str) -> Result<String, StoreError> {
    let sql = "INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
    unit.execute(sql, args![key, value])?;
    Ok(get(unit, key)?.unwrap_or_else(|| value.to_owned()))
}

/// Sets a setting.
pub fn set(unit: &mut Unit<'_>, key: &str, value: &str) -> Result<(), StoreError> {
    let sql = "INSERT INTO settings (key, value) VALUES ($1, $2)
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    unit.execute(sql, args![key, value]).map(drop)
}
