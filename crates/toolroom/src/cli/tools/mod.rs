//! `toolroom tools`: list, show and search the catalogue, and change what others registered.

mod change;
pub mod file;
mod packages;
mod sample;
mod sheet;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::suggest::{Named, or_meant};
use super::{Globals, candidates};
use crate::client::encoded;
use crate::terminal::{self, Rows, cell, name_cell, plain};

/// List, show, search, add, update and remove tools
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom tools search 'delete a task'
  toolroom tools show get-status
  toolroom tools add get_weather.py")]
pub struct Tools {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the tools
    #[command(after_help = "Example:\n  toolroom tools list --category query --tag registry")]
    List {
        /// Only this category
        #[arg(long, value_name = "C")]
        category: Option<Category>,
        /// Only with this tag
        #[arg(long, value_name = "T")]
        tag: Option<String>,
    },
    /// Show the contract of one tool
    #[command(after_help = "Example:\n  toolroom tools show get-status --json")]
    Show {
        /// The tool's name
        #[arg(add = candidates::tools())]
        name: String,
    },
    /// Find tools by what they do
    #[command(after_help = "Example:\n  toolroom tools search service status")]
    Search {
        /// A few words
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Register a tool: a script that describes itself, or an entry as JSON
    #[command(after_help = HEADER)]
    Add {
        /// A script with a header, or a JSON file with an entry (a script next to it is sent along)
        file: PathBuf,
    },
    /// Replace a tool that is registered, and show what changes for its callers
    #[command(after_help = "Example:
  toolroom tools update get_weather.py

A change that breaks callers is refused from version 1.0.0 on; the refusal says what to keep, or under which name it
can be published.")]
    Update {
        /// A script with a header, or a JSON file with an entry
        file: PathBuf,
    },
    /// Make a draft version 1.0.0: from then on no change may break its callers
    #[command(after_help = "Example:\n  toolroom tools publish get-weather")]
    Publish {
        /// The tool's name
        #[arg(add = candidates::tools())]
        name: String,
    },
    /// Remove a tool that is registered; its script stays in the home
    #[command(after_help = "Example:\n  toolroom tools remove get-weather")]
    Remove {
        /// The tool's name
        #[arg(add = candidates::tools())]
        name: String,
    },
}

const HEADER: &str = r##"Example:
  toolroom tools add get_weather.py

A Python script describes itself in its docstring, any other in the comments at its top:

  """Tells the weather of a city. Use it when someone asks for it.

  name: get-weather
  category: query
  params:
    city (string, required, max 100): the city
    days (integer, 1 to 7, default 1): how many days ahead
  returns:
    temperature (number): degrees Celsius
  timeout: 10
  example: {"city": "Berlin"} -> {"temperature": 21}
  """
  def run(params, context):
      return {"temperature": 21}

Only the first sentence is required. docs/first-tool.md explains it step by step."##;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Category {
    Query,
    Mutation,
    Analysis,
    Generation,
}

impl Tools {
    pub fn needs_home(&self) -> bool {
        !matches!(self.verb, Verb::Add { .. } | Verb::Update { .. })
    }

    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let client = globals.client().await?;
        let reads = matches!(self.verb, Verb::List { .. } | Verb::Show { .. } | Verb::Search { .. });
        match self.verb {
            Verb::List { category, tag } => {
                let category = category.and_then(|category| {
                    category.to_possible_value().map(|value| format!("category={}", value.get_name()))
                });
                let tag = tag.map(|tag| format!("tag={}", encoded(&tag)));
                let filter: Vec<String> = category.into_iter().chain(tag).collect();
                let found = client.get(&format!("/api/v1/tools?{}", filter.join("&"))).await?;
                let if_empty = match (filter.is_empty(), &globals.url) {
                    (false, _) => "no match; 'toolroom tools list' shows all tools",
                    (true, None) => "no tools yet: 'toolroom tools add FILE' adds one",
                    (true, Some(_)) => {
                        "no tools that this key may use by their own names; one that is confined to a profile calls \
                         them by 'toolroom call NAME --profile PROFILE'"
                    }
                };
                listing(globals, &found, if_empty)?;
            }
            Verb::Search { words } => {
                let found = client.get(&format!("/api/v1/tools?q={}", encoded(&words.join(" ")))).await?;
                listing(globals, &found, "no match; try other words, or 'toolroom tools list'")?;
            }
            Verb::Show { name } => {
                let tool = client.get(&format!("/api/v1/tools/{}", encoded(&name))).await;
                let tool = or_meant(&client, Named::Tool, &name, tool).await?;
                if globals.json { terminal::say_json(&tool)? } else { terminal::say(&sheet::sheet(&tool))? }
            }
            Verb::Add { file } => change::add(globals, &client, &file).await?,
            Verb::Update { file } => change::update(globals, &client, &file).await?,
            Verb::Publish { name } => {
                let done = change::publish(globals, &client, &name).await;
                or_meant(&client, Named::Tool, &name, done).await?;
            }
            Verb::Remove { name } => {
                let done = change::remove(globals, &client, &name).await;
                or_meant(&client, Named::Tool, &name, done).await?;
            }
        }
        if reads && let Some(remark) = client.unmet_servers() {
            terminal::remark(&remark);
        }
        client.close().await;
        Ok(ExitCode::SUCCESS)
    }
}

fn listing(globals: &Globals, found: &Value, if_empty: &str) -> Result<()> {
    if globals.json {
        return Ok(terminal::say_json(found)?);
    }
    let mut rows = Rows::new(&["name", "category", "tags", "permissions", "description"]);
    for tool in found["tools"].as_array().into_iter().flatten() {
        rows.add([
            name_cell(plain(&tool["name"])),
            cell(plain(&tool["category"])),
            cell(plain(&tool["tags"])),
            name_cell(plain(&tool["permissions"])),
            cell(first_sentence(&plain(&tool["description"]))),
        ]);
    }
    Ok(rows.say(if_empty)?)
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}
