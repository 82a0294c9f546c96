//! Finding tools by words: names, tags and descriptions, the rarer word counting more.

use std::collections::HashMap;
use std::sync::Arc;

use toolroom_contract::Grants;

use crate::catalogue::{Snapshot, Tool};

/// A tool that fits, and how well: 1 is every word of the query in the tool's name.
pub struct Hit {
    /// The tool.
    pub tool: Arc<Tool>,
    /// 0 to 1.
    pub score: f64,
}

/// The tools that fit the words, best first; only those that the grants cover.
pub fn search(snapshot: &Snapshot, grants: &Grants, query: &str) -> Vec<Hit> {
    let visible: Vec<(&Arc<Tool>, Words)> =
        visible(snapshot, grants).map(|tool| (tool, words_of(tool))).collect();
    let wanted: Vec<String> = words(query).collect();
    let rarity: Vec<f64> = wanted
        .iter()
        .map(|word| {
            let having = visible.iter().filter(|(_, words)| words.weight(word) > 0.0).count();
            ((visible.len() as f64 + 1.0) / (having as f64 + 0.5)).ln().max(0.1)
        })
        .collect();
    let whole: f64 = rarity.iter().sum();
    let mut hits: Vec<Hit> = visible
        .into_iter()
        .filter_map(|(tool, words)| {
            let found: f64 =
                wanted.iter().zip(&rarity).map(|(word, rarity)| words.weight(word) * rarity).sum();
            let score = if whole > 0.0 { found / whole } else { 0.0 };
            (score > 0.0).then(|| Hit { tool: Arc::clone(tool), score })
        })
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tool.name().cmp(b.tool.name())));
    hits
}

/// The tools that the grants cover and that are not gone.
pub fn visible<'a>(snapshot: &'a Snapshot, grants: &'a Grants) -> impl Iterator<Item = &'a Arc<Tool>> {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    snapshot.tools.values().filter(move |tool| {
        let definition = tool.definition();
        grants.cover_all(&definition.permissions)
            && !definition.deprecated.as_ref().is_some_and(|deprecated| deprecated.is_removed(today))
    })
}

/// The words of one tool with the weight of the best place that each stands in.
struct Words(HashMap<String, f64>);

impl Words {
    fn weight(&self, word: &str) -> f64 {
        self.0.get(word).copied().unwrap_or(0.0)
    }
}

fn words_of(tool: &Tool) -> Words {
    let definition = tool.definition();
    let mut weights = HashMap::new();
    let mut put = |text: &str, weight: f64| {
        for word in words(text) {
            let best = weights.entry(word).or_insert(0.0);
            *best = weight.max(*best);
        }
    };
    for example in &definition.examples {
        put(&example.description, 0.4);
    }
    put(&definition.description, 0.5);
    definition.tags.iter().for_each(|tag| put(tag, 0.8));
    put(&definition.name, 1.0);
    Words(weights)
}

/// Lower-case words without a plural ending, so that "tasks" finds "task".
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).map(|word| {
        let word = word.to_lowercase();
        match word.strip_suffix('s') {
            Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
            _ => word,
        }
    })
}
