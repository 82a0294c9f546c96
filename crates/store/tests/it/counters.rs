//! Calls that are counted over all processes on one PostgreSQL database.

use std::time::Duration;

use postgres::{Client, NoTls};
use toolroom_contract::definition::RateLimit;
use toolroom_contract::ids::UserId;
use toolroom_store::Store;
use toolroom_store::counters::{self, Counted};

use crate::support::Database;

const LIMIT: RateLimit = RateLimit { max_calls: 1, window_ms: 20_000 };
/// The database's time in milliseconds, as the counters have it.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

async fn count(store: &Store) -> Counted {
    store.once(|unit| counters::count(unit, 7, UserId(1), LIMIT)).await.unwrap()
}

/// While one process waits for the row, another uses up what there was: the first is told of that call, not of the one
/// that it saw when it began.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_after_a_race_is_told_when_there_is_room() {
    let database = Database::postgres();
    let (store, url) = (database.open(), database.text.clone());
    assert_eq!(count(&store).await, Counted::Yes);
    // In a thread, because the driver brings its own runtime.
    let counting = tokio::task::spawn_blocking(move || {
        let mut client = Client::connect(&url, NoTls).unwrap();
        // The call that is there is almost over.
        client.batch_execute(&format!("UPDATE counters SET lasts = ARRAY[{NOW} - 19000]")).unwrap();
        let mut other = client.transaction().unwrap();
        other.batch_execute(&format!("UPDATE counters SET lasts = ARRAY[{NOW}]")).unwrap();
        let counting = tokio::runtime::Handle::current().spawn(async move { count(&store).await });
        // It has begun, and waits. Asked by another connection: in a transaction, what is seen of others stands still.
        let mut watcher = Client::connect(&url, NoTls).unwrap();
        let waits = "SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while watcher.query_one(waits, &[]).unwrap().get::<_, i64>(0) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        other.commit().unwrap();
        counting
    });
    let counted = counting.await.unwrap().await.unwrap();
    assert!(matches!(counted, Counted::No { wait: 15_000..=20_000 }), "{counted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_clock_that_went_back_keeps_nobody_out_for_longer_than_a_window() {
    let database = Database::postgres();
    let store = database.open();
    assert_eq!(count(&store).await, Counted::Yes);
    // Back by less than a window: the call may have been just now.
    database.run_sql(&format!("UPDATE counters SET lasts = ARRAY[{NOW} + 15000]"));
    let counted = count(&store).await;
    assert!(matches!(counted, Counted::No { wait: 1..=20_000 }), "{counted:?}");
    // By more: nobody waits until the clock has caught up.
    database.run_sql(&format!("UPDATE counters SET lasts = ARRAY[{NOW} + 3600000]"));
    assert_eq!(count(&store).await, Counted::Yes);
    let counted = count(&store).await;
    assert!(matches!(counted, Counted::No { wait: 1..=20_000 }), "what was ahead is gone: {counted:?}");
}
