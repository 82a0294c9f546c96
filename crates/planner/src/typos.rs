//! Slips of the pen in the words that commands are made of; no other word is touched.

use super::text::has_word;

/// The words of commands that are worth mending, each of four letters or more.
const KNOWN: &str = "create|delete|remove|complete|completed|finish|finished|update|change|rename|restore|remind|reminder|schedule|reschedule|postpone|search|display|show|list|mark|find|edit|tasks|task|todo|todos|pending|priority|cancel|calculate|execute|please|everything|reopen|undelete|overdue|description|urgent|important|deadline|title|should|could|would|about|incomplete|unfinished";

/// The command word that a misspelt word was meant to be.
pub(crate) fn meant(word: &str) -> Option<&'static str> {
    if let Some(known) = paired(SHORT, word) {
        return Some(known);
    }
    let letters: Vec<char> = word.chars().collect();
    if !(4..=14).contains(&letters.len()) || !letters.iter().all(|c| c.is_ascii_lowercase()) {
        return None;
    }
    if has_word(KNOWN, word) || is_form_of_known(word) || has_word(IS_A_WORD, word) {
        return None;
    }
    KNOWN.split('|').find(|known| {
        // Most are out by length or first letter, which costs nothing.
        let starts = known.get(..1) == word.get(..1)
            || known.get(1..2) == word.get(..1) && known.get(..1) == word.get(1..2);
        if !starts || known.len().abs_diff(letters.len()) > 2 {
            return false;
        }
        let known: Vec<char> = known.chars().collect();
        let most = match letters.len().max(known.len()) {
            0..=4 => return is_swap(&letters, &known),
            5..=8 => 1,
            _ => 2,
        };
        let same_start = letters.first() == known.first() || is_swap(&letters, &known);
        same_start && letters.len().abs_diff(known.len()) <= most && distance(&letters, &known) <= most
    })
}

/// Short slips that no rule would find, and ways to write in a hurry.
const SHORT: &str = "ad:add|aad:add|addd:add|tsk:task|tak:task|tks:tasks|lst:list|shw:show|sho:show|del:delete|rmv:remove|mrk:mark|tasck:task|rember:remember";

/// Words that are near a command word and are not typos.
const IS_A_WORD: &str = "tack|talk|last|lost|lists|shoe|shop|shot|slow|snow|mask|marks|market|edict|fund|kind|mind|bind|exit|pleased|pleases|changed|finds|titles|shown|shows|abut|finnish|cold|mould|world|wound|bound|sound|hound|spending|sending|lending|tasty|creator";

fn is_form_of_known(word: &str) -> bool {
    ["s", "d", "ed", "ing", "r", "rs", "er", "ion", "y", "ly", "al"]
        .iter()
        .filter_map(|end| word.strip_suffix(end))
        .any(|stem| KNOWN.split('|').any(|known| known == stem || known.strip_suffix('e') == Some(stem)))
}

/// Whether two neighbouring letters changed places, and nothing else.
fn is_swap(a: &[char], b: &[char]) -> bool {
    let differs: Vec<usize> = (0..a.len().min(b.len())).filter(|at| a.get(*at) != b.get(*at)).collect();
    match (a.len() == b.len(), differs.as_slice()) {
        (true, &[first, second]) => {
            second == first + 1 && a.get(first) == b.get(second) && a.get(second) == b.get(first)
        }
        _ => false,
    }
}

/// Letters to add, drop, replace or swap with their neighbour.
pub(crate) fn distance(a: &[char], b: &[char]) -> usize {
    toolroom_work::step(a.len() * b.len());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replace = last[j] + usize::from(x != y);
            let mut best = replace.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

/// The verb of a form in "-ing".
pub(crate) fn base(word: &str) -> Option<&'static str> {
    const FORMS: &str = "adding:add|deleting:delete|removing:remove|marking:mark|showing:show|creating:create|completing:complete|renaming:rename|moving:move|changing:change|updating:update|setting:set|listing:list|putting:put|reminding:remind|making:make|restoring:restore|checking:check|finding:find|searching:search";
    paired(FORMS, word)
}

/// What stands behind a word in a list of pairs, `word:other|word:other`.
pub(crate) fn paired<'a>(list: &'a str, word: &str) -> Option<&'a str> {
    toolroom_work::step(1);
    list.split('|')
        .filter_map(|pair| pair.split_once(':'))
        .find(|(one, _)| *one == word)
        .map(|(_, other)| other)
}
