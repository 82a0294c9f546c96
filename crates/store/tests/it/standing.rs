//! Standing approvals: good for one caller, one tool and one definition, until they end.

use jiff::{Timestamp, ToSpan};
use serde_json::json;
use toolroom_contract::ids::{KeyId, PendingId, UserId};
use toolroom_store::pending::{self, Asker, Decision, Kind, NewPending, Origin, State};
use toolroom_store::standing::{self, Standing};
use toolroom_store::{Store, StoreError, keys};

use crate::support::{on_both, read, user, write};

async fn key(store: &Store, user: UserId) -> KeyId {
    let new = keys::NewKey {
        user,
        grants: Vec::new(),
        profiles: None,
        person: false,
        note: None,
        expires_at: None,
    };
    write(store, move |unit| keys::create(unit, &new)).await.0.id
}

async fn request(store: &Store, asker: Asker, hash: &str) -> PendingId {
    let new = NewPending {
        kind: Kind::Approval,
        asker,
        tool: "delete-task".to_owned(),
        profile: "default".to_owned(),
        arguments_hash: hash.to_owned(),
        origin: Origin { agent: Some("clerk".to_owned()), ..Origin::default() },
        arguments: json!({}),
        prompt: json!({}),
        expires_at: Timestamp::now() + 5.minutes(),
    };
    store.write(move |unit| pending::open(unit, &new)).await.unwrap().id
}

async fn give(store: &Store, asker: Asker) -> Standing {
    let id = request(store, asker, "00").await;
    let given: Result<Standing, pending::DecideError> = store
        .write(move |unit| {
            let decided = pending::decide(unit, id, &Decision::Approve, asker.user)?;
            let until = unit.now + 2.hours();
            Ok(standing::give(unit, &decided, "as shown", asker.user, until)?)
        })
        .await;
    given.unwrap()
}

async fn found(store: &Store, asker: Asker, tool: &'static str, definition: &'static str) -> bool {
    read(store, move |unit| standing::find(unit, asker, Some("clerk"), tool, definition)).await.is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_found_by_its_caller_tool_and_definition_until_it_ends() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let asker = Asker { user: anna, key: Some(key(&store, anna).await) };
        let other = Asker { user: anna, key: Some(key(&store, anna).await) };
        let given = give(&store, asker).await;
        assert_eq!((given.agent.as_deref(), given.used, &given.uses), (Some("clerk"), 0, &json!([])));
        assert!(found(&store, asker, "delete-task", "as shown").await);
        assert!(!found(&store, asker, "delete-task", "changed").await);
        assert!(!found(&store, asker, "delete-card", "as shown").await);
        assert!(!found(&store, other, "delete-task", "as shown").await);
        assert!(!found(&store, Asker { user: anna, key: None }, "delete-task", "as shown").await);
        for shift in [3.hours(), -1.hours()] {
            let moved = store.read(move |unit| {
                unit.now += shift;
                standing::find(unit, asker, None, "delete-task", "as shown")
            });
            let moved: Result<_, StoreError> = moved.await;
            assert!(moved.unwrap().is_none(), "neither past its end nor before its beginning");
        }
        assert_eq!(read(&store, move |unit| standing::list(unit, Some(anna))).await.len(), 1);
        assert!(read(&store, |unit| standing::list(unit, Some(UserId(999)))).await.is_empty());
        assert!(write(&store, move |unit| standing::end(unit, given.id)).await);
        assert!(!write(&store, move |unit| standing::end(unit, given.id)).await);
        assert!(!found(&store, asker, "delete-task", "as shown").await);
        assert!(read(&store, |unit| standing::list(unit, None)).await.is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_it_is_for_the_program_that_asked() {
    on_both(|store| async move {
        let asker = Asker { user: user(&store, "local").await.id, key: None };
        give(&store, asker).await;
        assert!(found(&store, asker, "delete-task", "as shown").await);
        for other in [Some("another"), None] {
            let found =
                read(&store, move |unit| standing::find(unit, asker, other, "delete-task", "as shown"));
            assert!(found.await.is_none(), "{other:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_says_what_it_let_through_and_ends_with_its_key() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let key = key(&store, anna).await;
        let asker = Asker { user: anna, key: Some(key) };
        let given = give(&store, asker).await;
        for at in 0..60 {
            let given = given.clone();
            assert!(write(&store, move |unit| standing::note_use(unit, &given, &json!({ "n": at }))).await);
        }
        let listed = read(&store, |unit| standing::list(unit, None)).await.remove(0);
        assert_eq!((listed.used, &listed.uses[0]), (60, &json!({ "n": 59 })));
        assert_eq!(listed.uses.as_array().unwrap().len(), 50);
        assert!(listed.last_used_at.is_some());

        let (used, id) = (given.clone(), given.id);
        let refused = json!({ "executionId": "e1", "at": "2026-01-01T00:00:00Z" });
        assert!(write(&store, move |unit| standing::note_use(unit, &used, &refused)).await);
        write(&store, move |unit| standing::take_back(unit, id, "e1")).await;
        let listed = read(&store, |unit| standing::list(unit, None)).await.remove(0);
        assert_eq!(
            (listed.used, &listed.uses[0]),
            (60, &json!({ "n": 59 })),
            "a refused call does not count"
        );

        let open = request(&store, asker, "01").await;
        write(&store, move |unit| pending::use_standing(unit, open, anna)).await;
        let used = read(&store, move |unit| pending::get(unit, open)).await.unwrap();
        assert_eq!((used.state, used.decided_by), (State::Used, Some(anna)));

        assert!(write(&store, move |unit| keys::revoke(unit, key)).await);
        assert!(!found(&store, asker, "delete-task", "as shown").await);
        assert!(!write(&store, move |unit| standing::note_use(unit, &given, &json!({}))).await);
    })
    .await;
}
