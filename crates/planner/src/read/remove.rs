//! Wishes to mark as done, to delete, and to take either back.

use super::{Here, target};
use crate::text::{Kind, Word, begins, begins_any, ends, find_any};
use crate::wish::{Filter, Heard, Strength, Target, Wish};
use crate::words::patterns;

const DONE: &str = "done|complete|completed|finished|closed|resolved|ticked|checked|finish";

/// "mark task 3 as done", "complete the report", "I finished task 3", "reopen task 3".
pub(super) fn complete(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    if begins_any(words, &["is|are|was|were|has|have|did|do|does|am|when|which|what|how|who"]).is_some() {
        return None;
    }
    reopened(text, words, here)
        .or_else(|| marked(text, words, here))
        .or_else(|| completed(text, words, here))
        .or_else(|| reported(text, words, here))
}

fn done(found: Target, completed: bool, strength: Strength) -> Option<Heard> {
    Some(Heard { wish: Wish::Complete(found, completed), strength })
}

/// Whether these words surely name tasks.
fn is_sure(rest: &[Word], found: &Target) -> bool {
    target::speaks_of_tasks(rest)
        || !matches!(found, Target::Words(_))
        || rest.iter().any(|word| word.kind == Kind::Quoted)
}

fn reopened(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    if let Some(verb) = begins_any(
        words,
        &["reopen|uncomplete|unmark|uncheck|untick|unfinish", "undo the? completion|completing of?"],
    ) {
        let rest = words.get(verb..)?;
        let end = ends(rest, &format!("as {DONE}")).unwrap_or(rest.len());
        return done(target::read(text, rest.get(..end)?, here), false, Strength::Strong);
    }
    let rest = words
        .get(begins(words, "mark|set|flag|put|move|change|make|turn|switch|open|update back|again?")?..)?;
    let rest = target::trimmed(rest);
    let patterns = [
        &format!("back? as|to|is? not|never {DONE} yet?") as &str,
        "back? as|to|is? undone|incomplete|unfinished|uncompleted|unchecked|outstanding",
        "back? as|to a? pending|open|todo|active|incomplete",
        "back to a? pending|open|todo|active|incomplete",
    ];
    let start = patterns.iter().find_map(|pattern| ends(rest, pattern)).filter(|start| *start > 0)?;
    let what = rest.get(..start)?;
    let what = what.get(..ends(what, "back").unwrap_or(what.len()))?;
    done(target::read(text, what, here), false, Strength::Strong)
}

/// "mark … as done", "tick … off", "cross … off my list".
fn marked(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins(
        words,
        "mark|set|flag|put|move|check|tick|cross|call|consider|change|update|make|turn|count|log|strike|get|scratch|switch",
    )?;
    let off = begins(words, "check|tick|cross|mark|strike|scratch off").is_some();
    let rest = words.get(verb..)?;
    if off {
        return done(target::read(text, rest.get(1..)?, here), true, Strength::Strong);
    }
    let patterns = [
        &format!("down? as|to|is|are|being? all|now|already? {DONE} now|already|off?") as &str,
        "off my|the|this|our todo|task|tasks? list|lists",
        "off",
        "as off",
    ];
    let rest = rest.get(..trimmed_end(rest))?;
    let rest = rest.get(
        ..ends(rest, "for? today|now|already|tonight|yesterday")
            .filter(|start| *start > 0)
            .unwrap_or(rest.len()),
    )?;
    let start = patterns.iter().find_map(|pattern| ends(rest, pattern));
    let is_taking = begins(words, "get|put|move|take|call|log|count").is_some();
    match start {
        Some(0) => done(Target::It, true, Strength::Strong),
        Some(start) => {
            let by_off = rest.get(start).is_some_and(|word| word.is("off"));
            if by_off && is_taking {
                return None;
            }
            let found = target::read(text, rest.get(..start)?, here);
            let sure = begins(words, "mark|check|tick|cross|flag|set").is_some()
                || target::speaks_of_tasks(rest)
                || !matches!(found, Target::Words(_));
            done(found, true, if sure { Strength::Strong } else { Strength::Weak })
        }
        None if begins(words, "tick|cross").is_some() && !rest.is_empty() => {
            done(target::read(text, rest, here), true, Strength::Weak)
        }
        // "mark done the report"
        None => {
            let start = begins(rest, &format!("as|off? {DONE}"))?;
            begins(words, "mark|set|check")?;
            done(target::read(text, rest.get(start..)?, here), true, Strength::Strong)
        }
    }
}

