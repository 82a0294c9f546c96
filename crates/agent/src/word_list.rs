//! Lists of words, written as text.

/// Words or phrases, parted by `|`.
pub(crate) struct WordList(pub(crate) &'static str);

impl WordList {
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.0.split('|').any(|one| one == word)
    }
}
