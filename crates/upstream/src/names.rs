//! Names of federated tools: `{server}__{tool}`, plain enough for every client and never two alike.

use std::collections::BTreeSet;

use serde_json::Value;
use toolroom_contract::canonical;

/// The longest name that all clients take.
const LONGEST: usize = 64;

/// The longest name of a server that is published as it is.
const LONGEST_SERVER: usize = 48;

/// The name under which a server is published: in permissions, in the names of its tools, in addresses. A name that is
/// plain stays as it is; of any other text the letters and digits stay.
pub fn published(server: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let begins_well = |name: &str| name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if server.len() <= LONGEST_SERVER && begins_well(server) && server.bytes().all(is_plain) {
        return server.to_owned();
    }
    let mapped: String = server
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' })
        .collect();
    let mapped = mapped.trim_start_matches(['_', '-']).trim_end_matches('_');
    if !mapped.is_empty() && mapped.len() <= LONGEST_SERVER {
        return mapped.to_owned();
    }
    let hash = canonical::digest("server name", &Value::from(server)).to_hex();
    let kept = if mapped.is_empty() { "server" } else { &mapped[..LONGEST_SERVER - 9] };
    format!("{}_{}", kept.trim_end_matches('_'), &hash[..8])
}

/// The names of a server's tools, in their order. Each depends on the server's prefix and the tool alone,
/// unless two tools would get the same plain name: then both carry a hash.
pub fn federated<'a>(prefix: &str, tools: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let twice: BTreeSet<String> =
        tools.clone().map(|tool| plain(prefix, tool)).filter(|name| !seen.insert(name.clone())).collect();
    tools
        .map(|tool| {
            let name = plain(prefix, tool);
            let fits = name.len() <= LONGEST && !twice.contains(&name);
            if fits { name } else { hashed(&name, prefix, tool) }
        })
        .collect()
}

/// The name as it would be, if it is not too long.
fn plain(prefix: &str, tool: &str) -> String {
    let whole = if prefix.is_empty() { tool.to_owned() } else { format!("{prefix}__{tool}") };
    let mut name: String = whole
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert(0, 't');
    }
    name
}

fn hashed(name: &str, prefix: &str, tool: &str) -> String {
    let hash = canonical::digest("federated name", &Value::from(vec![prefix, tool])).to_hex();
    let kept = &name[..name.len().min(LONGEST - 9)];
    format!("{}_{}", kept.trim_end_matches('_'), &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::federated;

    fn names(prefix: &str, tools: &[&str]) -> Vec<String> {
        federated(prefix, tools.iter().copied())
    }

    #[test]
    fn ordinary_names_are_server_and_tool() {
        assert_eq!(names("git", &["log", "show-diff"]), ["git__log", "git__show-diff"]);
        assert_eq!(names("my.server", &["files.read"]), ["my_server__files_read"]);
        assert_eq!(names("", &["log", "1st"]), ["log", "t1st"]);
    }

    #[test]
    fn whatever_a_server_is_called_it_is_published_under_a_plain_name() {
        for (name, expected) in [
            ("git", "git"),
            ("my.server-2", "my.server-2"),
            ("My Server", "My_Server"),
            ("@scope/server", "scope_server"),
            ("..", "server_"),
            ("天気", "server_"),
        ] {
            let published = super::published(name);
            assert!(published.starts_with(expected), "{name}: {published}");
        }
        assert_ne!(super::published("天気"), super::published("予報"));
        assert!(super::published(&"long name ".repeat(20)).len() <= 48);
    }

    #[test]
    fn long_names_are_cut_with_a_hash_of_the_whole() {
        let (one, other) = ("x".repeat(80), format!("{}y", "x".repeat(79)));
        let named = names("server", &[&one, &other]);
        assert!(named.iter().all(|name| name.len() <= 64), "{named:?}");
        assert_ne!(named[0], named[1]);
        assert_eq!(named[0], names("server", &[&one])[0], "whatever else the server has");
    }

    #[test]
    fn names_that_look_alike_when_made_plain_are_told_apart() {
        let named = names("s", &["a.b", "a:b", "a_b", "c"]);
        let unique: std::collections::BTreeSet<_> = named.iter().collect();
        assert_eq!(unique.len(), 4, "{named:?}");
        assert_eq!(named[3], "s__c");
    }
}