fn trimmed_end(words: &[Word]) -> usize {
    let trimmed = target::trimmed(words);
    // "off my list" must stay: it is what is looked for.
    let signs = words.iter().rev().take_while(|word| word.is_sign()).count();
    if ends(
        words.get(..words.len() - signs).unwrap_or_default(),
        "off my|the|this|our todo|task|tasks? list|lists",
    )
    .is_some()
    {
        return words.len() - signs;
    }
    let skipped = words.iter().take_while(|word| word.is_sign()).count();
    skipped + trimmed.len()
}

fn completed(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins_any(
        words,
        &["complete|finish|close|resolve|accomplish off|out|up?", "done|finished|completed with?"],
    )?;
    let rest = words.get(verb..)?;
    let rest = rest.get(rest.iter().take_while(|word| word.is_sign()).count()..)?;
    let found = target::read(text, rest, here);
    let states = begins(words, "done|finished|completed").is_some();
    if rest.is_empty() {
        return done(Target::Missing, true, if states { Strength::Hint } else { Strength::Strong });
    }
    if states && matches!(found, Target::All(_)) {
        // "completed tasks" asks to see them.
        return None;
    }
    let sure = is_sure(rest, &found);
    let strength = match (sure, states) {
        (true, _) => Strength::Strong,
        (false, true) => Strength::Hint,
        (false, false) => Strength::Weak,
    };
    done(found, true, strength)
}

/// "I finished task 3", "task 3 is done", "the report is finished".
fn reported(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    if find_any(
        words,
        &["not|never|isnt|arent|havent|hasnt|wasnt|almost|nearly|half|cant|couldnt|wont|didnt"],
    )
    .is_some()
    {
        return unfinished(text, words, here);
    }
    if words.first()?.is_any(super::clauses::VERBS) {
        return None;
    }
    let said = begins_any(words, patterns("not done yet"));
    if let Some(length) = said {
        let rest = words.get(length..)?;
        let found = target::read(text, rest, here);
        return done(found.clone(), true, certainty(rest, &found));
    }
    let end = ["is|are|was|were|has|have|been|got|its|thats|now|already|all|finally|completely* done|finished|completed|complete now|already|too?", "has|have been done|finished|completed", "is|are sorted|taken|handled care? of?"].iter().find_map(|pattern| ends(target::trimmed(words), pattern))?;
    let left = words.get(..end).filter(|left| !left.is_empty())?;
    let found = target::read(text, left, here);
    if matches!(found, Target::All(_) | Target::Missing) && !target::speaks_of_tasks(left) {
        return None;
    }
    done(found.clone(), true, certainty(left, &found))
}

fn certainty(words: &[Word], found: &Target) -> Strength {
    match found {
        Target::Ids(_) | Target::It | Target::Them | Target::Places(_) | Target::Last | Target::Other => {
            Strength::Strong
        }
        Target::Words(_) if target::speaks_of_tasks(words) => Strength::Strong,
        _ => Strength::Hint,
    }
}

/// "task 3 is not done after all".
fn unfinished(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let place = find_any(
        words,
        &[
            "is|are|was not done|finished|completed|complete yet?",
            "isnt|arent|wasnt|hasnt been? done|finished|completed|complete yet?",
        ],
    )
    .filter(|place| place.start > 0)?;
    let left = words.get(..place.start)?;
    let found = target::read(text, left, here);
    match certainty(left, &found) {
        Strength::Strong => done(found, false, Strength::Strong),
        _ => done(found, false, Strength::Hint),
    }
}

