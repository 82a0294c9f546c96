//! JSON with comments and trailing commas, as editors keep their settings.

/// The text as plain JSON: comments and trailing commas become spaces, so that lines and columns stay.
pub(super) fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = bytes.to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = end_of_text(bytes, at);
                comma = None;
                continue;
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => {
                let end = end_of_comment(bytes, at);
                for byte in &mut plain[at..end] {
                    if *byte != b'\n' {
                        *byte = b' ';
                    }
                }
                at = end;
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    plain[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    String::from_utf8_lossy(&plain).into_owned()
}

fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn end_of_comment(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start + 2..];
    let length = match bytes[start + 1] {
        b'/' => rest.iter().position(|byte| *byte == b'\n'),
        _ => rest.windows(2).position(|pair| pair == b"*/").map(|at| at + 2),
    };
    length.map_or(bytes.len(), |length| start + 2 + length)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_no_part_of_the_value() {
        let text =
            "\u{feff}// servers\n{ \"a\": \"x // y, ]\", /* , */ \"b\": [1, 2, /* three */ ], // end\n}\n";
        let value: Value = serde_json::from_str(plain(text).trim_start_matches('\u{feff}')).unwrap();
        assert_eq!(value, json!({ "a": "x // y, ]", "b": [1, 2] }));
        for broken in ["/*", "\"\\", "[1,,]", "//", "{,"] {
            assert_eq!(plain(broken).len(), broken.len());
        }
        assert!(serde_json::from_str::<Value>(&plain("[1,,2]")).is_err());
    }
}
