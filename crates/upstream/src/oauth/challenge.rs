//! `WWW-Authenticate`: what a server says that a request lacks.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, StatusCode};

/// What a refused request lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// A token that says more than ours, as opposed to any token at all.
    pub(crate) insufficient_scope: bool,
    /// Whether the server speaks of Bearer tokens at all.
    pub(crate) bearer: bool,
    /// Where the server's metadata is. Chosen by the server, so not to be trusted.
    pub(crate) resource_metadata: Option<String>,
    /// What the token must be good for.
    pub(crate) scope: Option<String>,
}

impl Challenge {
    /// The challenge of an answer, if another token could change it.
    pub(crate) fn of(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE);
        let texts = values.iter().filter_map(|value| value.to_str().ok());
        let bearer = texts.flat_map(parse).find(|one| one.scheme.eq_ignore_ascii_case("bearer"));
        match (status, bearer) {
            (StatusCode::UNAUTHORIZED, None) => Some(Self::default()),
            (StatusCode::UNAUTHORIZED, Some(bearer)) => Some(Self::new(&bearer)),
            (StatusCode::FORBIDDEN, Some(bearer)) if bearer.get("error") == Some("insufficient_scope") => {
                Some(Self { insufficient_scope: true, ..Self::new(&bearer) })
            }
            _ => None,
        }
    }

    fn new(scheme: &Scheme) -> Self {
        let text = |name: &str| scheme.get(name).filter(|text| !text.trim().is_empty()).map(str::to_owned);
        Self {
            insufficient_scope: false,
            bearer: true,
            resource_metadata: text("resource_metadata"),
            scope: text("scope"),
        }
    }
}

/// One scheme of a header, with its parameters.
#[derive(Debug, PartialEq, Eq)]
struct Scheme {
    scheme: String,
    params: Vec<(String, String)>,
}

impl Scheme {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.params.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// The schemes of a header. A word before `=` is a parameter of the scheme before it; any other is a scheme.
/// What fits no rule is passed over.
fn parse(text: &str) -> Vec<Scheme> {
    let mut schemes: Vec<Scheme> = Vec::new();
    let mut rest = text;
    loop {
        toolroom_work::step(1);
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find(|c: char| !is_token(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        toolroom_work::step(word.len());
        if word.is_empty() {
            let mut chars = after.chars();
            if chars.next().is_none() {
                return schemes;
            }
            rest = chars.as_str();
            continue;
        }
        match after.trim_start_matches([' ', '\t']).strip_prefix('=') {
            Some(value) => {
                let (value, after) = read_value(value.trim_start_matches([' ', '\t']));
                if let Some(scheme) = schemes.last_mut() {
                    scheme.params.push((word.to_owned(), value));
                }
                rest = after;
            }
            None => {
                schemes.push(Scheme { scheme: word.to_owned(), params: Vec::new() });
                rest = after;
            }
        }
    }
}

/// A word, or a text in quotes with `\` before what is meant as it stands; and what comes after it.
fn read_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| !is_token(c)).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => value.extend(chars.next()),
            other => value.push(other),
        }
    }
    toolroom_work::step(value.len());
    (value, chars.as_str())
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, StatusCode};
    use proptest::prelude::*;

    use super::{Challenge, parse};

    fn challenge(status: u16, values: &[&str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("www-authenticate", value.parse().unwrap());
        }
        Challenge::of(StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn the_bearer_challenge_is_found_among_others() {
        let found = challenge(
            401,
            &[
                "Negotiate abc==, Basic realm=\"a, Bearer scope=no\"",
                "bearer realm=\"x\", scope = \"a b\",resource_metadata=\"https://h/\\\"q\\\"\"",
            ],
        );
        let found = found.unwrap();
        assert_eq!(found.scope.as_deref(), Some("a b"));
        assert_eq!(found.resource_metadata.as_deref(), Some("https://h/\"q\""));
        assert!(found.bearer && !found.insufficient_scope);
    }

    #[test]
    fn only_a_lack_of_scope_makes_a_refusal_a_challenge() {
        assert_eq!(challenge(403, &["Bearer error=\"invalid_token\""]), None);
        assert_eq!(challenge(403, &[]), None);
        assert_eq!(challenge(200, &["Bearer scope=a"]), None);
        assert!(challenge(403, &["Bearer error=insufficient_scope, scope=w"]).unwrap().insufficient_scope);
        assert_eq!(challenge(401, &[]), Some(Challenge::default()));
        assert_eq!(challenge(401, &["Basic realm=x"]), Some(Challenge::default()));
        assert_eq!(challenge(401, &["Bearer scope=\" \""]).unwrap().scope, None);
    }

    #[test]
    fn promise_any_challenge_takes_work_that_grows_with_its_length_alone() {
        let target = toolroom_work::fuzz::Target {
            name: "WWW-Authenticate",
            words: &[
                "Bearer",
                "Basic",
                "scope",
                "=",
                "\"",
                "\\\"",
                ",",
                "a=b",
                "resource_metadata=",
                "error=\"insufficient_scope\"",
                "==",
            ],
            sample: 300,
            longest: 20_000,
            fixed: 10,
            per_byte: 4,
        };
        target.run(|text| drop(parse(text)));
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "\\PC{0,200}") {
            parse(&text);
        }

        #[test]
        fn a_quoted_value_comes_back_as_it_was(value in "[ -~]{0,80}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let schemes = parse(&format!("Basic a=1, Bearer x=y, scope=\"{quoted}\", z=1"));
            prop_assert_eq!(schemes.len(), 2);
            prop_assert_eq!(schemes[1].get("SCOPE"), Some(value.as_str()));
            prop_assert_eq!(schemes[1].get("z"), Some("1"));
        }
    }
}
