//! Integers that a JSON reader would turn into floats: what is read would not be what was sent.

use std::borrow::Cow;
use std::fmt;

use crate::pointer;

/// An integer that does not fit 64 bits.
#[derive(Debug, PartialEq, Eq)]
pub struct Oversized<'a> {
    pub number: &'a str,
    /// Where it stands, as a JSON pointer.
    pub pointer: String,
}

impl fmt::Display for Oversized<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.number.chars().take(40).collect();
        write!(f, "the integer {shown} does not fit into 64 bits and would lose digits; send it as a string")
    }
}

/// The shortest integer that can be too large: -9223372036854775809, without its sign.
const SHORTEST: usize = 19;

/// The first integer in a JSON text that does not fit 64 bits. Texts without one cost a look at every 19th byte.
pub fn oversized_integer(text: &str) -> Option<Oversized<'_>> {
    if has_many_digits(text.as_bytes()) { first_oversized(text) } else { None }
}

/// The text with `0` for every `-0`, which is the same integer and would be read as a float. `-0.0` is one.
pub fn plain_zeros(text: &str) -> Cow<'_, str> {
    if !text.contains("-0") {
        return Cow::Borrowed(text);
    }
    let (bytes, mut plain, mut taken, mut at) = (text.as_bytes(), String::new(), 0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(bytes, at);
                if bytes[at..end] == *b"-0" {
                    plain.push_str(&text[taken..at]);
                    taken = at + 1;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    plain.push_str(&text[taken..]);
    Cow::Owned(plain)
}

fn has_many_digits(bytes: &[u8]) -> bool {
    let mut at = SHORTEST - 1;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_digit() {
            let before = bytes[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let after = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if before + after >= SHORTEST {
                return true;
            }
            at += after;
        }
        at += SHORTEST;
    }
    false
}

/// Where a reader is within one object or array.
enum Step<'a> {
    /// The field, as it is written.
    Field(&'a str),
    Item(usize),
}

fn first_oversized(text: &str) -> Option<Oversized<'_>> {
    let bytes = text.as_bytes();
    let (mut at, mut path) = (0, Vec::new());
    while let Some(&byte) = bytes.get(at) {
        let mut next = at + 1;
        match byte {
            b'"' => {
                next = end_of_string(bytes, next);
                // Until the colon it may be a field's name; a value is followed by no number.
                if let (Some(Step::Field(name)), Some(written)) = (path.last_mut(), text.get(at..next)) {
                    *name = written;
                }
            }
            b'{' => path.push(Step::Field("")),
            b'[' => path.push(Step::Item(0)),
            b'}' | b']' => drop(path.pop()),
            b',' => {
                if let Some(Step::Item(nth)) = path.last_mut() {
                    *nth += 1;
                }
            }
            b'-' | b'0'..=b'9' => {
                next = end_of_number(bytes, at);
                let number = text.get(at..next)?;
                let is_integer = !number.contains(['.', 'e', 'E']);
                if is_integer && number.parse::<u64>().is_err() && number.parse::<i64>().is_err() {
                    return Some(Oversized { number, pointer: path.iter().map(token).collect() });
                }
            }
            _ => {}
        }
        at = next;
    }
    None
}

fn token(step: &Step<'_>) -> String {
    match step {
        Step::Item(nth) => format!("/{nth}"),
        Step::Field(written) => {
            let name: String = serde_json::from_str(written).unwrap_or_default();
            format!("/{}", pointer::token(&name))
        }
    }
}

/// Where a number ends that begins there.
fn end_of_number(bytes: &[u8], at: usize) -> usize {
    let part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    at + bytes[at..].iter().take_while(part).count()
}

/// Where a string ends that began before.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            None | Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{oversized_integer, plain_zeros};

    #[test]
    fn the_place_of_an_integer_is_told_and_zero_has_no_sign() {
        let big = "1180591620717411303424";
        for (text, place) in [
            (format!(r#"{{"a":"x","b":[1,{{"c/d":[],"e":"s","f\"g": {big}}}]}}"#), r#"/b/1/f"g"#),
            (format!(r#"[[{{}}, "a", {{"b":1}}], {{"x":{{"y":2}}, "z":{big}}}]"#), "/1/z"),
            (big.to_owned(), ""),
        ] {
            assert_eq!(oversized_integer(&text).unwrap().pointer, place, "{text}");
        }
        let text = r#"{"a":-0,"b":[-0, -0.0,-0e1,-01, 1e-0],"c":"-0","-0":-5}"#;
        let plain = r#"{"a":0,"b":[0, -0.0,-0e1,-01, 1e-0],"c":"-0","-0":-5}"#;
        assert_eq!(plain_zeros(text), plain);
        assert_eq!(plain_zeros("-0"), "0");
    }

    #[test]
    fn integers_beyond_64_bits_are_found_and_nothing_else() {
        for (text, found) in [
            (r#"{"id": 18446744073709551616}"#, Some("18446744073709551616")),
            (r#"[1, -9223372036854775809]"#, Some("-9223372036854775809")),
            ("1180591620717411303424", Some("1180591620717411303424")),
            (r#"{"a":"\"","id":1180591620717411303424}"#, Some("1180591620717411303424")),
            (r#"{"id": 18446744073709551615, "b": -9223372036854775808}"#, None),
            (r#"{"id": "1180591620717411303424"}"#, None),
            (r#"{"1180591620717411303424": "\"1180591620717411303424"}"#, None),
            (r#"{"a": 1180591620717411303424.5, "b": 1180591620717411303424e0}"#, None),
            (r#"{"pi": 3.14159265358979323846264338327950288}"#, None),
            ("", None),
        ] {
            assert_eq!(oversized_integer(text).map(|found| found.number), found, "{text}");
        }
        for before in 0..60 {
            let text = format!("[{}{}]", " ".repeat(before), "9".repeat(20));
            assert!(oversized_integer(&text).is_some(), "{before}");
        }
    }
}
