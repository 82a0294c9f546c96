//! Patterns of `LIKE … ESCAPE '!'`.

/// A pattern that finds the text itself in lower case, its own wildcards included.
pub(crate) fn contains(text: &str) -> String {
    let mut pattern = String::from("%");
    for c in text.to_lowercase().chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}
