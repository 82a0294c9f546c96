//! Units of work: whole or not at all, each for itself, answered only when durable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use tokio::task::JoinHandle;
use toolroom_contract::CommitGate;
use toolroom_store::{Engine, Options, Store, StoreError, settings, users};

use crate::support::{Database, databases, on_both, read, user, write};

/// An error of a caller, as its own type.
#[derive(Debug)]
enum Refused {
    OnPurpose,
    Store(#[allow(dead_code)] StoreError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_or_a_panic_undoes_one_unit_and_leaves_the_others() {
    on_both(|store| async move {
        let units: Vec<_> = (0..60)
            .map(|number| {
                let store = store.clone();
                tokio::spawn(async move {
                    store
                        .write(move |unit| {
                            settings::set(unit, &format!("n{number}"), "x")?;
                            match number % 3 {
                                0 => Err(Refused::OnPurpose),
                                1 => panic!("on purpose"),
                                _ => Ok(number),
                            }
                        })
                        .await
                })
            })
            .collect();
        for (number, unit) in units.into_iter().enumerate() {
            match (number % 3, unit.await.unwrap()) {
                (0, Err(Refused::OnPurpose)) => {}
                (1, Err(Refused::Store(StoreError::Panicked))) => {}
                (2, Ok(answer)) => assert_eq!(answer, number),
                (_, other) => panic!("{number}: {other:?}"),
            }
            let key = format!("n{number}");
            let stored = read(&store, move |unit| settings::get(unit, &key)).await;
            assert_eq!(stored.is_some(), number % 3 == 2, "{number}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn within_one_commit_a_unit_that_fails_after_it_wrote_is_undone_alone() {
    let database = Database::sqlite();
    let store = database.open();
    let before = store.commits();
    let (open, gate) = mpsc::channel::<()>();
    let (entered, inside) = mpsc::channel::<()>();
    let first = tokio::spawn({
        let store = store.clone();
        async move {
            write(&store, move |unit| {
                // Holds the writer until the others wait behind it; in a second run the gate is open.
                let _ = entered.send(());
                let _ = gate.recv();
                settings::set(unit, "first", "x")
            })
            .await
        }
    });
    inside.recv().unwrap();
    let units: Vec<_> = (0..9)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                let work = store.write(move |unit| {
                    settings::set(unit, &format!("n{number}"), "x")?;
                    if number % 2 == 1 { Err(Refused::OnPurpose) } else { Ok(()) }
                });
                work.await.is_ok()
            })
        })
        .collect();
    while store.waiting() < 9 {
        tokio::task::yield_now().await;
    }
    drop(open);
    first.await.unwrap();
    for (number, unit) in units.into_iter().enumerate() {
        assert_eq!(unit.await.unwrap(), number % 2 == 0);
        let key = format!("n{number}");
        assert_eq!(read(&store, move |unit| settings::get(unit, &key)).await.is_some(), number % 2 == 0);
    }
    assert!(read(&store, |unit| settings::get(unit, "first")).await.is_some());
    assert_eq!(store.commits() - before, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writes_share_a_commit_on_sqlite() {
    on_both(|store| async move {
        let before = store.commits();
        let writes: Vec<_> = (0..500)
            .map(|number| {
                let store = store.clone();
                tokio::spawn(async move {
                    write(&store, move |unit| users::ensure(unit, &format!("user {number}"))).await
                })
            })
            .collect();
        for write in writes {
            write.await.unwrap();
        }
        let commits = store.commits() - before;
        match store.engine() {
            Engine::Sqlite => assert!(commits < 250, "{commits} commits for 500 writes"),
            Engine::Postgres => assert_eq!(commits, 500),
        }
        assert_eq!(read(&store, users::list).await.len(), 500);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_follows_a_commit_sees_it_and_comes_before_the_answer() {
    on_both(|store| async move {
        let moved = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&moved);
        let answer: Result<_, StoreError> = store
            .write_then(
                &CommitGate::default(),
                |unit| users::ensure(unit, "anna"),
                move || flag.store(true, Ordering::SeqCst),
            )
            .await;
        answer.unwrap();
        assert!(moved.load(Ordering::SeqCst));

        let flag = Arc::clone(&moved);
        let refused: Result<(), Refused> = store
            .write_then(
                &CommitGate::default(),
                |_| Err(Refused::OnPurpose),
                move || flag.store(false, Ordering::SeqCst),
            )
            .await;
        refused.unwrap_err();
        assert!(moved.load(Ordering::SeqCst), "nothing follows a unit that was undone");

        let panics: Result<_, StoreError> = store
            .write_then(&CommitGate::default(), |unit| users::ensure(unit, "bo"), || panic!("on purpose"))
            .await;
        assert_eq!(panics.unwrap().key, "bo", "the write stands");
        user(&store, "cleo").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_leaves_does_not_stop_its_write() {
    on_both(|store| async move {
        let (began, has_began) = mpsc::channel();
        let (go, may_go) = mpsc::channel::<()>();
        let (done, is_done) = mpsc::channel();
        let theirs = store.clone();
        let caller = tokio::spawn(async move {
            let closure = move |unit: &mut toolroom_store::Unit<'_>| {
                began.send(()).unwrap();
                may_go.recv().unwrap();
                users::ensure(unit, "anna")
            };
            theirs.write_then(&CommitGate::default(), closure, move || done.send(()).unwrap()).await
        });
        tokio::task::spawn_blocking(move || has_began.recv().unwrap()).await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        go.send(()).unwrap();
        tokio::task::spawn_blocking(move || is_done.recv().unwrap()).await.unwrap();
        assert!(read(&store, |unit| users::find(unit, "anna")).await.is_some());
    })
    .await;
}

/// A unit that holds the writer until it is told to go on.
async fn blocked(store: &Store) -> (mpsc::Sender<()>, JoinHandle<Result<(), StoreError>>) {
    let (began, has_began) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let store = store.clone();
    let blocker = tokio::spawn(async move {
        let closure = move |_: &mut toolroom_store::Unit<'_>| {
            began.send(()).unwrap();
            may_go.recv().unwrap();
            Ok::<_, StoreError>(())
        };
        store.write(closure).await
    });
    tokio::task::spawn_blocking(move || has_began.recv().unwrap()).await.unwrap();
    (go, blocker)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_behind_one_that_waits_longer_is_answered_at_its_own_deadline() {
    let options = Options { queue: 4, sqlite_readers: 1, postgres_connections: 1 };
    for database in databases() {
        let store = database.open_with(&options);
        let (go, blocker) = blocked(&store).await;
        let deadline = std::time::Instant::now() + std::time::Duration::from_millis(20);
        // The other does not end before this one is answered.
        let late = store.write_by(deadline, |unit| users::ensure(unit, "late")).await;
        assert!(matches!(late, Err(StoreError::Late)), "{late:?}");
        go.send(()).unwrap();
        blocker.await.unwrap().unwrap();
        user(&store, "after").await;
        assert!(read(&store, |unit| users::find(unit, "late")).await.is_none(), "and it is never made");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_says_busy_and_serves_again_when_it_is_not() {
    let options = Options { queue: 4, sqlite_readers: 1, postgres_connections: 1 };
    for database in databases() {
        let store = database.open_with(&options);
        let (go, blocker) = blocked(&store).await;
        let busy = Arc::new(AtomicUsize::new(0));
        let writers: Vec<_> = (0..10)
            .map(|number| {
                let (store, busy) = (store.clone(), Arc::clone(&busy));
                tokio::spawn(async move {
                    let made = store.write(move |unit| users::ensure(unit, &format!("u{number}"))).await;
                    if matches!(made, Err(StoreError::Busy)) {
                        busy.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        while busy.load(Ordering::SeqCst) < 6 {
            tokio::task::yield_now().await;
        }
        go.send(()).unwrap();
        blocker.await.unwrap().unwrap();
        for writer in writers {
            writer.await.unwrap();
        }
        assert_eq!(read(&store, users::list).await.len(), 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_statement_cannot_be_shrugged_off() {
    on_both(|store| async move {
        let made = store
            .write(|unit| {
                settings::set(unit, "before", "x")?;
                let _ = toolroom_store::keys::create(unit, &no_owner());
                Ok::<_, StoreError>(())
            })
            .await;
        assert!(matches!(made, Err(StoreError::Constraint { .. })), "{made:?}");
        assert_eq!(read(&store, |unit| settings::get(unit, "before")).await, None);
    })
    .await;
}

fn no_owner() -> toolroom_store::keys::NewKey {
    let user = toolroom_contract::ids::UserId(404);
    toolroom_store::keys::NewKey {
        user,
        grants: Vec::new(),
        profiles: None,
        person: false,
        note: None,
        expires_at: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_set_a_setting_that_is_not_there_all_are_told_the_first() {
    on_both(|store| async move {
        let set = (0..8).map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                store.write(move |unit| settings::get_or_set(unit, "once", &n.to_string())).await
            })
        });
        let mut told = Vec::new();
        for one in set.collect::<Vec<_>>() {
            let value: Result<String, StoreError> = one.await.unwrap();
            told.push(value.unwrap());
        }
        told.dedup();
        assert_eq!(told.len(), 1);
        assert_eq!(read(&store, |unit| settings::get(unit, "once")).await, told.pop());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_cannot_write() {
    on_both(|store| async move {
        let wrote: Result<_, StoreError> = store.read(|unit| settings::set(unit, "a", "b")).await;
        assert!(matches!(wrote, Err(StoreError::ReadOnly)), "{wrote:?}");
        assert_eq!(read(&store, |unit| settings::get(unit, "a")).await, None);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_come_back_equal_and_a_nul_is_refused() {
    on_both(|store| async move {
        for text in
            ["", "é e\u{301}", "\u{202e}rtl", "😀", "'; DROP TABLE users; --", "$1 ?1", &"x".repeat(1 << 20)]
        {
            let value = text.to_owned();
            write(&store, move |unit| settings::set(unit, "t", &value)).await;
            assert_eq!(read(&store, |unit| settings::get(unit, "t")).await.as_deref(), Some(text));
        }
        let nul: Result<_, StoreError> = store.write(|unit| settings::set(unit, "t", "a\0b")).await;
        assert!(matches!(nul, Err(StoreError::InvalidText)));
        let nul: Result<_, StoreError> = store.read(|unit| settings::get(unit, "a\0b")).await;
        assert!(matches!(nul, Err(StoreError::InvalidText)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_sees_every_write_answered_before() {
    on_both(|store| async move {
        for number in 0..50 {
            let value = number.to_string();
            write(&store, move |unit| settings::set(unit, "n", &value)).await;
            let seen = read(&store, |unit| settings::get(unit, "n")).await;
            assert_eq!(seen, Some(number.to_string()));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_clone_may_go_on_a_thread_of_the_store() {
    for database in databases() {
        let store = database.open();
        let theirs: Store = store.clone();
        let (go, may_go) = mpsc::channel::<()>();
        let (done, is_done) = mpsc::channel();
        let caller = tokio::spawn(async move {
            let held = theirs.clone();
            let closure = |unit: &mut toolroom_store::Unit<'_>| users::ensure(unit, "anna");
            let after = move || {
                may_go.recv().unwrap();
                drop(held);
                done.send(()).unwrap();
            };
            theirs.write_then(&CommitGate::default(), closure, after).await
        });
        while store.commits() == 0 {
            tokio::task::yield_now().await;
        }
        caller.abort();
        let _ = caller.await;
        let dropped = std::thread::spawn(move || drop(store));
        go.send(()).unwrap();
        tokio::task::spawn_blocking(move || is_done.recv().unwrap()).await.unwrap();
        dropped.join().unwrap();
        assert!(read(&database.open(), |unit| users::find(unit, "anna")).await.is_some());
    }
}
