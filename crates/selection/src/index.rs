//! The catalogue, ready to be searched by words and by meaning.

use std::borrow::Cow;

use crate::families::Family;
use crate::gate::{Chances, Class};
use crate::lexical::{Fit, Lexical};
use crate::table::{DIMENSIONS, Table};
use crate::text::{self, Vector};

/// What a tool says about itself.
#[derive(Clone, Debug, Default)]
pub struct ToolText<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it does.
    pub description: &'a str,
    /// When to use it.
    pub use_for: &'a str,
    /// What it was or might be asked.
    pub examples: Vec<&'a str>,
    /// Its tags.
    pub tags: Vec<&'a str>,
    /// What it takes.
    pub parameters: Vec<Parameter<'a>>,
}

/// What a tool says about one of its parameters.
#[derive(Clone, Debug, Default)]
pub struct Parameter<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it means.
    pub description: &'a str,
    /// The values that it can have, where they are words of a list.
    pub values: Vec<&'a str>,
}

/// A tool that fits, and how well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// Its place in the list that the index was built of.
    pub tool: usize,
    /// 0 to 1; 1 is every word of the query in the tool's name.
    pub score: f64,
}

/// Vectors are kept as whole numbers: a product of two fits 32 bits, and eight are multiplied at once.
const STEP: f32 = 4096.0;
/// Texts of one tool that get a vector each.
const TEXTS_OF_A_TOOL: usize = 16;
/// Parameters of a tool whose names are part of its meaning.
const PARAMETERS_MEANT: usize = 12;
/// Parameters of a tool whose words count.
const PARAMETERS_READ: usize = 64;
/// Values of one parameter whose words count.
const VALUES_READ: usize = 32;

/// The catalogue, indexed. It never changes; a changed catalogue gets a new one.
pub struct Index {
    pub(crate) names: Vec<String>,
    pub(crate) families: Vec<Option<Family>>,
    vectors: Vec<i16>,
    /// The tool of each vector.
    owners: Vec<u32>,
    lexical: Lexical,
}

/// A query, read once.
pub(crate) struct Query {
    pub chances: Chances,
    vector: Vector,
}

/// What speaks for one tool.
#[derive(Clone, Copy, Default)]
pub(crate) struct Evidence {
    /// The cosine of the best text.
    pub meaning: f32,
    pub words: Fit,
    /// Both together, measured against the other tools of this query.
    pub fused: f32,
}

