//! Wishes to make a task.

use super::target::TASK_NOUNS;
use super::{Here, priority, slots};
use crate::text::{Kind, Word, begins, begins_any, ends, has_word};
use crate::wish::{Draft, Heard, Strength, Wish};
use crate::words::patterns;

/// A task, explicitly.
pub(super) fn named(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    reminder(text, words, here).or_else(|| headed(text, words, here)).or_else(|| onto_list(text, words, here))
}

fn made(draft: Draft, strength: Strength) -> Option<Heard> {
    Some(Heard { wish: Wish::Create(vec![draft]), strength })
}

/// "remind me tomorrow to call mom".
fn reminder(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    if let Some(length) = begins(words, "remind|remember me|us") {
        let rest = words.get(length..)?;
        if begins(rest, "again? what|who|why|how|which|where|whether|when|whose").is_some() {
            return None;
        }
        let joint = rest.iter().position(|word| word.is_any("to|about|that|of"));
        let mut draft = match joint {
            // What stands between is the date.
            Some(joint) if joint > 0 && slots::date_alone(text, rest.get(..joint)?, here).is_some() => {
                let mut draft = slots::draft(text, rest.get(joint + 1..)?, here);
                let when = slots::date_alone(text, rest.get(..joint)?, here);
                if draft.due.is_none() {
                    let said = when.as_ref().map(|when| when.said.clone()).unwrap_or_default();
                    draft.undated = draft.title.as_ref().map(|title| format!("{title} {said}"));
                    draft.due = when;
                }
                draft
            }
            Some(0) => slots::draft(text, rest.get(1..)?, here),
            _ => slots::draft(text, rest, here),
        };
        if draft.title.as_deref().is_some_and(is_vague) {
            draft.title = None;
        }
        // "remind me of the plot of Macbeth" asks for words.
        let strength = if begins(rest, "of").is_some() { Strength::Weak } else { Strength::Strong };
        return made(draft, strength);
    }
    let length = begins_any(words, patterns("before the title of a reminder"))?;
    let rest = unsigned(words.get(length..)?);
    let draft = slots::draft(text, rest, here);
    made(nameless_if_vague(draft), Strength::Strong)
}

/// "add a task to …", "new task: …", "task: …".
fn headed(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let length = begins_any(words, patterns("before the title of a task"))?;
    let rest = words.get(length..)?;
    let colon =
        rest.first().is_some_and(|word| matches!(word.kind, Kind::Sign(':' | '-' | '\u{2013}' | '\u{2014}')));
    if begins(words, "task|todo|reminder|one|note").is_some() && !colon {
        return None;
    }
    // "add a note to task 3" is another wish, and "add task 3" names none.
    let is_note = words.get(..length)?.iter().any(|word| word.is("note"));
    let on_task = rest.iter().take(3).any(|word| word.is_any(TASK_NOUNS) || word.is_hash_number());
    if is_note && on_task {
        return None;
    }
    // "log a todo for me: …"
    let for_me =
        begins(rest, "me|us").filter(|taken| rest.get(*taken).is_some_and(Word::is_sign)).unwrap_or(0);
    let mut draft = slots::draft(text, unsigned(rest.get(for_me..)?), here);
    let head = words.get(..length)?;
    draft.priority = draft.priority.or_else(|| priority::of_list(head));
    made(nameless_if_vague(draft), Strength::Strong)
}

/// "put milk on my list", "add milk to my tasks".
fn onto_list(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let length = begins(
        words,
        "add|put|stick|throw|pop|place|write|get|append|include|insert|save|chuck|jot|note down|in?",
    )?;
    let list = patterns("names a list to add to");
    let rest = words.get(length..)?;
    let place = list.iter().find_map(|pattern| {
        (0..rest.len()).rev().find_map(|at| begins(rest.get(at..)?, pattern).map(|taken| at..at + taken))
    })?;
    if place.start == 0 {
        // "add to my list: milk"
        let behind = unsigned(rest.get(place.end..)?);
        return made(nameless_if_vague(slots::draft(text, behind, here)), Strength::Strong);
    }
    let mut draft = slots::draft(text, rest.get(..place.start)?, here);
    let behind = slots::draft(text, rest.get(place.end..)?, here);
    draft.due = draft.due.or(behind.due);
    draft.priority = draft.priority.or(behind.priority);
    draft.description = draft.description.or(behind.description);
    draft.tags.extend(behind.tags);
    made(nameless_if_vague(draft), Strength::Strong)
}

