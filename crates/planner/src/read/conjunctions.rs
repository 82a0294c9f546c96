//! Joins a clause to those before it: "add milk, and make it urgent", "I got the milk, mark it done", "delete task 3
//! and the milk one".

use super::{Here, Read, create, gate, slots, stripped, target};
use crate::text::{Kind, Word, begins, begins_any, raw};
use crate::wish::{Draft, Heard, Strength, Target, Wish};
use crate::words::patterns;

/// The clause as it is meant after those before it; `None` if it only adds to the one before.
pub(super) fn joined<'a>(
    heard: &mut Vec<Read<'a>>,
    next: Read<'a>,
    text: &str,
    here: &Here<'_>,
) -> Option<Read<'a>> {
    let Some(before) = heard.last_mut() else { return Some(next) };
    if let (Wish::Create(drafts), Wish::Update(Target::It, change)) =
        (&mut before.heard.wish, &next.heard.wish)
        && next.heard.strength == Strength::Strong
        && let Some(draft) = drafts.last_mut()
    {
        draft.priority = change.priority.or(draft.priority);
        if let Some(due) = &change.due {
            draft.due.clone_from(due);
        }
        if let Some(description) = &change.description {
            draft.description.clone_from(description);
        }
        draft.title = change.title.clone().or(draft.title.take());
        draft.tags.extend(change.add_tags.iter().cloned());
        return None;
    }
    // "I didn't mean to delete it, undo that": what was not meant is a remark here.
    let regrets = matches!(next.heard.wish, Wish::Restore(_) | Wish::Undo)
        && matches!(before.heard.wish, Wish::SmallTalk(_));
    let is_remark = before.guessed || before.heard.strength == Strength::Hint || regrets;
    if is_remark && let Some(wish) = with_remark(before, &next.heard.wish, text, here) {
        heard.pop();
        return Some(Read { heard: Heard { wish, strength: Strength::Strong }, guessed: false, ..next });
    }
    if let Some(wish) = again(&before.heard, &next, text, here) {
        return Some(Read { heard: Heard { wish, strength: before.heard.strength }, guessed: false, ..next });
    }
    Some(next)
}

/// A wish about "it", where a remark before says what it is.
fn with_remark(before: &Read<'_>, wish: &Wish, text: &str, here: &Here<'_>) -> Option<Wish> {
    let open = |target: &Target| matches!(target, Target::It | Target::Missing);
    let spoken = || match &before.heard.wish {
        Wish::Complete(target @ Target::Words(_), _)
        | Wish::Delete(target @ Target::Words(_))
        | Wish::Update(target @ Target::Words(_), _) => target.clone(),
        Wish::Restore(Target::Words(words)) => Target::Words(gate::key_words(words)),
        _ => remarked(text, before.words),
    };
    Some(match wish {
        Wish::Complete(target, done) if open(target) => Wish::Complete(spoken(), *done),
        Wish::Delete(target) if open(target) => Wish::Delete(spoken()),
        Wish::Restore(target) if open(target) => Wish::Restore(spoken()),
        Wish::Undo if target::speaks_of_tasks(before.words) => Wish::Restore(spoken()),
        Wish::Update(target, change) if open(target) && !change.is_empty() => {
            Wish::Update(spoken(), change.clone())
        }
        Wish::Update(target, change) if open(target) => match &before.heard.wish {
            Wish::Update(target, said) => Wish::Update(target.clone(), said.clone()),
            _ => Wish::Update(spoken(), change.clone()),
        },
        Wish::Create(drafts) if drafts.len() == 1 && drafts.iter().all(|draft| draft.title.is_none()) => {
            let new = drafts.first().cloned().unwrap_or_default();
            let said = thing_to_do(text, before.words, here);
            said.title.as_ref()?;
            Wish::Create(vec![Draft {
                priority: new.priority.or(said.priority),
                due: new.due.or(said.due),
                ..said
            }])
        }
        _ => return None,
    })
}

/// The task that a remark speaks of, by the words that may stand in its title.
fn remarked(text: &str, words: &[Word]) -> Target {
    if let Some(id) =
        words.windows(2).find(|pair| pair[0].is_any(target::TASK_NOUNS)).and_then(|pair| pair[1].number())
    {
        return Target::Ids(vec![id]);
    }
    Target::Words(gate::key_words(raw(text, stripped(words))))
}

/// What a remark says is to be done: "we need bread", "I have to move the car in 2 hours".
fn thing_to_do(text: &str, words: &[Word], here: &Here<'_>) -> Draft {
    let words = stripped(words);
    let lead = patterns("before what a remark says is to be done");
    let taken = begins_any(words, lead).filter(|taken| *taken < words.len()).unwrap_or(0);
    slots::draft(text, create::unsigned(words.get(taken..).unwrap_or_default()), here)
}

/// A verb that stands once for several objects.
fn again(before: &Heard, next: &Read<'_>, text: &str, here: &Here<'_>) -> Option<Wish> {
    let words = stripped(next.words);
    // "task 2" alone would be read as a wish to see it.
    let names_one =
        matches!(next.heard.wish, Wish::Show(Target::Ids(_))) && begins(words, "task|todo|number").is_some();
    if next.heard.strength == Strength::Strong && !next.guessed && !names_one {
        return None;
    }
    let object = match target::read(text, words, here) {
        Target::Missing => return None,
        Target::Words(_)
            if !target::speaks_of_tasks(words)
                && begins(words, "the").is_none()
                && !matches!(words, [one] if one.kind == Kind::Quoted) =>
        {
            return None;
        }
        found => found,
    };
    Some(match &before.wish {
        Wish::Complete(_, done) => Wish::Complete(object, *done),
        Wish::Delete(_) => Wish::Delete(object),
        Wish::Update(_, change) => Wish::Update(object, change.clone()),
        Wish::Restore(_) => Wish::Restore(object),
        _ => return None,
    })
}
