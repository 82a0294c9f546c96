//! What people see: text on stdout, remarks on stderr, tables that fit the terminal, colours where there is one.
//! All text passes through [`visible`], so that text from outside cannot control the terminal. Whoever asks for JSON
//! is a program: it gets no remarks and no questions, and stderr has nothing but the error.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{Cell, Color, ContentArrangement, Table, presets};
use serde_json::Value;
use toolroom_contract::text::is_hidden;

/// Whether this process speaks to a program. Set once, before anything is said.
static TO_PROGRAM: AtomicBool = AtomicBool::new(false);

/// From now on nobody is told or asked anything beside the output and the error.
pub fn speak_to_program() {
    TO_PROGRAM.store(true, Ordering::Relaxed);
}

fn is_to_program() -> bool {
    TO_PROGRAM.load(Ordering::Relaxed)
}

/// Whether a person watches what is said on stderr.
pub fn is_watched() -> bool {
    !is_to_program() && io::stderr().is_terminal()
}

/// Whether a person sits at a terminal who can be asked.
pub fn can_ask() -> bool {
    is_watched() && io::stdin().is_terminal()
}

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    /// Success.
    Good,
    /// A warning.
    Warn,
    /// It failed.
    Bad,
    /// It is only a remark.
    Quiet,
}

impl Tint {
    fn escape(self) -> &'static str {
        match self {
            Self::Good => "\x1b[32m",
            Self::Warn => "\x1b[33m",
            Self::Bad => "\x1b[1;31m",
            Self::Quiet => "\x1b[2m",
        }
    }

    fn color(self) -> Color {
        match self {
            Self::Good => Color::Green,
            Self::Warn => Color::Yellow,
            Self::Bad => Color::Red,
            Self::Quiet => Color::DarkGrey,
        }
    }
}

/// Prints a line to stdout. Fails if stdout was closed.
pub fn say(text: &str) -> io::Result<()> {
    say_raw(&visible(text))
}

fn say_raw(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// A piece of a line on stdout, in colour where there is a terminal.
pub fn put(text: &str, tint: Option<Tint>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let text = visible(text);
    match tint.filter(|_| io::stdout().is_terminal() && colours_wanted()) {
        Some(tint) => write!(out, "{}{text}\x1b[0m", tint.escape())?,
        None => write!(out, "{text}")?,
    }
    out.flush()
}

/// Asks a yes-or-no question; `None` if there is nobody to ask.
pub fn is_confirmed(question: &str) -> io::Result<Option<bool>> {
    if !can_ask() {
        return Ok(None);
    }
    remark(&format!("{question} [y/N]"));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(Some(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")))
}

/// JSON on stdout, to be read by people.
pub fn say_json(value: &Value) -> io::Result<()> {
    say(&serde_json::to_string_pretty(value)?)
}

/// A remark on stderr.
pub fn remark(text: &str) {
    remark_raw(&visible(text));
}

fn remark_raw(text: &str) {
    if !is_to_program() {
        write_error(text);
    }
}

/// An error as JSON on stderr, for programs.
pub fn error_json(error: &Value) {
    write_error(&visible(&error.to_string()));
}

fn write_error(text: &str) {
    // A closed stderr must not fail the command.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A remark on stderr under a coloured word.
pub fn complain(tint: Tint, word: &str, text: &str) {
    mark(tint, &format!("{word}:"), text);
}

/// A remark on stderr behind a coloured sign.
pub fn mark(tint: Tint, sign: &str, text: &str) {
    let colour = io::stderr().is_terminal() && colours_wanted();
    let (on, off) = if colour { (tint.escape(), "\x1b[0m") } else { ("", "") };
    remark_raw(format!("{on}{}{off} {}", visible(sign), visible(text)).trim_end());
}

/// Rows under a header. Columns are fitted to the terminal; without one, every row is one line.
pub struct Rows(Table);

impl Rows {
    /// A table with these columns.
    pub fn new(header: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(header.iter().map(|name| name.to_uppercase()));
        if io::stdout().is_terminal() {
            table.set_content_arrangement(ContentArrangement::Dynamic);
        } else {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
        if !colours_wanted() {
            table.force_no_tty();
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        Self(table)
    }

    /// Adds a row.
    pub fn add<I: IntoIterator<Item = Cell>>(&mut self, cells: I) {
        self.0.add_row(cells);
    }

    /// The table on stdout, or a sentence if it has no rows.
    pub fn say(&self, if_empty: &str) -> io::Result<()> {
        if self.0.is_empty() {
            return say(if_empty);
        }
        let lines: Vec<String> = self.0.lines().map(|line| line.trim_end().to_owned()).collect();
        // Its colours are ours; the cells were made visible one by one.
        say_raw(&lines.join("\n"))
    }
}

/// The columns of the terminal that stdout is.
pub fn width() -> Option<usize> {
    io::stdout().is_terminal().then(|| Table::new().width()).flatten().map(usize::from)
}

/// A plain cell.
pub fn cell(text: impl ToString) -> Cell {
    Cell::new(one_line(&text.to_string()))
}

/// A cell for a name that somebody else chose: a long one is cut, so that the columns behind it stay in sight.
pub fn name_cell(text: impl ToString) -> Cell {
    const LONGEST: usize = 64;
    let text = one_line(&text.to_string());
    match text.char_indices().nth(LONGEST) {
        None => Cell::new(text),
        Some(_) => Cell::new(text.chars().take(LONGEST - 1).chain(['…']).collect::<String>()),
    }
}

/// A coloured cell.
pub fn tinted(text: impl ToString, tint: Tint) -> Cell {
    cell(text).fg(tint.color())
}

/// The text of a JSON value: strings bare, nothing for null, lists with commas.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Escapes everything that could control the terminal or change the order of text. The escapes are those of JSON, so
/// that JSON stays valid.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter| is_hidden(letter) && !matches!(letter, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if !is_hidden(letter) || matches!(letter, '\n' | '\t') {
            shown.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    Cow::Owned(shown)
}

/// The same, on one line.
pub fn one_line(text: &str) -> String {
    visible(&text.replace("\r\n", " ").replace(['\n', '\t'], " ")).into_owned()
}

/// Whether colours may be used where there is a terminal.
pub fn colours_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A time of the API in the local zone.
pub fn moment(value: &Value) -> String {
    let parsed = value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    match parsed {
        Some(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        None => plain(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_steers_a_terminal_is_written_as_an_escape() {
        let hostile = "a\x1b[31m\x07\r\u{9b}\u{7f}\u{202e}b\u{2066}\u{2028}\u{200f}\u{e0041}";
        assert_eq!(
            visible(hostile),
            "a\\u001b[31m\\u0007\\u000d\\u009b\\u007f\\u202eb\\u2066\\u2028\\u200f\\udb40\\udc41"
        );
        let fine = "Zürich, 東京, עברית, 👩\u{200d}🚀\n\tnext";
        assert_eq!(visible(fine), fine);
        assert_eq!(one_line("a\r\nb\tc\x1b"), "a b c\\u001b");
    }
}
