//! Which English sentences claim that something was changed.

use toolroom_contract::EffectKind;

use crate::word_list::WordList;

/// A claim that something was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What kind of change; "Done!" says no more than that there was one.
    pub kind: Option<EffectKind>,
    /// Whether the speaker says that they made it.
    pub own: bool,
    /// Whether it seems to be about the person's things, not about the world.
    pub about: bool,
    /// Whether it names no thing at all: "I've deleted it."
    pub bare: bool,
    /// Its words, in lower case.
    pub words: Vec<String>,
}

/// The claim that a sentence makes, if it makes one. Quoted text is ignored.
pub fn claim(sentence: &str) -> Option<Claim> {
    let plain = unquoted(sentence);
    if plain.trim_end().ends_with('?') {
        return None;
    }
    let spoken: Vec<String> = plain.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    let words: Vec<&str> = spoken.iter().map(String::as_str).collect();
    let heading = plain.trim_end().ends_with(':');
    toolroom_work::step(sentence.len());
    let found = idiom(&words).or_else(|| verb_claim(&words, heading))?;
    let quotes = plain.len() != sentence.trim().len() && sentence.contains(['"', '“', '«', '`']);
    let telling = |word: &&str| ABOUT.contains(word) || word.parse::<u64>().is_ok();
    let names_nothing = |word: &&str| {
        PRONOUNS.contains(word) || FILLERS.contains(word) || OPENERS.contains(word) || past(word).is_some()
    };
    Some(Claim {
        about: found.about || quotes || words.len() <= 4 || words.iter().any(telling),
        bare: !quotes && words.iter().all(names_nothing),
        words: spoken,
        ..found
    })
}

/// The first verb that claims something. Each word is looked at a few times, however many verbs there are.
fn verb_claim(words: &[&str], heading: bool) -> Option<Claim> {
    // A verb after a hedge claims nothing.
    let hedges = |at: &usize| {
        // "Your tasks have been deleted" says it of all of them; "those tasks deleted" may be a label.
        let subject =
            MANY.contains(words[*at]) && words.get(at + 1).is_some_and(|next| AUXILIARIES.contains(next));
        HEDGES.contains(words[*at]) || MANY.contains(words[*at]) && !subject
    };
    let hedged = (0..words.len()).find(hedges).unwrap_or(words.len());
    let opens = |word: &&str| OPENERS.contains(word) || word.parse::<u64>().is_ok();
    let openers = words.iter().take_while(|word| opens(word)).count();
    (0..words.len().min(hedged + 1)).find_map(|at| claim_at(words, at, heading, openers))
}

fn claim_at(words: &[&str], at: usize, heading: bool, openers: usize) -> Option<Claim> {
    toolroom_work::step(1);
    let kind = past(words[at])?;
    let before = &words[..at];
    let mut left = before;
    let mut stressed = false;
    while let Some((last, rest)) = left.split_last().filter(|(last, _)| FILLERS.contains(last)) {
        toolroom_work::step(1);
        stressed |= matches!(*last, "now" | "successfully" | "just");
        left = rest;
    }
    let own = |own| Some(Claim { kind, own, about: false, bare: false, words: Vec::new() });
    match left {
        [.., "i've" | "we've" | "ive"] | [.., "i" | "we"] => own(true),
        [.., "i" | "we", "have" | "had" | "did"] => own(true),
        [.., "has" | "have" | "had" | "it's" | "that's" | "been", "been"] => own(false),
        [.., "been" | "got" | "it's" | "that's" | "they're"] => own(false),
        [.., "is" | "are"] => {
            let lasting = matches!(kind, Some(EffectKind::Delete | EffectKind::Create));
            if stressed || lasting { own(false) } else { None }
        }
        [.., "was" | "were"] => {
            let dated = words.get(at + 1).is_some_and(|next| DATED.contains(next));
            if dated { None } else { own(false) }
        }
        // "Added it to your list." and "Task 5 deleted."
        _ => {
            let bare = left.len() <= openers;
            let label = words.get(at + 1).is_some_and(|next| LABELS.contains(next)) && left.is_empty();
            if bare && !heading && !label && words.len() > 1 || (words.len() == 1 && !heading) {
                own(true)
            } else {
                None
            }
        }
    }
}

/// Ways to say it without such a verb.
fn idiom(words: &[&str]) -> Option<Claim> {
    const IDIOMS: &str = "it's done|that's done|it is done|that is done|is gone|are gone|no longer on your list|\
        no longer in your list|taken care of|consider it done|all set|all done|now on your list|now in your list|\
        now marked|checked that off";
    let any = Some(Claim { kind: None, own: true, about: true, bare: false, words: Vec::new() });
    if words.first() == Some(&"done") && words.get(1).is_none_or(|next| !LABELS.contains(next)) {
        return any;
    }
    let found = IDIOMS.split('|').find_map(|idiom| {
        let idiom: Vec<&str> = idiom.split(' ').collect();
        let at = words.windows(idiom.len()).position(|window| window == idiom)?;
        (!words[..at].iter().any(|word| HEDGES.contains(word))).then_some(())
    });
    found.and(any)
}

