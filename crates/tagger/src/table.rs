//! The trained weights, read out of one file when they are first needed.

use std::sync::OnceLock;

use crate::features::SHAPES;
use crate::sequence::{CLAUSES, TAGS};

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

/// One convolution.
pub struct Layer {
    pub norm: Norm,
    pub convolution: Dense,
    /// How far apart its three words are.
    pub stride: usize,
}

pub struct Table {
    /// How many buckets the letter runs fall into.
    pub buckets: usize,
    /// Numbers of a bucket.
    pub embedded: usize,
    /// A row of bytes for each bucket, and its scale.
    embedding: &'static [u8],
    embedding_scales: Vec<f32>,
    pub input: Dense,
    pub norm_in: Norm,
    pub layers: Vec<Layer>,
    pub norm_out: Norm,
    pub tags: Dense,
    pub clauses: Dense,
}

impl Table {
    /// The table of this build; none if the file is not whole, which a test rules out.
    pub fn get() -> Option<&'static Self> {
        TABLE.get_or_init(|| Self::parse(FILE)).as_ref()
    }

    /// Sizes come first; matrices and vectors stand in the order of their names.
    fn parse(file: &'static [u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(MAGIC)?;
        let [buckets, embedded, width, tags, clauses, layers] = sizes(&mut rest)?;
        let fits = buckets > 1 && embedded % 4 == 0 && width % 4 == 0 && tags == TAGS && clauses == CLAUSES;
        fits.then_some(())?;
        let strides: Option<Vec<usize>> =
            (0..layers).map(|_| sizes(&mut rest).map(|[stride]| stride)).collect();
        let strides = strides?;
        let clauses = dense(&mut rest, width, CLAUSES)?;
        let convolutions: Option<Vec<Dense>> =
            strides.iter().map(|_| dense(&mut rest, 3 * width, width)).collect();
        let embedding_scales = floats(&mut rest, buckets)?;
        let embedding = take(&mut rest, buckets * embedded)?;
        let input = dense(&mut rest, embedded + SHAPES, width)?;
        let norms: Option<Vec<Norm>> = strides.iter().map(|_| norm(&mut rest, width)).collect();
        let layers = norms?.into_iter().zip(convolutions?).zip(strides);
        let table = Self {
            buckets,
            embedded,
            embedding,
            embedding_scales,
            input,
            layers: layers.map(|((norm, convolution), stride)| Layer { norm, convolution, stride }).collect(),
            norm_in: norm(&mut rest, width)?,
            norm_out: norm(&mut rest, width)?,
            tags: dense(&mut rest, width, TAGS)?,
            clauses,
        };
        rest.is_empty().then_some(table)
    }

    /// Multiplications for one word.
    pub fn cost(&self) -> usize {
        let layers = self.layers.iter().map(|layer| &layer.convolution);
        layers.chain([&self.input, &self.tags, &self.clauses]).map(|dense| dense.weights.len()).sum()
    }

    /// Adds the vector of a bucket.
    pub fn embed(&self, bucket: usize, sum: &mut [f32]) {
        let scale = self.embedding_scales.get(bucket).copied().unwrap_or_default();
        let row =
            self.embedding.get(bucket * self.embedded..(bucket + 1) * self.embedded).unwrap_or_default();
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

fn norm(rest: &mut &'static [u8], width: usize) -> Option<Norm> {
    Some(Norm { scale: floats(rest, width)?, bias: floats(rest, width)? })
}

fn sizes<const COUNT: usize>(rest: &mut &'static [u8]) -> Option<[usize; COUNT]> {
    let (stored, _) = take(rest, 4 * COUNT)?.as_chunks();
    let numbers: Vec<usize> = stored.iter().map(|four| u32::from_le_bytes(*four) as usize).collect();
    numbers.try_into().ok()
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
        assert!(super::FILE.len() <= 3_000_000, "{} bytes", super::FILE.len());
    }
}
