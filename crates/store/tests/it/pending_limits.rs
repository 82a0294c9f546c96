//! PendingRequest requests: bound to the key that asked, at most so many of a user, listed so that nobody hides another's.

use jiff::{Timestamp, ToSpan};
use serde_json::json;
use toolroom_contract::ids::{KeyId, PendingId, UserId};
use toolroom_store::Store;
use toolroom_store::keys::{self, NewKey};
use toolroom_store::pending::{
    self, Asker, Decision, Filter, Kind, MOST_OPEN, NewPending, OpenError, PendingRequest, State, Taken,
};

use crate::support::{on_both, read, user, write};

fn request(asker: Asker, hash: &str) -> NewPending {
    NewPending {
        kind: Kind::Approval,
        asker,
        tool: "delete-task".to_owned(),
        profile: "default".to_owned(),
        arguments_hash: hash.to_owned(),
        origin: Default::default(),
        arguments: json!({}),
        prompt: json!({}),
        expires_at: Timestamp::now() + 5.minutes(),
    }
}

async fn open(store: &Store, asker: Asker, hash: &str) -> Result<PendingRequest, OpenError> {
    let new = request(asker, hash);
    store.write(move |unit| pending::open(unit, &new)).await
}

async fn approve(store: &Store, id: PendingId, by: UserId) -> Result<PendingRequest, pending::DecideError> {
    store.write(move |unit| pending::decide(unit, id, &Decision::Approve, by)).await
}

async fn take(store: &Store, id: PendingId, asker: Asker) -> Taken {
    write(store, move |unit| pending::take(unit, id, asker, "delete-task", "aa")).await
}

async fn key(store: &Store, user: UserId) -> KeyId {
    let new =
        NewKey { user, grants: Vec::new(), profiles: None, person: false, note: None, expires_at: None };
    write(store, move |unit| keys::create(unit, &new)).await.0.id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_good_for_the_key_that_asked_and_ends_with_it() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let (one, other) = (key(&store, anna).await, key(&store, anna).await);
        let (asker, stranger) =
            (Asker { user: anna, key: Some(one) }, Asker { user: anna, key: Some(other) });
        let id = open(&store, asker, "aa").await.unwrap().id;
        approve(&store, id, anna).await.unwrap();
        assert_eq!(take(&store, id, stranger).await, Taken::NotFound);
        assert_eq!(take(&store, id, Asker { user: anna, key: None }).await, Taken::NotFound);
        let waiting = open(&store, asker, "bb").await.unwrap().id;
        assert!(write(&store, move |unit| keys::revoke(unit, one)).await);
        assert_eq!(take(&store, id, asker).await, Taken::Expired, "agreed to, and not used by then");
        let late = approve(&store, waiting, anna).await;
        assert!(matches!(late, Err(pending::DecideError::Expired)), "{late:?}");
        let revoked = read(&store, move |unit| keys::revoked_among(unit, &[one, other])).await;
        assert_eq!(revoked, [one]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_at_most_a_hundred_open_however_many_ask_at_once() {
    on_both(|store| async move {
        let anna = Asker { user: user(&store, "anna").await.id, key: None };
        let bo = Asker { user: user(&store, "bo").await.id, key: None };
        let asking = (0..MOST_OPEN + 20).map(|at| {
            let store = store.clone();
            tokio::spawn(async move { open(&store, anna, &format!("{at}")).await })
        });
        let mut opened = Vec::new();
        for asked in asking.collect::<Vec<_>>() {
            match asked.await.unwrap() {
                Ok(request) => opened.push(request.id),
                Err(OpenError::TooMany(until)) => assert!(until > Timestamp::now()),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(opened.len() as i64, MOST_OPEN);
        open(&store, bo, "x").await.expect("a colleague's place is their own");
        approve(&store, opened[0], bo.user).await.unwrap();
        open(&store, anna, "x").await.expect("what is decided makes room");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_what_is_open_go_by_turns_and_lose_nothing_when_some_are_decided_meanwhile() {
    on_both(|store| async move {
        let anna = Asker { user: user(&store, "anna").await.id, key: None };
        let bo = Asker { user: user(&store, "bo").await.id, key: None };
        let lone = open(&store, bo, "b").await.unwrap().id;
        let mut own = Vec::new();
        for at in 0..9 {
            own.push(open(&store, anna, &format!("{at}")).await.unwrap().id);
        }
        let page = async |after| {
            let filter = Filter { open_only: true, limit: 4, after, ..Filter::default() };
            read(&store, move |unit| pending::list(unit, &filter)).await
        };
        let first = page(None).await;
        let ids: Vec<PendingId> = first.found.iter().map(|one| one.id).collect();
        assert_eq!(ids, [own[8], lone, own[7], own[6]], "the newest of each comes first");
        approve(&store, own[8], anna.user).await.unwrap();
        open(&store, anna, "later").await.unwrap();
        let cursor = first.next.unwrap();
        assert_eq!(cursor.to_string().parse::<pending::Cursor>().unwrap(), cursor);
        let second = page(Some(cursor)).await;
        let ids: Vec<PendingId> = second.found.iter().map(|one| one.id).collect();
        assert_eq!(ids, [own[5], own[4], own[3], own[2]]);
        let third = page(second.next).await;
        let ids: Vec<PendingId> = third.found.iter().map(|one| one.id).collect();
        assert_eq!((ids.as_slice(), third.next), (&[own[1], own[0]][..], None));
        let all = Filter { limit: 3, ..Filter::default() };
        let all = read(&store, move |unit| pending::list(unit, &all)).await;
        assert!(all.found.iter().all(|one| one.user == anna.user) && all.next.is_some(), "by age");
        let elsewhere = Filter { profiles: Some(vec!["assistant".into()]), ..Filter::default() };
        assert!(read(&store, move |unit| pending::list(unit, &elsewhere)).await.found.is_empty());
        let state = read(&store, move |unit| pending::get(unit, own[8])).await.unwrap().state;
        assert_eq!(state, State::Approved);
    })
    .await;
}
