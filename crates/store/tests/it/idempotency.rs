//! Idempotency: one claim wins, its answer stays, and a second effect is told to roll back.

use jiff::ToSpan;
use toolroom_contract::ids::{RunId, UserId};
use toolroom_store::idempotency::{self, Begun, Claim, Finished, State};

use crate::support::{on_both, read, user, write};

fn claim(user: UserId) -> Claim {
    Claim { user, key: "k-1".to_owned(), body_hash: "abc".to_owned(), run: RunId::new() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_goes_from_started_to_done_and_can_be_forgotten() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let bo = user(&store, "bo").await.id;
        let mine = claim(anna);

        let c = mine.clone();
        assert_eq!(write(&store, move |unit| idempotency::begin(unit, &c)).await, Begun::Fresh);
        let c = mine.clone();
        let Begun::Exists(record) = write(&store, move |unit| idempotency::begin(unit, &c)).await else {
            panic!("claimed twice")
        };
        assert_eq!(
            (&record.state, &record.body_hash, record.run),
            (&State::Started, &mine.body_hash, mine.run)
        );
        let others = Claim { user: bo, ..mine.clone() };
        assert_eq!(write(&store, move |unit| idempotency::begin(unit, &others)).await, Begun::Fresh);

        let c = mine.clone();
        let finished = write(&store, move |unit| idempotency::finish(unit, &c, "{\"a\":1}")).await;
        assert_eq!(finished, Finished::Recorded);
        let record = read(&store, move |unit| idempotency::lookup(unit, anna, "k-1")).await.unwrap();
        assert_eq!(record.state, State::Done("{\"a\":1}".to_owned()));

        assert!(write(&store, move |unit| idempotency::forget(unit, anna, "k-1")).await);
        assert_eq!(read(&store, move |unit| idempotency::lookup(unit, anna, "k-1")).await, None);
        assert!(!write(&store, move |unit| idempotency::forget(unit, anna, "k-1")).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_callers_at_once_one_is_fresh() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let callers: Vec<_> = (0..50)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move {
                    write(&store, move |unit| idempotency::begin(unit, &claim(anna))).await
                })
            })
            .collect();
        let mut fresh = 0;
        for caller in callers {
            fresh += usize::from(caller.await.unwrap() == Begun::Fresh);
        }
        assert_eq!(fresh, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_effects_with_one_key_one_is_recorded() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let run = RunId::new();
        let callers: Vec<_> = (0..30)
            .map(|number| {
                let store = store.clone();
                let claim = Claim { run, ..claim(anna) };
                let answer = number.to_string();
                tokio::spawn(async move {
                    write(&store, move |unit| idempotency::finish(unit, &claim, &answer)).await
                })
            })
            .collect();
        let mut recorded = Vec::new();
        for (number, caller) in callers.into_iter().enumerate() {
            if caller.await.unwrap() == Finished::Recorded {
                recorded.push(number.to_string());
            }
        }
        assert_eq!(recorded.len(), 1);
        let record = read(&store, move |unit| idempotency::lookup(unit, anna, "k-1")).await.unwrap();
        assert_eq!(record.state, State::Done(recorded.remove(0)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_run_or_body_started_is_not_finished_here() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let mine = claim(anna);
        let c = mine.clone();
        assert_eq!(write(&store, move |unit| idempotency::begin(unit, &c)).await, Begun::Fresh);
        let other_run = Claim { run: RunId::new(), ..mine.clone() };
        let other_body = Claim { body_hash: "def".to_owned(), ..mine };
        for other in [other_run, other_body] {
            let finished = write(&store, move |unit| idempotency::finish(unit, &other, "1")).await;
            assert!(matches!(finished, Finished::Exists(record) if record.state == State::Started));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_records_are_purged_and_young_ones_stay() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        let mut old = claim(anna);
        old.key = "old".to_owned();
        let _ = write(&store, move |unit| {
            unit.now -= 25.hours();
            idempotency::begin(unit, &old)
        })
        .await;
        let _ = write(&store, move |unit| idempotency::begin(unit, &claim(anna))).await;
        let purge = |unit: &mut toolroom_store::Unit<'_>| idempotency::purge(unit, unit.now - 24.hours());
        assert_eq!(write(&store, purge).await, 1);
        assert!(read(&store, move |unit| idempotency::lookup(unit, anna, "old")).await.is_none());
        assert!(read(&store, move |unit| idempotency::lookup(unit, anna, "k-1")).await.is_some());
    })
    .await;
}
