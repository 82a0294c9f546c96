//! PendingRequest requests: decided once, in time, by the right kind of decision, and used once by the right call.

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use toolroom_contract::ids::{PendingId, UserId};
use toolroom_store::pending::{
    self, Asker, DecideError, Decision, Filter, Kind, NewPending, OpenError, PendingRequest, State, Taken,
};
use toolroom_store::{Store, StoreError};

use crate::support::{on_both, read, user, write};

fn request(kind: Kind, user: UserId) -> NewPending {
    NewPending {
        kind,
        asker: by(user),
        tool: "delete-task".to_owned(),
        profile: "default".to_owned(),
        arguments_hash: "00ff".to_owned(),
        origin: Default::default(),
        arguments: json!({"taskId": 3}),
        prompt: json!({"text": "Delete \u{1F480} \u{0} it?"}),
        expires_at: Timestamp::now() + 5.minutes(),
    }
}

/// A user without a key.
pub fn by(user: UserId) -> Asker {
    Asker { user, key: None }
}

async fn opened(store: &Store, new: NewPending) -> Result<PendingRequest, OpenError> {
    store.write(move |unit| pending::open(unit, &new)).await
}

async fn open(store: &Store, kind: Kind, user: UserId) -> PendingRequest {
    opened(store, request(kind, user)).await.unwrap()
}

async fn decide(
    store: &Store,
    id: PendingId,
    decision: Decision,
    by: UserId,
) -> Result<PendingRequest, DecideError> {
    store.write(move |unit| pending::decide(unit, id, &decision, by)).await
}

