//! `toolroom import`: what people have already becomes tools: APIs, and the MCP servers of other programs.

mod document;
mod openapi;
mod plan;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::Globals;

/// Import an API described by OpenAPI, or the MCP servers of other programs
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom import openapi https://petstore3.swagger.io/api/v3/openapi.json --name petstore
  toolroom import openapi api.json --only pets --only /store")]
pub struct Import {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Openapi(openapi::OpenApi),
}

impl Import {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        match self.verb {
            Verb::Openapi(import) => import.run(globals).await,
        }
    }
}
