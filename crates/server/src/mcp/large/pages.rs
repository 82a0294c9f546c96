//! The whole result, in parts: a page of it, or what a JSON pointer points to.

use serde_json::{Value, json};

use super::mime;
use crate::mcp::sources::Contents;

/// Which part is wanted.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Part {
    page: Option<usize>,
    pointer: Option<String>,
}

impl Part {
    /// Out of the query of an address.
    pub(super) fn parse(query: &str) -> Result<Self, String> {
        let mut part = Self::default();
        for (name, value) in query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        {
            match name {
                "page" => {
                    let number = value.parse().ok().filter(|page| *page > 0);
                    part.page = Some(number.ok_or("page: a whole number from 1 on")?);
                }
                "pointer" => {
                    let pointer = unescaped(value).ok_or("pointer: wrongly escaped")?;
                    if !pointer.is_empty() && !pointer.starts_with('/') {
                        return Err("pointer: a JSON pointer is empty or begins with '/'".into());
                    }
                    part.pointer = Some(pointer);
                }
                _ => return Err("only 'page' and 'pointer' can be asked for".into()),
            }
        }
        Ok(part)
    }

    /// That part of the text; `size` is the characters on a page.
    pub(super) fn of(&self, uri: &str, text: &str, json: bool, size: usize) -> Result<Contents, String> {
        let Some(pointer) = &self.pointer else {
            return match self.page {
                None => Ok(Contents::text(uri, mime(json), text)),
                Some(page) => letters(uri, text, page, size),
            };
        };
        let document: Value =
            serde_json::from_str(text).map_err(|_| "pointer: this result is not JSON; use 'page'")?;
        let found = document.pointer(pointer).ok_or("pointer: points to nothing")?;
        match (found, self.page) {
            (found, None) => Ok(Contents::json(uri, found)),
            (Value::Array(items), Some(page)) => self::items(uri, items, page, size),
            (found, Some(page)) => letters(uri, &found.to_string(), page, size),
        }
    }
}

/// A page of characters.
fn letters(uri: &str, text: &str, page: usize, size: usize) -> Result<Contents, String> {
    let pages = text.chars().count().div_ceil(size).max(1);
    if page > pages {
        return Err(format!("page: there are {pages}"));
    }
    let shown: String = text.chars().skip((page - 1) * size).take(size).collect();
    Ok(numbered(Contents::text(uri, "text/plain", shown), page, pages))
}

/// A page of whole items, so that it is JSON itself.
fn items(uri: &str, items: &[Value], page: usize, size: usize) -> Result<Contents, String> {
    let mut pages: Vec<Vec<&Value>> = vec![Vec::new()];
    let mut filled = 0;
    for item in items {
        let length = item.to_string().chars().count() + 1;
        if filled > 0 && filled + length > size {
            pages.push(Vec::new());
            filled = 0;
        }
        filled += length;
        if let Some(last) = pages.last_mut() {
            last.push(item);
        }
    }
    let shown = pages.get(page - 1).ok_or_else(|| format!("page: there are {}", pages.len()))?;
    Ok(numbered(Contents::json(uri, shown), page, pages.len()))
}

fn numbered(contents: Contents, page: usize, pages: usize) -> Contents {
    let place = json!({ "dev.toolroom/page": { "page": page, "pages": pages } });
    Contents { meta: Some(place), ..contents }
}

fn unescaped(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next()?, bytes.next()?];
            out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"data":{"tasks":[{"n":1},{"n":2},{"n":3}],"a/b":"ü"}}"#;

    fn read(query: &str, size: usize) -> Result<String, String> {
        Part::parse(query)?.of("toolroom://results/x", DOCUMENT, true, size).map(|it| it.text.unwrap())
    }

    #[test]
    fn pages_put_together_are_the_whole() {
        let pages: String = (1..=6).map(|page| read(&format!("page={page}"), 10).unwrap()).collect();
        assert_eq!(pages, DOCUMENT);
        assert!(read("page=7", 10).unwrap_err().contains("there are 6"));
        assert!(read("page=0", 10).is_err() && read("line=1", 10).is_err());
    }

    #[test]
    fn a_pointer_gives_that_part_and_a_page_of_an_array_is_an_array() {
        assert_eq!(read("pointer=/data/tasks/1", 10).unwrap(), r#"{"n":2}"#);
        assert_eq!(read("pointer=/data/a~1b", 10).unwrap(), "\"ü\"");
        assert_eq!(read("pointer=%2Fdata%2Ftasks&page=2", 17).unwrap(), r#"[{"n":3}]"#);
        assert!(read("pointer=/data/none", 10).is_err() && read("pointer=data", 10).is_err());
    }
}
