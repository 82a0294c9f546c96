//! `toolroom import`: what people have already becomes tools: APIs, and the MCP servers of other programs.

mod client_files;
mod document;
mod openapi;
mod plan;
mod servers;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::Globals;
use crate::failure::Failure;
use client_files::Program;
use servers::Choice;

/// Import an API described by OpenAPI, or the MCP servers of other programs
#[derive(Debug, Args)]
#[command(
    after_help = "Example:
  toolroom import openapi https://example.com/openapi.json --name pets
  toolroom import openapi api.json --only pets --only /store
  toolroom import claude                 the MCP servers of Claude
  toolroom import settings.json          those of any file

You are shown what will be added, and asked. No file of another program is changed.",
    args_conflicts_with_subcommands = true
)]
pub struct Import {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// A file of another program that names MCP servers
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Openapi(openapi::OpenApi),
    /// Add the MCP servers of Claude to mcp.json
    #[command(after_help = "Example:\n  toolroom import claude --only github")]
    Claude(Choice),
    /// Add the MCP servers of VS Code to mcp.json
    #[command(after_help = "Example:\n  toolroom import vscode --yes")]
    Vscode(Choice),
    /// Add the MCP servers of Cursor to mcp.json
    #[command(after_help = "Example:\n  toolroom import cursor --yes")]
    Cursor(Choice),
}

impl Import {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        match (self.verb, self.file) {
            (Some(Verb::Openapi(import)), _) => import.run(globals).await,
            (Some(Verb::Claude(choice)), _) => servers::of_program(globals, Program::Claude, &choice).await,
            (Some(Verb::Vscode(choice)), _) => servers::of_program(globals, Program::VsCode, &choice).await,
            (Some(Verb::Cursor(choice)), _) => servers::of_program(globals, Program::Cursor, &choice).await,
            (None, Some(file)) => servers::of_files(globals, &[file], &self.choice).await,
            (None, None) => {
                let hint = "toolroom import openapi FILE|URL, or: toolroom import claude|vscode|cursor|FILE";
                Err(Failure::usage("it is not said what to import", hint).into())
            }
        }
    }
}