/// "add milk": short, and not sure to be about a task.
pub(super) fn bare(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    if let Some(length) = begins_any(words, patterns("adds without naming a task")) {
        let rest = words.get(length..)?;
        let is_label = begins(words, "todo|task|another|one|track|log").is_some();
        if is_label && !rest.first().is_some_and(Word::is_sign) && begins(words, "i").is_none() {
            return None;
        }
        let rest = unsigned(rest);
        let draft = nameless_if_vague(slots::draft(text, rest, here));
        let numbers = rest.iter().filter(|word| word.number().is_some()).count();
        let strength = match &draft.title {
            None => Strength::Strong,
            Some(_) if is_label => Strength::Strong,
            // "create the report" may ask for the report itself.
            Some(_) if begins(words, "create").is_some() => Strength::Hint,
            // "add 3 and 4" is a sum.
            Some(_) if numbers > 1 => Strength::Hint,
            Some(_) => Strength::Weak,
        };
        return made(draft, strength);
    }
    // "I need to buy cat food": said to somebody who keeps a list.
    let length = begins_any(words, patterns("says what one has to do"))?;
    let rest = words.get(length..)?;
    if rest.is_empty()
        || rest.first().is_some_and(|word| {
            word.is_any("help|a|an|some|know|think|be|go|you|your|more|the|my|to|ask|i|it|no|any|this|that")
        })
    {
        return None;
    }
    made(nameless_if_vague(slots::draft(text, rest, here)), Strength::Hint)
}

/// "add three tasks: a, b and c", or a list with a line for each.
pub(super) fn several(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let words = super::stripped(words);
    let head = begins_any(words, patterns("heads a list of tasks"));
    let apart = patterns("as separate tasks").iter().find_map(|pattern| ends(words, pattern));
    let (items, is_sure) = match (head, apart) {
        (Some(head), _) => {
            let rest = words.get(head..)?;
            let sign = rest.first().is_some_and(|word| {
                matches!(word.kind, Kind::Sign(':' | '-' | '\n' | '*' | '\u{2022}' | ','))
                    || word.kind == Kind::Quoted
            });
            let counted = words.get(..head)?.iter().any(|word| {
                word.number().is_some() || word.is_any("two|three|four|five|six|seven|eight|these|following")
            });
            let to = begins(rest, "to").is_some() && counted;
            if !sign && !to {
                return None;
            }
            (unsigned(rest.get(usize::from(to)..)?), true)
        }
        (None, Some(start)) => (words.get(begins(words, "add|create|put|make|note")?..start)?, true),
        (None, None) => return None,
    };
    let drafts: Vec<Draft> = parts(items)
        .into_iter()
        .map(|part| slots::draft(text, part, here))
        .filter(|draft| draft.title.is_some())
        .collect();
    (is_sure && drafts.len() > 1).then_some(Heard { wish: Wish::Create(drafts), strength: Strength::Strong })
}

/// A list that was pasted: a line for each task, every one with a mark or a number before it. What heads it ends with a
/// colon, or asks for tasks.
pub(crate) fn pasted(said: &super::Utterance<'_>, here: &Here<'_>) -> Option<Vec<Draft>> {
    let lines: Vec<&[Word]> = numbered(&said.words).unwrap_or_else(|| {
        said.words.split(|word| word.kind == Kind::Sign('\n')).filter(|line| !line.is_empty()).collect()
    });
    let is_item = |line: &&[Word]| {
        let marked = matches!(
            line.first().map(|word| word.kind),
            Some(Kind::Sign('-' | '*' | '\u{2022}' | '\u{2013}' | '['))
        );
        line.len() > 1 && (marked || unnumbered(line).len() < line.len())
    };
    let head = lines.iter().take_while(|line| !is_item(line)).count();
    let items = lines.get(head..)?;
    let is_headed = match lines.get(..head)? {
        [] => true,
        [only] => only.last().is_some_and(|word| word.kind == Kind::Sign(':')),
        _ => false,
    };
    if !is_headed || items.len() < 2 || items.len() > 50 || !items.iter().all(is_item) {
        return None;
    }
    let draft = |line: &&[Word]| slots::draft(said.text, unsigned(unnumbered(unsigned(line))), here);
    let drafts: Vec<Draft> = items.iter().map(draft).filter(|draft| draft.title.is_some()).collect();
    (drafts.len() == items.len()).then_some(drafts)
}

