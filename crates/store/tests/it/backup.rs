//! A backup knows every table.

use toolroom_store::backup::{LEFT_OUT, TABLES};

use crate::support::Database;

#[tokio::test(flavor = "multi_thread")]
async fn every_table_is_in_a_backup_or_left_out_on_purpose() {
    let database = Database::sqlite();
    drop(database.open());
    let connection = rusqlite::Connection::open(database.url.sqlite_path().unwrap()).unwrap();
    let sql =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = connection.prepare(sql).unwrap();
    let found: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut known: Vec<&str> = TABLES.into_iter().chain(LEFT_OUT).collect();
    known.sort_unstable();
    assert_eq!(found, known);
}
