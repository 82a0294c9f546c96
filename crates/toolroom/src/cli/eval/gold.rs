//! Prompts with their answers, as the files in `eval/` hold them.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use toolroom_selection::{Class, Family, Intent};

/// The test prompts of the project; nothing is learned from them.
pub const TEST: &str = include_str!("../../../../../eval/test.jsonl");
const SEARCHES: &str = include_str!("../../../../../eval/search.jsonl");

/// A prompt and what is right for it.
pub struct Prompt {
    pub text: String,
    pub right: Right,
}

/// What is right.
pub enum Right {
    Class(Class, Option<Intent>),
    /// A tool that belongs to no class.
    Tool(String),
}

/// A search and the tool that it should find.
#[derive(Deserialize)]
pub struct Search {
    pub query: String,
    pub tool: String,
}

/// Other people's sets name these fields in other ways; the plain ones are understood.
#[derive(Deserialize)]
struct Line {
    #[serde(alias = "query", alias = "text", alias = "input", alias = "message")]
    prompt: String,
    #[serde(alias = "label", alias = "expected", alias = "category")]
    class: Option<String>,
    intent: Option<String>,
    #[serde(alias = "expected_tool")]
    tool: Option<String>,
}

pub fn prompts(text: &str) -> Result<Vec<Prompt>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let prompts: Result<Vec<Prompt>> = lines
        .map(|(at, line)| {
            let line: Line = serde_json::from_str(line).with_context(|| format!("line {}", at + 1))?;
            let right = right(&line).with_context(|| format!("line {}", at + 1))?;
            Ok(Prompt { text: line.prompt, right })
        })
        .collect();
    let prompts = prompts?;
    if prompts.is_empty() {
        bail!(
            "no prompts found; write one JSON object per line, such as {{\"prompt\": \"hi\", \"class\": \"none\"}}"
        );
    }
    Ok(prompts)
}

pub fn searches() -> Result<Vec<Search>> {
    SEARCHES.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn right(line: &Line) -> Result<Right> {
    let intent = match &line.intent {
        Some(word) => {
            Some(Intent::ALL.into_iter().find(|intent| intent.as_str() == word).with_context(|| {
                format!("unknown intent '{word}'; use one of {}", names(&Intent::ALL.map(Intent::as_str)))
            })?)
        }
        None => None,
    };
    let Some(word) = line.class.as_ref().or(line.tool.as_ref()) else {
        bail!("\"class\" or \"tool\" is missing");
    };
    if let Some(class) = Class::ALL.into_iter().find(|class| class.as_str() == word.to_lowercase()) {
        return Ok(Right::Class(class, intent));
    }
    match Family::of(word) {
        Some(Family::Task(own)) => Ok(Right::Class(Class::Tasks, Some(own))),
        Some(Family::Web) => Ok(Right::Class(Class::Web, None)),
        Some(Family::Code) => Ok(Right::Class(Class::Code, None)),
        Some(Family::Human) => Ok(Right::Class(Class::Human, None)),
        Some(Family::Registry) | None if line.tool.is_some() => Ok(Right::Tool(word.clone())),
        Some(Family::Registry) | None => {
            bail!("unknown class '{word}'; use one of {}", names(&Class::ALL.map(Class::as_str)))
        }
    }
}

fn names(words: &[&str]) -> String {
    words.join(", ")
}
