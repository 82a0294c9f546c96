//! "Did you mean": the name that was probably meant.

use anyhow::Result;
use serde_json::Value;

use crate::client::Client;
use crate::failure::Failure;

/// What has names.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    Tool,
    Server,
    Profile,
}

impl Named {
    /// Where the API lists them, and under which name.
    fn list(self) -> (&'static str, &'static str) {
        match self {
            Self::Tool => ("/api/v1/tools", "tools"),
            Self::Server => ("/api/v1/servers", "servers"),
            Self::Profile => ("/api/v1/profiles", "profiles"),
        }
    }
}

/// The same result; if nothing has this name, with the name that was probably meant.
pub async fn or_meant<T>(client: &Client, kind: Named, name: &str, result: Result<T>) -> Result<T> {
    let Err(error) = result else { return result };
    let Some(failure) = error.downcast_ref::<Failure>().filter(|failure| failure.is_not_found()) else {
        return Err(error);
    };
    let hint = match (meant(client, kind, name).await, kind) {
        (Some(meant), _) => format!("Did you mean '{meant}'?"),
        (None, Named::Server) => "'toolroom servers list' shows the servers.".to_owned(),
        (None, Named::Tool | Named::Profile) => return Err(error),
    };
    Err(failure.hinting(hint).into())
}

/// The same result; if it failed and one of these profiles is not there, with the one that was probably meant.
pub async fn or_profile<T>(
    client: &Client,
    profiles: impl IntoIterator<Item = &str>,
    result: Result<T>,
) -> Result<T> {
    let Err(error) = result else { return result };
    let (Some(failure), Some(known)) = (error.downcast_ref::<Failure>(), names(client, Named::Profile).await)
    else {
        return Err(error);
    };
    let is_unknown = |name: &&str| !known.iter().any(|one| one == name);
    let Some(unknown) = profiles.into_iter().find(is_unknown) else { return Err(error) };
    let hint = match closest(unknown, known.iter().map(String::as_str)) {
        Some(meant) => format!("Did you mean '{meant}'?"),
        None => format!("Profiles: {}.", known.join(", ")),
    };
    Err(failure.hinting(hint).into())
}

/// The name that was probably meant.
pub async fn meant(client: &Client, kind: Named, name: &str) -> Option<String> {
    let names = names(client, kind).await?;
    closest(name, names.iter().map(String::as_str)).map(str::to_owned)
}

async fn names(client: &Client, kind: Named) -> Option<Vec<String>> {
    let (path, list) = kind.list();
    let found = client.get(path).await.ok()?;
    Some(found[list].as_array()?.iter().filter_map(|one| one["name"].as_str()).map(str::to_owned).collect())
}

/// The name that is closest to a word, if any is close.
pub fn closest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.chars().count() / 3).max(1);
    let close = names.map(|name| (distance(word, name), name)).filter(|(steps, _)| *steps <= most);
    close.min_by_key(|(steps, _)| *steps).map(|(_, name)| name)
}

/// Letters that are wrong, missing, too many or swapped. Case and kind of dash do not count.
fn distance(one: &str, other: &str) -> usize {
    let letters =
        |text: &str| -> String { text.to_lowercase().replace('_', "-").chars().take(200).collect() };
    strsim::osa_distance(&letters(one), &letters(other))
}

/// The tools of a profile as text, with the one that was probably meant before them.
pub fn among(name: &str, tools: &Value) -> String {
    let names = tools.as_array().into_iter().flatten().filter_map(Value::as_str);
    closest(name, names).map(|meant| format!("Did you mean '{meant}'? ")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_of_the_pen_is_seen_and_another_word_is_not() {
        let names = ["create-task", "complete-task", "get-status", "files__read"];
        let meant = |word| closest(word, names.iter().copied());
        assert_eq!(meant("craete-task"), Some("create-task"));
        assert_eq!(meant("create_task"), Some("create-task"));
        assert_eq!(meant("getstatus"), Some("get-status"));
        assert_eq!((meant("weather"), meant("x"), meant("")), (None, None, None));
    }
}
