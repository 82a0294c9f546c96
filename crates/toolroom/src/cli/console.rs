//! `toolroom console`: a link into the web console of a running server.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use clap::Args;
use http::Method;

use super::Globals;
use crate::client::Client;
use crate::failure::Failure;
use crate::terminal::{self, plain};

/// Print a link that logs a browser in to the web console
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom console --open

The link works once, for ten minutes, and makes its holder the owner of this home: do not pass it on. Other people log in
with a key of their own: toolroom keys create --user NAME --person")]
pub struct Console {
    /// Open it in the browser
    #[arg(long)]
    open: bool,
}

impl Console {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let home = globals.home()?;
        let client = Client::open(&home, &globals.overrides()).await?;
        if !client.is_served() {
            return Err(Failure::new(
                format!("no server is running for {}", home.root().display()),
                "Start one with 'toolroom serve', which prints a link, too.",
            )
            .into());
        }
        let link = client.request(Method::POST, "/api/v1/links", None).await?;
        if globals.json {
            terminal::say_json(&link)?;
        } else {
            terminal::say(&plain(&link["url"]))?;
        }
        if self.open {
            open(home.root(), &plain(&link["url"]))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Opens a page that leads there: other users can read the arguments of a program, and so the link.
fn open(home: &Path, url: &str) -> Result<()> {
    let page = home.join("console.html");
    let _ = std::fs::remove_file(&page);
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&page)
        .with_context(|| format!("cannot write {}", page.display()))?;
    write!(file, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={url}\">")?;
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(opener).arg(&page).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.map(drop).map_err(|error| {
        Failure::new(format!("cannot start {opener}: {error}"), "Open the link above in a browser.").into()
    })
}
