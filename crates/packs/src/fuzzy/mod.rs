//! Finds tasks by the words of their titles: one formula, one verdict, one index of titles held in memory.
//!
//! ```text
//! normalise   NFKD, marks stripped, case folded, apostrophes dropped, the rest to spaces
//! equal       1.0; the same words in another order 0.99
//! cov         length-weighted mean of the best unused title word for each query word
//! pen         0 if every title word was matched, else min(.25, .032 + .0054n + .0002n²), n letters left over
//! score       min(.99, max(cov·(1 - pen), token_sort_ratio if cov >= .65)), to two decimals
//! ```

mod index;
mod normal;
mod score;
mod token_sort;
mod user_titles;
mod words;

#[cfg(test)]
mod tests;

use toolroom_contract::ids::TaskId;

pub use index::TitleIndex;
pub use score::{Prepared, Query, score};
pub use user_titles::Change;

use score::Title;

/// What a query found.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No title reaches the threshold.
    None,
    /// Exactly one title reaches the threshold, or exactly one scores 1.0.
    Single(TaskId, f64),
    /// Several titles reach the threshold: best first, of equals the newer (higher id) first.
    Multiple(Vec<(TaskId, f64)>),
}

/// Ranks titles against a query. The verdict does not depend on the order in which the titles come.
pub fn rank<'a>(
    query: &Query,
    threshold: f64,
    titles: impl IntoIterator<Item = (TaskId, &'a Prepared)>,
) -> Verdict {
    rank_titles(query, threshold, titles.into_iter().map(|(id, title)| (id, title.view())))
}

fn rank_titles<'a>(
    query: &Query,
    threshold: f64,
    titles: impl Iterator<Item = (TaskId, Title<'a>)>,
) -> Verdict {
    let mut hits: Vec<(TaskId, f64)> = titles
        .filter(|(_, title)| query.may_reach(threshold, title))
        .map(|(id, title)| (id, query.score(&title)))
        .filter(|&(_, score)| score >= threshold)
        .collect();
    hits.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    match hits.as_slice() {
        [] => Verdict::None,
        &[(id, score)] => Verdict::Single(id, score),
        &[(id, first), (_, second), ..] if first == 1.0 && second < 1.0 => Verdict::Single(id, first),
        _ => Verdict::Multiple(hits),
    }
}
