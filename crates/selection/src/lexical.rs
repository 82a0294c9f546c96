//! The words of the tools: which tools hold the words of a query, the rarer word counting more.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::stems::{is_silent, stem};

/// How soon more of the same word stops to count, and how much a long text is held against it.
const SATURATION: f32 = 1.0;
const LENGTH_WEIGHT: f32 = 0.5;

/// The words of every tool.
#[derive(Default)]
pub struct Lexical {
    terms: HashMap<String, Vec<Posting>>,
    lengths: Vec<f32>,
}

struct Posting {
    tool: u32,
    /// How often, each place with its weight.
    count: f32,
    /// The weight of the best place, 1 for the name.
    best: f32,
}

/// How well the words of a query fit one tool.
#[derive(Clone, Copy, Default)]
pub struct Fit {
    /// BM25.
    pub rank: f32,
    /// The share of the query that the tool holds, 1 if all of it is in the name.
    pub share: f32,
}

impl Lexical {
    /// Adds a tool: its texts with the weight of each place.
    pub fn add(&mut self, texts: &[(Cow<'_, str>, f32)]) {
        let tool = self.lengths.len() as u32;
        let mut length = 0.0;
        for (text, weight) in texts {
            let weight = *weight;
            for term in lower_words(text).map(stem) {
                length += weight;
                let postings = self.terms.entry(term).or_default();
                match postings.last_mut().filter(|last| last.tool == tool) {
                    Some(last) => {
                        last.count += weight;
                        last.best = last.best.max(weight);
                    }
                    None => postings.push(Posting { tool, count: weight, best: weight }),
                }
            }
        }
        self.lengths.push(length);
    }

    /// How the words of a query fit each tool. Only the allowed tools count, in the rarity of a word too: what a caller
    /// may not use leaves no trace in the scores.
    pub fn fit(&self, query: &str, allowed: &[bool]) -> Vec<Fit> {
        let mut fits = vec![Fit::default(); self.lengths.len()];
        let is_allowed = |tool: usize| allowed.get(tool).copied().unwrap_or(false);
        let lengths = self.lengths.iter().enumerate().filter(|(tool, _)| is_allowed(*tool));
        let (count, total) =
            lengths.fold((0.0f32, 0.0f32), |(count, sum), (_, length)| (count + 1.0, sum + length));
        let usual = (total / count.max(1.0)).max(1.0);
        let mut whole = 0.0;
        for term in wanted(query) {
            let empty = Vec::new();
            let postings = self.terms.get(&term).unwrap_or(&empty);
            let having = || postings.iter().filter(|posting| is_allowed(posting.tool as usize));
            toolroom_work::step(1 + 2 * postings.len());
            let rarity = ((count + 1.0) / (having().count() as f32 + 0.5)).ln().max(0.1);
            whole += rarity;
            for posting in having() {
                let tool = posting.tool as usize;
                let (Some(fit), Some(length)) = (fits.get_mut(tool), self.lengths.get(tool)) else {
                    continue;
                };
                let long = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / usual;
                fit.rank += rarity * posting.count * (SATURATION + 1.0) / (posting.count + SATURATION * long);
                fit.share += rarity * posting.best;
            }
        }
        if whole > 0.0 {
            fits.iter_mut().for_each(|fit| fit.share = (fit.share / whole).min(1.0));
        }
        fits
    }
}

/// The different words of a query that count.
fn wanted(query: &str) -> Vec<String> {
    let mut known = HashSet::new();
    let different = |word: String| {
        let silent = is_silent(&word);
        let term = stem(word);
        known.insert(term.clone()).then_some((term, silent))
    };
    let all: Vec<(String, bool)> = lower_words(query).filter_map(different).collect();
    let none_tells = all.iter().all(|(_, silent)| *silent);
    all.into_iter().filter(|(_, silent)| none_tells || !silent).map(|(term, _)| term).collect()
}

fn lower_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
