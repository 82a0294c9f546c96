//! `toolroom tools`: list, show and search the catalogue.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::Globals;
use crate::client::encoded;
use crate::terminal::{self, Rows, cell, plain};

/// List, show and search the tools
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom tools search 'delete a task'
  toolroom tools show get-status")]
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
        name: String,
    },
    /// Find tools by what they do
    #[command(after_help = "Example:\n  toolroom tools search service status")]
    Search {
        /// A few words
        #[arg(required = true)]
        words: Vec<String>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Category {
    Query,
    Mutation,
    Analysis,
    Generation,
}

impl Tools {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let client = globals.client().await?;
        match self.verb {
            Verb::List { category, tag } => {
                let category = category.and_then(|category| {
                    category.to_possible_value().map(|value| format!("category={}", value.get_name()))
                });
                let tag = tag.map(|tag| format!("tag={}", encoded(&tag)));
                let filter: Vec<String> = category.into_iter().chain(tag).collect();
                let found = client.get(&format!("/api/v1/tools?{}", filter.join("&"))).await?;
                listing(globals, &found, "no tool fits; 'toolroom tools list' shows them all")?;
            }
            Verb::Search { words } => {
                let found = client.get(&format!("/api/v1/tools?q={}", encoded(&words.join(" ")))).await?;
                listing(globals, &found, "no tool fits these words; try others, or 'toolroom tools list'")?;
            }
            Verb::Show { name } => {
                let tool = client.get(&format!("/api/v1/tools/{}", encoded(&name))).await?;
                if globals.json { terminal::say_json(&tool)? } else { terminal::say(&sheet(&tool))? }
            }
        }
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
            cell(plain(&tool["name"])),
            cell(plain(&tool["category"])),
            cell(plain(&tool["tags"])),
            cell(plain(&tool["permissions"])),
            cell(first_sentence(&plain(&tool["description"]))),
        ]);
    }
    Ok(rows.say(if_empty)?)
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// A tool on one page: what it is, its parameters, an example to paste.
fn sheet(tool: &Value) -> String {
    let mut page =
        format!("{} {}\n{}\n", plain(&tool["name"]), plain(&tool["version"]), plain(&tool["description"]));
    let flags =
        [("cacheable", "cacheable"), ("idempotent", "idempotent"), ("destructive", "waits for a person")];
    let flags: Vec<&str> =
        flags.iter().filter(|(field, _)| tool[field] == true).map(|(_, word)| *word).collect();
    let mut line = |label: &str, text: String| {
        if !text.is_empty() {
            page.push_str(&format!("\n{label:<13} {text}"));
        }
    };
    line("category", plain(&tool["category"]));
    line("response time", plain(&tool["responseTime"]));
    line("permissions", plain(&tool["permissions"]));
    line("tags", plain(&tool["tags"]));
    line("it is", flags.join(", "));
    if let Some(gone) = tool.get("deprecated") {
        line(
            "deprecated",
            format!("use {}; gone on {}", plain(&gone["replacement"]), plain(&gone["removalDate"])),
        );
    }
    page.push_str(&parameters(&tool["parameters"]));
    if let Some(example) = tool["examples"].get(0) {
        let params = example["params"].to_string().replace('\'', "'\\''");
        page.push_str(&format!(
            "\n\nExample: {}\n  toolroom call {} --params '{params}'",
            plain(&example["description"]),
            plain(&tool["name"])
        ));
    }
    page
}

fn parameters(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object().filter(|map| !map.is_empty()) else {
        return "\n\nno parameters".to_owned();
    };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut text = "\n\nparameters".to_owned();
    for (name, property) in properties {
        let kind = match property.get("enum") {
            Some(choices) => plain(choices),
            None => plain(&property["type"]),
        };
        let must = if required.iter().any(|one| one == name) { ", required" } else { "" };
        text.push_str(&format!(
            "\n  {name} ({kind}{must}): {}",
            plain(&property["description"]).replace('\n', " ")
        ));
    }
    text
}
