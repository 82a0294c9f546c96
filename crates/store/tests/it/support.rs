//! A fresh database on each engine for every test.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use postgres::{Client, NoTls};
use tempfile::TempDir;
use toolroom_contract::ids::RunId;
use toolroom_store::replicas::{self, Joined, Mode, Replica};
use toolroom_store::{DatabaseUrl, Options, Store, StoreError, Unit, users};

/// A database of its own, removed at the end.
pub struct Database {
    pub url: DatabaseUrl,
    pub text: String,
    home: Home,
}

enum Home {
    Folder(#[allow(dead_code)] TempDir),
    Server { name: String },
}

impl Database {
    pub fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        let text = format!("sqlite:{}", folder.path().join("toolroom.db").display());
        Self { url: text.parse().unwrap(), text, home: Home::Folder(folder) }
    }

    pub fn postgres() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolroom_test_{}_{number}", std::process::id());
        administer(&format!("CREATE DATABASE {name}"));
        let text = url_of(&name);
        Self { url: text.parse().unwrap(), text, home: Home::Server { name } }
    }

    pub fn open(&self) -> Store {
        Store::open(&self.url).unwrap()
    }

    /// The URL with other limits.
    pub fn open_with(&self, options: &Options) -> Store {
        Store::open_with(&self.url, options).unwrap()
    }

    /// Runs SQL past the store.
    pub fn run_sql(&self, sql: &str) {
        match (&self.home, self.url.sqlite_path()) {
            (Home::Server { .. }, _) => on_server(&self.text, sql),
            (_, Some(path)) => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
            _ => unreachable!("a folder holds a SQLite file"),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Home::Server { name } = &self.home {
            administer(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

/// Ends every connection to this PostgreSQL database.
pub fn cut_connections(url: &str) {
    let name = url.rsplit('/').next().unwrap_or_default();
    administer(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"));
}

/// Both engines, each with a name for the report.
pub fn databases() -> [Database; 2] {
    [Database::sqlite(), Database::postgres()]
}

/// Runs a test on both engines, one after the other.
pub async fn on_both<F: Future<Output = ()>>(test: impl Fn(Store) -> F) {
    for database in databases() {
        eprintln!("on {}", database.text);
        test(database.open()).await;
    }
}

/// A user of this name.
pub async fn user(store: &Store, name: &'static str) -> users::User {
    store.write(move |unit| users::ensure(unit, name)).await.unwrap()
}

/// A read whose only errors are the store's.
pub async fn read<T: Send + 'static>(
    store: &Store,
    mut f: impl FnMut(&mut Unit<'_>) -> Result<T, StoreError> + Send + 'static,
) -> T {
    store.read(move |unit| f(unit)).await.unwrap()
}

/// A write whose only errors are the store's.
pub async fn write<T: Send + 'static>(
    store: &Store,
    mut f: impl FnMut(&mut Unit<'_>) -> Result<T, StoreError> + Send + 'static,
) -> T {
    store.write(move |unit| f(unit)).await.unwrap()
}

fn server_url() -> String {
    std::env::var("TOOLROOM_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!("TOOLROOM_TEST_POSTGRES is not set: run these tests by `cargo xtask test`, which starts PostgreSQL")
    })
}

/// The server's URL with another database in its path.
fn url_of(database: &str) -> String {
    let url = server_url();
    let (address, query) =
        url.split_once('?').map_or((url.as_str(), String::new()), |(a, q)| (a, format!("?{q}")));
    let (scheme, rest) = address.split_once("://").expect("TOOLROOM_TEST_POSTGRES is a URL");
    let authority = rest.split('/').next().unwrap_or(rest);
    format!("{scheme}://{authority}/{database}{query}")
}

fn administer(sql: &str) {
    on_server(&server_url(), sql);
}

// The driver brings its own runtime, which cannot start inside that of a test.
fn on_server(url: &str, sql: &str) {
    let run = || Client::connect(url, NoTls).unwrap().batch_execute(sql).unwrap();
    std::thread::scope(|scope| scope.spawn(run).join().unwrap());
}

/// Another process on the database.
pub async fn join(store: &Store) -> RunId {
    let id = RunId::new();
    let replica = Replica {
        id,
        home: id.to_string(),
        version: "1",
        mode: Mode::Shared,
        registry_version: 0,
        knows: "[]".to_owned(),
    };
    let joined = write(store, move |unit| replicas::join(unit, &replica)).await;
    assert!(matches!(joined, Joined::Shared(_)), "{joined:?}");
    id
}