async fn take(store: &Store, id: PendingId, user: UserId) -> Taken {
    write(store, move |unit| pending::take(unit, id, by(user), "delete-task", "00ff")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_read_back_decided_and_used_once() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let bo = user(&store, "bo").await.id;
        let opened = open(&store, Kind::Approval, anna).await;
        let id = opened.id;
        assert_eq!(read(&store, move |unit| pending::get(unit, id)).await.as_ref(), Some(&opened));
        assert_eq!(take(&store, id, anna).await, Taken::StillOpen(Box::new(opened)));

        let decided = decide(&store, id, Decision::Approve, bo).await.unwrap();
        assert_eq!((decided.state, decided.decided_by), (State::Approved, Some(bo)));
        assert!(decided.decided_at.is_some());
        let again = decide(&store, id, Decision::Deny(None), bo).await;
        assert!(matches!(again, Err(DecideError::AlreadyDecided(_))));

        assert_eq!(take(&store, id, anna).await, Taken::Approved);
        assert_eq!(take(&store, id, anna).await, Taken::Used);
        let used = read(&store, move |unit| pending::get(unit, id)).await.unwrap();
        assert_eq!(used.state, State::Used);
        assert!(used.used_at.is_some());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_same_caller_tool_and_arguments_can_take_it() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let bo = user(&store, "bo").await.id;
        let id = open(&store, Kind::Approval, anna).await.id;
        decide(&store, id, Decision::Approve, anna).await.unwrap();
        for (user, tool, hash) in
            [(bo, "delete-task", "00ff"), (anna, "other", "00ff"), (anna, "delete-task", "00fe")]
        {
            let taken = write(&store, move |unit| pending::take(unit, id, by(user), tool, hash)).await;
            assert_eq!(taken, Taken::NotFound);
        }
        assert_eq!(take(&store, PendingId::new(), anna).await, Taken::NotFound);
        assert_eq!(take(&store, id, anna).await, Taken::Approved, "the others did not use it up");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_takers_one_gets_it() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let id = open(&store, Kind::Confirmation, anna).await.id;
        decide(&store, id, Decision::Approve, anna).await.unwrap();
        let takers: Vec<_> = (0..16)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move { take(&store, id, anna).await })
            })
            .collect();
        let mut approved = 0;
        for taker in takers {
            match taker.await.unwrap() {
                Taken::Approved => approved += 1,
                Taken::Used => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(approved, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_takes_an_answer_and_an_approval_does_not() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let question = open(&store, Kind::Question, anna).await.id;
        let wrong = decide(&store, question, Decision::Approve, anna).await;
        assert!(matches!(wrong, Err(DecideError::WrongKind)));
        decide(&store, question, Decision::Answer(json!("blue")), anna).await.unwrap();
        assert_eq!(take(&store, question, anna).await, Taken::Answered(json!("blue")));

        let empty = open(&store, Kind::Question, anna).await.id;
        decide(&store, empty, Decision::Answer(Value::Null), anna).await.unwrap();
        assert_eq!(take(&store, empty, anna).await, Taken::Answered(Value::Null), "null is an answer too");

        let approval = open(&store, Kind::Approval, anna).await.id;
        let wrong = decide(&store, approval, Decision::Answer(json!(true)), anna).await;
        assert!(matches!(wrong, Err(DecideError::WrongKind)));
        decide(&store, approval, Decision::Deny(None), anna).await.unwrap();
        assert_eq!(take(&store, approval, anna).await, Taken::Denied(None));
        assert_eq!(take(&store, approval, anna).await, Taken::DeniedBefore(None), "and not asked again");
        let nothing = decide(&store, PendingId::new(), Decision::Deny(None), anna).await;
        assert!(matches!(nothing, Err(DecideError::NotFound)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn past_the_deadline_nothing_is_decided_or_used() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let open_id = open(&store, Kind::Approval, anna).await.id;
        let approved_id = open(&store, Kind::Approval, anna).await.id;
        decide(&store, approved_id, Decision::Approve, anna).await.unwrap();
        let late: Result<_, DecideError> = store
            .write(move |unit| {
                unit.now += 6.minutes();
                pending::decide(unit, open_id, &Decision::Approve, anna)
            })
            .await;
        assert!(matches!(late, Err(DecideError::Expired)));
        for id in [open_id, approved_id] {
            let taken = write(&store, move |unit| {
                unit.now += 6.minutes();
                pending::take(unit, id, by(anna), "delete-task", "00ff")
            });
            assert_eq!(taken.await, Taken::Expired);
        }
        let unseen = open(&store, Kind::Approval, anna).await.id;
        assert_eq!(write(&store, pending::expire_old).await, 0);
        let swept = write(&store, |unit| {
            unit.now += 6.minutes();
            pending::expire_old(unit)
        });
        assert_eq!(swept.await, 1, "the others are settled already");
        assert_eq!(take(&store, unseen, anna).await, Taken::Expired);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_steps_back_revives_nothing() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let (used, decided, listed) = (
            open(&store, Kind::Approval, anna).await.id,
            open(&store, Kind::Approval, anna).await.id,
            open(&store, Kind::Approval, anna).await.id,
        );
        decide(&store, used, Decision::Approve, anna).await.unwrap();
        let late = |id| {
            write(&store, move |unit| {
                unit.now += 6.minutes();
                pending::take(unit, id, by(anna), "delete-task", "00ff")
            })
        };
        assert_eq!(late(used).await, Taken::Expired);
        let too_late: Result<_, DecideError> = store
            .write(move |unit| {
                unit.now += 6.minutes();
                pending::decide(unit, decided, &Decision::Approve, anna)
            })
            .await;
        assert!(matches!(too_late, Err(DecideError::Expired)));
        write(&store, |unit| {
            unit.now += 6.minutes();
            pending::list(unit, &Filter::default())
        })
        .await;
        // From here on the clock is back where they were open.
        assert_eq!(take(&store, used, anna).await, Taken::Expired);
        for id in [decided, listed] {
            let again = decide(&store, id, Decision::Approve, anna).await;
            assert!(matches!(again, Err(DecideError::Expired)), "{again:?}");
        }
        let open_ones = Filter { open_only: true, ..Filter::default() };
        assert!(write(&store, move |unit| pending::list(unit, &open_ones)).await.found.is_empty());
        let before = write(&store, move |unit| {
            let request = pending::find_current(unit, by(anna), "delete-task", "00ff")?;
            Ok(request.is_none())
        });
        assert!(before.await, "the same call asks anew");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_newest_first_and_filtered() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let bo = user(&store, "bo").await.id;
        let first = open(&store, Kind::Approval, anna).await.id;
        let second = open(&store, Kind::Question, anna).await.id;
        let third = open(&store, Kind::Approval, bo).await.id;
        decide(&store, first, Decision::Deny(None), anna).await.unwrap();
        let ids = async |user, open_only| {
            let filter = Filter { user, open_only, ..Filter::default() };
            let listed = read(&store, move |unit| pending::list(unit, &filter)).await.found;
            listed.into_iter().map(|request| request.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(None, false).await, [third, second, first]);
        assert_eq!(ids(None, true).await, [third, second]);
        assert_eq!(ids(Some(anna), false).await, [second, first]);
        assert_eq!(ids(Some(anna), true).await, [second]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_call_finds_its_matter_until_it_is_used() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let bo = user(&store, "bo").await.id;
        let id = open(&store, Kind::Approval, anna).await.id;
        let find = async |user, tool: &'static str, later| {
            let found: Result<_, StoreError> = store
                .read(move |unit| {
                    unit.now += jiff::SignedDuration::from_mins(later);
                    pending::find_current(unit, by(user), tool, "00ff")
                })
                .await;
            found.unwrap().map(|request| request.id)
        };
        assert_eq!(find(anna, "delete-task", 0).await, Some(id));
        assert_eq!(find(bo, "delete-task", 0).await, None);
        assert_eq!(find(anna, "delete-card", 0).await, None);
        assert_eq!(find(anna, "delete-task", 6).await, None, "expired");
        decide(&store, id, Decision::Approve, anna).await.unwrap();
        assert_eq!(find(anna, "delete-task", 0).await, Some(id), "decided, not used");
        assert_eq!(take(&store, id, anna).await, Taken::Approved);
        assert_eq!(find(anna, "delete-task", 0).await, None);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_one_of_the_choices_where_there_are_any() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let ask = |choices: Value| {
            let asked = NewPending { prompt: json!({ "choices": choices }), ..request(Kind::Question, anna) };
            let store = store.clone();
            async move { opened(&store, asked).await.unwrap().id }
        };
        let id = ask(json!(["Red", "Light blue", "red"])).await;
        for wrong in [json!("green"), json!(""), json!(1), json!(null)] {
            match decide(&store, id, Decision::Answer(wrong), anna).await {
                Err(DecideError::NotAChoice(choices)) => assert_eq!(choices, ["Red", "Light blue", "red"]),
                other => panic!("{other:?}"),
            }
        }
        let decided = decide(&store, id, Decision::Answer(json!(" light BLUE")), anna).await.unwrap();
        assert_eq!(decided.answer, Some(json!("Light blue")));
        let id = ask(json!(["Red", "red"])).await;
        let decided = decide(&store, id, Decision::Answer(json!("red")), anna).await.unwrap();
        assert_eq!(decided.answer, Some(json!("red")), "what fits to the letter comes first");
        let id = ask(json!([])).await;
        let decided = decide(&store, id, Decision::Answer(json!("anything")), anna).await.unwrap();
        assert_eq!(decided.answer, Some(json!("anything")));
        let schema =
            json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let asked = NewPending { prompt: json!({ "schema": schema }), ..request(Kind::Question, anna) };
        let id = opened(&store, asked).await.unwrap().id;
        for wrong in [json!(r#"{"n":"x"}"#), json!({ "n": "x" }), json!("many"), json!(null)] {
            let refused = decide(&store, id, Decision::Answer(wrong), anna).await;
            assert!(matches!(&refused, Err(DecideError::Unfit(_))), "{refused:?}");
        }
        let decided = decide(&store, id, Decision::Answer(json!(r#"{"n": 2}"#)), anna).await.unwrap();
        assert_eq!(decided.answer, Some(json!({ "n": 2 })));
    })
    .await;
}
