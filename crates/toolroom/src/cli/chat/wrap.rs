//! Text that comes in pieces, broken at words where the line of a terminal ends.

/// The place on the line, and the word that is not finished.
pub struct Wrap {
    /// Columns of the terminal; without one, nothing is broken.
    width: Option<usize>,
    column: usize,
    word: String,
}

impl Wrap {
    pub fn new(width: Option<usize>) -> Self {
        Self { width, column: 0, word: String::new() }
    }

    /// What can be shown of the text so far.
    pub fn push(&mut self, text: &str) -> String {
        if self.width.is_none() {
            return text.to_owned();
        }
        let mut shown = String::new();
        for letter in text.chars() {
            if !letter.is_whitespace() {
                self.word.push(letter);
                continue;
            }
            self.place(&mut shown);
            if letter == '\n' {
                self.column = 0;
                shown.push('\n');
            } else if self.column > 0 && self.width.is_some_and(|width| self.column < width) {
                self.column += 1;
                shown.push(letter);
            } else if self.column == 0 {
                self.column = 1;
                shown.push(letter);
            }
        }
        shown
    }

    /// The last word.
    pub fn finish(&mut self) -> String {
        let mut shown = String::new();
        self.place(&mut shown);
        self.column = 0;
        shown
    }

    fn place(&mut self, shown: &mut String) {
        let length = self.word.chars().count();
        if self.column > 0 && self.width.is_some_and(|width| self.column + length > width) {
            while shown.ends_with(' ') {
                shown.pop();
            }
            shown.push('\n');
            self.column = 0;
        }
        self.column += length;
        shown.push_str(&std::mem::take(&mut self.word));
    }
}

#[cfg(test)]
mod tests {
    use super::Wrap;

    #[test]
    fn lines_end_between_words_however_the_text_comes() {
        let text = "one two three four\n\nfive averylongwordthatfitsnowhere six";
        for size in [1, 3, 100] {
            let mut wrap = Wrap::new(Some(10));
            let letters: Vec<char> = text.chars().collect();
            let mut shown: String =
                letters.chunks(size).map(|piece| wrap.push(&piece.iter().collect::<String>())).collect();
            shown += &wrap.finish();
            let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
            assert_eq!(
                lines,
                ["one two", "three four", "", "five", "averylongwordthatfitsnowhere", "six"],
                "{size}"
            );
        }
        assert_eq!(Wrap::new(None).push(text), text);
    }
}
