//! Text cut into sentences, so that a stream is passed on in whole ones.

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
fn end_in(text: &str, ended: &mut bool) -> Option<usize> {
    for (at, letter) in text.char_indices() {
        toolroom_work::step(1);
        match letter {
            '\n' => return Some(at + 1),
            // Languages that write no space between sentences.
            '。' | '！' | '？' => return Some(at + letter.len_utf8()),
            '.' | '!' | '?' | '…' | '؟' => *ended = true,
            '"' | '”' | '\'' | '’' | ')' | '*' | '_' if *ended => {}
            letter if letter.is_whitespace() && *ended => return Some(at + letter.len_utf8()),
            _ => *ended = false,
        }
    }
    None
}
