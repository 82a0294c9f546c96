//! The bell between processes that share a PostgreSQL database; two stores stand for two processes.

use std::sync::Arc;
use std::time::Instant;

use toolroom_contract::ids::RunId;
use toolroom_store::bell::{self, Subscription, TICK};
use toolroom_store::{Lease, Store, StoreError};

use crate::support::{Database, cut_connections, write};

fn shared(database: &Database) -> Store {
    let store = database.open();
    store.share(Arc::new(Lease::new(RunId::new(), Instant::now(), 2)));
    store
}

/// Rings until it is heard, then lets what was rung too often come to its end.
async fn until_heard(from: &Store, subscription: &mut Subscription) {
    let began = Instant::now();
    loop {
        from.ring("kind", "key");
        if subscription.rung().await {
            break;
        }
        assert!(began.elapsed() < 60 * TICK, "never heard");
    }
    while subscription.rung().await {}
}

#[tokio::test]
async fn what_one_process_rings_another_hears_sooner_than_by_a_tick() {
    let database = Database::postgres();
    let (first, second) = (shared(&database), shared(&database));
    let (mut heard, mut other) = (second.subscribe("kind", "key"), second.subscribe("kind", "other"));
    until_heard(&first, &mut heard).await;
    while other.rung().await {}
    // On a machine that is busy, one may take longer.
    let mut in_time = 0;
    for _ in 0..10 {
        write(&first, |unit| bell::ring(unit, "kind", "key")).await;
        in_time += u32::from(heard.rung().await);
    }
    assert!(in_time >= 5, "{in_time} of 10");
    while heard.rung().await {}
    assert!(!other.rung().await, "it was rung for something else");
    // What is not committed is not rung.
    let undone = first.write(|unit| {
        bell::ring(unit, "kind", "key")?;
        Err::<(), _>(StoreError::Late)
    });
    undone.await.unwrap_err();
    assert!(!heard.rung().await);
}

#[tokio::test]
async fn the_bell_is_heard_again_after_its_connection_broke() {
    let database = Database::postgres();
    let (first, second) = (shared(&database), shared(&database));
    let mut heard = second.subscribe("kind", "key");
    until_heard(&first, &mut heard).await;
    cut_connections(&database.text);
    until_heard(&first, &mut heard).await;
}

#[tokio::test]
async fn one_process_alone_hears_itself_without_a_database() {
    let store = Database::sqlite().open();
    let mut heard = store.subscribe("kind", "key");
    assert!(!heard.rung().await);
    store.ring("kind", "key");
    assert!(heard.rung().await);
}
