//! Finds the header's text in a script: the docstring of a Python module, or the comments at the top.

use super::HeaderError;

/// A line of the header, and its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counted from 1.
    pub number: usize,
    /// Without the mark of a comment, indented as within the header.
    pub text: String,
}

impl Line {
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }
}

/// The header of a Python module: its docstring, or the comments at the top if it has none.
pub fn of_python(source: &str) -> Result<Vec<Line>, HeaderError> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut start = 0;
    for (at, line) in source.split_inclusive('\n').enumerate() {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            start += line.len();
            continue;
        }
        return match Opening::of(line) {
            Some(opening) => docstring(&source[start + opening.length..], at + 1, &opening),
            None => of_comments(source),
        };
    }
    of_comments(source)
}

/// The comments at the top of a file, marked by `#`, `//` or `--`; a first line `#!…` is not one of them.
pub fn of_comments(source: &str) -> Result<Vec<Line>, HeaderError> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut lines = Vec::new();
    let mut mark = None;
    for (at, line) in source.lines().enumerate() {
        if (at == 0 && line.starts_with("#!")) || (mark.is_none() && line.trim().is_empty()) {
            continue;
        }
        let found =
            *mark.get_or_insert_with(|| ["#", "//", "--"].into_iter().find(|one| line.starts_with(one)));
        match found.and_then(|mark| line.strip_prefix(mark)) {
            // Notes to editors and linters are for them.
            Some(text) if text.contains("-*-") || text.trim_start().starts_with("shellcheck ") => {}
            Some(text) => lines.push(Line { number: at + 1, text: expand(text) }),
            None => break,
        }
    }
    finish(lines, 0)
}

/// How a docstring begins.
struct Opening {
    quote: &'static str,
    raw: bool,
    /// Bytes up to its text.
    length: usize,
}

impl Opening {
    fn of(line: &str) -> Option<Self> {
        let rest = line.strip_prefix(['r', 'R', 'u', 'U']).unwrap_or(line);
        let raw = line.starts_with(['r', 'R']);
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote))?;
        Some(Self { quote, raw, length: line.len() - rest.len() + quote.len() })
    }
}

fn docstring(text: &str, first: usize, opening: &Opening) -> Result<Vec<Line>, HeaderError> {
    let unclosed =
        || HeaderError::new(first, "the docstring is not closed", format!("End it with {}.", opening.quote));
    let mut end = 0;
    loop {
        toolroom_work::step(1);
        let rest = text.get(end..).unwrap_or_default();
        if rest.starts_with(opening.quote) {
            break;
        }
        let mut letters = rest.chars();
        let letter = letters.next().ok_or_else(unclosed)?;
        if letter == '\n' && opening.quote.len() == 1 {
            return Err(unclosed());
        }
        end += letter.len_utf8();
        if letter == '\\' {
            end += letters.next().map_or(0, char::len_utf8);
        }
    }
    let lines = text[..end].lines().enumerate().map(|(at, line)| {
        let line = if opening.raw { line.to_owned() } else { unescaped(line) };
        Line { number: first + at, text: expand(&line) }
    });
    // The first line stands behind the quotes, so that its indentation says nothing.
    finish(lines.collect(), 1)
}

/// Removes the indentation that all lines but the first ones share.
fn finish(mut lines: Vec<Line>, aside: usize) -> Result<Vec<Line>, HeaderError> {
    let common =
        lines.iter().skip(aside).filter(|line| !line.is_blank()).map(Line::indent).min().unwrap_or(0);
    for (at, line) in lines.iter_mut().enumerate() {
        let cut = if at < aside { line.indent() } else { common.min(line.indent()) };
        line.text = line.text[cut..].trim_end().to_owned();
    }
    if lines.iter().all(Line::is_blank) {
        let missing = HeaderError::new(
            1,
            "the script has no header that describes it",
            "Begin it with a docstring (Python) or comments (others): what the tool does, then lines such as \
             'name: get-weather'. 'toolroom tools add --help' shows one.",
        );
        return Err(HeaderError { no_header: true, ..missing });
    }
    Ok(lines)
}

fn expand(text: &str) -> String {
    toolroom_work::step(text.len());
    text.chars().map(|c| if c == '\t' { "        ".to_owned() } else { c.to_string() }).collect()
}

/// The escapes that a header needs: quotes and the backslash itself.
fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, letters.as_str().chars().next()) {
            ('\\', Some(next @ ('\\' | '"' | '\''))) => {
                text.push(next);
                letters.next();
            }
            // The line goes on in the next one.
            ('\\', None) => {}
            (letter, _) => text.push(letter),
        }
    }
    text
}
