//! Gets a document from a file or an address.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;
use toolroom_outgoing::{Limits, Outgoing, Request, Url};

use crate::failure::Failure;

/// The largest document.
const LARGEST: usize = 32 << 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// A document, and where it came from.
pub(super) struct Source {
    pub(super) json: Value,
    /// How many bytes it has.
    pub(super) length: usize,
    /// Its address, if it has one.
    pub(super) url: Option<Url>,
}

/// Reads a file, or fetches an address. Who names it here may name any.
pub(super) async fn get(source: &str) -> Result<Source> {
    let url = Url::parse(source).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let bytes = match &url {
        Some(url) => fetch(url).await?,
        None => read(Path::new(source))?,
    };
    let json = match serde_json::from_slice(&bytes) {
        Ok(json) => json,
        Err(_) if looks_like_yaml(&bytes) => return Err(yaml(source).into()),
        Err(error) => {
            let hint = "Give the address of the document itself, not of a page that shows it.";
            return Err(Failure::new(format!("{source} is not JSON: {error}"), hint).into());
        }
    };
    Ok(Source { json, length: bytes.len(), url })
}

async fn fetch(url: &Url) -> Result<Vec<u8>> {
    let limits = Limits { timeout: PATIENCE, body: LARGEST, redirects: 3 };
    let reply = Outgoing::new(limits).allow_private(url.clone()).send(Request::get(url.clone())).await;
    let reply = reply.map_err(|error| {
        Failure::new(format!("{url} was not fetched: {error}"), "Check the address, or give a file.")
    })?;
    if !reply.status.is_success() {
        let message = format!("{url} answered {}", reply.status.as_u16());
        return Err(
            Failure::new(message, "Check the address, or download the document and give the file.").into()
        );
    }
    Ok(reply.body)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let failed =
        |what: String| Failure::new(format!("{}: {what}", path.display()), "Give a file, or an address.");
    let length = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if length > LARGEST as u64 {
        return Err(failed(format!("has more than {} MiB", LARGEST >> 20)).into());
    }
    Ok(std::fs::read(path).map_err(|error| failed(error.to_string()))?)
}

fn looks_like_yaml(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(64 << 10)]);
    start.lines().any(|line| line.starts_with("openapi:") || line.starts_with("swagger:"))
}

fn yaml(source: &str) -> Failure {
    let message = format!("{source} is YAML, and only JSON can be read");
    let hint = "Convert it first: 'npx js-yaml api.yaml > api.json', 'yq -o=json . api.yaml > api.json', or \
                python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)' \
                < api.yaml > api.json";
    Failure::new(message, hint)
}
