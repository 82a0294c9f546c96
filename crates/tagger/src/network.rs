//! The network: a word's letter runs and shape, then convolutions over its neighbours, then two answers for each word.

use crate::features::{grams, shape};
use crate::table::{Dense, Norm, Table};
use crate::words::Place;

/// Multiplications that count as a step, of which 200 take a microsecond.
const PER_STEP: usize = 76;

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
    let seen: State = cut.iter().map(|place| embedded(table, text, place, end)).collect();
    let mut state = normalised(&products(&table.input, &seen), &table.norm_in);
    for layer in &table.layers {
        let normed = normalised(&state, &layer.norm);
        let three: State = (0..normed.len()).map(|at| together(&normed, at, layer.stride)).collect();
        for (word, added) in state.iter_mut().zip(products(&layer.convolution, &three)) {
            word.iter_mut().zip(added).for_each(|(value, added)| *value += added.max(0.0));
        }
    }
    let state = normalised(&state, &table.norm_out);
    let answers = |dense: &Dense| products(dense, &state).into_iter().map(log_chances).collect();
    Scores { tags: answers(&table.tags), clauses: answers(&table.clauses) }
}

/// A vector for each word.
type State = Vec<Vec<f32>>;

/// What is seen of a word on its own: its letters, and how it looks.
fn embedded(table: &Table, text: &str, place: &Place, end: usize) -> Vec<f32> {
    let mut seen = vec![0.0; table.embedded];
    let runs = grams(text.get(place.bytes.clone()).unwrap_or_default(), table.buckets);
    runs.iter().for_each(|bucket| table.embed(*bucket, &mut seen));
    let scale = 1.0 / (runs.len() as f32).sqrt();
    seen.iter_mut().for_each(|value| *value *= scale);
    seen.extend(shape(text, &place.bytes, end));
    seen
}

fn normalised(state: &State, norm: &Norm) -> State {
    let one = |word: &Vec<f32>| -> Vec<f32> {
        let width = word.len() as f32;
        let mean = word.iter().sum::<f32>() / width;
        let spread = word.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / width;
        let scale = 1.0 / (spread + 1e-5).sqrt();
        let gains = norm.scale.iter().zip(&norm.bias);
        word.iter().zip(gains).map(|(value, (gain, bias))| (value - mean) * scale * gain + bias).collect()
    };
    state.iter().map(one).collect()
}

/// A word between its neighbours at a distance. Beyond the ends there is nothing.
fn together(words: &State, at: usize, stride: usize) -> Vec<f32> {
    let width = words.first().map_or(0, Vec::len);
    let mut three = vec![0.0; 3 * width];
    let neighbours = [at.checked_sub(stride), Some(at), Some(at + stride)];
    for (part, neighbour) in three.chunks_exact_mut(width.max(1)).zip(neighbours) {
        if let Some(word) = neighbour.and_then(|at| words.get(at)) {
            part.copy_from_slice(word);
        }
    }
    three
}

/// The products of all words and a matrix, two words at a time: its rows are then read half as often.
fn products(dense: &Dense, inputs: &State) -> State {
    let mut out: State = inputs.iter().map(|_| dense.bias.clone()).collect();
    let mut unused = dense.bias.clone();
    for (inputs, out) in inputs.chunks(2).zip(out.chunks_mut(2)) {
        match (inputs, out) {
            ([one, other], [first, second]) => add_products(&dense.weights, [one, other], first, second),
            ([one], [first]) => add_products(&dense.weights, [one, one], first, &mut unused),
            _ => {}
        }
    }
    out
}

/// Adds the products of two vectors and a matrix that has a row for each input. Four rows at a time, which compilers
/// turn into vector instructions; every size here is a multiple of four.
fn add_products(weights: &[f32], inputs: [&[f32]; 2], first: &mut [f32], second: &mut [f32]) {
    let width = first.len();
    let inputs = inputs[0].chunks_exact(4).zip(inputs[1].chunks_exact(4));
    for ((one, other), rows) in inputs.zip(weights.chunks_exact(4 * width)) {
        let (&[a, b, c, d], &[e, f, g, h]) = (one, other) else { continue };
        let (row0, rows) = rows.split_at(width);
        let (row1, rows) = rows.split_at(width);
        let (row2, row3) = rows.split_at(width);
        let rows = row0.iter().zip(row1).zip(row2).zip(row3);
        for ((first, second), (((w, x), y), z)) in first.iter_mut().zip(second.iter_mut()).zip(rows) {
            *first += a * w + b * x + c * y + d * z;
            *second += e * w + f * x + g * y + h * z;
        }
    }
}

fn log_chances(mut scores: Vec<f32>) -> Vec<f32> {
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let sum: f32 = scores.iter().map(|score| (score - most).exp()).sum();
    let total = most + sum.ln();
    scores.iter_mut().for_each(|score| *score -= total);
    scores
}
