//! Whatever the interleaving, an answer is never from before a mutation that was answered before it was
//! asked for, and never another user's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use toolroom_contract::Principal;
use toolroom_runtime::Reply;

use crate::test_runtime::{TestRuntime, data};
use crate::tools::{Tool, done, mutation, query};

type Counts = Arc<Mutex<HashMap<i64, u64>>>;

/// What a gated query tells the test when it has read its value: how to let it go on.
type Begun = mpsc::UnboundedSender<oneshot::Sender<()>>;

fn reads(counts: &Counts, begun: Begun) -> Tool {
    let counts = Arc::clone(counts);
    query("get-count").cached(3600).runs(move |_, context| {
        let user = context.user.clone().unwrap();
        let seen = counts.lock().unwrap().get(&user.id.0).copied().unwrap_or(0);
        // The gate is no parameter: a gated query fills the same place in the cache as any other.
        let gate = context.metadata.contains_key("gate").then(oneshot::channel);
        let begun = begun.clone();
        async move {
            if let Some((release, released)) = gate {
                begun.send(release).unwrap();
                released.await.unwrap();
            }
            done(json!({ "user": user.id.0, "count": seen }))
        }
    })
}

fn adds(counts: &Counts) -> Tool {
    let counts = Arc::clone(counts);
    mutation("add-count").runs(move |_, context| {
        *counts.lock().unwrap().entry(context.user.unwrap().id.0).or_default() += 1;
        async { done(json!({ "ok": true })) }
    })
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Query(usize),
    Mutate(usize),
    /// A query reads its value and then stands still.
    Begin(usize),
    /// The query that stands still goes on.
    End(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..4, 0..2_usize).prop_map(|(kind, user)| match kind {
        0 => Step::Query(user),
        1 => Step::Mutate(user),
        2 => Step::Begin(user),
        _ => Step::End(user),
    });
    proptest::collection::vec(step, 1..24)
}

/// A query that was asked when the count stood at `floor`.
struct Asked {
    floor: u64,
    reply: JoinHandle<Reply>,
}

struct Person {
    principal: Arc<Principal>,
    mutations: u64,
    /// The gate of the query that stands still, and the count at which it began.
    open: Option<(oneshot::Sender<()>, u64)>,
    asked: Vec<Asked>,
}

impl Person {
    fn check(&self, floor: u64, answer: &Value) {
        assert_eq!(answer["user"], self.principal.user.id.0, "an answer of somebody else");
        let count = answer["count"].as_u64().unwrap();
        assert!(count >= floor, "an answer from before a mutation: {count}, not {floor}");
    }

    async fn release(&mut self) {
        if let Some((gate, _)) = self.open.take() {
            gate.send(()).unwrap();
        }
        for asked in std::mem::take(&mut self.asked) {
            let reply = asked.reply.await.unwrap();
            self.check(asked.floor, data(&reply));
        }
    }
}

async fn walk(
    runtime: &TestRuntime,
    begun: &mut mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    steps: &[Step],
    case: usize,
) {
    let mut people = Vec::new();
    for name in ["ann", "bob"] {
        let principal = runtime.user(&format!("{name}-{case}"), &["*"]).await;
        people.push(Person { principal, mutations: 0, open: None, asked: Vec::new() });
    }
    for step in steps {
        match *step {
            Step::Query(user) => {
                let person = &mut people[user];
                let ask = runtime.ask(&person.principal, "get-count");
                let floor = person.mutations;
                if person.open.as_ref().is_some_and(|(_, began)| *began == person.mutations) {
                    // It joins the query that stands still, and is looked at when that goes on.
                    person.asked.push(Asked { floor, reply: ask.spawn() });
                    tokio::task::yield_now().await;
                } else {
                    let reply = ask.send().await;
                    person.check(floor, data(&reply));
                    assert_eq!(data(&reply)["count"], person.mutations);
                }
            }
            Step::Mutate(user) => {
                let person = &mut people[user];
                data(&runtime.call(&person.principal, "add-count", json!({})).await);
                person.mutations += 1;
            }
            Step::Begin(user) if people[user].open.is_none() => {
                let person = &mut people[user];
                let ask = runtime.ask(&person.principal, "get-count").context(|context| {
                    context.metadata.insert("gate".into(), json!(true));
                });
                let (floor, mut reply) = (person.mutations, ask.spawn());
                // A kept answer is given without running: then there is nothing to hold.
                tokio::select! {
                    gate = begun.recv() => {
                        person.open = Some((gate.unwrap(), floor));
                        person.asked.push(Asked { floor, reply });
                    }
                    done = &mut reply => person.check(floor, data(&done.unwrap())),
                }
            }
            Step::Begin(_) => {}
            Step::End(user) => people[user].release().await,
        }
    }
    for person in &mut people {
        person.release().await;
        let reply = runtime.call(&person.principal, "get-count", json!({})).await;
        assert_eq!(data(&reply)["count"], person.mutations);
    }
}

#[test]
fn no_interleaving_gives_a_stale_or_foreign_answer() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = tokio.enter();
    let (tell, mut begun) = mpsc::unbounded_channel();
    let counts = Counts::default();
    let runtime = TestRuntime::new(vec![reads(&counts, tell).build(), adds(&counts).build()]);
    let begun = std::cell::RefCell::new(&mut begun);
    let case = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    let walked = TestRunner::new(config).run(&steps(), |steps| {
        case.set(case.get() + 1);
        tokio.block_on(walk(&runtime, &mut begun.borrow_mut(), &steps, case.get()));
        Ok(())
    });
    walked.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_load_no_answer_is_older_than_the_mutations_answered_before_it() {
    let counts = Counts::default();
    let (tell, _begun) = mpsc::unbounded_channel();
    let runtime = Arc::new(TestRuntime::new(vec![reads(&counts, tell).build(), adds(&counts).build()]));
    let answered: Arc<Vec<std::sync::atomic::AtomicU64>> =
        Arc::new((0..2).map(|_| Default::default()).collect());
    let mut tasks = Vec::new();
    for worker in 0..16_usize {
        let who = runtime.user(["ann", "bob"][worker % 2], &["*"]).await;
        let (runtime, answered) = (Arc::clone(&runtime), Arc::clone(&answered));
        tasks.push(tokio::spawn(async move {
            let mine = &answered[worker % 2];
            for turn in 0..200 {
                if (turn + worker / 2) % 5 == 0 {
                    data(&runtime.call(&who, "add-count", json!({})).await);
                    mine.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                } else {
                    let floor = mine.load(std::sync::atomic::Ordering::SeqCst);
                    let reply = runtime.call(&who, "get-count", json!({})).await;
                    assert_eq!(data(&reply)["user"], who.user.id.0);
                    assert!(data(&reply)["count"].as_u64().unwrap() >= floor);
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert!(runtime.meter("toolroom_cache_hits_total{tool=\"get-count\"}") > 0.0);
}
