//! The token sort ratio: how alike two texts are once their words stand in alphabetical order.

use std::collections::HashMap;

/// A text's words sorted and joined, ready to be compared with many others.
#[derive(Clone, Debug)]
pub(super) struct SortedWords {
    text: String,
    letters: usize,
    /// Where each letter stands, as a bit set over `blocks` words of 64 places.
    places: HashMap<char, Vec<u64>>,
    blocks: usize,
}

impl SortedWords {
    pub(super) fn new(normal: &str) -> Self {
        let text = sorted(normal.split(' '));
        let letters = text.chars().count();
        let blocks = letters.div_ceil(64);
        let mut places: HashMap<char, Vec<u64>> = HashMap::new();
        for (place, c) in text.chars().enumerate() {
            places.entry(c).or_insert_with(|| vec![0; blocks])[place / 64] |= 1 << (place % 64);
        }
        Self { text, letters, places, blocks }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// No ratio with a text of this many letters can be higher.
    pub(super) fn best_ratio(&self, letters: usize) -> f64 {
        ratio(self.letters.min(letters), self.letters + letters)
    }

    /// The normalised indel similarity, 0 to 1, with a text of sorted words.
    pub(super) fn ratio(&self, other: &str) -> f64 {
        ratio(self.common(other), self.letters + other.chars().count())
    }

    /// Length of the longest common subsequence, 64 places at a time.
    fn common(&self, other: &str) -> usize {
        let mut open = vec![u64::MAX; self.blocks];
        for c in other.chars() {
            let Some(places) = self.places.get(&c) else { continue };
            toolroom_work::step(self.blocks);
            let mut carry = false;
            for (block, &here) in open.iter_mut().zip(places) {
                let met = *block & here;
                let (sum, over) = block.overflowing_add(met);
                let (sum, over_again) = sum.overflowing_add(u64::from(carry));
                carry = over || over_again;
                *block = sum | (*block & !here);
            }
        }
        // Places beyond the text are in no letter's set, so they stay open and are not counted.
        open.iter().map(|block| block.count_zeros() as usize).sum()
    }
}

pub(super) fn sorted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut words: Vec<&str> = words.collect();
    words.sort_unstable();
    words.join(" ")
}

fn ratio(common: usize, total: usize) -> f64 {
    if total == 0 { 1.0 } else { 2.0 * common as f64 / total as f64 }
}
