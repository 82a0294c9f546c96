//! `${VAR}` and `${VAR:-default}` in the values of an entry.

/// Where variables come from.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Puts variables in, and remembers those that are not set.
pub(super) struct Expander<'a> {
    environment: Environment<'a>,
    /// The first of those that are not set.
    pub(super) unset: Vec<String>,
    /// Whether a value is longer than it may be once its variables are put in.
    pub(super) too_long: bool,
}

/// Bytes of a value with its variables put in: a long variable that is repeated could exhaust the memory.
pub(super) const LONGEST: usize = 256 << 10;
/// Variables that a message names.
const MOST_NAMED: usize = 10;

/// Holds the key of the home's secrets. It is for Toolroom alone: no entry can name it.
pub const SEAL_KEY: &str = "TOOLROOM_SEAL_KEY";

/// A text with its variables put in; an error says why that cannot be done.
pub fn expand(text: &str, environment: Environment<'_>) -> Result<String, String> {
    let mut expander = Expander::new(environment);
    let expanded = expander.expand(text);
    match (expander.unset.as_slice(), expander.too_long) {
        (_, true) => {
            Err(format!("a value is longer than {} KiB once its variables are put in", LONGEST >> 10))
        }
        ([], false) => Ok(expanded),
        (unset, false) => Err(format!("the environment of Toolroom does not set {}", unset.join(", "))),
    }
}

impl<'a> Expander<'a> {
    pub(super) fn new(environment: Environment<'a>) -> Self {
        Self { environment, unset: Vec::new(), too_long: false }
    }

    /// The text with its variables put in. What is put in is not looked at again.
    pub(super) fn expand(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let Some(length) = rest[start..].find('}') else { break };
            toolroom_work::step(start + length);
            if out.len() > LONGEST {
                self.too_long = true;
                return String::new();
            }
            out.push_str(&rest[..start]);
            out.push_str(&self.value(&rest[start + 2..start + length]));
            rest = &rest[start + length + 1..];
        }
        toolroom_work::step(rest.len());
        out.push_str(rest);
        out
    }

    fn value(&mut self, inner: &str) -> String {
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        // Some clients write `${env:VAR}`.
        let name = name.strip_prefix("env:").unwrap_or(name);
        // As in a shell, `:-` also stands in for a variable that is set to nothing.
        let found = (self.environment)(name)
            .filter(|value| name != SEAL_KEY && (default.is_none() || !value.is_empty()));
        match (found, default) {
            (Some(value), _) => value,
            (None, Some(default)) => default.to_owned(),
            (None, None) => {
                if self.unset.len() < MOST_NAMED && !self.unset.iter().any(|known| known == name) {
                    self.unset.push(name.to_owned());
                }
                String::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Expander, SEAL_KEY, expand};

    #[test]
    fn the_key_of_the_secrets_is_given_to_nobody() {
        let environment = |name: &str| (name == SEAL_KEY).then(|| "key".to_owned());
        assert!(expand("${TOOLROOM_SEAL_KEY}", &environment).is_err());
        assert_eq!(expand("${env:TOOLROOM_SEAL_KEY:-none}", &environment).unwrap(), "none");
    }

    #[test]
    fn variables_are_put_in_once_with_their_defaults() {
        let environment = |name: &str| match name {
            "KEY" => Some("k-${OTHER}".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let mut expander = Expander::new(&environment);
        assert_eq!(expander.expand("Bearer ${KEY}"), "Bearer k-${OTHER}");
        assert_eq!(expander.expand("${HOST:-localhost}:${PORT:-80}"), "localhost:80");
        assert_eq!(expander.expand("${EMPTY:-x}${EMPTY}"), "x");
        assert_eq!(expander.expand("${env:KEY} $KEY ${open"), "k-${OTHER} $KEY ${open");
        assert!(expander.unset.is_empty());
        assert_eq!(expander.expand("${A}${B}${A}"), "");
        assert_eq!(expander.unset, ["A", "B"]);
    }

    #[test]
    fn promise_any_value_takes_work_that_grows_with_its_length_alone_and_stays_bounded() {
        let target = toolroom_work::fuzz::Target {
            name: "variables in mcp.json",
            words: &["${", "}", "${A}", "${LONG}", "${A:-b}", ":-", "env:", "$", "{", "x", "${env:LONG:-"],
            sample: 300,
            longest: 50_000,
            fixed: 10,
            per_byte: 2,
        };
        let environment = |name: &str| (name == "LONG").then(|| "y".repeat(10_000));
        target.run(|text| {
            let mut expander = Expander::new(&environment);
            assert!(expander.expand(text).len() <= super::LONGEST + 10_000 + text.len());
            assert!(expander.unset.len() <= 10);
        });
    }

    #[test]
    fn a_value_that_would_fill_the_memory_is_told_and_not_made() {
        let environment = |_: &str| Some("y".repeat(10_000));
        let mut expander = Expander::new(&environment);
        assert_eq!(expander.expand(&"${A}".repeat(1_000)), "");
        assert!(expander.too_long);
    }
}