/// What is in double quotes, guillemets or backticks belongs to somebody else.
fn unquoted(sentence: &str) -> String {
    let mut plain = String::with_capacity(sentence.len());
    let mut close = None;
    for letter in sentence.chars() {
        match (close, letter) {
            (Some(end), letter) if letter == end => close = None,
            (Some(_), _) => {}
            (None, '"') => close = Some('"'),
            (None, '“' | '„') => close = Some('”'),
            (None, '«') => close = Some('»'),
            (None, '`') => close = Some('`'),
            (None, '’') => plain.push('\''),
            (None, letter) => plain.push(letter),
        }
    }
    plain
}

fn bare(word: &str) -> String {
    let trimmed = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    trimmed.to_lowercase()
}

/// The kind of change that a past participle speaks of; `Some(None)` if it may be any kind.
fn past(word: &str) -> Option<Option<EffectKind>> {
    Some(Some(match word {
        "added" | "created" | "made" | "saved" | "recorded" | "noted" | "duplicated" => EffectKind::Create,
        "deleted" | "removed" | "erased" | "cleared" | "trashed" | "discarded" | "purged" => {
            EffectKind::Delete
        }
        "completed" | "finished" | "marked" | "ticked" | "crossed" | "checked" | "closed" | "reopened" => {
            EffectKind::Complete
        }
        "updated" | "changed" | "modified" | "edited" | "renamed" | "moved" | "rescheduled" | "postponed"
        | "scheduled" | "set" | "assigned" | "tagged" | "put" | "adjusted" | "corrected" | "extended"
        | "bumped" | "raised" | "lowered" | "prioritized" => EffectKind::Update,
        "restored" | "recovered" | "undone" | "undid" => EffectKind::Restore,
        "sent" | "emailed" | "posted" | "uploaded" | "submitted" => EffectKind::Send,
        "ran" | "executed" | "booked" | "ordered" | "installed" => EffectKind::Run,
        "written" | "applied" | "archived" | "cancelled" | "canceled" => return Some(None),
        _ => return None,
    }))
}

/// The kind of change that a verb in a tool's name speaks of.
pub(super) fn present(word: &str) -> Option<EffectKind> {
    Some(match word {
        "add" | "create" | "new" | "make" | "insert" | "save" => EffectKind::Create,
        "delete" | "remove" | "erase" | "clear" | "purge" => EffectKind::Delete,
        "complete" | "finish" | "close" | "reopen" | "check" => EffectKind::Complete,
        "update" | "change" | "edit" | "rename" | "move" | "set" | "reschedule" | "modify" | "patch" => {
            EffectKind::Update
        }
        "restore" | "recover" | "undelete" => EffectKind::Restore,
        _ => return None,
    })
}

/// Words for a person's own things, whichever tools there are.
pub(super) const THINGS: [&str; 5] = ["task", "todo", "to-do", "reminder", "list"];

/// Words that name nothing.
const PRONOUNS: WordList = WordList(
    "i|we|i've|we've|ive|it|it's|that|that's|this|them|they|they're|these|those|everything|all|has|have|\
    had|been|was|were|is|are|for|you|as|did|done|complete|completed|again",
);

/// Words by which the person's own things are spoken of.
const ABOUT: WordList = WordList(
    "task|tasks|todo|todos|reminder|reminders|item|items|list|it|it's|that|that's|this|them|they|these|\
    everything|both|your|entry|note|you",
);

/// Words before the verb that make it a wish, a condition, or a negation.
const HEDGES: WordList = WordList(
    "not|haven't|hasn't|hadn't|didn't|don't|doesn't|wasn't|weren't|isn't|aren't|can't|cannot|couldn't|\
    won't|wouldn't|never|nothing|no|none|neither|nor|without|if|once|when|whenever|after|before|until|\
    unless|would|should|could|may|might|can|will|shall|must|to|i'll|we'll|i'd|we'd|want|wants|you|you've|\
    whether|unable|failed|already|user|every",
);

/// Words for several things, which are often those of a list that is only shown.
const MANY: WordList = WordList("tasks|items|those");

/// Auxiliary verbs that make one of `MANY` the subject.
const AUXILIARIES: WordList = WordList("have|were|are|got");

/// Words that stand between "I have" and the verb.
const FILLERS: WordList =
    WordList("just|now|also|successfully|then|and|both|all|gone|ahead|went|since|hereby|only");

/// Words that a bare "Added …" may come after.
const OPENERS: WordList = WordList(
    "ok|okay|sure|great|alright|yes|yep|perfect|got|it|certainly|of|course|done|task|item|the|your|\
    reminder|absolutely|no|problem",
);

/// Words behind a participle that make it a label: "Completed tasks", "Created on Monday".
const LABELS: WordList = WordList("tasks|items|task|on|at|by|todos|ones|is|are|status|in");

/// Words behind "was created" that make it a date.
const DATED: WordList = WordList("on|at|in|by|yesterday|last|earlier|before|ago|two|three|this");
