//! Get and list for one user among a million tasks, beside the same user alone.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use postgres::{Client, NoTls};
use serde_json::{Value, json};
use toolroom_bench::figures::{Limit, heading, line};
use toolroom_bench::median;
use toolroom_bench::task_handlers::{Handlers, caller};
use toolroom_store::Store;

/// Where the PostgreSQL server is, if there is one.
const SERVER: &str = "TOOLROOM_TEST_POSTGRES";
const TASKS_EACH: i64 = 1_000;
const USERS: i64 = 1_000;
/// Calls of each kind, in each of the two databases.
const CALLS: usize = 1_000;
/// Whole lists are fifty times as long.
const WHOLE_LISTS: usize = 100;
const BLOCKS: usize = 10;
const MOST: f64 = 1.5;

pub fn measure() -> Result<()> {
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let paths = ["alone.db", "among.db"].map(|name| folder.path().join(name));
    heading("1,000 tasks of a user among 1,000,000, against alone: SQLite");
    let fill = |url: &str, sql: &str| {
        let connection = rusqlite::Connection::open(url.trim_start_matches("sqlite:"))?;
        Ok(connection.execute_batch(&format!("PRAGMA synchronous = OFF; BEGIN; {sql} COMMIT;"))?)
    };
    two.block_on(compare(&paths.map(|path| format!("sqlite:{}", path.display())), fill))?;

    let Ok(server) = std::env::var(SERVER) else {
        println!("  PostgreSQL is left out: {SERVER} is not set; `cargo xtask bench store` sets it");
        return Ok(());
    };
    heading("1,000 tasks of a user among 1,000,000, against alone: PostgreSQL");
    let names = ["toolroom_bench_alone", "toolroom_bench_among"];
    for name in names {
        on_server(&server, &[&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")])?;
        on_server(&server, &[&format!("CREATE DATABASE {name}")])?;
    }
    // The server does the vacuum by itself within a minute.
    let fill = |url: &str, sql: &str| on_server(url, &[sql, "VACUUM ANALYZE tasks"]);
    two.block_on(compare(&names.map(|name| database(&server, name)), fill))
}

async fn compare(urls: &[String; 2], fill: impl Fn(&str, &str) -> Result<()>) -> Result<()> {
    let mut handlers = Vec::new();
    for (url, users) in urls.iter().zip([1, USERS]) {
        let store = Store::open(&url.parse()?)?;
        let user = caller(&store, "bench").await?;
        fill(url, &filling(users))?;
        handlers.push(Handlers::new(&store, &user));
    }
    let [alone, among] = handlers.as_slice() else { return Ok(()) };
    let ids = [ids(alone).await?, ids(among).await?];
    let get = |turn: usize, which: usize| json!({ "taskId": ids[which][turn * 7 % ids[which].len()] });
    ratio("get-task", [alone, among], "get-task", CALLS, get).await?;
    ratio("list-tasks, a page of 20", [alone, among], "list-tasks", CALLS, |_, _| json!({})).await?;
    let pending = |_, _| json!({ "status": "pending", "sortBy": "due", "limit": 100 });
    ratio("list-tasks, pending by due date, 100", [alone, among], "list-tasks", CALLS, pending).await?;
    let whole = |_, _| json!({ "whole": true });
    ratio("list-tasks, all 1,000", [alone, among], "list-tasks", WHOLE_LISTS, whole).await
}

/// Calls the two in turn, a block each, so that both meet the same noise and neither pays for waking the other's
/// threads at every call.
async fn ratio(
    what: &str,
    both: [&Handlers; 2],
    tool: &str,
    calls: usize,
    params: impl Fn(usize, usize) -> Value,
) -> Result<()> {
    let mut times: [Vec<Duration>; 2] = Default::default();
    for block in 0..=BLOCKS {
        for (which, handlers) in both.iter().enumerate() {
            // The first block is a whole round, so that the pages of the user's tasks are warm in both.
            let turns = if block == 0 { calls } else { calls / BLOCKS };
            for turn in 0..turns {
                let params = params(block * (calls / BLOCKS) + turn, which);
                let began = Instant::now();
                handlers.call(tool, &params).await?;
                if block > 0 {
                    times[which].push(began.elapsed());
                }
            }
        }
    }
    let [alone, among] = times.map(|mut times| median(&mut times).as_secs_f64() * 1e6);
    line(
        &format!("{what}: {alone:.0} µs alone, {among:.0} µs among"),
        among / alone,
        "x",
        Limit::AtMost(MOST),
    );
    Ok(())
}

async fn ids(handlers: &Handlers) -> Result<Vec<i64>> {
    let listed = handlers.call("list-tasks", &json!({ "whole": true, "fields": ["taskId"] })).await?;
    let tasks = listed["tasks"].as_array().context("no tasks")?;
    anyhow::ensure!(tasks.len() == TASKS_EACH as usize, "the user has {} tasks", tasks.len());
    Ok(tasks.iter().filter_map(|task| task["taskId"].as_i64()).collect())
}

/// SQL for either engine. The users' tasks lie between each other, as they would after years of use.
fn filling(users: i64) -> String {
    let series = |last: i64| {
        format!(
            "WITH RECURSIVE series (n) AS
                 (SELECT CAST(1 AS BIGINT) UNION ALL SELECT n + 1 FROM series WHERE n < {last})"
        )
    };
    let others = match users {
        1 => String::new(),
        _ => format!(
            "INSERT INTO users (key, created_at) {} SELECT 'user ' || n, n FROM series;",
            series(users - 1)
        ),
    };
    let tasks = series(users * TASKS_EACH);
    format!(
        "{others}
         INSERT INTO tasks (user_id, title, description, priority, due_sort, completed, tags, title_sort,
                            search_text, version, created_at, updated_at)
         {tasks} SELECT 1 + n % {users}, 'Write report number ' || n, 'With the figures of last month.', 'medium',
                        CASE WHEN n % 2 = 0 THEN 1800000000000000 + n END, n % 3 = 0, '[]',
                        'write report number ' || n,
                        'write report number ' || n || ' with the figures of last month.', 1,
                        1700000000000000 + n * 1000, 1700000000000000 + n * 1000
         FROM series;"
    )
}

/// The server's URL with another database in its path.
fn database(server: &str, name: &str) -> String {
    let (address, query) = server.split_once('?').unwrap_or((server, ""));
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    format!("{scheme}://{}/{name}?{query}", rest.split('/').next().unwrap_or(rest))
}

// The driver brings its own runtime, which cannot start inside the benchmark's.
fn on_server(url: &str, statements: &[&str]) -> Result<()> {
    let run = || {
        let mut client = Client::connect(url, NoTls)?;
        statements.iter().try_for_each(|sql| client.batch_execute(sql))
    };
    let done = std::thread::scope(|scope| scope.spawn(run).join());
    Ok(done.map_err(|_| anyhow::anyhow!("the driver panicked"))??)
}
