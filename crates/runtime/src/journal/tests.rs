//! What the journal promises, tested through its files.

mod faults;
mod figures;
mod masking;
mod paging;
mod writing;

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;
use toolroom_contract::ids::{ExecutionId, RunId};

use super::*;

/// A call as the tests make them; fields that matter to a test are set there.
fn start<'a>(id: ExecutionId, input: &'a Value, mask: &'a Mask) -> StartRecord<'a> {
    StartRecord {
        id,
        at: Timestamp::now(),
        tool: "greet-user",
        profile: "default",
        user: "local",
        by: None,
        agent_id: "tester",
        agent_version: "1.0",
        edge: Edge::Rest,
        trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
        correlation_id: "c-1",
        via: None,
        conversation: None,
        input: Masked::new(input, mask),
    }
}

fn end<'a>(id: ExecutionId, output: &'a Value, mask: &'a Mask) -> EndRecord<'a> {
    EndRecord {
        id,
        at: Timestamp::now(),
        status: EndStatus::Ok,
        code: None,
        message: None,
        detail: None,
        ms: 1.25,
        cached: false,
        replayed: false,
        dry_run: false,
        outcome: None,
        output: Some(Masked::new(output, mask)),
        truncated: false,
        approval: None,
        steps: Steps::default(),
    }
}

fn open(dir: &Path) -> Journal {
    Journal::open(dir, RunId::new(), JournalSettings::default()).unwrap()
}

fn one_file() -> JournalSettings {
    JournalSettings { shards: 1, ..JournalSettings::default() }
}

/// Every row, page by page.
fn all(reader: &Reader, mut query: Query) -> Vec<Execution> {
    let mut rows = Vec::new();
    loop {
        let page = reader.page(&query).unwrap();
        rows.extend(page.rows);
        match page.cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => return rows,
        }
    }
}

/// The bytes of all the journal's files.
fn bytes(dir: &Path) -> Vec<u8> {
    let days = files::list(dir).unwrap();
    days.into_values().flatten().flat_map(|(_, path)| std::fs::read(path).unwrap()).collect()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}
