//! Finds tasks by the words of their titles: stems instead of forms, and rare words before common ones.

use super::seen::Task;
use super::text::has_word;
use super::typos::{distance, paired};

const SMALL: &str = "a|an|the|my|to|for|of|on|in|at|from|with|and|about|task|todo|one|that|this|please";
/// Words that name no task in a sentence about one.
const FILLERS: &str = "i|ive|im|we|weve|it|its|is|are|was|were|be|been|has|have|had|thing|things|stuff|ones|tasks|todos|already|finally|just|now|today|too|also|all|set|make|as|so|then|them|they|you|me|up|out|off|or|but|by|not|still|very|really|please|pls|thanks|ok|again|instead|lets|do|did|done|finished|completed|get|got|put|mark|list|reminder|item|well|not|no|what|when|how|there|some|any|more|anymore|longer|were|going|s|ll|re|d";
/// Past forms that no ending tells.
const PAST: &str = "paid:pay|bought:buy|sent:send|made:make|wrote:write|written:write|met:meet|took:take|taken:take|went:go|fed:feed|swept:sweep|told:tell|gave:give|found:find|ran:run|built:build|left:leave|sold:sell|got:get|did:do|brought:bring|caught:catch|drove:drive|ate:eat|hung:hang|held:hold|kept:keep|lent:lend|lost:lose|rang:ring|saw:see|spoke:speak|taught:teach|threw:throw|wore:wear|began:begin|chose:choose|drew:draw|flew:fly|forgave:forgive|gone:go|read:read|rode:ride|shot:shoot|sewed:sew|sewn:sew|withdrew:withdraw|wound:wind|had:have";

/// How much less the second best may fit before the best is taken without a question.
const MARGIN: f64 = 0.75;

/// The tasks whose titles hold all words that count; if one title is just these words, that task alone.
pub(crate) fn best(words: &str, tasks: Vec<Task>) -> Vec<Task> {
    let all = terms(words);
    let exact: Vec<Task> = tasks.iter().filter(|task| terms(&task.title) == all).cloned().collect();
    if exact.len() == 1 {
        return exact;
    }
    let mut wanted: Vec<Term> = all.iter().filter(|term| !has_word(SMALL, &term.word)).cloned().collect();
    if wanted.is_empty() {
        wanted = all;
    }
    if wanted.is_empty() {
        return Vec::new();
    }
    let fits = |task: &Task| {
        let title = terms(&task.title);
        wanted.iter().all(|term| title.iter().any(|other| alike(term, other) > 0.0))
    };
    tasks.into_iter().filter(fits).collect()
}

/// The tasks that some words may mean, the likeliest first: one alone if it is so by a clear margin. Nothing if fewer
/// than half of the words that count, by weight, stand in a title.
pub(crate) fn likeliest(words: &str, tasks: &[Task]) -> Vec<Task> {
    ranked(terms(words).into_iter().map(|term| (term, 1.0)).collect(), tasks)
}

/// The same for a whole message, each of its words with how likely it names a task.
pub(crate) fn likeliest_of(words: &[(String, f64)], tasks: &[Task]) -> Vec<Task> {
    let likely = words.iter().filter(|(_, chance)| *chance >= 0.1);
    ranked(
        likely.flat_map(|(word, chance)| terms(word).into_iter().map(|term| (term, *chance))).collect(),
        tasks,
    )
}

fn ranked(said: Vec<(Term, f64)>, tasks: &[Task]) -> Vec<Task> {
    let counts = |(term, _): &(Term, f64)| !has_word(SMALL, &term.word) && !has_word(FILLERS, &term.word);
    let wanted: Vec<(Term, f64)> = said.into_iter().filter(counts).take(MOST_WORDS).collect();
    let titles: Vec<Vec<Term>> = tasks.iter().map(|task| terms(&task.title)).collect();
    let fits: Vec<Vec<f64>> =
        wanted.iter().map(|(term, _)| titles.iter().map(|title| fit(term, title)).collect()).collect();
    // A word of one title says more than a word of many. What was done may be said with another verb than the title's.
    let weight =
        |(term, chance): &(Term, f64), fits: &[f64]| match fits.iter().filter(|fit| **fit > 0.0).count() {
            0 if is_past(&term.word) => 0.0,
            hits => chance * (1.0 + tasks.len() as f64 / hits.max(1) as f64).ln(),
        };
    let weights: Vec<f64> = wanted.iter().zip(&fits).map(|(term, fits)| weight(term, fits)).collect();
    let total: f64 = weights.iter().sum();
    let score = |at: usize| -> f64 {
        fits.iter().zip(&weights).map(|(fits, weight)| fits.get(at).copied().unwrap_or(0.0) * weight).sum()
    };
    let mut ranked: Vec<(f64, &Task)> = tasks
        .iter()
        .enumerate()
        .map(|(at, task)| (score(at), task))
        .filter(|(score, _)| *score > 0.0)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let Some((first, _)) = ranked.first().copied().filter(|(score, _)| *score >= total / 2.0) else {
        return Vec::new();
    };
    ranked
        .into_iter()
        .filter(|(score, _)| *score > first * MARGIN)
        .take(3)
        .map(|(_, task)| task.clone())
        .collect()
}

