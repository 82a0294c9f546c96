//! Tasks: changed by version, deleted and restored, and nobody else's business.

use jiff::civil::date;
use jiff::{Timestamp, ToSpan};
use serde_json::json;
use toolroom_contract::ids::{TaskId, UserId};
use toolroom_store::tasks::{self, Changed, Counts, Due, Field, NewTask, Patch, Priority, Task};
use toolroom_store::{Store, StoreError};

use crate::support::{on_both, read, user, write};

pub fn new_task(title: &str) -> NewTask {
    NewTask {
        title: title.to_owned(),
        description: None,
        priority: Priority::Medium,
        due: None,
        tags: Vec::new(),
        completed: false,
    }
}

pub async fn insert(store: &Store, user: UserId, new: NewTask) -> Task {
    write(store, move |unit| tasks::insert(unit, user, &new, "test")).await
}

async fn update(store: &Store, user: UserId, id: TaskId, patch: Patch, expected: Option<i64>) -> Changed {
    write(store, move |unit| tasks::update(unit, user, id, &patch, expected, "test")).await
}

async fn get(store: &Store, user: UserId, id: TaskId) -> Option<Task> {
    read(store, move |unit| tasks::get(unit, user, id)).await
}

fn applied(changed: Changed) -> (Task, Vec<Field>) {
    match changed {
        Changed::Applied { task, fields } => (task, fields),
        other => panic!("{other:?}"),
    }
}

