//! Names that every client takes: letters, digits, `_` and `-`, a letter first, at most 64 characters.

use std::collections::{BTreeMap, BTreeSet};

/// The longest name that all clients take.
const LONGEST: usize = 64;

/// Whether a name can be shown as it is.
pub(crate) fn is_plain(name: &str) -> bool {
    name.len() <= LONGEST
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The names of one profile that cannot be shown as they are, and how they are shown instead.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    shown: BTreeMap<String, String>,
    meant: BTreeMap<String, String>,
}

impl Aliases {
    /// Aliases for the names that need one. A plain name keeps itself; no two names are shown alike.
    pub(crate) fn of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut taken: BTreeSet<String> =
            names.clone().filter(|name| is_plain(name)).map(Into::into).collect();
        let mut aliases = Self::default();
        let odd: BTreeSet<&str> = names.filter(|name| !is_plain(name)).collect();
        for name in odd {
            let mut round = 0;
            let mut alias = shorten(name, round);
            while !taken.insert(alias.clone()) {
                round += 1;
                alias = shorten(name, round);
            }
            aliases.meant.insert(alias.clone(), name.to_owned());
            aliases.shown.insert(name.to_owned(), alias);
        }
        aliases
    }

    /// The name that clients see.
    pub(crate) fn show<'a>(&'a self, name: &'a str) -> &'a str {
        self.shown.get(name).map_or(name, String::as_str)
    }

    /// The name that a client means.
    pub(crate) fn mean<'a>(&'a self, shown: &'a str) -> &'a str {
        self.meant.get(shown).map_or(shown, String::as_str)
    }
}

/// What can be kept of the name, and a hash of the whole: the same name gives the same alias everywhere.
fn shorten(name: &str, round: u32) -> String {
    let kept: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' })
        .skip_while(|c| !c.is_ascii_alphabetic())
        .take(LONGEST - 9)
        .collect();
    let kept = if kept.is_empty() { "tool" } else { &kept };
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes()).update(&round.to_le_bytes());
    let hash = hasher.finalize().to_hex();
    format!("{kept}_{}", &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_pass_unchanged() {
        let names = ["greet-user", "word_count", "A1"];
        let aliases = Aliases::of(names.into_iter());
        for name in names {
            assert_eq!(aliases.show(name), name);
            assert_eq!(aliases.mean(name), name);
        }
    }

    #[test]
    fn odd_names_become_plain_and_lead_back() {
        let long = "x".repeat(200);
        let longer = "x".repeat(201);
        let names = ["files.read", "files:read", "1st", "żółw", "", "…", &long, &longer];
        let aliases = Aliases::of(names.into_iter());
        let shown: BTreeSet<&str> = names.iter().map(|name| aliases.show(name)).collect();
        assert_eq!(shown.len(), names.len(), "no two names are shown alike");
        for name in names {
            assert!(is_plain(aliases.show(name)), "{name} -> {}", aliases.show(name));
            assert_eq!(aliases.mean(aliases.show(name)), name);
        }
        assert!(aliases.show("files.read").starts_with("files_read_"));
    }

    #[test]
    fn an_alias_that_is_taken_by_a_real_name_gives_way() {
        let first = Aliases::of(["files.read"].into_iter());
        let taken = first.show("files.read").to_owned();
        let names = ["files.read", &taken];
        let aliases = Aliases::of(names.into_iter());
        assert_ne!(aliases.show("files.read"), taken);
        assert_eq!(aliases.mean(&taken), taken);
        assert_eq!(aliases.mean(aliases.show("files.read")), "files.read");
    }
}
