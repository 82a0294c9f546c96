//! What people see: text on stdout, remarks on stderr, tables that fit the terminal, colours where there is one.

use std::io::{self, IsTerminal, Write};

use comfy_table::{Cell, Color, ContentArrangement, Table, presets};
use serde_json::Value;

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    /// It went well.
    Good,
    /// It deserves a look.
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

/// A line on stdout. It fails when nobody reads it any more.
pub fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// A piece of a line on stdout, in colour where there is a terminal.
pub fn put(text: &str, tint: Option<Tint>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match tint.filter(|_| io::stdout().is_terminal() && colours_wanted()) {
        Some(tint) => write!(out, "{}{text}\x1b[0m", tint.escape())?,
        None => write!(out, "{text}")?,
    }
    out.flush()
}

/// JSON on stdout, to be read by people.
pub fn say_json(value: &Value) -> io::Result<()> {
    say(&serde_json::to_string_pretty(value)?)
}

/// A remark on stderr.
pub fn remark(text: &str) {
    // A closed stderr must not end a command whose result counts.
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
    remark(format!("{on}{sign}{off} {text}").trim_end());
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
        say(&lines.join("\n"))
    }
}

/// A plain cell.
pub fn cell(text: impl ToString) -> Cell {
    Cell::new(one_line(&text.to_string()))
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

/// Text of several lines without what would steer the terminal.
pub fn harmless(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')).collect()
}

/// Control characters out: a stored text must not steer the terminal.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Whether colours may be used where there is a terminal.
pub fn colours_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// An instant of the API, as the clock here shows it.
pub fn moment(value: &Value) -> String {
    let parsed = value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    match parsed {
        Some(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        None => plain(value),
    }
}
