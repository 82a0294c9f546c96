//! The search engine: what the environment names, else what `[search]` says.

use std::path::Path;

use toolroom_packs::builtin::search::{ApiKey, SearchEngine, SearchSettings, Url};

use super::settings_file::Search;
use crate::failure::Failure;

/// The engine to use, if one is set up. A key that is missing is told by the tool, not here: other commands
/// need none.
pub fn settings(given: Option<&str>, file: Search, path: &Path) -> Result<Option<SearchSettings>, Failure> {
    if let Some(text) = given {
        let url = address(text).ok_or_else(|| {
            let hint =
                "Set it to the address of a SearXNG server, such as http://127.0.0.1:8888, or unset it.";
            Failure::usage(format!("TOOLROOM_SEARCH_URL: '{text}' is not an http or https address"), hint)
        })?;
        return Ok(Some(SearchSettings { engine: SearchEngine::Searxng, url, api_key: None }));
    }
    let bad = |what: &str, hint: &str| Failure::new(format!("{}: [search] {what}", path.display()), hint);
    let engine = match (file.engine, &file.url) {
        (Some(engine), _) => engine,
        (None, Some(_)) => SearchEngine::Searxng,
        (None, None) if file.api_key.is_some() || file.api_key_env.is_some() => {
            return Err(bad("has a key but no engine", "Add engine = \"brave\" or engine = \"tavily\"."));
        }
        (None, None) => return Ok(None),
    };
    let text = file.url.as_deref().or(engine.home()).ok_or_else(|| {
        bad("engine = \"searxng\" needs a url", "Add url = \"http://127.0.0.1:8888\", where your SearXNG is.")
    })?;
    let url = address(text).ok_or_else(|| {
        bad("url is not an http or https address", "Write it like \"https://search.example.org\".")
    })?;
    let variable = |name: String| std::env::var(name).ok().filter(|value| !value.is_empty());
    let api_key = file.api_key.or_else(|| file.api_key_env.and_then(variable)).map(ApiKey);
    Ok(Some(SearchSettings { engine, url, api_key }))
}

fn address(text: &str) -> Option<Url> {
    text.parse().ok().filter(|url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
