//! Code that is to be run, and sums that can be worked out by running them.

use super::courtesy::unsigned;
use crate::text::{Kind, Word, begins, begins_any, has_word, raw};
use crate::wish::{Code, Heard, Strength, Wish};
use crate::words::patterns;

const SHELL: &str = "sh|shell|bash|zsh|console|terminal|command|cmd";

/// A fence, or inline code behind "run".
pub(super) fn fenced(text: &str, words: &[Word]) -> Option<Heard> {
    let at = words.iter().position(|word| word.kind == Kind::Code)?;
    let block = words.get(at)?;
    let before = super::stripped(words.get(..at)?);
    let is_fence = text.get(block.place.clone())?.starts_with("```");
    let runs =
        begins_any(before, &["run|execute|eval|evaluate|test|try|start|launch|compute|what"]).is_some();
    if !(runs || is_fence && before.is_empty()) {
        return None;
    }
    let shell = has_word(SHELL, &block.low) || words.iter().any(|word| word.is_any(SHELL));
    let language = if shell { "shell" } else { "python" };
    let known = block.low.is_empty() || shell || matches!(block.low.as_str(), "python" | "py" | "python3");
    let code = Code { text: text.get(block.inner.clone())?.trim_end().to_owned(), language };
    let strength = if known { Strength::Strong } else { Strength::Hint };
    Some(Heard { wish: Wish::Run(Some(code)), strength })
}

/// "run python: print(1)", "execute this code".
pub(super) fn run(text: &str, words: &[Word]) -> Option<Heard> {
    // Marked code is read by its marks, which are not part of it.
    if fenced(text, words).is_some() {
        return None;
    }
    let verb = begins_any(words, patterns("runs code"))?;
    let head = words.get(..verb)?;
    let rest = words.get(verb..)?;
    let colon = rest.iter().position(|word| word.kind == Kind::Sign(':'));
    let names_code = head
        .iter()
        .any(|word| word.is_any("code|script|python|shell|bash|command|snippet|program|python3|sh|terminal"));
    let shell = words.iter().take(verb + colon.unwrap_or(0)).any(|word| word.is_any(SHELL));
    let language = if shell { "shell" } else { "python" };
    if begins(words, "python|bash|shell").is_some() && colon != Some(0) {
        return None;
    }
    let code = match colon {
        Some(at) if at <= 6 => {
            let start = rest.get(at)?.place.end;
            let end = words.last()?.place.end;
            // Signs at the end belong to code.
            let tail = text.get(end..)?;
            let end = end + tail.find('\n').unwrap_or(tail.len());
            text.get(start..end)?.trim().to_owned()
        }
        _ if names_code && !rest.is_empty() => {
            let start = unsigned(rest).first()?.place.start;
            let tail = text.get(start..)?;
            tail.trim().to_owned()
        }
        _ => String::new(),
    };
    if code.is_empty() {
        return names_code.then_some(Heard { wish: Wish::Run(None), strength: Strength::Strong });
    }
    let looks = names_code && code.contains(['(', '=', '\n', '[', '|', '/', '-', '$']) || shell;
    let strength = if looks || colon.is_some() && names_code { Strength::Strong } else { Strength::Hint };
    Some(Heard { wish: Wish::Run(Some(Code { text: code, language })), strength })
}

/// "what is 17 * 23", "15% of 80", "calculate (3 + 4) / 2".
pub(super) fn calculation(text: &str, words: &[Word]) -> Option<Heard> {
    let lead = begins_any(
        words,
        &[
            "what|whats is|does? the? result|value|sum|answer? of|to?",
            "calculate|compute|evaluate|solve|work the? result|value|answer|out? of|to?",
            "how much is|are|does",
            "calc",
        ],
    );
    let rest = words.get(lead.unwrap_or(0)..)?;
    let said = raw(text, rest).trim().trim_end_matches(['?', '=', '.', ' ']);
    let code = expression(said)?;
    // A date or a phone number is not a sum.
    let has_sign = code.contains(['*', '/', '+', '%', '^']) || code.contains(" - ") || code.contains("**");
    if !has_sign || lead.is_none() && !code.contains(['*', '+', '/', '%']) {
        return None;
    }
    let code = Code { text: format!("print({code})"), language: "python" };
    Some(Heard { wish: Wish::Run(Some(code)), strength: Strength::Strong })
}

/// A sum in Python, if the text is nothing else.
fn expression(said: &str) -> Option<String> {
    let mut low = said.to_lowercase();
    for (word, sign) in [
        ("divided by", "/"),
        ("multiplied by", "*"),
        ("times", "*"),
        ("plus", "+"),
        ("minus", "-"),
        ("to the power of", "**"),
        ("squared", "** 2"),
        ("cubed", "** 3"),
        ("over", "/"),
        ("\u{d7}", "*"),
        ("\u{f7}", "/"),
        ("\u{2212}", "-"),
        ("^", "**"),
    ] {
        low = low.replace(word, sign);
    }
    low = factors(&low);
    let percent = |text: &str| -> Option<String> {
        let (rate, whole) = text.split_once("% of").or_else(|| text.split_once("percent of"))?;
        let rate: f64 = rate.trim().parse().ok()?;
        let whole: f64 =
            whole.trim().trim_start_matches(['$', '\u{20ac}', '\u{a3}']).replace(',', "").parse().ok()?;
        Some(format!("{rate} / 100 * {whole}"))
    };
    if let Some(code) = percent(&low) {
        return Some(code);
    }
    let fits = low.chars().all(|c| {
        c.is_ascii_digit() || matches!(c, '+' | '-' | '*' | '/' | '(' | ')' | '.' | ' ' | '%' | ',')
    });
    let digits = low.chars().filter(char::is_ascii_digit).count();
    let numbers =
        low.split(|c: char| !c.is_ascii_digit() && c != '.').filter(|part| !part.is_empty()).count();
    // A power that would take the machine's memory is not worked out.
    let tame = low.matches("**").count() <= 2 && digits <= 60;
    (fits && numbers >= 2 && tame && low.len() <= 200).then(|| low.replace(',', "").trim().to_owned())
}

/// "3 x 4": an x between numbers.
fn factors(said: &str) -> String {
    let words: Vec<&str> = said.split(' ').collect();
    let is_number = |word: Option<&&str>| {
        word.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '('))
    };
    let mapped = words.iter().enumerate().map(|(at, word)| match *word {
        "x" if at > 0 && is_number(words.get(at - 1)) && is_number(words.get(at + 1)) => "*",
        other => other,
    });
    mapped.collect::<Vec<_>>().join(" ")
}

/// Whether a text is code rather than words.
pub(crate) fn looks_like_code(text: &str) -> bool {
    let text = text.trim();
    let marks =
        ["(", ")", "=", ";", "{", "}", "[", "`", "$", "|", "<", ">", "import ", "print", "echo ", "#!"];
    let marked = marks.iter().filter(|mark| text.contains(**mark)).count();
    let sums = text.chars().any(|c| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || " +-*/().%".contains(c));
    text.contains("```") || marked >= 2 || sums
}
