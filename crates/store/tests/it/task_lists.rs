//! Lists of tasks: every filter, every order, and pages that neither skip nor repeat.

use jiff::Timestamp;
use jiff::civil::date;
use toolroom_contract::ids::UserId;
use toolroom_store::tasks::{self, Bound, Cursor, Due, NewTask, Order, Page, Patch, Priority, Query, Sort};
use toolroom_store::{Store, StoreError};

use crate::support::{on_both, read, user, write};
use crate::tasks::{insert, new_task};

const ALL_SORTS: [Sort; 5] = [Sort::CreatedAt, Sort::UpdatedAt, Sort::Due, Sort::Priority, Sort::Title];

async fn page(store: &Store, user: UserId, query: &Query) -> Page {
    let query = query.clone();
    read(store, move |unit| tasks::list(unit, user, &query)).await
}

async fn titles(store: &Store, user: UserId, query: Query) -> Vec<String> {
    let page = page(store, user, &query).await;
    assert_eq!(page.total, page.tasks.len() as u64);
    page.tasks.into_iter().map(|task| task.title).collect()
}

type Told<'a> = (&'a str, Option<&'a str>, Priority, Option<Due>, &'a [&'a str]);

/// Five tasks that differ in everything; the second is done.
async fn five(store: &Store) -> UserId {
    let anna = user(store, "anna").await.id;
    let instant = |text: &str| Some(Due::Instant(text.parse().unwrap()));
    let rows: [Told<'_>; 5] = [
        (
            "beta",
            Some("Über den Wolken"),
            Priority::High,
            Some(Due::Date(date(2026, 3, 2))),
            &["home", "a_b"],
        ),
        ("Alpha", None, Priority::Low, instant("2026-03-02T12:00:00Z"), &["work"]),
        ("100% done", None, Priority::Medium, None, &["home", "work"]),
        ("gamma ÉTÉ", None, Priority::High, instant("2026-03-03T08:00:00Z"), &[]),
        ("delta", Some("beta!"), Priority::Medium, Some(Due::Date(date(2026, 3, 3))), &["Home"]),
    ];
    for (title, description, priority, due, tags) in rows {
        let new = NewTask {
            description: description.map(str::to_owned),
            priority,
            due,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..new_task(title)
        };
        let id = insert(store, anna, new).await.id;
        if title == "Alpha" {
            let done = Patch { completed: Some(true), ..Patch::default() };
            let _ = write(store, move |unit| tasks::update(unit, anna, id, &done, None, "test")).await;
        }
    }
    anna
}

#[tokio::test(flavor = "multi_thread")]
async fn each_filter_lets_through_what_it_should() {
    on_both(|store| async move {
        let anna = five(&store).await;
        let list = async |query| titles(&store, anna, query).await;
        let all = || Query { order: Order::Asc, ..Query::default() };
        assert_eq!(list(all()).await, ["beta", "Alpha", "100% done", "gamma ÉTÉ", "delta"]);
        assert_eq!(list(Query { completed: Some(true), ..all() }).await, ["Alpha"]);
        assert_eq!(list(Query { completed: Some(false), ..all() }).await.len(), 4);
        assert_eq!(list(Query { priority: Some(Priority::High), ..all() }).await, ["beta", "gamma ÉTÉ"]);

        let tagged =
            |tags: &[&str]| Query { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..all() };
        assert_eq!(list(tagged(&["home"])).await, ["beta", "100% done"]);
        assert_eq!(list(tagged(&["home", "work"])).await, ["100% done"]);
        assert_eq!(list(tagged(&["axb"])).await, Vec::<String>::new());

        let text = |text: &str| Query { text: Some(text.to_owned()), ..all() };
        assert_eq!(list(text("BETA")).await, ["beta", "delta"]);
        assert_eq!(list(text("über")).await, ["beta"]);
        assert_eq!(list(text("été")).await, ["gamma ÉTÉ"]);
        assert_eq!(list(text("0%")).await, ["100% done"]);
        assert_eq!(list(text("a_p")).await, Vec::<String>::new(), "no wildcards");
        assert_eq!(list(text("beta!")).await, ["delta"]);
        assert_eq!(list(text(&"x".repeat(100_000))).await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_due_range_counts_days_and_moments_each_in_its_form() {
    on_both(|store| async move {
        let anna = five(&store).await;
        // The third of March, in a zone two hours ahead of UTC.
        let start: Timestamp = "2026-03-03T00:00:00+02:00".parse().unwrap();
        let end: Timestamp = "2026-03-04T00:00:00+02:00".parse().unwrap();
        let from = Some(Bound { date: date(2026, 3, 3), at: start });
        let before = Some(Bound { date: date(2026, 3, 4), at: end });
        let asc = || Query { order: Order::Asc, ..Query::default() };
        let day = Query { due_from: from, due_before: before, ..asc() };
        assert_eq!(titles(&store, anna, day).await, ["gamma ÉTÉ", "delta"]);
        let earlier = Query { due_before: from, ..asc() };
        assert_eq!(titles(&store, anna, earlier).await, ["beta", "Alpha"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_order_is_the_same_on_both_engines() {
    on_both(|store| async move {
        let anna = five(&store).await;
        let list = async |sort, order| titles(&store, anna, Query { sort, order, ..Query::default() }).await;
        let newest = ["delta", "gamma ÉTÉ", "100% done", "Alpha", "beta"];
        assert_eq!(titles(&store, anna, Query::default()).await, newest);
        assert_eq!(list(Sort::UpdatedAt, Order::Desc).await, newest);
        let by_title = ["100% done", "Alpha", "beta", "delta", "gamma ÉTÉ"];
        assert_eq!(list(Sort::Title, Order::Asc).await, by_title);
        let by_priority = ["gamma ÉTÉ", "beta", "delta", "100% done", "Alpha"];
        assert_eq!(list(Sort::Priority, Order::Desc).await, by_priority);
        let soonest = ["Alpha", "beta", "gamma ÉTÉ", "delta", "100% done"];
        assert_eq!(list(Sort::Due, Order::Asc).await, soonest);
        let latest = ["delta", "gamma ÉTÉ", "beta", "Alpha", "100% done"];
        assert_eq!(list(Sort::Due, Order::Desc).await, latest, "no due date comes last in both directions");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_neither_skip_nor_repeat_even_when_their_last_task_goes() {
    on_both(|store| async move {
        let anna = five(&store).await;
        for number in 0..20 {
            insert(&store, anna, new_task(&format!("same: {}", number % 3))).await;
        }
        for sort in ALL_SORTS {
            for order in [Order::Asc, Order::Desc] {
                let whole = page(&store, anna, &Query { sort, order, ..Query::default() }).await;
                assert_eq!((whole.tasks.len(), whole.total, &whole.next), (25, 25, &None));
                let mut query = Query { sort, order, limit: Some(4), ..Query::default() };
                let mut paged = Vec::new();
                loop {
                    let part = page(&store, anna, &query).await;
                    assert_eq!(part.total, 25);
                    paged.extend(part.tasks);
                    // A client hands the cursor back as text.
                    query.cursor = part.next.map(|cursor| cursor.to_string().parse().unwrap());
                    if query.cursor.is_none() {
                        break;
                    }
                }
                assert_eq!(paged, whole.tasks, "{sort:?} {order:?}");
            }
        }
        let mut query = Query { limit: Some(10), ..Query::default() };
        let first = page(&store, anna, &query).await;
        let last = first.tasks[9].id;
        let _ = write(&store, move |unit| tasks::delete(unit, anna, last, None, "test")).await;
        query.cursor = first.next;
        let second = page(&store, anna, &query).await;
        assert_eq!(second.tasks[0].id.0, last.0 - 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_another_order_or_none_at_all_is_refused() {
    on_both(|store| async move {
        let anna = five(&store).await;
        let first = page(&store, anna, &Query { limit: Some(1), ..Query::default() }).await;
        let other = Query { cursor: first.next, sort: Sort::Title, ..Query::default() };
        let refused = store.read(move |unit| tasks::list(unit, anna, &other)).await;
        assert!(matches!(refused, Err(StoreError::InvalidCursor)));
        let far: Cursor = "priority:desc:9223372036854775807:9223372036854775807".parse().unwrap();
        let query = Query { sort: Sort::Priority, cursor: Some(far), ..Query::default() };
        assert_eq!(page(&store, anna, &query).await.tasks.len(), 5);
    })
    .await;
    for bad in ["", "x", "createdAt:desc:1", "createdAt:desc:1:x", "createdAt:up:1:1", "title:asc:x:y"] {
        assert!(matches!(bad.parse::<Cursor>(), Err(StoreError::InvalidCursor)), "{bad:?}");
    }
}
