//! What processes on one PostgreSQL database hand to one another: parcels, mail, and the rows of deferred calls.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolroom_contract::ids::RunId;
use toolroom_store::deferred::{self, NewCall, Progress, Status};
use toolroom_store::mail::{self, Letter};
use toolroom_store::parcels::{self, Kind, Parcel};
use toolroom_store::replicas::{self, Joined, Mode, Replica};
use toolroom_store::{Store, Unit};

use crate::support::{Database, read, write};

const HOUR: Duration = Duration::from_secs(3600);

fn parcel(id: &str, owner: &str, length: usize) -> Parcel {
    Parcel { id: id.to_owned(), owner: owner.to_owned(), about: format!("of {owner}"), body: vec![0; length] }
}

async fn put(store: &Store, parcel: Parcel, life: Duration) {
    write(store, move |unit| parcels::put(unit, Kind::Result, &parcel, life)).await;
}

async fn names(store: &Store, owner: &'static str) -> Vec<String> {
    let listed = read(store, move |unit| parcels::list(unit, Kind::Result, owner)).await;
    listed.into_iter().map(|one| one.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn parcels_expire_and_the_oldest_of_an_owner_make_room() {
    let database = Database::postgres();
    let store = database.open();
    put(&store, parcel("over", "ada", 10), Duration::ZERO).await;
    for (number, id) in ["first", "second", "third"].into_iter().enumerate() {
        put(&store, parcel(id, "ada", 100), HOUR + Duration::from_secs(number as u64)).await;
    }
    put(&store, parcel("hers", "eve", 1_000), HOUR).await;
    assert_eq!(names(&store, "ada").await, ["third", "second", "first"]);
    assert_eq!(read(&store, |unit| parcels::get(unit, Kind::Result, "over")).await, None);
    let found = read(&store, |unit| parcels::get(unit, Kind::Result, "first")).await;
    assert_eq!(found, Some(parcel("first", "ada", 100)));
    write(&store, |unit| parcels::trim(unit, Kind::Result, "ada", 250)).await;
    assert_eq!(names(&store, "ada").await, ["third", "second"]);
    assert_eq!(names(&store, "eve").await, ["hers"]);
    put(&store, parcel("over", "ada", 10), Duration::ZERO).await;
    assert_eq!(write(&store, parcels::purge).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_use_a_number_at_once_one_is_first() {
    let database = Database::postgres();
    let store = database.open();
    let tries: Vec<_> = (0..20)
        .map(|_| {
            let store = store.clone();
            let use_up = |unit: &mut Unit<'_>| parcels::use_up(unit, Kind::Question, "n1", "", HOUR);
            tokio::spawn(async move { write(&store, use_up).await })
        })
        .collect();
    let mut first = 0;
    for one in tries {
        first += usize::from(one.await.unwrap());
    }
    assert_eq!(first, 1);
}

async fn join(store: &Store) -> RunId {
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

fn letter(body: &str) -> Letter {
    Letter { kind: "test/1".to_owned(), body: body.to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_is_read_once_in_order_by_those_who_are_alive() {
    let database = Database::postgres();
    let store = database.open();
    let (one, two, gone) = (join(&store).await, join(&store).await, RunId::new());
    for number in 0..20 {
        let sent = write(&store, move |unit| mail::send(unit, two, &letter(&number.to_string()))).await;
        assert!(sent);
    }
    assert!(!write(&store, move |unit| mail::send(unit, gone, &letter("lost"))).await);
    write(&store, move |unit| mail::send_to_others(unit, one, &letter("to all"))).await;
    let bodies = async |me: RunId| -> Vec<String> {
        let taken = write(&store, move |unit| mail::take(unit, me, "test/1")).await;
        taken.into_iter().map(|letter| letter.body).collect()
    };
    assert!(bodies(one).await.is_empty(), "nobody writes to themselves");
    let expected: Vec<String> =
        (0..20).map(|number| number.to_string()).chain(["to all".to_owned()]).collect();
    assert_eq!(bodies(two).await, expected);
    assert!(bodies(two).await.is_empty());
    write(&store, move |unit| mail::send_to_others(unit, one, &letter("to all"))).await;
    let others = write(&store, move |unit| mail::take(unit, two, "test/2")).await;
    assert_eq!((others, bodies(two).await.len()), (Vec::new(), 1), "each takes its own kind");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deferred_call_ends_once_and_takes_answers_to_what_it_asks() {
    let database = Database::postgres();
    let store = database.open();
    let replica = join(&store).await;
    let call = NewCall {
        id: "c1".to_owned(),
        owner: "ada".to_owned(),
        tool: "slow".to_owned(),
        message: Some("begun".to_owned()),
        replica,
        created_at: jiff::Timestamp::now(),
    };
    write(&store, move |unit| deferred::put(unit, &call, HOUR)).await;
    let get = async |owner: &'static str| read(&store, move |unit| deferred::get(unit, "c1", owner)).await;
    assert!(get("eve").await.is_none());
    let found = get("ada").await.unwrap();
    assert_eq!((found.progress.status, found.is_alive), (Status::Working, true));
    let progress = |status, requests: Value, outcome: Option<&str>| Progress {
        status,
        message: None,
        requests: requests.as_object().cloned().unwrap_or_default(),
        outcome: outcome.map(str::to_owned),
        updated_at: jiff::Timestamp::now(),
    };
    let asks = progress(Status::InputRequired, json!({ "one": {}, "two": {} }), None);
    assert!(write(&store, move |unit| deferred::advance(unit, "c1", &asks)).await);
    let answer = async |key: &'static str| {
        let responses = Map::from_iter([(key.to_owned(), json!("yes"))]);
        let answered = move |unit: &mut Unit<'_>| {
            deferred::answer(unit, "c1", "ada", &responses, jiff::Timestamp::now())
        };
        let (call, is_changed) = write(&store, answered).await.unwrap();
        (call.progress.status, call.responses.len(), is_changed)
    };
    assert_eq!(answer("three").await, (Status::InputRequired, 0, false));
    assert_eq!(answer("one").await, (Status::InputRequired, 1, true));
    assert_eq!(answer("one").await, (Status::InputRequired, 1, false));
    assert_eq!(answer("two").await, (Status::Working, 2, true));
    let cancel = |owner: &'static str| {
        write(&store, move |unit| deferred::cancel(unit, "c1", owner, jiff::Timestamp::now()))
    };
    assert_eq!(cancel("eve").await, None);
    assert_eq!(cancel("ada").await, Some(true));
    assert_eq!(cancel("ada").await, Some(false));
    let done = progress(Status::Completed, json!({}), Some("{}"));
    assert!(!write(&store, move |unit| deferred::advance(unit, "c1", &done)).await, "it has ended");
    assert_eq!(get("ada").await.unwrap().progress.status, Status::Cancelled);
    write(&store, move |unit| replicas::leave(unit, replica)).await;
    assert!(!get("ada").await.unwrap().is_alive);
}