/// How well a word fits a title. Its first word is what is to be done, which many tasks have in common.
fn fit(term: &Term, title: &[Term]) -> f64 {
    let each = title.iter().enumerate().map(|(at, other)| {
        let share = if at == 0 && title.len() > 1 { 0.6 } else { 1.0 };
        alike(term, other) * share
    });
    each.fold(0.0, f64::max)
}

/// Whether every word that counts stands in a title, too.
pub(crate) fn covers(title: &str, words: &str) -> bool {
    let counts =
        |term: &Term| !has_word(SMALL, &term.word) && !has_word(FILLERS, &term.word) && !is_past(&term.word);
    let title = terms(title);
    terms(words)
        .iter()
        .filter(|term| counts(term))
        .all(|term| title.iter().any(|other| alike(term, other) > 0.0))
}

/// Whether a word that counts stands in a title.
pub(crate) fn is_in(word: &str, title: &str) -> bool {
    let counts = |term: &Term| !has_word(SMALL, &term.word) && !has_word(FILLERS, &term.word);
    let title = terms(title);
    terms(word)
        .iter()
        .filter(|term| counts(term))
        .any(|term| title.iter().any(|other| alike(term, other) > 0.0))
}

/// The tasks whose titles share a word that counts with another one's, most first.
pub(crate) fn kin(one: &Task, tasks: Vec<Task>) -> Vec<Task> {
    let counts = |term: &Term| !has_word(SMALL, &term.word);
    let wanted: Vec<Term> = terms(&one.title).into_iter().filter(counts).collect();
    let shared = |task: &Task| {
        let title = terms(&task.title);
        wanted.iter().filter(|term| title.iter().any(|other| alike(term, other) > 0.0)).count()
    };
    let mut found: Vec<(usize, Task)> =
        tasks.into_iter().filter(|task| task.id != one.id).map(|task| (shared(&task), task)).collect();
    let most = found.iter().map(|(count, _)| *count).max().unwrap_or(0);
    found.retain(|(count, _)| *count == most && most > 0);
    found.into_iter().map(|(_, task)| task).take(3).collect()
}

/// Whether a word is a past form: of a verb that something was done with.
pub(crate) fn is_past(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed") || paired(PAST, word).is_some()
}

/// More words than this name no task.
const MOST_WORDS: usize = 40;

/// A word of a title or a wish.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    word: String,
    stem: String,
}

fn terms(text: &str) -> Vec<Term> {
    toolroom_work::step(text.len());
    let plain: String =
        text.chars().filter(|c| !matches!(c, '\'' | '\u{2019}')).flat_map(char::to_lowercase).collect();
    let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| Term { word: word.to_owned(), stem: stem(word) }).collect()
}

/// How alike two words are, slips, endings and beginnings aside: 0 is not at all, 1 is the same.
fn alike(one: &Term, other: &Term) -> f64 {
    toolroom_work::step(1);
    if toolroom_work::is_spent() {
        return 0.0;
    }
    let (wanted, word) = (one.word.as_str(), other.word.as_str());
    if wanted == word {
        return 1.0;
    }
    if one.stem == other.stem {
        return 0.95;
    }
    if wanted.chars().count() >= 3 && word.starts_with(wanted) {
        return 0.9;
    }
    let (a, b): (Vec<char>, Vec<char>) = (wanted.chars().collect(), word.chars().collect());
    let most = match a.len().max(b.len()) {
        0..=3 => 0,
        4..=8 => 1,
        _ => 2,
    };
    let is_slip = most > 0
        && a.len().abs_diff(b.len()) <= most
        && (a.first() == b.first() || a.first() == b.get(1))
        && distance(&a, &b) <= most;
    if is_slip { 0.8 } else { 0.0 }
}

/// A word without its ending: "watered" and "watering" are "water".
fn stem(word: &str) -> String {
    if let Some(base) = paired(PAST, word) {
        return base.to_owned();
    }
    let cut = |end: &str, most: usize| word.strip_suffix(end).filter(|stem| stem.chars().count() >= most);
    if let Some(stem) = cut("ies", 2).or_else(|| cut("ied", 2)) {
        return format!("{stem}y");
    }
    let stem = cut("ing", 3).or_else(|| cut("ed", 3)).or_else(|| cut("es", 3)).or_else(|| cut("s", 2));
    let stem = stem.unwrap_or(word);
    // "planned" is "plan"; "call" keeps both.
    let doubled = stem.len() < word.len()
        && stem
            .chars()
            .rev()
            .take(2)
            .collect::<Vec<_>>()
            .windows(2)
            .any(|pair| pair[0] == pair[1] && !matches!(pair[0], 'l' | 's' | 'z'));
    let stem = if doubled { stem.get(..stem.len() - 1).unwrap_or(stem) } else { stem };
    stem.trim_end_matches('e').to_owned()
}
