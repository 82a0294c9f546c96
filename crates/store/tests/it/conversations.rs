//! Conversations and runs: what is another's does not exist, and a waiting run is taken once.

use jiff::{Timestamp, ToSpan};
use serde_json::json;
use toolroom_contract::ids::{ChatRunId, ConversationId, RunId, UserId};
use toolroom_store::Store;
use toolroom_store::conversations::runs::{self, Run, Status};
use toolroom_store::conversations::{self, Conversation, NewMessage, Role};
use toolroom_store::replicas;

use crate::support::{Database, join, on_both, read, user, write};

async fn begin(store: &Store, user: UserId, opening: &'static str) -> Conversation {
    write(store, move |unit| conversations::create(unit, user, "default", opening)).await
}

async fn say(store: &Store, id: ConversationId, role: Role, content: &str) -> i64 {
    let new = NewMessage { role, content: content.to_owned(), metadata: json!({"a": 1}), run: None };
    write(store, move |unit| conversations::say(unit, id, &new)).await.id
}

fn run(user: UserId, conversation: Option<ConversationId>, status: Status) -> Run {
    Run {
        id: ChatRunId::new(),
        user,
        conversation,
        history_key: None,
        request_key: None,
        status,
        state: "{}".to_owned(),
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

async fn save(store: &Store, run: &Run) {
    let run = run.clone();
    write(store, move |unit| runs::save(unit, &run)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_messages_are_read_back_in_order() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let talk = begin(&store, anna, "  Buy\n milk ").await;
        assert_eq!(talk.title, "Buy milk");
        for n in 0..5 {
            say(&store, talk.id, if n % 2 == 0 { Role::User } else { Role::Assistant }, &n.to_string()).await;
        }
        let id = talk.id;
        let last = read(&store, move |unit| conversations::messages(unit, id, 3)).await;
        let texts: Vec<_> = last.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(texts, ["2", "3", "4"]);
        assert_eq!((last[0].role, &last[0].metadata), (Role::User, &json!({"a": 1})));
        let found = read(&store, move |unit| conversations::get(unit, anna, id)).await.unwrap();
        assert!(found.updated_at >= talk.updated_at);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_conversation_of_another_is_not_found_listed_or_deleted() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let bo = user(&store, "bo").await.id;
        let id = begin(&store, anna, "hello").await.id;
        let run = run(anna, Some(id), Status::Waiting);
        save(&store, &run).await;
        let run_id = run.id;
        assert_eq!(read(&store, move |unit| conversations::get(unit, bo, id)).await, None);
        assert!(read(&store, move |unit| conversations::list(unit, bo, None, 10)).await.is_empty());
        assert_eq!(read(&store, move |unit| runs::get(unit, bo, run_id)).await, None);
        assert!(!write(&store, move |unit| conversations::delete(unit, bo, id)).await);
        assert!(write(&store, move |unit| conversations::delete(unit, anna, id)).await);
        assert_eq!(read(&store, move |unit| runs::get(unit, anna, run_id)).await, None, "it went along");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_begin_with_the_last_spoken_in_and_go_on_from_a_place() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let first = begin(&store, anna, "one").await.id;
        let second = begin(&store, anna, "two").await.id;
        say(&store, first, Role::User, "again").await;
        let page = read(&store, move |unit| conversations::list(unit, anna, None, 1)).await;
        assert_eq!(page[0].id, first);
        let before = (page[0].updated_at, page[0].id);
        let rest = read(&store, move |unit| conversations::list(unit, anna, Some(before), 10)).await;
        assert_eq!(rest.iter().map(|one| one.id).collect::<Vec<_>>(), [second]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_has_the_turn_until_it_gives_it_back_or_is_gone() {
    let database = Database::postgres();
    let store = database.open();
    let anna = user(&store, "anna").await.id;
    let id = begin(&store, anna, "hello").await.id;
    let (one, two) = (join(&store).await, join(&store).await);
    let take = async |by| {
        write(&store, move |unit| {
            // A process whose clock is wrong: leases are counted by the database's.
            unit.now += jiff::SignedDuration::from_hours(10);
            conversations::take_turn(unit, id, by)
        })
        .await
    };
    assert!(take(one).await);
    assert!(take(one).await, "its own");
    assert!(!take(two).await);
    write(&store, move |unit| conversations::end_turn(unit, id, two)).await;
    assert!(!take(two).await, "only who has it can give it back");
    write(&store, move |unit| replicas::leave(unit, one)).await;
    assert!(take(two).await, "the other one is gone");
    write(&store, move |unit| conversations::end_turn(unit, id, two)).await;
    assert!(take(one).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn alone_on_sqlite_the_turn_of_an_earlier_process_is_free() {
    let database = Database::sqlite();
    let store = database.open();
    let anna = user(&store, "anna").await.id;
    let id = begin(&store, anna, "hello").await.id;
    for by in [RunId::new(), RunId::new()] {
        assert!(write(&store, move |unit| conversations::take_turn(unit, id, by)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_one_takes_the_run_that_waits_after_a_history() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let bo = user(&store, "bo").await.id;
        let waiting = Run { history_key: Some("k".to_owned()), ..run(anna, None, Status::Waiting) };
        save(&store, &waiting).await;
        assert_eq!(write(&store, move |unit| runs::take_waiting(unit, bo, "k")).await, None);
        let takers: Vec<_> = (0..16)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move {
                    write(&store, move |unit| runs::take_waiting(unit, anna, "k")).await.is_some()
                })
            })
            .collect();
        let mut taken = 0;
        for taker in takers {
            taken += u32::from(taker.await.unwrap());
        }
        assert_eq!(taken, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_found_by_its_conversation_and_by_its_request() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let id = begin(&store, anna, "hello").await.id;
        let mut first = Run { request_key: Some("r".to_owned()), ..run(anna, Some(id), Status::Running) };
        save(&store, &first).await;
        let found = read(&store, move |unit| runs::unfinished(unit, id)).await.unwrap();
        assert_eq!(found.id, first.id);
        first.status = Status::Done;
        first.state = "{\"x\":1}".to_owned();
        save(&store, &first).await;
        assert_eq!(read(&store, move |unit| runs::unfinished(unit, id)).await, None);
        let found = read(&store, move |unit| runs::of_request(unit, anna, "r")).await.unwrap();
        assert_eq!((found.id, found.state.as_str()), (first.id, "{\"x\":1}"));
        let kept = Run { history_key: Some("k".to_owned()), ..run(anna, None, Status::Done) };
        save(&store, &kept).await;
        let purge = async |after: i64| {
            write(&store, move |unit| {
                let now = unit.now;
                runs::purge(unit, now + 1.second(), now + after.seconds())
            })
            .await
        };
        assert_eq!(purge(-60).await, 1, "one that a client can go on from stays for longer");
        assert_eq!(purge(1).await, 1);
    })
    .await;
}
