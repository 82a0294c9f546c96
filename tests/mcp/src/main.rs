//! Runs the official conformance suites against the fixtures or our client, or only serves the fixtures.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool: printing is its output")]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use toolroom_mcp_tests::{RunningServer, Suite, run_as_client, serve_on_stdio};

const HELP: &str = "\
Usage: cargo xtask conformance [OPTIONS]

  --suite NAME     0.1, 2025-11-25 or 2026-07-28; without it, all three
  --only SCENARIO  one scenario of each suite that is run
  --client         the scenarios for clients, against our own
  --url URL        another server than the one with the fixtures
  --serve PORT     only serve the fixtures, until interrupted
  --stdio          only serve the fixtures, on standard input and output
  --as-client URL  only be the client of one scenario, which a suite has started
";

#[derive(Default)]
struct Options {
    suite: Option<Suite>,
    only: Option<String>,
    url: Option<String>,
    serve: Option<u16>,
    stdio: bool,
    client: bool,
    as_client: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("conformance: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether no check failed.
async fn run() -> Result<bool> {
    let options = options()?;
    if options.stdio {
        serve_on_stdio().await?;
        return Ok(true);
    }
    if let Some(url) = &options.as_client {
        run_as_client(url).await?;
        return Ok(true);
    }
    if options.client {
        return against_client(&options).await;
    }
    let server = RunningServer::start(options.serve.unwrap_or(0)).await?;
    if options.serve.is_some() {
        println!("{}\n{}", server.url(), server.sse_url());
        tokio::signal::ctrl_c().await?;
        server.stop().await?;
        return Ok(true);
    }
    let node = node()?;
    let url = options.url.clone().unwrap_or_else(|| server.url());
    let mut sound = true;
    for suite in options.suites() {
        println!("\n{} against {url}", suite.name());
        // Not every suite has every scenario.
        match suite.run(&node, &url, options.only.as_deref()).await {
            Ok(report) => {
                println!("{report} (the reference passes {})", suite.reference());
                sound &= report.failures().is_empty();
            }
            Err(error) if options.only.is_some() => println!("  {error:#}"),
            Err(error) => return Err(error),
        }
    }
    server.stop().await?;
    Ok(sound)
}

/// Whether every scenario that counts was passed.
async fn against_client(options: &Options) -> Result<bool> {
    let (node, program) = (node()?, std::env::current_exe()?);
    let mut sound = true;
    for suite in options.suites() {
        println!("\n{} against our client", suite.name());
        let report = suite.run_client(&node, &program, options.only.as_deref()).await?;
        if options.only.is_some() {
            println!("{}", report.printed);
        }
        println!("{report}");
        sound &= report.failures().is_empty();
    }
    Ok(sound)
}

fn node() -> Result<PathBuf> {
    let node = std::env::var_os("TOOLROOM_TEST_NODE")
        .context("TOOLROOM_TEST_NODE is not set: use `cargo xtask conformance`")?;
    Ok(PathBuf::from(node))
}

impl Options {
    fn suites(&self) -> impl Iterator<Item = Suite> {
        let wanted = self.suite;
        Suite::ALL.into_iter().filter(move |suite| wanted.is_none_or(|wanted| wanted == *suite))
    }
}

fn options() -> Result<Options> {
    let mut options = Options::default();
    let mut args = std::env::args().skip(1);
    while let Some(option) = args.next() {
        let mut value = || args.next().with_context(|| format!("`{option}` needs a value\n\n{HELP}"));
        match option.as_str() {
            "--suite" => {
                let name = value()?;
                let found = Suite::ALL.into_iter().find(|suite| suite.name() == name);
                options.suite = Some(found.with_context(|| format!("there is no suite `{name}`\n\n{HELP}"))?);
            }
            "--only" => options.only = Some(value()?),
            "--url" => options.url = Some(value()?),
            "--stdio" => options.stdio = true,
            "--client" => options.client = true,
            "--as-client" => options.as_client = Some(value()?),
            "--serve" => options.serve = Some(value()?.parse().context("the port is a number")?),
            other => bail!("`{other}` is not an option\n\n{HELP}"),
        }
    }
    Ok(options)
}
