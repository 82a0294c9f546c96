//! The trained weights, read out of one file when they are first needed.

use std::sync::OnceLock;

use crate::features::{BUCKETS, SHAPES};
use crate::sequence::{CLAUSES, TAGS};

pub const EMBEDDED: usize = 64;
pub const WIDTH: usize = 128;
/// How far apart the three words of each layer are.
pub const STRIDES: [usize; 5] = [1, 2, 4, 8, 1];

const MAGIC: &[u8; 8] = b"TRREADER";
static FILE: &[u8] = include_bytes!("../data/reader.bin");
static TABLE: OnceLock<Option<Table>> = OnceLock::new();

/// A matrix with its bias; a row of `weights` for each input, so that a product adds up rows.
pub struct Dense {
    pub weights: Vec<f32>,
    pub bias: Vec<f32>,
}

/// Scale and bias of a normalisation.
pub struct Norm {
    pub scale: Vec<f32>,
    pub bias: Vec<f32>,
}

pub struct Table {
    /// A row of bytes for each bucket, and its scale.
    embedding: &'static [u8],
    embedding_scales: Vec<f32>,
    pub input: Dense,
    pub norm_in: Norm,
    pub layers: Vec<(Norm, Dense)>,
    pub norm_out: Norm,
    pub tags: Dense,
    pub clauses: Dense,
}

impl Table {
    /// The table of this build; none if the file is not whole, which a test rules out.
    pub fn get() -> Option<&'static Self> {
        TABLE.get_or_init(|| Self::parse(FILE)).as_ref()
    }

    /// Matrices and vectors stand in the order of their names.
    fn parse(file: &'static [u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(MAGIC)?;
        let sizes = [EMBEDDED, WIDTH, TAGS, CLAUSES, STRIDES.len()].into_iter().chain(STRIDES);
        for size in sizes {
            let stored = take(&mut rest, 4)?;
            (u32::from_le_bytes(stored.try_into().ok()?) as usize == size).then_some(())?;
        }
        let clauses = dense(&mut rest, WIDTH, CLAUSES)?;
        let convolutions: Option<Vec<Dense>> =
            STRIDES.iter().map(|_| dense(&mut rest, 3 * WIDTH, WIDTH)).collect();
        let embedding_scales = floats(&mut rest, BUCKETS)?;
        let embedding = take(&mut rest, BUCKETS * EMBEDDED)?;
        let input = dense(&mut rest, EMBEDDED + SHAPES, WIDTH)?;
        let norms: Option<Vec<Norm>> = STRIDES.iter().map(|_| norm(&mut rest)).collect();
        let table = Self {
            embedding,
            embedding_scales,
            input,
            layers: norms?.into_iter().zip(convolutions?).collect(),
            norm_in: norm(&mut rest)?,
            norm_out: norm(&mut rest)?,
            tags: dense(&mut rest, WIDTH, TAGS)?,
            clauses,
        };
        rest.is_empty().then_some(table)
    }

    /// Adds the vector of a bucket.
    pub fn embed(&self, bucket: usize, sum: &mut [f32]) {
        let scale = self.embedding_scales.get(bucket).copied().unwrap_or_default();
        let row = self.embedding.get(bucket * EMBEDDED..(bucket + 1) * EMBEDDED).unwrap_or_default();
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum += scale * f32::from(value.cast_signed());
        }
    }
}

/// The file has a row for each output; here there is one for each input.
fn dense(rest: &mut &'static [u8], inputs: usize, outputs: usize) -> Option<Dense> {
    let scales = floats(rest, outputs)?;
    let rows = take(rest, inputs * outputs)?;
    let mut weights = vec![0.0; inputs * outputs];
    for (output, (row, scale)) in rows.chunks_exact(inputs).zip(&scales).enumerate() {
        for (input, value) in row.iter().enumerate() {
            if let Some(weight) = weights.get_mut(input * outputs + output) {
                *weight = scale * f32::from(value.cast_signed());
            }
        }
    }
    Some(Dense { weights, bias: floats(rest, outputs)? })
}

fn norm(rest: &mut &'static [u8]) -> Option<Norm> {
    Some(Norm { scale: floats(rest, WIDTH)?, bias: floats(rest, WIDTH)? })
}

fn floats(rest: &mut &'static [u8], count: usize) -> Option<Vec<f32>> {
    let bytes = take(rest, count * 4)?;
    bytes.chunks_exact(4).map(|four| Some(f32::from_le_bytes(four.try_into().ok()?))).collect()
}

fn take(rest: &mut &'static [u8], size: usize) -> Option<&'static [u8]> {
    let (part, left) = rest.split_at_checked(size)?;
    *rest = left;
    Some(part)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_file_of_this_build_is_whole() {
        assert!(super::Table::get().is_some());
        assert!(super::FILE.len() <= 2_000_000, "{} bytes", super::FILE.len());
    }
}
