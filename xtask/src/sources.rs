//! The workspace's sources as text for the checks of `architecture`: comments and tests left out, string literals apart from code.

use std::fs;
use std::path::Path;

/// One source file without its comments and tests.
pub(crate) struct Source {
    /// Relative to the workspace, such as `crates/store/src/lib.rs`.
    pub path: String,
    pub lines: usize,
    /// The code, with every string literal emptied.
    pub code: String,
    /// The string literals, in order, as they are written.
    pub literals: Vec<String>,
}

/// The Rust sources below `crates/*/src`, sorted by path.
pub(crate) fn all() -> Vec<Source> {
    let mut found = Vec::new();
    for krate in fs::read_dir("../crates").unwrap() {
        read(&krate.unwrap().path().join("src"), &mut found);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn read(folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix("..").unwrap().to_str().unwrap().to_owned();
            // `#[cfg(test)] mod tests;` lies in files of this name.
            let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
            let (code, literals) = if is_test { Default::default() } else { split(&text) };
            found.push(Source { path, lines: text.lines().count(), code, literals });
        }
    }
}

/// The code with emptied literals, and the literals. What stands under `#[cfg(test)]` is in neither.
fn split(text: &str) -> (String, Vec<String>) {
    let (mut code, mut literals) = (String::new(), Vec::new());
    // Where in `code` a test module began, and how many literals there were before it.
    let mut test: Option<(usize, usize)> = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(marks) = raw_marks(rest).filter(|_| !ends_in_name(&code)) {
            let (open, close) = (rest.find('"').unwrap() + 1, format!("\"{marks}"));
            let end = rest[open..].find(&close).unwrap_or(rest.len() - open);
            literals.push(rest[open..open + end].to_owned());
            code.push_str("\"\"");
            open + end + close.len()
        } else if first == '"' {
            let end = quoted(&rest[1..]);
            literals.push(rest[1..=end].to_owned());
            code.push_str("\"\"");
            end + 2
        } else if let Some(length) = character(rest) {
            code.push_str("' '");
            length
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = rest.get(taken..).unwrap_or_default();
        match test {
            None if code.ends_with("#[cfg(test)]") => {
                code.truncate(code.len() - "#[cfg(test)]".len());
                test = Some((code.len(), literals.len()));
            }
            // The item ends with its last brace, or with a semicolon before the first.
            Some((start, before)) if first == '}' || first == ';' => {
                let item = &code[start..];
                if item.matches('{').count() == item.matches('}').count() {
                    code.truncate(start);
                    literals.truncate(before);
                    test = None;
                }
            }
            _ => {}
        }
    }
    (code, literals)
}

fn ends_in_name(code: &str) -> bool {
    code.ends_with(|last: char| last.is_alphanumeric() || last == '_')
}

/// The marks of a raw string that begins here: `r"`, `br##"`.
fn raw_marks(text: &str) -> Option<&str> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let marks = after.len() - after.trim_start_matches('#').len();
    after[marks..].starts_with('"').then(|| &after[..marks])
}

/// How long the quoted text is that begins after a quote.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// The length of a character literal that begins here; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    if inner.starts_with('\\') {
        return inner[2..].find('\'').map(|end| end + 4);
    }
    let one = inner.chars().next()?.len_utf8();
    inner[one..].starts_with('\'').then_some(one + 2)
}

#[test]
fn comments_and_tests_are_left_out_and_literals_stand_apart() {
    let text = r##"
        // "a comment"
        fn shown<'a>(c: &'a str) -> char { let _ = ("one\"", r#"t"wo"#, '"', '\''); 'x' /* "no" */ }
        #[cfg(test)]
        mod tests { fn f() { if true { "hidden" } } }
        #[cfg(test)]
        mod more;
        fn last() -> &'static str { "three" }
    "##;
    let (code, literals) = split(text);
    assert_eq!(literals, [r#"one\""#, r#"t"wo"#, "three"]);
    assert!(code.contains("fn shown") && code.contains("fn last"), "{code}");
    assert!(!code.contains("mod") && !code.contains("comment"), "{code}");
}
