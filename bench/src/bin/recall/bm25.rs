//! The peer without meaning: BM25 with its usual numbers, over names cut into words and descriptions.

use std::collections::HashMap;

use toolroom_contract::ToolDefinition;

const SATURATION: f64 = 1.5;
const LENGTH_WEIGHT: f64 = 0.75;

pub struct Bm25 {
    /// For each word the tools that have it, and how often.
    words: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    usual: f64,
}

impl Bm25 {
    pub fn of(tools: &[ToolDefinition]) -> Self {
        let mut words: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (at, tool) in tools.iter().enumerate() {
            let mut counts: HashMap<String, f64> = HashMap::new();
            for word in split(&tool.name).chain(split(&tool.description)) {
                *counts.entry(word).or_default() += 1.0;
            }
            lengths.push(counts.values().sum());
            for (word, count) in counts {
                words.entry(word).or_default().push((at, count));
            }
        }
        let usual = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        Self { words, lengths, usual }
    }

    /// The places of the best tools.
    pub fn best(&self, query: &str, most: usize) -> Vec<usize> {
        let mut scores = vec![0.0; self.lengths.len()];
        let mut known = std::collections::HashSet::new();
        for word in split(query).filter(|word| known.insert(word.clone())) {
            let Some(having) = self.words.get(&word) else { continue };
            let (all, some) = (self.lengths.len() as f64, having.len() as f64);
            let rarity = (1.0 + (all - some + 0.5) / (some + 0.5)).ln();
            for (tool, count) in having {
                let long = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * self.lengths[*tool] / self.usual.max(1.0);
                scores[*tool] += rarity * count * (SATURATION + 1.0) / (count + SATURATION * long);
            }
        }
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        order.truncate(most);
        order
    }
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
