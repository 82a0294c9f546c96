//! Integers that a JSON reader would turn into floats: what is read would not be what was sent.

/// The shortest integer that can be too large: -9223372036854775809, without its sign.
const SHORTEST: usize = 19;

/// The first integer in a JSON text that does not fit 64 bits. Texts without one cost a look at every 19th byte.
pub fn oversized_integer(text: &str) -> Option<&str> {
    if has_many_digits(text.as_bytes()) { first_oversized(text) } else { None }
}

/// What is said of such an integer.
pub fn oversized(number: &str) -> String {
    let shown: String = number.chars().take(40).collect();
    format!("the integer {shown} does not fit into 64 bits and would lose digits; send it as a string")
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

fn first_oversized(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1),
            b'-' | b'0'..=b'9' => {
                let part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let end = at + bytes[at..].iter().take_while(part).count();
                let number = text.get(at..end)?;
                let is_integer = !number.contains(['.', 'e', 'E']);
                if is_integer && number.parse::<u64>().is_err() && number.parse::<i64>().is_err() {
                    return Some(number);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
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
    use super::oversized_integer;

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
            assert_eq!(oversized_integer(text), found, "{text}");
        }
        for before in 0..60 {
            let text = format!("[{}{}]", " ".repeat(before), "9".repeat(20));
            assert!(oversized_integer(&text).is_some(), "{before}");
        }
    }
}
