//! The network: a word's letter runs and shape, then convolutions over its neighbours, then two answers for each word.

use crate::features::{EMPTY, SHAPES, grams, shape};
use crate::table::{Dense, EMBEDDED, Norm, STRIDES, Table, WIDTH};
use crate::words::Place;

/// Multiplications for one word, in steps of which 200 take a microsecond.
const STEPS_PER_WORD: usize = 5_000;

/// Logarithms of the chances of every tag and every clause tag, for each word.
#[derive(Default)]
pub struct Scores {
    pub tags: Vec<Vec<f32>>,
    pub clauses: Vec<Vec<f32>>,
}

type State = Vec<[f32; WIDTH]>;

/// Scores of words that stand together; none without a table, or where the budget is spent.
pub fn scores(text: &str, cut: &[Place]) -> Scores {
    toolroom_work::step(STEPS_PER_WORD * cut.len());
    let Some(table) = Table::get().filter(|_| !toolroom_work::is_spent()) else { return Scores::default() };
    let end = text.trim_end().len();
    let mut state: State = cut.iter().map(|place| embedded(table, text, place, end)).collect();
    for ((norm, convolution), stride) in table.layers.iter().zip(STRIDES) {
        let normed: State = state.iter().map(|word| normalised(word, norm)).collect();
        for (at, word) in state.iter_mut().enumerate() {
            let added = convolved(&normed, at, stride, convolution);
            word.iter_mut().zip(added).for_each(|(value, added)| *value += added.max(0.0));
        }
    }
    let state: State = state.iter().map(|word| normalised(word, &table.norm_out)).collect();
    let answers = |dense: &Dense| state.iter().map(|word| log_chances(dense, word)).collect();
    Scores { tags: answers(&table.tags), clauses: answers(&table.clauses) }
}

/// A word on its own.
fn embedded(table: &Table, text: &str, place: &Place, end: usize) -> [f32; WIDTH] {
    let mut seen = [0.0; EMBEDDED + SHAPES];
    let (letters, looks) = seen.split_at_mut(EMBEDDED);
    let runs = grams(text.get(place.bytes.clone()).unwrap_or_default());
    runs.iter().for_each(|bucket| table.embed(*bucket, letters));
    let count = runs.iter().filter(|bucket| **bucket != EMPTY).count();
    let scale = 1.0 / (count as f32).sqrt();
    letters.iter_mut().for_each(|value| *value *= scale);
    looks.copy_from_slice(&shape(text, &place.bytes, end));
    let mut word = [0.0; WIDTH];
    word.copy_from_slice(&table.input.bias);
    add_product(&table.input.weights, &seen, &mut word);
    normalised(&word, &table.norm_in)
}

fn normalised(word: &[f32; WIDTH], norm: &Norm) -> [f32; WIDTH] {
    let mean = word.iter().sum::<f32>() / WIDTH as f32;
    let spread = word.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / WIDTH as f32;
    let scale = 1.0 / (spread + 1e-5).sqrt();
    let mut out = [0.0; WIDTH];
    for (((out, value), gain), bias) in out.iter_mut().zip(word).zip(&norm.scale).zip(&norm.bias) {
        *out = (value - mean) * scale * gain + bias;
    }
    out
}

/// What a word and its neighbours at a distance say together. Beyond the ends there is nothing.
fn convolved(words: &State, at: usize, stride: usize, convolution: &Dense) -> [f32; WIDTH] {
    let mut out = [0.0; WIDTH];
    out.copy_from_slice(&convolution.bias);
    let neighbours = [at.checked_sub(stride), Some(at), Some(at + stride)];
    for (weights, neighbour) in convolution.weights.chunks_exact(WIDTH * WIDTH).zip(neighbours) {
        if let Some(word) = neighbour.and_then(|at| words.get(at)) {
            add_product(weights, word, &mut out);
        }
    }
    out
}

/// Adds the product of a vector and a matrix that has a row for each input. Four rows at a time, which compilers turn
/// into vector instructions; every size here is a multiple of four.
fn add_product(weights: &[f32], input: &[f32], out: &mut [f32]) {
    let width = out.len();
    for (values, rows) in input.chunks_exact(4).zip(weights.chunks_exact(4 * width)) {
        let &[a, b, c, d] = values else { continue };
        let (first, rows) = rows.split_at(width);
        let (second, rows) = rows.split_at(width);
        let (third, fourth) = rows.split_at(width);
        let rows = first.iter().zip(second).zip(third).zip(fourth);
        for (out, (((w, x), y), z)) in out.iter_mut().zip(rows) {
            *out += a * w + b * x + c * y + d * z;
        }
    }
}

fn log_chances(dense: &Dense, word: &[f32; WIDTH]) -> Vec<f32> {
    let mut scores = dense.bias.clone();
    add_product(&dense.weights, word, &mut scores);
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let sum: f32 = scores.iter().map(|score| (score - most).exp()).sum();
    let total = most + sum.ln();
    scores.iter_mut().for_each(|score| *score -= total);
    scores
}
