//! What looks like a command and is none: something forbidden, supposed, or asked about.

use super::courtesy::VERBS;
use super::courtesy::unsigned;
use super::target::{speaks_of_tasks, trimmed};
use crate::text::{Kind, Word, begins, begins_any, find_any};
use crate::wish::SmallTalk;
use crate::words::patterns;

/// What looks like a command and is none: something forbidden, supposed, or asked about.
pub(super) fn guard(words: &[Word], bare: &[Word]) -> Option<SmallTalk> {
    let words = unsigned(words);
    let soft = words.get(begins(words, "please|pls|ok|okay|and|but|so|hey|just|well|oh|no|wait|actually|maybe|perhaps|hmm|also|then*").unwrap_or(0)..).unwrap_or_default();
    for said in [soft, bare] {
        if let Some(talk) = forbidden(said).or_else(|| supposed(said)) {
            return Some(talk);
        }
    }
    let doubts = patterns("doubts");
    if bare.first().is_some_and(|word| word.is_any(VERBS)) && find_any(words, doubts).is_some() {
        return Some(SmallTalk::Hypothetical);
    }
    // "can I delete the gym task later?" asks; "can I see my list?" wishes to see it.
    let asks = words.last().is_some_and(|word| word.kind == Kind::Sign('?'));
    if asks
        && begins(soft, "can|could|may|might i add|create|delete|remove|rename|reopen|restore|complete|finish|mark|move|change|set|tick|remind").is_some()
        && find_any(words, &["please|pls"]).is_none()
    {
        return Some(SmallTalk::Hypothetical);
    }
    // "can you delete tasks?" asks what it can; with an object it is a wish.
    let able = begins_any(soft, patterns("asks what can be done"));
    if let Some(length) = able {
        let rest = trimmed(soft.get(length..)?);
        let general = rest.iter().all(|word| {
            word.is_sign()
                || word.is_any(VERBS)
                || word.is_any("tasks|todos|reminders|things|a|task|an|and|or|also|even|for|me|the|web|code|python|multiple|several|items|lists|web|internet|due|dates|date|priorities|set|handle|manage|deal|with|scripts|deleted|completed|finished|old|them|i|how|do")
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
    if begins_any(words, patterns("not a prohibition")).is_some() {
        return None;
    }
    let patterns = patterns("forbids");
    let length = begins_any(words, patterns)?;
    let head = words.get(..length)?;
    let rest = words.get(length..)?;
    let negative = head.iter().any(|word| {
        word.is_any("dont|never|not|shouldnt|mustnt|cant|cannot|no|stop|quit|avoid|refrain|hands|keep|without|instead|rather|didnt|leave|wouldnt")
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
            || word.is_any("touch|do|anything|call|want|forget|use|worry|bother|adding|deleting|be|start|change|alter|mess")
    });
    let by_head =
        head.iter().any(|word| word.is_any("stop|avoid|hands|refrain|keep|without|instead|rather|leave"))
            || begins(words, "not").is_some();
    (acts || by_head || rest.iter().any(|word| word.is_any(VERBS))).then_some(SmallTalk::Leave)
}

/// "what would happen if I deleted task 3", "should I delete it?", "how do I delete a task", "I might delete it".
fn supposed(words: &[Word]) -> Option<SmallTalk> {
    if begins_any(words, patterns("asks how")).is_some()
        && words.iter().any(|word| word.is_any(VERBS) || word.is_any("deleting|adding|tasks|task"))
        && begins_any(words, &["how many", "how much", "how do i|we look|stand", "explain what task"])
            .is_none()
    {
        // "how do I make an omelette" is not about tasks.
        return speaks_of_tasks(words).then_some(SmallTalk::HowTo);
    }
    let patterns = patterns("supposes");
    let length = begins_any(words, patterns)?;
    // "if you could add milk", "will you add milk" are polite.
    let polite = begins_any(words, &["will you please? add|create|delete|remove|mark|show|list|update|complete|find|search|set|change|remind", "if you could|can|would|dont|please", "i would|could like|use|love", "what if any", "i should|could|would buy|call|pay|get|go"]).is_some();
    let knows = words.get(length..).is_some_and(|rest| {
        rest.iter().any(|word| {
            word.is_any(VERBS)
                || word.is_any("deleted|removed|added|completed|finished|deleting|removing|adding|completing|changing|changed|marked|marking")
        })
    }) || words.get(..length).is_some_and(|head| {
        head.iter()
            .any(|word| word.is_any("delete|remove|deleting|adding|removing|completing"))
    });
    (!polite && knows).then_some(SmallTalk::Hypothetical)
}
