//! Opening, reopening, refusing and healing: what is particular to a database as a whole.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use toolroom_store::{DatabaseUrl, Store, StoreError, settings, users};

use crate::proxy::Proxy;
use crate::support::{Database, cut_connections, databases, on_both, read, user, write};

#[tokio::test(flavor = "multi_thread")]
async fn a_reopened_database_keeps_its_data() {
    for database in databases() {
        let store = database.open();
        let anna = user(&store, "anna").await;
        drop(store);
        let store = database.open();
        assert_eq!(read(&store, |unit| users::find(unit, "anna")).await, Some(anna));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_may_open_a_new_database_at_once() {
    let database = Database::postgres();
    let opened: Vec<_> = (0..4)
        .map(|_| {
            let url = database.url.clone();
            std::thread::spawn(move || Store::open(&url))
        })
        .collect();
    for store in opened {
        store.join().unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_later_release_is_refused() {
    for database in databases() {
        drop(database.open());
        database
            .run_sql("INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'later', 0)");
        let opened = Store::open(&database.url);
        assert!(matches!(opened, Err(StoreError::NewerSchema { found: 9999, .. })));
    }
}

/// As the next release leaves it, if what it adds need not be known.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_later_release_is_used_if_that_says_so_and_not_backed_up() {
    for database in databases() {
        drop(database.open());
        let newest = "(SELECT max(version) FROM schema_migrations)";
        database.run_sql("CREATE TABLE later (id BIGINT PRIMARY KEY)");
        database.run_sql(&format!(
            "INSERT INTO schema_migrations (version, name, applied_at, oldest_reader) VALUES (9998, 'later', 0, {newest})"
        ));
        drop(database.open());
        let url = database.url.clone();
        let dump = move || toolroom_store::backup::dump(&url, &mut Vec::new()).is_err();
        let refused = tokio::task::spawn_blocking(dump).await.unwrap();
        assert!(refused, "the table of the later release would be left out");
        database.run_sql(
            "INSERT INTO schema_migrations (version, name, applied_at, oldest_reader) VALUES (9999, 'last', 0, 9998)",
        );
        let opened = Store::open(&database.url);
        assert!(matches!(opened, Err(StoreError::NewerSchema { found: 9999, .. })));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let database = Database::sqlite();
    let path = database.url.sqlite_path().unwrap();
    let text = "this is a text, not a database. ".repeat(200);
    std::fs::write(path, &text).unwrap();
    let Err(StoreError::Corrupt { cause }) = Store::open(&database.url) else { panic!("it was opened") };
    assert!(cause.contains("toolroom.db"), "{cause}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_integrity_check_finds_flipped_bytes() {
    let database = Database::sqlite();
    let store = database.open();
    for number in 0..200 {
        write(&store, move |unit| settings::set(unit, &format!("key {number}"), &"v".repeat(500))).await;
    }
    assert_eq!(store.integrity_check().await.unwrap(), Vec::<String>::new());
    drop(store);
    let path = database.url.sqlite_path().unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() - 4096 * 10;
    bytes[middle..middle + 4096].fill(0xa5);
    std::fs::write(path, bytes).unwrap();
    // Which page it was decides who meets it first: the opening, or the check.
    let found = match Store::open(&database.url) {
        Ok(store) => store.integrity_check().await,
        Err(error) => Err(error),
    };
    match found {
        Ok(problems) => assert!(!problems.is_empty()),
        Err(error) => assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_database_has_no_problems_on_either_engine() {
    on_both(|store| async move {
        user(&store, "anna").await;
        assert_eq!(store.integrity_check().await.unwrap(), Vec::<String>::new());
        store.ping().await.unwrap();
    })
    .await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let database = Database::sqlite();
    let _store = database.open();
    let mode = std::fs::metadata(database.url.sqlite_path().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_were_cut_heal_without_an_error() {
    let database = Database::postgres();
    let store = database.open();
    for round in 0..5 {
        let name = format!("before {round}");
        write(&store, move |unit| users::ensure(unit, &name)).await;
        cut_connections(&database.text);
        let name = format!("after {round}");
        write(&store, move |unit| users::ensure(unit, &name)).await;
        cut_connections(&database.text);
        assert_eq!(read(&store, users::list).await.len(), 2 * round + 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn under_load_a_cut_never_loses_what_was_answered() {
    let database = Database::postgres();
    let store = database.open();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut answered = Vec::new();
                for number in 0..60 {
                    let name = format!("{writer}-{number}");
                    let theirs = name.clone();
                    match store.write(move |unit| users::ensure(unit, &theirs)).await {
                        Ok(_) => answered.push(name),
                        Err(StoreError::OutcomeUnknown { .. } | StoreError::Unavailable { .. }) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
                answered
            })
        })
        .collect();
    for _ in 0..5 {
        let seen = store.commits();
        while store.commits() < seen + 20 && !writers.iter().all(|writer| writer.is_finished()) {
            tokio::task::yield_now().await;
        }
        cut_connections(&database.text);
    }
    let stored = |users: Vec<users::User>| users.into_iter().map(|user| user.key).collect::<Vec<_>>();
    let mut answered = Vec::new();
    for writer in writers {
        answered.extend(writer.await.unwrap());
    }
    let stored = stored(read(&store, users::list).await);
    assert!(answered.len() > 400, "{} of 480 answered", answered.len());
    assert!(answered.iter().all(|name| stored.contains(name)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_is_said_to_be_so_at_once() {
    // Nobody listens on port 1; a port that was free a moment ago may be another test's by now.
    let url: DatabaseUrl = "postgres://u:p@127.0.0.1:1/d".parse().unwrap();
    let began = Instant::now();
    assert!(matches!(Store::open(&url), Err(StoreError::Unavailable { .. })));
    // Long before any limit on connecting.
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_server_is_away_callers_are_told_so_and_after_it_they_are_served() {
    let database = Database::postgres();
    let mut proxy = Proxy::to(&database.text);
    let store = Store::open(&proxy.url).unwrap();
    user(&store, "before").await;
    for round in 0..3 {
        proxy.cut();
        let began = Instant::now();
        let callers: Vec<_> = (0..100)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move { store.write(|unit| users::ensure(unit, "during")).await })
            })
            .collect();
        for caller in callers {
            let answer = caller.await.unwrap();
            assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
        }
        // One after the other, a second each, they would take a hundred.
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert!(matches!(store.ping().await, Err(StoreError::Unavailable { .. })));

        proxy.mend();
        let began = Instant::now();
        while let Err(error) = store.ping().await {
            assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
            assert!(began.elapsed() < Duration::from_secs(30), "{error:?}");
        }
        let name = format!("after {round}");
        write(&store, move |unit| users::ensure(unit, &name)).await;
    }
    let names: Vec<_> = read(&store, users::list).await.into_iter().map(|user| user.key).collect();
    assert_eq!(names, ["before", "after 0", "after 1", "after 2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_inside_a_unit_starts_it_over() {
    let database = Database::postgres();
    let store = database.open();
    let runs = Arc::new(AtomicUsize::new(0));
    let (cut, seen) = (database.text.clone(), Arc::clone(&runs));
    let made: Result<users::User, StoreError> = store
        .write(move |unit| {
            let user = users::ensure(unit, "anna")?;
            if seen.fetch_add(1, Ordering::SeqCst) == 0 {
                cut_connections(&cut);
            }
            users::set_time_zone(unit, user.id, Some("Europe/Paris"))?;
            Ok(user)
        })
        .await;
    made.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    let users = read(&store, users::list).await;
    assert_eq!((users.len(), users[0].time_zone.as_deref()), (1, Some("Europe/Paris")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_was_cut_off_has_an_unknown_outcome() {
    let database = Database::postgres();
    let store = database.open();
    let cut = database.text.clone();
    let made = store
        .write(move |unit| {
            let user = users::ensure(unit, "anna")?;
            cut_connections(&cut);
            Ok::<_, StoreError>(user)
        })
        .await;
    assert!(matches!(made, Err(StoreError::OutcomeUnknown { .. })), "{made:?}");
    user(&store, "bo").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn units_that_deadlock_both_happen() {
    let database = Database::postgres();
    let store = database.open();
    let a = user(&store, "a").await.id;
    let b = user(&store, "b").await.id;
    let meeting = Arc::new(Barrier::new(2));
    let lock_both = |first, second| {
        let (store, meeting, mut met) = (store.clone(), Arc::clone(&meeting), false);
        tokio::spawn(async move {
            store
                .write(move |unit| {
                    users::set_time_zone(unit, first, Some("UTC"))?;
                    if !std::mem::replace(&mut met, true) {
                        meeting.wait();
                    }
                    users::set_time_zone(unit, second, Some("UTC"))
                })
                .await
        })
    };
    let (one, other) = (lock_both(a, b), lock_both(b, a));
    assert!(one.await.unwrap().unwrap() && other.await.unwrap().unwrap());
}

#[test]
fn urls_are_read_and_passwords_never_shown() {
    let parse = |text: &str| text.parse::<DatabaseUrl>();
    for (text, shown) in [
        ("sqlite:a/b.db", "sqlite:a/b.db"),
        ("sqlite:/a/b.db", "sqlite:/a/b.db"),
        ("sqlite:///a/b.db", "sqlite:/a/b.db"),
        ("plain/path.db", "sqlite:plain/path.db"),
        ("postgres://anna:hunter2@db.example:5433/tools", "postgres://db.example:5433/tools"),
        ("postgresql://anna:hunter2@db.example/tools", "postgres://db.example:5432/tools"),
    ] {
        let url = parse(text).unwrap();
        assert_eq!((url.to_string().as_str(), format!("{url:?}").as_str()), (shown, shown));
    }
    for bad in
        ["", "sqlite:", "sqlite::memory:", "mysql://hunter2@x/y", "postgres://u:hunter2@h:port/d?hunter2=1"]
    {
        let error = parse(bad).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
        assert!(matches!(error, StoreError::BadUrl { .. }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_of_several_statements_sees_one_state_of_the_database() {
    on_both(|store| async move {
        user(&store, "anna").await;
        let (other, runtime) = (store.clone(), tokio::runtime::Handle::current());
        for _ in 0..3 {
            let (other, runtime) = (other.clone(), runtime.clone());
            let both = store.read_much(move |unit| {
                let before = users::list(unit)?.len();
                let (tell, told) = std::sync::mpsc::channel();
                let other = other.clone();
                // Another connection commits between the two statements.
                runtime.spawn(async move {
                    let name = uuid::Uuid::new_v4().to_string();
                    write(&other, move |unit| users::ensure(unit, &name)).await;
                    tell.send(()).unwrap();
                });
                told.recv().unwrap();
                Ok::<_, StoreError>((before, users::list(unit)?.len()))
            });
            let (before, after) = both.await.unwrap();
            assert_eq!(before, after);
        }
    })
    .await;
}
