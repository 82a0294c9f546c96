//! Text cut into sentences, so that each can be judged alone.

/// The sentences of a text, with everything between them: joined they are the text.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (one, next) = rest.split_at(first_end(rest).unwrap_or(rest.len()));
        rest = next;
        Some(one)
    })
}

/// How much of a text that still grows is whole sentences.
pub fn whole_sentences(text: &str) -> usize {
    let mut end = 0;
    while let Some(next) = first_end(&text[end..]) {
        end += next;
    }
    end
}

/// The end of the first sentence, if the text goes on behind it. A full stop within a number or a word is none.
fn first_end(text: &str) -> Option<usize> {
    let mut ended = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' => return Some(at + 1),
            '.' | '!' | '?' | '…' => ended = true,
            '"' | '”' | '\'' | '’' | ')' | '*' | '_' if ended => {}
            letter if letter.is_whitespace() && ended => return Some(at + letter.len_utf8()),
            _ => ended = false,
        }
    }
    None
}
