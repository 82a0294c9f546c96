//! The trained table: vectors of word pieces and the weights of the gate, read in place out of one file.

use std::sync::OnceLock;

/// How many numbers a vector has.
pub const DIMENSIONS: usize = 128;
/// How many buckets the features of the gate fall into.
pub const BUCKETS: usize = 1 << 13;
/// How many labels the gate tells apart.
pub const LABELS: usize = 12;
/// How many vectors the gate reads of a text: the whole, its first words, its last words.
pub const VIEWS: usize = 3;
/// How many single numbers the file ends with; `Tuning` names them.
const TUNED: usize = 16;

const MAGIC: &[u8; 8] = b"TRSELECT";
static FILE: &[u8] = include_bytes!("../data/selection.bin");
static TABLE: OnceLock<Table> = OnceLock::new();

/// A view of the file. Nothing is copied: opening it costs a few slices.
pub struct Table {
    starts: &'static [u8],
    names: &'static [u8],
    scales: &'static [u8],
    rows: &'static [u8],
    gate_dense: &'static [u8],
    gate_bias: &'static [u8],
    gate_scales: &'static [u8],
    gate_buckets: &'static [u8],
    tuned: &'static [u8],
    pieces: usize,
}

impl Table {
    /// The table of this build.
    pub fn get() -> &'static Self {
        // The file is part of the build and a test reads it whole; without it only words would count.
        TABLE.get_or_init(|| Self::parse(FILE).unwrap_or_else(Self::empty))
    }

    fn parse(file: &'static [u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(MAGIC)?;
        let pieces = count(take(&mut rest, 4)?);
        let names = count(take(&mut rest, 4)?);
        let table = Self {
            starts: take(&mut rest, (pieces + 1) * 4)?,
            names: take(&mut rest, names)?,
            scales: take(&mut rest, pieces * 4)?,
            rows: take(&mut rest, pieces * DIMENSIONS)?,
            gate_dense: take(&mut rest, VIEWS * DIMENSIONS * LABELS * 4)?,
            gate_bias: take(&mut rest, LABELS * 4)?,
            gate_scales: take(&mut rest, LABELS * 4)?,
            gate_buckets: take(&mut rest, BUCKETS * LABELS)?,
            tuned: take(&mut rest, TUNED * 4)?,
            pieces,
        };
        rest.is_empty().then_some(table)
    }

    fn empty() -> Self {
        let none: &'static [u8] = &[];
        Self {
            starts: none,
            names: none,
            scales: none,
            rows: none,
            gate_dense: none,
            gate_bias: none,
            gate_scales: none,
            gate_buckets: none,
            tuned: none,
            pieces: 0,
        }
    }

    /// Where a piece stands. The names are sorted by their bytes.
    pub fn position(&self, piece: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.pieces);
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle).cmp(piece) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn name(&self, at: usize) -> &'static [u8] {
        let (start, end) = (word(self.starts, at), word(self.starts, at + 1));
        self.names.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Adds the vector of a piece.
    pub fn add(&self, piece: usize, sum: &mut [f32; DIMENSIONS]) {
        let scale = float(self.scales, piece);
        let row = self.rows.get(piece * DIMENSIONS..(piece + 1) * DIMENSIONS).unwrap_or_default();
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum += scale * f32::from(value.cast_signed());
        }
    }

    /// The bias of every label.
    pub fn bias(&self) -> [f32; LABELS] {
        std::array::from_fn(|label| float(self.gate_bias, label))
    }

    /// Adds what one number of the dense features says for every label.
    pub fn add_dense(&self, feature: usize, value: f32, scores: &mut [f32; LABELS]) {
        for (label, score) in scores.iter_mut().enumerate() {
            *score += value * float(self.gate_dense, feature * LABELS + label);
        }
    }

    /// Adds what a bucket says for every label.
    pub fn add_bucket(&self, bucket: usize, value: f32, scores: &mut [f32; LABELS]) {
        let row = self.gate_buckets.get(bucket * LABELS..(bucket + 1) * LABELS).unwrap_or_default();
        for (label, (score, weight)) in scores.iter_mut().zip(row).enumerate() {
            *score += value * float(self.gate_scales, label) * f32::from(weight.cast_signed());
        }
    }

    /// A number that training found, by its place.
    pub fn tuned(&self, at: usize) -> f32 {
        float(self.tuned, at)
    }
}

fn take(rest: &mut &'static [u8], size: usize) -> Option<&'static [u8]> {
    let (part, left) = rest.split_at_checked(size)?;
    *rest = left;
    Some(part)
}

fn count(bytes: &[u8]) -> usize {
    word(bytes, 0) as usize
}

fn word(bytes: &[u8], at: usize) -> u32 {
    four(bytes, at).map_or(0, u32::from_le_bytes)
}

fn float(bytes: &[u8], at: usize) -> f32 {
    four(bytes, at).map_or(0.0, f32::from_le_bytes)
}

fn four(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at * 4..at * 4 + 4)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_this_build_is_whole() {
        let table = Table::get();
        assert!(table.pieces > 10_000);
        for piece in ["task", "##s", "?", "weather"] {
            assert!(table.position(piece.as_bytes()).is_some(), "{piece}");
        }
        assert_eq!(table.position(b"no such piece"), None);
        for at in 1..table.pieces {
            assert!(table.name(at - 1) < table.name(at), "names must be sorted at {at}");
        }
    }
}
