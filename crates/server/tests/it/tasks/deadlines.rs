//! What was answered as failed is never done later: tables that another session keeps locked on PostgreSQL.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use serde_json::{Value, json};

use super::databases::Database;
use super::profile_client::ProfileClient;
use crate::test_server::TestServer;

/// Keeps others from writing tasks until it is dropped.
struct Locked(Option<(mpsc::Sender<()>, std::thread::JoinHandle<()>)>);

impl Locked {
    fn on(url: String) -> Self {
        let (release, released) = mpsc::channel::<()>();
        let (lock, is_locked) = mpsc::channel();
        let session = std::thread::spawn(move || {
            let mut client = Client::connect(&url, NoTls).unwrap();
            client.batch_execute("BEGIN; LOCK TABLE tasks IN SHARE MODE").unwrap();
            lock.send(()).unwrap();
            let _ = released.recv();
            client.batch_execute("COMMIT").unwrap();
        });
        is_locked.recv().unwrap();
        Self(Some((release, session)))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if let Some((release, session)) = self.0.take() {
            drop(release);
            session.join().unwrap();
        }
    }
}

async fn titles(ada: &ProfileClient<'_>) -> Vec<String> {
    let (_, listed) = ada.call("list-tasks", json!({})).await;
    let tasks = listed["data"]["tasks"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgresql_a_change_that_was_answered_as_timed_out_is_never_made() {
    let database = Database::postgres();
    let server = TestServer::on(&database.url);
    let ada = ProfileClient::new(&server, "assistant", "ada").await;
    let kept = ada.call("create-task", json!({ "title": "kept" })).await.1["data"]["task"]["taskId"].clone();
    let lock = Locked::on(database.text());
    let began = Instant::now();
    let (created, completed, added) = tokio::join!(
        ada.call("create-task", json!({ "title": "late" })),
        ada.call("complete-task", json!({ "taskId": kept })),
        ada.ask("add_task", json!({ "title": "late too" })),
    );
    let took = began.elapsed();
    // The limit is 5 s; the lock would hold them up forever.
    assert!(took < Duration::from_secs(20), "answered at the deadline, not after {took:?}");
    for (status, answer) in [created, completed] {
        let error = &answer["error"];
        assert_eq!((status, error["code"].as_str()), (504, Some("tool_timeout")), "{answer}");
        assert_eq!(error["outcome"], Value::Null, "{answer}");
    }
    assert_eq!(added["code"], "DATABASE_ERROR", "{added}");

    drop(lock);
    // Whatever still waited in the database for the lock has had it before this.
    let (status, after) = ada.call("create-task", json!({ "title": "after" })).await;
    assert_eq!(status, 200, "{after}");
    assert_eq!(titles(&ada).await, ["after", "kept"]);
    let (_, task) = ada.call("get-task", json!({ "taskId": kept })).await;
    assert_eq!(task["data"]["task"]["status"], "pending", "{task}");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgresql_a_change_whose_caller_left_is_never_made() {
    let database = Database::postgres();
    let server = TestServer::on(&database.url);
    let ada = ProfileClient::new(&server, "assistant", "ada").await;
    ada.call("list-tasks", json!({})).await;
    let lock = Locked::on(database.text());
    // Dropped half way, as when a connection goes.
    let left =
        tokio::time::timeout(Duration::from_millis(500), ada.call("create-task", json!({ "title": "left" })));
    assert!(left.await.is_err(), "it waits for the lock");
    drop(lock);
    let (status, after) = ada.call("create-task", json!({ "title": "after" })).await;
    assert_eq!(status, 200, "{after}");
    assert_eq!(titles(&ada).await, ["after"]);
}

/// The commit itself takes longer than the call may: a constraint that PostgreSQL checks last of all sleeps.
#[tokio::test(flavor = "multi_thread")]
async fn on_postgresql_a_commit_that_is_under_way_at_the_deadline_has_an_unknown_outcome() {
    let database = Database::postgres();
    let server = TestServer::on(&database.url);
    let ada = ProfileClient::new(&server, "assistant", "ada").await;
    ada.call("create-task", json!({ "title": "before" })).await;
    database.run_sql(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN IF NEW.title = 'late' THEN PERFORM pg_sleep(8); END IF; RETURN NULL; END $$;
         CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON tasks DEFERRABLE INITIALLY DEFERRED
           FOR EACH ROW EXECUTE FUNCTION slow()",
    );
    let (status, answer) = ada.call("create-task", json!({ "title": "late" })).await;
    let error = &answer["error"];
    assert_eq!((status, error["code"].as_str()), (504, Some("tool_timeout")), "{answer}");
    assert_eq!((&error["outcome"], &error["retryable"]), (&json!("unknown"), &json!(false)), "{answer}");
    assert!(!error["message"].as_str().unwrap().contains("Nothing was changed"), "{answer}");
    // It did happen, as it might.
    let began = Instant::now();
    while titles(&ada).await != ["late", "before"] {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", titles(&ada).await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