/// "delete task 3", "get rid of the milk task", "clear my list", "take it off the list".
pub(super) fn delete(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let plain =
        begins_any(words, &["delete|remove|erase|discard|purge|trash|wipe|eliminate|dele off|out|away?"]);
    let rough = begins_any(words, patterns("deletes in rough words"));
    let found = |rest: &[Word]| target::read(text, rest, here);
    if let Some(verb) = plain {
        let rest = words.get(verb..)?;
        let what = found(rest);
        let sure = is_sure(rest, &what);
        return Some(Heard {
            wish: Wish::Delete(what),
            strength: if sure { Strength::Strong } else { Strength::Weak },
        });
    }
    if let Some(verb) = rough {
        let rest = words.get(verb..)?;
        let clears = begins(words, "clear|cancel").is_some();
        let what = found(rest);
        let what = match what {
            Target::Missing
                if clears && target::speaks_of_tasks(rest) && rest.iter().any(|word| word.is("list")) =>
            {
                Target::All(Filter::default())
            }
            other => other,
        };
        let sure = target::speaks_of_tasks(rest)
            || matches!(what, Target::Ids(_) | Target::Places(_))
            || rest.iter().any(|word| word.kind == Kind::Quoted)
            || matches!(what, Target::All(_) | Target::It | Target::Them) && !clears
            || matches!(what, Target::All(ref filter) if clears && *filter != Filter::default());
        return Some(Heard {
            wish: Wish::Delete(what),
            strength: if sure { Strength::Strong } else { Strength::Weak },
        });
    }
    taken_off(text, words, here).or_else(|| unwanted(text, words, here))
}

/// "take the milk off my list".
fn taken_off(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins(words, "take|get|pull|scratch")?;
    let rest = words.get(verb..)?;
    let place = find_any(rest, &["off|from|out my|the|of|this* todo|task|tasks? list|todos|tasks", "off"])?;
    let what = if place.start == 0 { rest.get(place.end..)? } else { rest.get(..place.start)? };
    let sure = target::speaks_of_tasks(rest);
    Some(Heard {
        wish: Wish::Delete(target::read(text, what, here)),
        strength: if sure { Strength::Strong } else { Strength::Hint },
    })
}

/// "I don't need the milk task anymore", "task 4 is no longer needed".
fn unwanted(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    if let Some(length) = begins(words, "i|we dont|no longer* need|want|have to? do?") {
        let negative = words.get(..length)?.iter().any(|word| word.is_any("dont|longer"));
        let rest = words.get(length..)?;
        let marked = target::speaks_of_tasks(rest)
            && ends(rest, "anymore|any|more|longer*").is_some_and(|start| start > 0);
        if negative && marked {
            return Some(Heard {
                wish: Wish::Delete(target::read(text, rest, here)),
                strength: Strength::Hint,
            });
        }
        return None;
    }
    let end =
        ends(words, "is|are not|no longer? longer|needed|relevant|necessary|required|obsolete anymore?")?;
    let left = words.get(..end).filter(|left| target::speaks_of_tasks(left))?;
    Some(Heard { wish: Wish::Delete(target::read(text, left, here)), strength: Strength::Hint })
}

/// "restore task 3", "bring back the milk task", "undo".
pub(super) fn restore(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let strong = |wish| Some(Heard { wish, strength: Strength::Strong });
    let undoes = patterns("undoes");
    if undoes.iter().any(|pattern| begins(words, pattern) == Some(words.len())) {
        return strong(Wish::Undo);
    }
    let verb = begins_any(words, patterns("restores"));
    let latest = find_any(
        words,
        &["one|task|todo|thing i|you|we just|accidentally? deleted|removed", "last deleted one|task|todo?"],
    );
    if verb.is_some() && latest.is_some() {
        return strong(Wish::Restore(Target::It));
    }
    if let Some(length) = verb {
        let rest = words.get(length..)?;
        let rest = rest.get(
            ..ends(rest, "back|from|the|trash|bin|deleted|to|my|list*")
                .filter(|start| *start > 0)
                .unwrap_or(rest.len()),
        )?;
        let found = match target::read(text, rest, here) {
            Target::Missing | Target::Last => Target::It,
            found => found,
        };
        let sure = begins_any(words, &["restore|undelete|recover|unremove|undo|bring|unerase|reinstate"])
            .is_some()
            || target::speaks_of_tasks(words);
        return Some(Heard {
            wish: Wish::Restore(found),
            strength: if sure { Strength::Strong } else { Strength::Hint },
        });
    }
    // "put task 8 back", "I want the gym task back"
    let length = begins_any(words, &["bring|put|get|give|want|return|take me?", "i want|need|would like?"])?;
    let rest = target::trimmed(words.get(length..)?);
    let end = ["back from the? trash|bin|deleted?", "back to|on|onto my|the list", "back"]
        .iter()
        .find_map(|pattern| ends(rest, pattern))
        .filter(|start| *start > 0)?;
    let what = rest.get(..end).filter(|what| {
        target::speaks_of_tasks(what)
            || target::ids(what).is_some()
            || begins(what, "it|that|them") == Some(what.len())
    })?;
    strong(Wish::Restore(target::read(text, what, here)))
}