fn completed(value: bool) -> Patch {
    Patch { completed: Some(value), ..Patch::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_read_back_as_it_was_made() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let whole = NewTask {
            title: "Büro 🗂 aufräumen".to_owned(),
            description: Some("Line 1\nLine 2".to_owned()),
            priority: Priority::High,
            due: Some(Due::Date(date(2026, 1, 30))),
            tags: vec!["home".to_owned(), "b\"c".to_owned(), "home".to_owned()],
            completed: false,
        };
        let made = insert(&store, anna, whole.clone()).await;
        assert_eq!((made.id, made.version, made.completed), (TaskId(1), 1, false));
        assert_eq!((&made.title, &made.description), (&whole.title, &whole.description));
        assert_eq!((made.priority, made.due, &made.tags), (Priority::High, whole.due, &whole.tags));
        assert_eq!(made.created_at, made.updated_at);
        assert_eq!(get(&store, anna, made.id).await, Some(made));

        let at: Timestamp = "2026-01-28T23:59:59+02:00".parse().unwrap();
        let timed = insert(&store, anna, NewTask { due: Some(Due::Instant(at)), ..new_task("b") }).await;
        assert_eq!(get(&store, anna, timed.id).await.unwrap().due, Some(Due::Instant(at)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_changes_what_it_names_and_says_what_differed() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let new =
            NewTask { description: Some("d".to_owned()), tags: vec!["x".to_owned()], ..new_task("Call") };
        let made = insert(&store, anna, new).await;
        let patch = Patch {
            title: Some("Call".to_owned()),
            description: Some(None),
            due: Some(Some(Due::Date(date(2026, 2, 1)))),
            tags: Some(vec!["y".to_owned()]),
            ..Patch::default()
        };
        let (task, fields) = applied(update(&store, anna, made.id, patch.clone(), None).await);
        assert_eq!(fields, [Field::Description, Field::Due, Field::Tags]);
        assert_eq!((task.version, task.description.as_deref(), task.created_at), (2, None, made.created_at));
        assert_eq!(get(&store, anna, made.id).await.as_ref(), Some(&task));
        assert_eq!(update(&store, anna, made.id, patch, Some(2)).await, Changed::NoChange(task));

        let (done, _) = applied(update(&store, anna, made.id, completed(true), None).await);
        assert_eq!(done.completed_at, Some(done.updated_at));
        let (open, fields) = applied(update(&store, anna, made.id, completed(false), None).await);
        assert_eq!((open.completed_at, fields), (None, vec![Field::Completed]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nanosecond_more_is_no_change() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let at: Timestamp = "2026-01-28T23:59:59.123456789Z".parse().unwrap();
        let made = insert(&store, anna, NewTask { due: Some(Due::Instant(at)), ..new_task("a") }).await;
        let patch = Patch { due: Some(Some(Due::Instant(at))), ..Patch::default() };
        assert_eq!(update(&store, anna, made.id, patch, None).await, Changed::NoChange(made));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_updates_that_expect_a_version_none_is_lost() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let id = insert(&store, anna, new_task("0")).await.id;
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move {
                    let mut won = 0;
                    for _ in 0..10 {
                        let current = get(&store, anna, id).await.unwrap();
                        let next = current.title.parse::<u32>().unwrap() + 1;
                        let patch = Patch { title: Some(next.to_string()), ..Patch::default() };
                        match update(&store, anna, id, patch, Some(current.version)).await {
                            Changed::Applied { .. } => won += 1,
                            Changed::Conflict { current } => assert_eq!(current.id, id),
                            other => panic!("{other:?}"),
                        }
                    }
                    won
                })
            })
            .collect();
        let mut won = 0;
        for client in clients {
            won += client.await.unwrap();
        }
        let last = get(&store, anna, id).await.unwrap();
        assert_eq!((last.title.parse::<u32>().unwrap(), last.version), (won, i64::from(won) + 1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_of_different_fields_at_once_all_hold() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let id = insert(&store, anna, new_task("a")).await.id;
        let patches = [
            Patch { title: Some("b".to_owned()), ..Patch::default() },
            Patch { description: Some(Some("d".to_owned())), ..Patch::default() },
            Patch { priority: Some(Priority::Low), ..Patch::default() },
            Patch { tags: Some(vec!["t".to_owned()]), ..Patch::default() },
            completed(true),
        ];
        let updates: Vec<_> = patches
            .into_iter()
            .map(|patch| {
                let store = store.clone();
                tokio::spawn(async move { applied(update(&store, anna, id, patch, None).await) })
            })
            .collect();
        for update in updates {
            update.await.unwrap();
        }
        let task = get(&store, anna, id).await.unwrap();
        assert_eq!((task.title.as_str(), task.description.as_deref()), ("b", Some("d")));
        assert_eq!((task.priority, task.tags, task.completed), (Priority::Low, vec!["t".to_owned()], true));
        assert_eq!(task.version, 6);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_task_is_gone_until_it_is_restored_and_then_purged_for_good() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let made = insert(&store, anna, NewTask { tags: vec!["t".to_owned()], ..new_task("a") }).await;
        let id = made.id;
        let delete =
            async |expected| write(&store, move |unit| tasks::delete(unit, anna, id, expected, "test")).await;
        let restore = async |ago: i64| {
            write(&store, move |unit| tasks::restore(unit, anna, id, unit.now - ago.hours(), "test")).await
        };
        assert_eq!(delete(Some(9)).await, Changed::Conflict { current: made.clone() });
        assert_eq!(restore(1).await, Changed::NoChange(made.clone()));
        let (deleted, _) = applied(delete(None).await);
        assert!(deleted.deleted_at.is_some());
        assert_eq!(get(&store, anna, id).await, None);
        assert_eq!(update(&store, anna, id, completed(true), None).await, Changed::NotFound);
        assert_eq!(delete(None).await, Changed::NotFound);
        assert!(read(&store, move |unit| tasks::titles(unit, anna)).await.is_empty());

        assert_eq!(restore(-1).await, Changed::NotFound, "deleted before the time that counts");
        let (restored, _) = applied(restore(1).await);
        assert_eq!((restored.version, restored.deleted_at), (3, None));
        assert_eq!(restored.tags, ["t"]);

        applied(delete(Some(3)).await);
        assert_eq!(write(&store, |unit| tasks::purge(unit, unit.now - 1.hours())).await, 0);
        assert_eq!(write(&store, |unit| tasks::purge(unit, unit.now)).await, 1);
        assert_eq!(restore(1).await, Changed::NotFound);
        assert_eq!(insert(&store, anna, new_task("next")).await.id, TaskId(2), "ids are not used again");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_users_task_is_as_one_that_never_was() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let bo = user(&store, "bo").await.id;
        let hers = insert(&store, anna, NewTask { tags: vec!["t".to_owned()], ..new_task("hers") }).await;
        for id in [hers.id, TaskId(404), TaskId(-1), TaskId(i64::MAX)] {
            assert_eq!(get(&store, bo, id).await, None);
            assert_eq!(update(&store, bo, id, completed(true), Some(7)).await, Changed::NotFound);
            let deleted = write(&store, move |unit| tasks::delete(unit, bo, id, None, "test"));
            assert_eq!(deleted.await, Changed::NotFound);
            let restored =
                write(&store, move |unit| tasks::restore(unit, bo, id, Timestamp::UNIX_EPOCH, "test"));
            assert_eq!(restored.await, Changed::NotFound);
            assert!(read(&store, move |unit| tasks::history(unit, bo, id)).await.is_empty());
        }
        assert!(read(&store, move |unit| tasks::titles(unit, bo)).await.is_empty());
        let none = Counts { open: 0, completed: 0 };
        assert_eq!(read(&store, move |unit| tasks::counts(unit, bo)).await, none);
        for query in [
            tasks::Query::default(),
            tasks::Query { tags: vec!["t".to_owned()], ..tasks::Query::default() },
            tasks::Query { text: Some("hers".to_owned()), ..tasks::Query::default() },
        ] {
            let page = read(&store, move |unit| tasks::list(unit, bo, &query)).await;
            assert_eq!((page.tasks.len(), page.total), (0, 0));
        }
        assert_eq!(get(&store, anna, hers.id).await, Some(hers));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_says_who_changed_what() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let id = insert(&store, anna, new_task("a")).await.id;
        let patch = Patch { title: Some("b".to_owned()), ..completed(true) };
        let _ = write(&store, move |unit| tasks::update(unit, anna, id, &patch, None, "agent-7")).await;
        let history = read(&store, move |unit| tasks::history(unit, anna, id)).await;
        let lines: Vec<_> =
            history.iter().map(|e| (e.actor.as_str(), e.action.as_str(), e.version)).collect();
        assert_eq!(lines, [("test", "create", 1), ("agent-7", "update", 2)]);
        let changes = json!({"title": {"from": "a", "to": "b"}, "completed": {"from": false, "to": true}});
        assert_eq!(history[1].changes, changes);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_tell_open_done_and_overdue() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let past: Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
        let dues = [
            Some(Due::Instant(past)),
            Some(Due::Date(date(2026, 5, 4))),
            Some(Due::Date(date(2026, 5, 5))),
            Some(Due::Instant(Timestamp::MAX)),
            None,
        ];
        for due in dues {
            insert(&store, anna, NewTask { due, ..new_task("t") }).await;
        }
        let overdue = async || read(&store, move |unit| tasks::overdue(unit, anna, date(2026, 5, 5))).await;
        assert_eq!(overdue().await, 2, "today is not overdue");
        let _ = update(&store, anna, TaskId(1), completed(true), None).await;
        assert_eq!(overdue().await, 1);
        let counts = read(&store, move |unit| tasks::counts(unit, anna)).await;
        assert_eq!(counts, Counts { open: 4, completed: 1 });
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nul_in_any_text_is_refused() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let bad = [
            new_task("a\0"),
            NewTask { description: Some("\0".to_owned()), ..new_task("a") },
            NewTask { tags: vec!["t\0".to_owned()], ..new_task("a") },
        ];
        for new in bad {
            let made = store.write(move |unit| tasks::insert(unit, anna, &new, "test")).await;
            assert!(matches!(made, Err(StoreError::InvalidText)), "{made:?}");
        }
        assert!(read(&store, move |unit| tasks::titles(unit, anna)).await.is_empty());
    })
    .await;
}
