//! Text cut into sentences, so that each can be judged on its own.

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

/// The sentences of a text that still grows. Every letter is looked at once, however small the pieces are.
#[derive(Debug, Default)]
pub struct Sentences {
    /// How far the text was looked at.
    seen: usize,
    /// Whether that ended with the sign that ends a sentence.
    ended: bool,
}

impl Sentences {
    /// The end of the next whole sentence, in bytes from the beginning of the text.
    pub fn next_end(&mut self, text: &str) -> Option<usize> {
        match end_in(text.get(self.seen..)?, &mut self.ended) {
            Some(end) => {
                self.seen += end;
                self.ended = false;
                Some(self.seen)
            }
            None => {
                self.seen = text.len();
                None
            }
        }
    }
}

/// The end of the first sentence, if more text follows. A full stop within a number or a word is none.
fn first_end(text: &str) -> Option<usize> {
    end_in(text, &mut false)
}

fn end_in(text: &str, ended: &mut bool) -> Option<usize> {
    for (at, letter) in text.char_indices() {
        toolroom_work::step(1);
        match letter {
            '\n' => return Some(at + 1),
            '.' | '!' | '?' | '…' => *ended = true,
            '"' | '”' | '\'' | '’' | ')' | '*' | '_' if *ended => {}
            letter if letter.is_whitespace() && *ended => return Some(at + letter.len_utf8()),
            _ => *ended = false,
        }
    }
    None
}
