//! The fields of a JSON object as pieces of its text, found in one look over it.
//!
//! Only what is plain is taken. What is rare (escapes in keys, `\u`, exponents, many fields, deep nesting) is left to
//! serde_json, which also says what is wrong with a text: `None` here means no more than that it must look.

use smallvec::SmallVec;

/// Objects with more fields than this are not plain.
const MOST_FIELDS: usize = 16;
/// Nor is what is nested deeper than this.
const DEEPEST: usize = 32;
/// Longer numbers may be too large to be read.
const LONGEST_NUMBER: usize = 20;

/// Keys and values, each value as it is written.
type Pieces<'a> = SmallVec<[(&'a str, &'a str); MOST_FIELDS]>;

/// An object whose text is JSON, without a key that comes twice in it or in anything inside.
pub(super) struct FieldScanner<'a> {
    /// Its fields.
    pub(super) fields: Pieces<'a>,
    /// The fields of its field `params`, if that is an object.
    pub(super) params: Pieces<'a>,
}

impl<'a> FieldScanner<'a> {
    /// `None` if the text is not plain, is not an object, or is not JSON.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        // No early exit: this loop is vectorised.
        let one_line = bytes.iter().fold(true, |plain, byte| plain & (*byte >= 0x20));
        let mut scan = Scan { text, bytes, at: 0, one_line };
        let mut scanner = Self { fields: Pieces::new(), params: Pieces::new() };
        scan.skip_space();
        scan.object(DEEPEST, &mut scanner.fields, Some(&mut scanner.params))?;
        scan.skip_space();
        (scan.at == text.len()).then_some(scanner)
    }
}

/// Counts in tests alone: this is on the way of every request.
fn step(count: usize) {
    if cfg!(test) {
        toolroom_work::step(count);
    }
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Nothing in the text is a control character, so that no string has to be looked through for one.
    one_line: bool,
}

