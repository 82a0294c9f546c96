//! What choosing a tool costs: the table's first use, a search over 527 tools with five examples each, a selection, a
//! turn of the offline planner.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use serde_json::json;
use toolroom_bench::figures::{Limit, heading, line};
use toolroom_bench::median;
use toolroom_model::{Arguments, Message, Moment, Prompt, ToolCall, ToolChoice, ToolSpec};
use toolroom_planner as planner;
use toolroom_selection::{Index, ToolText};

const TOOLS: usize = 527;
const EXAMPLES: usize = 5;
const ROUNDS: usize = 40;

const VERBS: [&str; 17] = [
    "create",
    "list",
    "delete",
    "update",
    "search",
    "send",
    "read",
    "merge",
    "convert",
    "schedule",
    "cancel",
    "export",
    "import",
    "translate",
    "summarise",
    "resize",
    "deploy",
];
const THINGS: [&str; 31] = [
    "invoice",
    "customer",
    "calendar event",
    "email draft",
    "pull request",
    "image",
    "playlist",
    "flight booking",
    "hotel",
    "spreadsheet row",
    "database table",
    "log file",
    "weather report",
    "stock quote",
    "recipe",
    "support ticket",
    "user",
    "webhook",
    "container",
    "certificate",
    "payment",
    "contact",
    "document page",
    "survey",
    "branch",
    "map route",
    "reminder",
    "photo album",
    "backup",
    "translation",
    "newsletter",
];
const QUERIES: [&str; 8] = [
    "please merge the open pull request of the billing branch",
    "what will the weather be like in Oslo",
    "I need to get rid of an old backup",
    "turn this picture into a smaller one",
    "book me a room near the station for Friday night",
    "remind me to pay the electricity bill tomorrow",
    "who is the customer behind invoice 4711 and what do they owe us",
    "translate the last newsletter into Portuguese and send it to everyone on the list",
];

struct Text {
    name: String,
    description: String,
    use_for: String,
    examples: Vec<String>,
}

fn main() {
    // The first use in this process: the table is mapped, the pages that a prompt needs are read.
    let began = Instant::now();
    black_box(Index::build(&[]).select(QUERIES[0]));
    let first = began.elapsed();

    let texts = texts();
    let tools: Vec<ToolText<'_>> = texts.iter().map(tool).collect();
    let began = Instant::now();
    let index = Index::build(&tools);
    let built = began.elapsed();

    let mut searches = times(|query| {
        black_box(index.search(query, 10));
    });
    let mut selections = times(|query| {
        black_box(index.select(query));
    });
    let mut turns = turns();
    heading(&format!("{TOOLS} tools with {EXAMPLES} examples each, one thread"));
    line("first use of the table in a process", millis(first), "ms", Limit::AtMost(20.0));
    line("search, median", micros(median(&mut searches)), "µs", Limit::AtMost(200.0));
    line("selection, median", micros(median(&mut selections)), "µs", Limit::AtMost(2000.0));
    line("planner turn after ten rounds, median", micros(median(&mut turns)), "µs", Limit::AtMost(2000.0));
    line("making the index, once per change of the catalogue", millis(built), "ms", Limit::None);
}

/// Turns of the planner, each at the end of a conversation as long as the chat keeps it.
fn turns() -> Vec<Duration> {
    const SAID: [&str; 6] = [
        "please add buy bread and butter tomorrow at 5pm, it's urgent",
        "show my open tasks, then mark the first one as done",
        "rename the milk task to oat milk and delete task 3",
        "could you tell me what happens if I delete everything?",
        "I paid the rent, mark it as done",
        "what is the weather like in Oslo right now",
    ];
    let mut times = Vec::new();
    for at in 0..ROUNDS * SAID.len() {
        let prompt = prompt(SAID[at % SAID.len()]);
        let began = Instant::now();
        black_box(planner::turn(&prompt));
        times.push(began.elapsed());
    }
    times
}

fn prompt(said: &str) -> Prompt {
    let mut messages = Vec::new();
    for round in 0..9 {
        let id = format!("call_{round}");
        let task = json!({ "id": 7, "title": "Buy milk", "priority": "high", "completed": false });
        let call = ToolCall {
            id: id.clone(),
            name: "find_task".into(),
            arguments: Arguments::Json(json!({ "query": "milk" })),
        };
        messages.push(Message::user("find the milk task, please"));
        messages.push(Message::Assistant { text: String::new(), calls: vec![call] });
        messages.push(Message::Tool {
            call_id: id,
            name: "find_task".into(),
            content: String::new(),
            structured: Some(json!({ "success": true, "match_type": "single", "task": task })),
            failed: false,
        });
        messages.push(Message::assistant("I found one: #7 “Buy milk”, open."));
    }
    messages.push(Message::user(said));
    let spec = |binding: toolroom_profiles::Binding| ToolSpec {
        name: binding.name.into_owned(),
        canonical: binding.canonical.into_owned(),
        description: binding.description.into_owned(),
        parameters: binding.parameters.into(),
        read_only: false,
        destructive: false,
    };
    let tools = match toolroom_profiles::assistant::profile().tools {
        toolroom_profiles::Tools::Listed(tools) => tools.into_iter().map(spec).collect(),
        _ => Vec::new(),
    };
    let moment = Moment { now: jiff::Timestamp::UNIX_EPOCH, zone: TimeZone::UTC };
    Prompt {
        messages,
        tools,
        tool_choice: ToolChoice::Auto,
        moment,
        profile: "assistant".into(),
        confirms_changes: true,
        confirms_deletes: true,
    }
}

fn texts() -> Vec<Text> {
    let pairs = VERBS.iter().flat_map(|verb| THINGS.iter().map(move |thing| (verb, thing)));
    pairs
        .take(TOOLS)
        .map(|(verb, thing)| Text {
            name: format!("{verb}-{}", thing.replace(' ', "-")),
            description: format!(
                "Lets you {verb} a {thing} in the connected account and returns what came of it."
            ),
            use_for: format!("Use it when somebody wants to {verb} one or more of their {thing} entries."),
            examples: (0..EXAMPLES)
                .map(|at| format!("{verb} the {thing} number {at} for me, please"))
                .collect(),
        })
        .collect()
}

fn tool(text: &Text) -> ToolText<'_> {
    ToolText {
        name: &text.name,
        description: &text.description,
        use_for: &text.use_for,
        examples: text.examples.iter().map(String::as_str).collect(),
        tags: vec!["bench"],
        parameters: Vec::new(),
    }
}

fn times(mut run: impl FnMut(&str)) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        for query in QUERIES {
            let began = Instant::now();
            run(query);
            times.push(began.elapsed());
        }
    }
    times
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
