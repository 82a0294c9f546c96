//! Find over many titles of one user, through the handler, with the index of titles warm.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use toolroom_bench::figures::{Limit, heading, line};
use toolroom_bench::median;
use toolroom_bench::task_handlers::{Handlers, caller};
use toolroom_store::{DatabaseUrl, Store};

const VERBS: [&str; 20] = [
    "Buy", "Call", "Write", "Read", "Clean", "Repair", "Book", "Pay", "Send", "Review", "Plan", "Order",
    "Return", "Prepare", "Cancel", "Renew", "Water", "Paint", "Visit", "Check",
];
const THINGS: [&str; 40] = [
    "milk",
    "dentist",
    "report",
    "garage",
    "bicycle",
    "flight",
    "electricity bill",
    "invitation",
    "contract",
    "holiday",
    "garden",
    "curtains",
    "passport",
    "budget",
    "insurance",
    "birthday cake",
    "library books",
    "car",
    "kitchen shelf",
    "newsletter",
    "printer",
    "meeting notes",
    "backup",
    "presentation",
    "shoes",
    "coffee machine",
    "roof",
    "vaccination",
    "lease",
    "tax return",
    "piano",
    "bread",
    "concert tickets",
    "window",
    "keyboard",
    "dog",
    "furniture",
    "subscription",
    "server",
    "photographs",
];
const ADDITIONS: [&str; 12] = [
    "",
    "for mom",
    "before friday",
    "with Anna",
    "at the office",
    "from the store",
    "again",
    "for the team",
    "downtown",
    "in the morning",
    "by train",
    "and ask about the price",
];

/// One word, several, a slip of the pen, words in another order, an exact title, and what is not there.
const QUERIES: [&str; 8] = [
    "milk",
    "dentst",
    "electricity bill",
    "tickets concert 17",
    "Pay insurance for the team 5003",
    "call dentist anna",
    "quantum chromodynamics",
    "renew passprot before friday",
];
const ROUNDS: usize = 12;

pub fn measure() -> Result<()> {
    heading("find-tasks, index warm, eight kinds of queries");
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for (titles, limit) in [(10_000, 3.0), (100_000, 30.0)] {
        let mut times = two.block_on(times(titles))?;
        let each: Vec<f64> = times.iter_mut().map(|times| median(times).as_secs_f64() * 1e3).collect();
        let slowest = each.iter().copied().fold(0.0, f64::max);
        let mut all = times.concat();
        let middle = median(&mut all).as_secs_f64() * 1e3;
        line(&format!("{titles} titles, median"), middle, "ms", Limit::AtMost(limit));
        line(&format!("{titles} titles, median of the slowest query"), slowest, "ms", Limit::AtMost(limit));
    }
    Ok(())
}

async fn times(titles: usize) -> Result<Vec<Vec<Duration>>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("titles.db");
    let store = Store::open(&DatabaseUrl::sqlite(&path))?;
    let user = caller(&store, "bench").await?;
    fill(&path, user.user.id.0, titles)?;
    let handlers = Handlers::new(&store, &user);
    let mut times = vec![Vec::new(); QUERIES.len()];
    for round in 0..=ROUNDS {
        for (query, times) in QUERIES.iter().zip(&mut times) {
            let began = Instant::now();
            handlers.call("find-tasks", &json!({ "query": query })).await?;
            // The first round loads the index.
            if round > 0 {
                times.push(began.elapsed());
            }
        }
    }
    Ok(times)
}

fn fill(path: &std::path::Path, user: i64, titles: usize) -> Result<()> {
    let mut connection = rusqlite::Connection::open(path)?;
    let transaction = connection.transaction()?;
    for number in 0..titles {
        let title = title(number);
        transaction
            .prepare_cached(
                "INSERT INTO tasks (user_id, title, priority, completed, tags, title_sort, search_text, version,
                                    created_at, updated_at)
                 VALUES (?1, ?2, 'medium', 0, '[]', ?2, ?2, 1, ?3, ?3)",
            )?
            .execute((user, title, number as i64))?;
    }
    Ok(transaction.commit()?)
}

/// Different words for each number, without any of them being random.
fn title(number: usize) -> String {
    let verb = VERBS[number % VERBS.len()];
    let thing = THINGS[number / 3 % THINGS.len()];
    let addition = ADDITIONS[number / 7 % ADDITIONS.len()];
    format!("{verb} {thing} {addition} {number}").replace("  ", " ")
}