impl<'a> Scan<'a> {
    fn object(
        &mut self,
        depth: usize,
        fields: &mut Pieces<'a>,
        mut params: Option<&mut Pieces<'a>>,
    ) -> Option<()> {
        self.expect(b'{')?;
        self.skip_space();
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let key = self.key()?;
            if fields.len() == MOST_FIELDS || fields.iter().any(|(known, _)| *known == key) {
                return None;
            }
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            let from = self.at;
            match params.take_if(|_| key == "params" && self.bytes.get(from) == Some(&b'{')) {
                Some(params) => self.object(depth - 1, params, None)?,
                None => self.value(depth)?,
            }
            fields.push((key, self.text.get(from..self.at)?));
            if self.ends(b'}')? {
                return Some(());
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.expect(b'[')?;
        self.skip_space();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.value(depth)?;
            if self.ends(b']')? {
                return Some(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        step(1);
        match self.peek()? {
            b'"' => self.string(),
            b'{' => self.object(depth.checked_sub(1)?, &mut Pieces::new(), None),
            b'[' => self.array(depth.checked_sub(1)?),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    /// A string without any escape, without its quotes.
    fn key(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let from = self.at;
        let end = self.run()?;
        (end == b'"').then(|| self.text.get(from..self.at - 1))?
    }

    fn string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            match self.run()? {
                b'"' => return Some(()),
                _ if b"\"\\/bfnrt".contains(&self.next()?) => {}
                _ => return None,
            }
        }
    }

    /// What a string holds up to a quote or a backslash, and past that.
    fn run(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        let length = memchr::memchr2(b'"', b'\\', rest).inspect(|length| step(*length))?;
        if !self.one_line && rest[..length].iter().any(|byte| *byte < 0x20) {
            return None;
        }
        self.at += length + 1;
        Some(rest[length])
    }

    fn number(&mut self) -> Option<()> {
        let from = self.at;
        if self.peek()? == b'-' {
            self.at += 1;
        }
        let whole = self.at;
        self.digits()?;
        if self.bytes[whole] == b'0' && self.at > whole + 1 {
            return None;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        let exponent = matches!(self.bytes.get(self.at), Some(b'e' | b'E'));
        (!exponent && self.at - from <= LONGEST_NUMBER).then_some(())
    }

    /// At least one.
    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            step(1);
            self.at += 1;
        }
        (self.at > from).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let there = self.bytes.get(self.at..)?.starts_with(word);
        self.at += word.len();
        there.then_some(())
    }

    /// Behind a value: whether the object or array ends here, or else has more.
    fn ends(&mut self, with: u8) -> Option<bool> {
        self.skip_space();
        match self.next()? {
            b',' => {
                self.skip_space();
                Some(false)
            }
            byte => (byte == with).then_some(true),
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            step(1);
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn next(&mut self) -> Option<u8> {
        step(1);
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;
    use toolroom_contract::unique_keys::UniqueKeys;

    /// What serde_json makes of it.
    fn closely(text: &str) -> Option<BTreeMap<String, String>> {
        serde_json::from_str::<UniqueKeys>(text).ok()?;
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
        Some(fields.into_iter().map(|(key, value)| (key, value.get().to_owned())).collect())
    }

    fn plainly(text: &str) -> Option<BTreeMap<String, String>> {
        let scanner = FieldScanner::of(text)?;
        let params = scanner.fields.iter().find(|(key, value)| *key == "params" && value.starts_with('{'));
        let own =
            params.and_then(|(_, value)| FieldScanner::of(value)).map(|own| own.fields).unwrap_or_default();
        assert_eq!(scanner.params, own, "{text}");
        Some(scanner.fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn promise_any_frame_takes_work_that_grows_with_its_length_alone() {
        let target = toolroom_work::fuzz::Target {
            name: "frames of JSON",
            words: &[
                "{",
                "}",
                "[",
                "]",
                "\"",
                "\\",
                "\\n",
                ":",
                ",",
                "\"a\":",
                "{\"a\":",
                "\"params\":{",
                "1",
                "-",
                "0.",
                "true",
                "null",
                "12",
                " ",
                "[[",
                "{}",
            ],
            sample: 300,
            longest: 20_000,
            fixed: 10,
            per_byte: 6,
        };
        target.run(|text| {
            let _ = FieldScanner::of(text);
            let _ = FieldScanner::of(&format!("{{\"params\":[{text}"));
            let _ = FieldScanner::of(&format!("{{\"a\":\"{text}"));
        });
    }

    #[test]
    fn what_clients_send_is_plain() {
        for text in [
            "{}",
            " { } ",
            r#"{"a":1,"b":[1, 2.5,-3,true,false,null,"x\n",{}],"c":{"d":{"a":""}}}"#,
            r#"{"params":{"a":{"b":1},"c":"\"d\\"}}"#,
            r#"{"params":[1]}"#,
            "{\r\n\t\"key with spaces\" : \"\u{e9}\u{1f600}\" }",
        ] {
            assert!(plainly(text).is_some(), "{text}");
            assert_eq!(plainly(text), closely(text), "{text}");
        }
    }

    #[test]
    fn what_is_rare_or_wrong_is_left_to_a_closer_look() {
        for text in [
            "",
            "[]",
            "{} x",
            r#"{"a":1,}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"x":[{"a":1,"a":2}]}"#,
            r#"{"\u0061":1}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"a":1e999}"#,
            r#"{"a":01}"#,
            r#"{"a":-}"#,
            r#"{"a":1.}"#,
            r#"{"a":tru}"#,
            "{\"a\":\"\n\"}",
            r#"{"a":"b"#,
        ] {
            assert!(FieldScanner::of(text).is_none(), "{text}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(DEEPEST + 1), "]".repeat(DEEPEST + 1));
        assert!(FieldScanner::of(&deep).is_none());
    }

    /// Pieces that make JSON, and nearly JSON.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "{", "}", "[", "]", ":", ",", "\"", "\\", "\"a\"", "\"b\"", "\"a\":", "\"b\":", "1", "-0", "0",
            ".5", "e9", "true", "null", "\\n", "\\u00e9", "\u{e9}", " ", "\n", "{\"a\":", "\"x\"}", "[1,",
            "{}", "\u{1}",
        ]);
        prop::collection::vec(piece, 0..16).prop_map(|pieces| format!("{{\"params\":{}}}", pieces.concat()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn whatever_is_taken_is_what_serde_json_reads(text in text()) {
            if let Some(plain) = plainly(&text) {
                prop_assert_eq!(Some(plain), closely(&text), "{}", text);
            }
        }
    }
}
