//! Two processes on one PostgreSQL: a yes counts once, and one conversation is answered by one of them at a time.

use std::sync::Arc;

use postgres::{Client, NoTls};
use serde_json::json;
use toolroom_agent::{Chat, ChatError, ChatSettings, Models, UserMessage};
use toolroom_store::StoreError;
use toolroom_store::replicas::{self, Joined, Mode, Replica};

use crate::test_chat::{TestChat, TestConversation};

/// A database of its own, removed at the end.
struct Database(String);

impl Database {
    fn new() -> Self {
        let name = format!("toolroom_agent_{}", uuid::Uuid::new_v4().simple());
        administer(&format!("CREATE DATABASE {name}"));
        Self(name)
    }

    fn url(&self) -> String {
        let server = server();
        let (address, query) = server.split_once('?').unwrap_or((&server, ""));
        let (scheme, rest) = address.split_once("://").unwrap();
        let authority = rest.split('/').next().unwrap();
        format!("{scheme}://{authority}/{}?{query}", self.0)
    }

    /// A process that the others know to be alive.
    async fn home(&self) -> TestChat {
        let home = TestChat::at(&self.url(), tempfile::tempdir().unwrap(), ChatSettings::default());
        let id = home.runtime.journal.run();
        let replica = Replica {
            id,
            home: id.to_string(),
            version: "1",
            mode: Mode::Shared,
            registry_version: 0,
            knows: "[]".to_owned(),
        };
        let joined = home.runtime.store.write(move |unit| replicas::join(unit, &replica)).await;
        assert!(matches!(joined, Ok::<_, StoreError>(Joined::Shared(_))), "{joined:?}");
        home
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        administer(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.0));
    }
}

fn server() -> String {
    std::env::var("TOOLROOM_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!("TOOLROOM_TEST_POSTGRES is not set: run these tests by `cargo xtask test`, which starts PostgreSQL")
    })
}

// The driver brings its own runtime, which cannot start inside that of a test.
fn administer(sql: &str) {
    let run = || Client::connect(&server(), NoTls).unwrap().batch_execute(sql).unwrap();
    std::thread::scope(|scope| scope.spawn(run).join().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_yeses_to_two_processes_one_deletes() {
    let database = Database::new();
    let (here, there) = (database.home().await, database.home().await);
    let anna = here.user("anna").await;
    for n in 0..4 {
        let id = here.add(&anna, &format!("Task {n}")).await;
        let mut talk = here.talk(&anna, "default");
        here.script.calls("delete-task", json!({ "taskId": id }));
        talk.say(&format!("delete task {id}")).await;
        let yes = |home: &TestChat| {
            let said = UserMessage { conversation: talk.id, text: "yes".into(), ..UserMessage::default() };
            let (chat, anna) = (home.chat.clone(), Arc::clone(&anna));
            async move {
                match chat.say(&anna, said).await {
                    Ok(speaking) => speaking.answer().await.unwrap().receipts.len(),
                    Err(ChatError::InProgress) => 0,
                    Err(error) => panic!("{error}"),
                }
            }
        };
        let deleted: usize =
            futures_util::future::join_all([yes(&here), yes(&there), yes(&here), yes(&there)])
                .await
                .iter()
                .sum();
        assert_eq!(deleted, 1);
        assert!(here.titles(&anna).await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_process_asked_another_can_be_told() {
    let database = Database::new();
    let (here, there) = (database.home().await, database.home().await);
    let anna = here.user("anna").await;
    here.add(&anna, "A").await;
    let mut talk = here.talk(&anna, "assistant");
    here.script.calls("delete_task", json!({ "task_id": 1 }));
    talk.say("delete task 1").await;
    let mut other = TestConversation { id: talk.id, ..there.talk(&anna, "assistant") };
    there.script.says("");
    assert_eq!(other.say("yes").await.response, "Deleted task 1 “A”.");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_one_process_answers_another_is_told_to_wait() {
    let database = Database::new();
    let (here, there) = (database.home().await, database.home().await);
    let anna = here.user("anna").await;
    let mut talk = here.talk(&anna, "default");
    here.script.says("Hello.");
    talk.say("hello").await;
    let hung = Models::with(Arc::new(crate::limits::Hung));
    let chat = Chat::new(Arc::clone(&here.runtime), hung, ChatSettings::default());
    let said =
        |text: &str| UserMessage { conversation: talk.id, text: text.into(), ..UserMessage::default() };
    let speaking = chat.say(&anna, said("think")).await.unwrap();
    assert!(matches!(there.chat.say(&anna, said("hello")).await, Err(ChatError::InProgress)));
    chat.cancel(&anna, speaking.run).await.unwrap();
    speaking.answer().await.unwrap();
    there.script.says("Hello again.");
    let answer = there.chat.say(&anna, said("hello")).await.unwrap().answer().await.unwrap();
    assert_eq!(answer.response, "Hello again.");
}