/// "1. feed the cat 2. lock the shed" in one line.
fn numbered(words: &[Word]) -> Option<Vec<&[Word]>> {
    let is_mark = |at: &usize, number: i64| {
        let sign = words.get(at + 1).map(|word| word.kind);
        words.get(*at).and_then(Word::number) == Some(number) && matches!(sign, Some(Kind::Sign('.' | ')')))
    };
    let mut starts = Vec::new();
    for at in 0..words.len() {
        if is_mark(&at, starts.len() as i64 + 1) {
            starts.push(at);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([words.len()]);
    let is_list = starts.len() > 1 && starts.first() == Some(&0);
    is_list.then(|| starts.iter().zip(ends).filter_map(|(start, end)| words.get(*start..end)).collect())
}

/// The items of a list: by lines if there are any, else by semicolons, else by commas and the last "and".
fn parts(words: &[Word]) -> Vec<&[Word]> {
    let parted = |is_joint: &dyn Fn(&Word) -> bool| -> Vec<&[Word]> {
        words
            .split(|word| is_joint(word))
            .map(unsigned)
            .map(unnumbered)
            .filter(|part| !part.is_empty())
            .collect()
    };
    let lines = parted(&|word| word.kind == Kind::Sign('\n'));
    if lines.len() > 1 {
        return lines;
    }
    let semicolons = parted(&|word| word.kind == Kind::Sign(';'));
    if semicolons.len() > 1 {
        return semicolons;
    }
    parted(&|word| word.kind == Kind::Sign(',') || word.is_any("and|&|then"))
}

/// "1) buy milk" without its number.
fn unnumbered(words: &[Word]) -> &[Word] {
    match words {
        [number, sign, rest @ ..]
            if number.number().is_some() && matches!(sign.kind, Kind::Sign(')' | '.' | ':')) =>
        {
            unsigned(rest)
        }
        _ => words,
    }
}

/// Without signs at the beginning.
pub(super) fn unsigned(words: &[Word]) -> &[Word] {
    let count = words.iter().take_while(|word| word.is_sign()).count();
    words.get(count..).unwrap_or_default()
}

fn nameless_if_vague(mut draft: Draft) -> Draft {
    if draft.title.as_deref().is_some_and(is_vague) {
        draft.title = None;
        draft.undated = None;
    }
    draft
}

/// A title that names nothing.
fn is_vague(title: &str) -> bool {
    let low = title.to_lowercase();
    let low = low.trim_end_matches(['.', '!', '?']);
    has_word(
        "it|later|him|her|them up|it up|that|this|something|task|a task|a new task|new task|one|todo|a todo|an item|item|a reminder|reminder|something else|another|another one|another task|one more|stuff|things|some tasks|tasks|them|new|do the thing|the thing|do something|do it|do that|something to my list|to my list|more|me|new one|a new one|the task|my task|entry|a thing|do stuff|anything|these|those",
        low,
    )
}

/// The task that an answer to "what shall it be called?" names.
pub(crate) fn title_of(text: &str, words: &[Word], here: &Here<'_>) -> Draft {
    let words = super::stripped(words);
    let lead = patterns("before the title in an answer");
    let taken = begins_any(words, lead).filter(|taken| *taken < words.len());
    nameless_if_vague(slots::draft(text, unsigned(words.get(taken.unwrap_or(0)..).unwrap_or_default()), here))
}
