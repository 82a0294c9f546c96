//! What looks like a command and is none: something forbidden, supposed, or asked about.

use super::clauses::VERBS;
use super::create::unsigned;
use super::target::{speaks_of_tasks, trimmed};
use crate::text::{Kind, Word, begins, begins_any, find_any};
use crate::wish::SmallTalk;

/// What looks like a command and is none: something forbidden, supposed, or asked about.
pub(super) fn guard(words: &[Word], bare: &[Word]) -> Option<SmallTalk> {
    let words = unsigned(words);
    let soft = words.get(begins(words, "please|pls|ok|okay|and|but|so|hey|just|well|oh|no|wait|actually|maybe|perhaps|hmm|also|then*").unwrap_or(0)..).unwrap_or_default();
    for said in [soft, bare] {
        if let Some(talk) = forbidden(said).or_else(|| supposed(said)) {
            return Some(talk);
        }
    }
    let doubts = [
        "im not sure|certain",
        "i am not sure|certain",
        "not sure",
        "maybe not",
        "or wait",
        "on second thought|thoughts",
        "or should i",
        "or maybe not",
        "actually no",
        "or not",
    ];
    if bare.first().is_some_and(|word| word.is_any(VERBS)) && find_any(words, &doubts).is_some() {
        return Some(SmallTalk::Hypothetical);
    }
    // "can you delete tasks?" asks what it can; with an object it is a wish.
    let able = begins_any(
        soft,
        &[
            "can|could you",
            "are you able to",
            "do you know how to",
            "is it possible to",
            "can|could|may i",
            "am i able to",
            "are you allowed to",
        ],
    );
    if let Some(length) = able {
        let rest = trimmed(soft.get(length..)?);
        let general = rest.iter().all(|word| {
            word.is_sign()
                || word.is_any(VERBS)
                || word.is_any(&[
                    "tasks",
                    "todos",
                    "reminders",
                    "things",
                    "a",
                    "task",
                    "an",
                    "and",
                    "or",
                    "also",
                    "even",
                    "for",
                    "me",
                    "the",
                    "web",
                    "code",
                    "python",
                    "multiple",
                    "several",
                    "items",
                    "lists",
                    "web",
                    "internet",
                    "due",
                    "dates",
                    "date",
                    "priorities",
                    "set",
                    "handle",
                    "manage",
                    "deal",
                    "with",
                    "scripts",
                    "deleted",
                    "completed",
                    "finished",
                    "old",
                    "them",
                    "i",
                    "how",
                    "do",
                ])
        });
        let lookups = begins_any(rest, &["show|list|see|view|find|read|tell|give|get"]).is_some()
            && speaks_of_tasks(rest);
        let makes_one =
            begins(rest, "add|create|make|set|write|note a|an|another|one task|todo|reminder").is_some();
        if general
            && !rest.is_empty()
            && !lookups
            && !makes_one
            && words.last().is_some_and(|word| word.kind == Kind::Sign('?'))
        {
            return Some(SmallTalk::Help);
        }
    }
    None
}

/// "don't delete anything", "never touch task 3", "no need to add it".
fn forbidden(words: &[Word]) -> Option<SmallTalk> {
    // These ask for a reminder, or for care.
    if begins_any(
        words,
        &[
            "dont let me forget",
            "dont forget",
            "do not forget",
            "do not let me forget",
            "never forget",
            "dont you",
            "dont i",
            "dont we",
        ],
    )
    .is_some()
    {
        return None;
    }
    let patterns = [
        "dont|never|do not?",
        "do not",
        "you shouldnt|mustnt|cant|cannot|dont|must|should|may not?",
        "no need to",
        "theres|there is no need to",
        "i dont|do|didnt|did|never not? want|ask|asked|mean|meant|need|say|said|like|tell|told you? to?",
        "i would|wouldnt not? like|want",
        "stop|quit|avoid|refrain adding|deleting|removing|changing|completing|creating|updating|marking|from|doing|asking|editing",
        "not task|the|that|this|it|those",
        "hands off",
        "keep task|the|my|it|that|everything|all",
        "under no circumstances",
        "without",
        "instead of",
        "rather than",
        "id rather not",
        "please? leave",
        "lets not",
        "make sure not to",
        "make sure you dont",
        "you dont need|have to",
    ];
    let length = begins_any(words, &patterns)?;
    let head = words.get(..length)?;
    let rest = words.get(length..)?;
    let negative = head.iter().any(|word| {
        word.is_any(&[
            "dont", "never", "not", "shouldnt", "mustnt", "cant", "cannot", "no", "stop", "quit", "avoid",
            "refrain", "hands", "keep", "without", "instead", "rather", "didnt", "leave", "wouldnt",
        ])
    });
    if !negative {
        return None;
    }
    // "I don't need the milk task anymore" may be a wish to delete it.
    let unwanted = begins(words, "i dont need|want").is_some()
        && begins(rest, "to").is_none()
        && !head.iter().any(|word| word.is("to"));
    if unwanted {
        return None;
    }
    let restoring = find_any(words, &["restore|undo|recover|bring|undelete back?"]).is_some()
        && begins(words, "i").is_some();
    if restoring {
        return None;
    }
    let keeps_track = begins(words, "keep|quit").is_some()
        && begins_any(
            words,
            &["keep track|in|a|me|reminding", "keep it|that|this in|on", "keep the|my list|tasks tidy|clean"],
        )
        .is_some();
    if keeps_track {
        return None;
    }
    let acts = rest.first().is_some_and(|word| {
        word.is_any(VERBS)
            || word.is_any(&[
                "touch", "do", "anything", "call", "want", "forget", "use", "worry", "bother", "adding",
                "deleting", "be", "start", "change", "alter", "mess",
            ])
    });
    let by_head = head.iter().any(|word| {
        word.is_any(&["stop", "avoid", "hands", "refrain", "keep", "without", "instead", "rather", "leave"])
    }) || begins(words, "not").is_some();
    (acts || by_head || rest.iter().any(|word| word.is_any(VERBS))).then_some(SmallTalk::Leave)
}

