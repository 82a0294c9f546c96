//! Text of web pages as plain text: no markup, no hidden characters, cut to size.

use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, tz::TimeZone};
use toolroom_contract::text::is_hidden;

/// The text without tags, with entities read, white space joined and hidden characters dropped.
pub(super) fn plain(html: &str, most: usize) -> String {
    // Far more than is kept: a page cannot make this slow.
    let head: String = html.chars().take(most * 20).collect();
    let text = unescaped(&without_tags(&head));
    let shown = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_hidden(*c));
    let shown: String = shown.collect();
    let mut words = String::new();
    for word in shown.split(' ').filter(|word| !word.is_empty()) {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match words.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
        None => words,
    }
}

/// The day of a date in any of the forms that engines use.
pub(super) fn date(text: &str) -> Option<String> {
    let day = text
        .parse::<Date>()
        .ok()
        .or_else(|| Some(text.parse::<DateTime>().ok()?.date()))
        .or_else(|| Some(text.parse::<Timestamp>().ok()?.to_zoned(TimeZone::UTC).date()))
        .or_else(|| Some(jiff::fmt::rfc2822::parse(text).ok()?.date()))?;
    Some(day.to_string())
}

/// `<` that begins no tag stays: "a < b" is text.
fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    // Behind the last of these nothing is a tag.
    let last_close = html.rfind('>').unwrap_or(0);
    toolroom_work::step(html.len());
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        let tag = &rest[at..];
        let is_behind = html.len() - tag.len() > last_close;
        let opens = tag[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        match if opens && !is_behind { tag.find('>') } else { None } {
            Some(end) => {
                toolroom_work::step(end);
                // Words on both sides of a break do not run together; emphasis within a word does not part it.
                let name = tag[1..end].trim_start_matches('/').to_ascii_lowercase();
                if !["b", "i", "em", "strong", "mark", "span"]
                    .iter()
                    .any(|inline| name.split(' ').next() == Some(inline))
                {
                    text.push(' ');
                }
                rest = &tag[end + 1..];
            }
            None => {
                text.push('<');
                rest = &tag[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let entity = &rest[at..];
        let end = entity.char_indices().take(10).find(|(_, c)| *c == ';').map(|(end, _)| end);
        match end.and_then(|end| Some((entity_char(&entity[1..end])?, end))) {
            Some((character, end)) => {
                out.push(character);
                rest = &entity[end + 1..];
            }
            None => {
                out.push('&');
                rest = &entity[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity_char(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let hex = number.strip_prefix(['x', 'X']);
        let code = hex.map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
        return char::from_u32(code?);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        "middot" => '·',
        "rsquo" => '’',
        "lsquo" => '‘',
        "rdquo" => '”',
        "ldquo" => '“',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{date, plain};

    #[test]
    fn markup_and_hidden_characters_are_gone_and_text_stays() {
        for (html, text) in [
            ("<strong>Seoul</strong> &amp; Busan: 3 &lt; 5", "Seoul & Busan: 3 < 5"),
            ("a < b, b<c", "a < b, b<c"),
            ("one<br/>two<script>x()</script>", "one two x()"),
            ("W<b>or</b>d", "Word"),
            ("  much\n\t space\u{a0}here ", "much space here"),
            ("&#x41;&#66;&nbsp;&unknown; &;", "AB &unknown; &;"),
            ("hid\u{200b}den \u{e0041}\u{202e}tags", "hidden tags"),
            ("cut <b", "cut <b"),
        ] {
            assert_eq!(plain(html, 100), text);
        }
        assert_eq!(plain("ä ö ü", 3), "ä ö…");
    }

    #[test]
    fn promise_text_of_any_page_takes_work_that_grows_with_its_length_alone() {
        let target = toolroom_work::fuzz::Target {
            name: "text of web pages",
            words: &[
                "<",
                "<a",
                "<b>",
                "</b>",
                ">",
                "<!--",
                "-->",
                "&",
                "&amp;",
                "&#x41;",
                "&#",
                ";",
                "&unknown",
                "word",
                "/",
                "?",
                "2026-11-15",
                "T10:00:00Z",
                "Sun, 15 Nov",
            ],
            sample: 300,
            longest: 20_000,
            fixed: 10,
            per_byte: 4,
        };
        target.run(|text| {
            assert!(plain(text, 500).chars().count() <= 501);
            let _ = date(text);
        });
    }

    #[test]
    fn dates_of_every_engine_become_days_and_others_nothing() {
        for text in
            ["2026-11-15", "2026-11-15T10:00:00", "2026-11-15T10:00:00Z", "Sun, 15 Nov 2026 10:00:00 GMT"]
        {
            assert_eq!(date(text).as_deref(), Some("2026-11-15"), "{text}");
        }
        assert_eq!(date("2 days ago"), None);
    }
}
