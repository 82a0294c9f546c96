//! The two halves of a session on the wire: a cookie and a header.

use http::{HeaderMap, HeaderName, header};
use toolroom_store::sessions::LIFETIME;

const PROOF: HeaderName = HeaderName::from_static("x-toolroom-proof");
/// Of the console's pages no request needs it, and it goes to no other path.
const PATH: &str = "/api/";

/// What a request shows of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown<'a> {
    Nothing,
    /// One without the other.
    Half,
    Both(&'a str, &'a str),
}

pub(super) fn shown<'a>(headers: &'a HeaderMap, name: &str) -> Shown<'a> {
    let proof = headers.get(PROOF).and_then(|value| value.to_str().ok()).filter(|proof| !proof.is_empty());
    match (cookie(headers, name), proof) {
        (Some(cookie), Some(proof)) => Shown::Both(cookie, proof),
        (None, None) => Shown::Nothing,
        _ => Shown::Half,
    }
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, value)| *found == name && !value.is_empty()).map(|(_, value)| value)
}

pub(super) fn set(name: &str, value: &str, is_https: bool) -> String {
    let secure = if is_https { "; Secure" } else { "" };
    let seconds = LIFETIME.as_secs();
    format!("{name}={value}; HttpOnly; SameSite=Strict; Path={PATH}; Max-Age={seconds}{secure}")
}

pub(super) fn remove(name: &str) -> String {
    format!("{name}=; HttpOnly; SameSite=Strict; Path={PATH}; Max-Age=0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_by<'a>(headers: &'a mut HeaderMap, fields: &[(&'static str, &str)]) -> Shown<'a> {
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        shown(headers, "toolroom_1")
    }

    #[test]
    fn both_halves_are_found_among_others() {
        let mut headers = HeaderMap::new();
        let fields =
            [("cookie", "a=b; toolroom_10=x"), ("cookie", "c; toolroom_1=y=z"), ("x-toolroom-proof", "p")];
        assert_eq!(shown_by(&mut headers, &fields), Shown::Both("y=z", "p"));
    }

    #[test]
    fn an_empty_half_is_none() {
        for (fields, expected) in [
            (&[("cookie", "toolroom_1="), ("x-toolroom-proof", "")][..], Shown::Nothing),
            (&[("cookie", "toolroom_1=x"), ("x-toolroom-proof", "")][..], Shown::Half),
            (&[("cookie", "other=x"), ("x-toolroom-proof", "p")][..], Shown::Half),
            (&[("cookie", "other=x")][..], Shown::Nothing),
        ] {
            assert_eq!(shown_by(&mut HeaderMap::new(), fields), expected, "{fields:?}");
        }
    }
}
