//! A fresh database of each engine, and a server on it.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use postgres::{Client, NoTls};
use tempfile::TempDir;
use toolroom_store::DatabaseUrl;

use crate::test_server::TestServer;

/// A database of its own, removed at the end.
pub struct Database {
    pub url: DatabaseUrl,
    place: Place,
}

enum Place {
    Folder(#[allow(dead_code, reason = "removed with the database")] TempDir),
    Server { name: String },
}

impl Database {
    pub fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        Self { url: DatabaseUrl::sqlite(folder.path().join("toolroom.db")), place: Place::Folder(folder) }
    }

    pub fn postgres() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolroom_server_{}_{number}", std::process::id());
        administer(&format!("CREATE DATABASE {name}"));
        Self { url: url_of(&name).parse().unwrap(), place: Place::Server { name } }
    }

    /// Its URL, on PostgreSQL.
    pub fn text(&self) -> String {
        match &self.place {
            Place::Server { name } => url_of(name),
            Place::Folder(_) => panic!("only on PostgreSQL"),
        }
    }

    /// Runs SQL past the store, on PostgreSQL.
    pub fn run_sql(&self, sql: &str) {
        match &self.place {
            Place::Server { name } => on_server(&url_of(name), sql),
            Place::Folder(_) => panic!("only on PostgreSQL"),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Place::Server { name } = &self.place {
            administer(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

pub fn both() -> [Database; 2] {
    [Database::sqlite(), Database::postgres()]
}

/// Runs a test on both engines, one after the other.
#[allow(clippy::print_stderr, reason = "a failing test says on which engine")]
pub async fn on_both<F: Future<Output = ()>>(test: impl Fn(TestServer) -> F) {
    for database in both() {
        let engine = if matches!(database.place, Place::Folder(_)) { "SQLite" } else { "PostgreSQL" };
        eprintln!("on {engine}");
        test(TestServer::on(&database.url)).await;
    }
}

fn server_url() -> String {
    std::env::var("TOOLROOM_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!("TOOLROOM_TEST_POSTGRES is not set: run these tests by `cargo xtask test`, which starts PostgreSQL")
    })
}

/// The server's URL with another database in its path.
fn url_of(database: &str) -> String {
    let url = server_url();
    let (scheme, rest) = url.split_once("://").expect("TOOLROOM_TEST_POSTGRES is a URL");
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    format!("{scheme}://{authority}/{database}")
}

fn administer(sql: &str) {
    on_server(&server_url(), sql);
}

// The driver brings its own runtime, which cannot start inside that of a test.
fn on_server(url: &str, sql: &str) {
    let run = || Client::connect(url, NoTls).unwrap().batch_execute(sql).unwrap();
    std::thread::scope(|scope| scope.spawn(run).join().unwrap());
}
