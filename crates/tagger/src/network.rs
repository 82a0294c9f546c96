//! The network: a word's letter runs and shape, then convolutions over its neighbours, then two answers for each word.

use crate::features::{grams, shape};
use crate::table::{Dense, Layer, Norm, Table};
use crate::words::Place;

/// Multiplications that count as a step, of which 200 take a microsecond.
const PER_STEP: usize = 53;

/// Logarithms of the chances of every tag and every clause tag, for each word.
#[derive(Default)]
pub struct Scores {
    pub tags: Vec<Vec<f32>>,
    pub clauses: Vec<Vec<f32>>,
}

/// Scores of words that stand together; none without a table, or where the budget is spent.
pub fn scores(text: &str, cut: &[Place]) -> Scores {
    let Some(table) = Table::get() else { return Scores::default() };
    toolroom_work::step(table.cost() / PER_STEP * cut.len());
    if toolroom_work::is_spent() {
        return Scores::default();
    }
    let end = text.trim_end().len();
    let mut state: State = cut.iter().map(|place| embedded(table, text, place, end)).collect();
    for layer in &table.layers {
        let normed: State = state.iter().map(|word| normalised(word, &layer.norm)).collect();
        for (at, word) in state.iter_mut().enumerate() {
            let added = convolved(&normed, at, layer);
            word.iter_mut().zip(added).for_each(|(value, added)| *value += added.max(0.0));
        }
    }
    let state: State = state.iter().map(|word| normalised(word, &table.norm_out)).collect();
    let answers = |dense: &Dense| state.iter().map(|word| log_chances(dense, word)).collect();
    Scores { tags: answers(&table.tags), clauses: answers(&table.clauses) }
}

/// A vector for each word.
type State = Vec<Vec<f32>>;

/// A word on its own.
fn embedded(table: &Table, text: &str, place: &Place, end: usize) -> Vec<f32> {
    let mut seen = vec![0.0; table.embedded];
    let runs = grams(text.get(place.bytes.clone()).unwrap_or_default(), table.buckets);
    runs.iter().for_each(|bucket| table.embed(*bucket, &mut seen));
    let scale = 1.0 / (runs.len() as f32).sqrt();
    seen.iter_mut().for_each(|value| *value *= scale);
    seen.extend(shape(text, &place.bytes, end));
    let mut word = table.input.bias.clone();
    add_product(&table.input.weights, &seen, &mut word);
    normalised(&word, &table.norm_in)
}

fn normalised(word: &[f32], norm: &Norm) -> Vec<f32> {
    let width = word.len() as f32;
    let mean = word.iter().sum::<f32>() / width;
    let spread = word.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / width;
    let scale = 1.0 / (spread + 1e-5).sqrt();
    let gains = norm.scale.iter().zip(&norm.bias);
    word.iter().zip(gains).map(|(value, (gain, bias))| (value - mean) * scale * gain + bias).collect()
}

/// What a word and its neighbours at a distance say together. Beyond the ends there is nothing.
fn convolved(words: &State, at: usize, layer: &Layer) -> Vec<f32> {
    let mut out = layer.convolution.bias.clone();
    let neighbours = [at.checked_sub(layer.stride), Some(at), Some(at + layer.stride)];
    let parts = layer.convolution.weights.chunks_exact(out.len() * out.len());
    for (weights, neighbour) in parts.zip(neighbours) {
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

fn log_chances(dense: &Dense, word: &[f32]) -> Vec<f32> {
    let mut scores = dense.bias.clone();
    add_product(&dense.weights, word, &mut scores);
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let sum: f32 = scores.iter().map(|score| (score - most).exp()).sum();
    let total = most + sum.ln();
    scores.iter_mut().for_each(|score| *score -= total);
    scores
}