impl Index {
    /// Reads the texts of every tool.
    pub fn build(tools: &[ToolText<'_>]) -> Self {
        let table = Table::get();
        let (mut vectors, mut owners, mut lexical) = (Vec::new(), Vec::new(), Lexical::default());
        for (at, tool) in tools.iter().enumerate() {
            let described = described(tool);
            let texts = [described.as_str(), tool.use_for].into_iter().chain(tool.examples.iter().copied());
            for text in texts.filter(|text| !text.trim().is_empty()).take(TEXTS_OF_A_TOOL) {
                let vector = text::vector(table, &text::words(text));
                vectors.extend(vector.map(|one| (one * STEP) as i16));
                owners.push(at as u32);
            }
            lexical.add(&weighted(tool));
        }
        Self {
            names: tools.iter().map(|tool| tool.name.to_owned()).collect(),
            families: tools.iter().map(|tool| Family::of(tool.name)).collect(),
            vectors,
            owners,
            lexical,
        }
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of a tool.
    pub fn name(&self, tool: usize) -> &str {
        self.names.get(tool).map_or("", String::as_str)
    }

    /// This many tools, best first: the caller decides better than a bound, and sees the score.
    pub fn search(&self, query: &str, most: usize) -> Vec<Scored> {
        let mut found = self.search_among(query, most, |_| true);
        found.truncate(most);
        found
    }

    /// All that fit among some tools, best first, and others behind them until there are `least`, unless one word is
    /// looked up that is in names. Tools that are not allowed leave no trace in the scores.
    pub fn search_among(&self, query: &str, least: usize, allowed: impl Fn(usize) -> bool) -> Vec<Scored> {
        let allowed: Vec<bool> = (0..self.len()).map(allowed).collect();
        let evidence = self.evidence(query, &self.read(query), &allowed);
        let enough = Table::get().tuned(4);
        // Names that hold every word come first, and are all as good as each other.
        let rank = |one: &Evidence| if one.words.share >= 0.999 { f32::INFINITY } else { one.fused };
        let fits = |one: &Evidence| one.words.share > 0.0 || one.meaning >= enough;
        let mut found: Vec<(usize, f32, bool)> = evidence
            .iter()
            .enumerate()
            .filter(|(tool, _)| allowed[*tool])
            .map(|(tool, one)| (tool, rank(one), fits(one)))
            .collect();
        // Tools that find others have words of every search in their descriptions: where a tool that somebody registered
        // fits, it comes first.
        let registered = found.iter().filter(|(tool, _, fits)| *fits && self.families[*tool].is_none());
        if let Some(best) = registered.map(|(_, rank, _)| *rank).max_by(f32::total_cmp) {
            for (tool, rank, _) in &mut found {
                if rank.is_finite() && *rank >= best && Family::is_finder(&self.names[*tool]) {
                    *rank = best - 1e-3;
                }
            }
        }
        found.sort_by(|a, b| {
            b.2.cmp(&a.2).then(b.1.total_cmp(&a.1)).then_with(|| self.names[a.0].cmp(&self.names[b.0]))
        });
        let fitting = found.iter().take_while(|(_, _, fits)| *fits).count();
        // One word that is in names is a look by name, and what does not have it was not asked for.
        let by_name =
            found.first().is_some_and(|(_, rank, _)| rank.is_infinite()) && text::words(query).len() == 1;
        found.truncate(if by_name { fitting } else { fitting.max(least) });
        // The order is that of the evidence together; the score never rises along it.
        let mut ceiling = 1.0_f64;
        let scored = found.into_iter().map(|(tool, ..)| {
            ceiling = ceiling.min(evidence[tool].score());
            Scored { tool, score: ceiling }
        });
        scored.collect()
    }

    pub(crate) fn read(&self, query: &str) -> Query {
        let words = text::words(query);
        let table = Table::get();
        let vector = text::vector(table, &words);
        Query { chances: Chances::of(table, &words, &vector), vector }
    }

    pub(crate) fn evidence(&self, text: &str, query: &Query, allowed: &[bool]) -> Vec<Evidence> {
        let capped: String = text.chars().take(text::LONGEST_TEXT).collect();
        let meanings = self.meanings(query);
        let words = self.lexical.fit(&capped, allowed);
        let among = |values: &mut dyn Iterator<Item = f32>| Spread::of(values, allowed);
        let meaning_spread = among(&mut meanings.iter().copied());
        let word_spread = among(&mut words.iter().map(|fit| fit.rank));
        let weight = Table::get().tuned(3);
        let pairs = meanings.into_iter().zip(words);
        let evidence = pairs.map(|(meaning, words)| Evidence {
            meaning,
            words,
            fused: meaning_spread.place(meaning) + weight * word_spread.place(words.rank),
        });
        evidence.collect()
    }

    /// The best cosine of each tool; for a built-in tool also what the gate thinks of it.
    fn meanings(&self, query: &Query) -> Vec<f32> {
        let vector: [i16; DIMENSIONS] = query.vector.map(|one| (one * STEP) as i16);
        let mut best = vec![-1.0_f32; self.len()];
        for (row, owner) in self.vectors.chunks_exact(DIMENSIONS).zip(&self.owners) {
            let product: i32 = row.iter().zip(&vector).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            let cosine = product as f32 / (STEP * STEP);
            if let Some(best) = best.get_mut(*owner as usize) {
                *best = best.max(cosine);
            }
        }
        let weight = Table::get().tuned(5);
        for (best, family) in best.iter_mut().zip(&self.families) {
            let chance = match family {
                Some(Family::Task(intent)) => query.chances.intent(*intent),
                Some(Family::Web) => query.chances.class(Class::Web),
                Some(Family::Code) => query.chances.class(Class::Code),
                Some(Family::Human) => query.chances.class(Class::Human),
                Some(Family::Registry) | None => 0.0,
            };
            *best = (*best + weight * chance as f32).min(1.0);
        }
        best
    }
}

impl Evidence {
    /// How well the tool fits, by itself: the share of words, and what the meaning adds.
    pub fn score(&self) -> f64 {
        let table = Table::get();
        let meaning = ((self.meaning - table.tuned(4)) / (1.0 - table.tuned(4))).clamp(0.0, 0.95);
        f64::from(1.0 - (1.0 - self.words.share) * (1.0 - meaning)).clamp(0.01, 1.0)
    }
}

/// Mean and deviation of one kind of evidence over the tools that count.
struct Spread {
    mean: f32,
    deviation: f32,
}

impl Spread {
    fn of(values: &mut dyn Iterator<Item = f32>, allowed: &[bool]) -> Self {
        let (mut count, mut sum, mut squares) = (0.0_f32, 0.0_f32, 0.0_f32);
        for (value, _) in values.zip(allowed).filter(|(_, allowed)| **allowed) {
            count += 1.0;
            sum += value;
            squares += value * value;
        }
        let count = count.max(1.0);
        let mean = sum / count;
        Self { mean, deviation: (squares / count - mean * mean).max(0.0).sqrt() }
    }

    fn place(&self, value: f32) -> f32 {
        if self.deviation > 1e-6 { (value - self.mean) / self.deviation } else { 0.0 }
    }
}

/// What a tool says of itself, as one text that has a meaning.
fn described(tool: &ToolText<'_>) -> String {
    let mut text = format!("{}. {}", spoken(tool.name), tool.description);
    for parameter in tool.parameters.iter().take(PARAMETERS_MEANT) {
        text.push(' ');
        text.push_str(&spoken(parameter.name));
    }
    text
}

/// The texts of a tool, each with the weight of its place.
fn weighted<'a>(tool: &ToolText<'a>) -> Vec<(Cow<'a, str>, f32)> {
    let mut texts = vec![
        (Cow::Owned(spoken(tool.name)), 1.0),
        (Cow::Borrowed(tool.description), 0.5),
        (Cow::Borrowed(tool.use_for), 0.5),
    ];
    texts.extend(tool.tags.iter().map(|tag| (Cow::Borrowed(*tag), 0.8)));
    texts.extend(tool.examples.iter().take(TEXTS_OF_A_TOOL).map(|example| (Cow::Borrowed(*example), 0.4)));
    for parameter in tool.parameters.iter().take(PARAMETERS_READ) {
        texts.push((Cow::Owned(spoken(parameter.name)), 0.5));
        texts.push((Cow::Borrowed(parameter.description), 0.3));
        texts.extend(parameter.values.iter().take(VALUES_READ).map(|value| (Cow::Borrowed(*value), 0.3)));
    }
    texts
}

/// A name as words: `getWaterQuality` and `get_water-quality` are "get Water Quality".
fn spoken(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            out.push(' ');
        }
        out.push(if c.is_alphanumeric() { c } else { ' ' });
        before = c;
    }
    out
}
