//! Tools, and queries whose tool is known.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use toolroom_contract::ToolDefinition;

pub struct Set {
    pub name: String,
    pub is_bfcl: bool,
    pub tools: Vec<ToolDefinition>,
    pub queries: Vec<Query>,
}

pub struct Query {
    pub text: String,
    /// The places of the right tools.
    pub right: Vec<usize>,
}

/// The categories of the leaderboard whose queries need one tool; their functions, one of each name, are the pool.
const CATEGORIES: [&str; 4] = ["simple_python", "multiple", "live_simple", "live_multiple"];

/// The sets of a folder.
pub fn read(folder: &Path) -> Result<Vec<Set>> {
    if folder.join(question_file(CATEGORIES[0])).exists() {
        return Ok(vec![leaderboard(folder)?]);
    }
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        names.extend(file.strip_suffix(".queries.jsonl").map(str::to_owned));
    }
    names.sort();
    let found = names.iter().filter(|name| folder.join(format!("{name}.tools.jsonl")).exists());
    let sets: Vec<Set> = found.map(|name| listed(folder, name)).collect::<Result<_>>()?;
    if sets.is_empty() {
        bail!("{} has neither {} nor NAME.queries.jsonl", folder.display(), question_file(CATEGORIES[0]));
    }
    Ok(sets)
}

fn question_file(category: &str) -> String {
    format!("BFCL_v4_{category}.json")
}

fn leaderboard(folder: &Path) -> Result<Set> {
    let mut pool = Pool::default();
    let mut asked = Vec::new();
    for category in CATEGORIES {
        let file = question_file(category);
        let answers = lines(&folder.join("possible_answer").join(&file))?;
        let answers: HashMap<&str, &Value> =
            answers.iter().filter_map(|answer| Some((answer["id"].as_str()?, answer))).collect();
        for row in lines(&folder.join(&file))? {
            for function in row["function"].as_array().into_iter().flatten() {
                let of = |field: &str| function[field].as_str().unwrap_or_default();
                pool.add(of("name"), of("name"), of("description"), function["parameters"].clone());
            }
            let messages =
                row["question"].as_array().into_iter().flatten().flat_map(Value::as_array).flatten();
            let said = messages.filter(|message| message["role"] == "user");
            let said: Vec<&str> = said.filter_map(|message| message["content"].as_str()).collect();
            let answer =
                row["id"].as_str().and_then(|id| answers.get(id)).context("a question without answer")?;
            let calls = answer["ground_truth"].as_array().into_iter().flatten().filter_map(Value::as_object);
            asked.push((said.join("\n"), calls.flat_map(Map::keys).cloned().collect::<Vec<_>>()));
        }
    }
    pool.set("BFCL, pooled", true, asked)
}

fn listed(folder: &Path, name: &str) -> Result<Set> {
    let mut pool = Pool::default();
    for row in lines(&folder.join(format!("{name}.tools.jsonl")))? {
        let of = |field: &str| row[field].as_str().unwrap_or_default();
        let params = row["params"].as_array().into_iter().flatten();
        let property = |param: &Value| {
            let name = param[0].as_str()?.to_owned();
            Some((name, json!({ "description": param[1] })))
        };
        let properties: Map<String, Value> = params.filter_map(property).collect();
        pool.add(of("id"), of("name"), of("description"), json!({ "properties": properties }));
    }
    let rows = lines(&folder.join(format!("{name}.queries.jsonl")))?;
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let asked =
        rows.iter().map(|row| (row["query"].as_str().unwrap_or_default().to_owned(), texts(&row["gold"])));
    pool.set(name, false, asked.filter(|(_, right)| !right.is_empty()).collect())
}

/// Tools by their id, the first of an id.
#[derive(Default)]
struct Pool {
    tools: Vec<ToolDefinition>,
    places: HashMap<String, usize>,
}

impl Pool {
    fn add(&mut self, id: &str, name: &str, description: &str, parameters: Value) {
        if !self.places.contains_key(id) {
            self.places.insert(id.to_owned(), self.tools.len());
            let mut tool = ToolDefinition::query(name, description);
            tool.parameters = parameters;
            self.tools.push(tool);
        }
    }

    fn set(self, name: &str, is_bfcl: bool, asked: Vec<(String, Vec<String>)>) -> Result<Set> {
        let place =
            |id: String| self.places.get(&id).copied().with_context(|| format!("there is no tool {id}"));
        let query = |(text, right): (String, Vec<String>)| -> Result<Query> {
            Ok(Query { text, right: right.into_iter().map(place).collect::<Result<_>>()? })
        };
        let queries = asked.into_iter().map(query).collect::<Result<_>>()?;
        Ok(Set { name: name.to_owned(), is_bfcl, tools: self.tools, queries })
    }
}

fn lines(path: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("in {}", path.display())))
        .collect()
}