/// "what would happen if I deleted task 3", "should I delete it?", "how do I delete a task", "I might delete it".
fn supposed(words: &[Word]) -> Option<SmallTalk> {
    if begins_any(
        words,
        &[
            "how do|can|could|should|would|does|to i|we|one|you|somebody|someone?",
            "what is|whats the way|command|best|syntax|right|easiest* to|for|way",
            "whats|what is the way|command to|for",
            "is there a|any command|way|option|button|possibility to|for|of",
            "where can|do i",
            "explain how|what",
            "tell me how",
            "show me how",
            "teach me",
        ],
    )
    .is_some()
        && words
            .iter()
            .any(|word| word.is_any(VERBS) || word.is_any(&["deleting", "adding", "tasks", "task"]))
        && begins_any(words, &["how many", "how much", "how do i|we look|stand", "explain what task"])
            .is_none()
    {
        // "how do I make an omelette" is not about tasks.
        return speaks_of_tasks(words).then_some(SmallTalk::HowTo);
    }
    let patterns = [
        "what would|will|could|happens|if|happen|might i|we|you|happen|if|be|were|to*",
        "what if",
        "what happens when|if|to",
        "if i|you|we|somebody|someone|they|he|she|it|there|only",
        "suppose|imagine|assume|assuming|supposing|hypothetically|pretend|theoretically|say that|i|you|we?",
        "should|shall i|we|you",
        "do you think|believe|recommend|suggest i|we|it|that|should|deleting|adding|removing*",
        "would you recommend|suggest|advise|ever|rather|delete|remove",
        "would it be ok|okay|wise|better|good|bad|safe|possible|a|an|smart",
        "is it ok|okay|wise|better|good|bad|safe|a|smart|dangerous",
        "are you going|gonna|about|planning to?",
        "will you",
        "i may|might|could|wonder|would|should|shouldve|wouldve|couldve",
        "im thinking|considering|wondering|unsure|tempted|about|not|planning|afraid|worried",
        "i was|am thinking|considering|wondering|going|about|tempted|planning",
        "i think about|of|i",
        "ill|i will|shall maybe|probably|delete|remove|add|do|complete|finish|think|later|soon|try*",
        "ive been thinking|considering|meaning",
        "maybe|perhaps i|we should|could|will|ill|ought",
        "id have|be|never",
        "someone|somebody|he|she|they|my|people told|asked|said|says|wants|thinks|boss|friend|wife|husband|colleague|mother|father|mom|dad|brother|sister|told|said|asked",
        "why would|should|do|does|did",
        "imagine",
        "when i delete|add|remove|complete|finish",
        "before i|you|deleting|adding|removing",
        "does deleting|adding|completing|removing|it|that",
        "will deleting|adding|completing|removing|it|that",
    ];
    let length = begins_any(words, &patterns)?;
    // "if you could add milk", "will you add milk" are polite.
    let polite = begins_any(words, &["will you please? add|create|delete|remove|mark|show|list|update|complete|find|search|set|change|remind", "if you could|can|would|dont|please", "i would|could like|use|love", "what if any", "i should|could|would buy|call|pay|get|go"]).is_some();
    let knows = words.get(length..).is_some_and(|rest| {
        rest.iter().any(|word| {
            word.is_any(VERBS)
                || word.is_any(&[
                    "deleted",
                    "removed",
                    "added",
                    "completed",
                    "finished",
                    "deleting",
                    "removing",
                    "adding",
                    "completing",
                    "changing",
                    "changed",
                    "marked",
                    "marking",
                ])
        })
    }) || words.get(..length).is_some_and(|head| {
        head.iter()
            .any(|word| word.is_any(&["delete", "remove", "deleting", "adding", "removing", "completing"]))
    });
    (!polite && knows).then_some(SmallTalk::Hypothetical)
}
