//! The second opinion: what the rules want to change is compared with what the trained reader sees. Where the two
//! disagree, the exact change is shown and asked about; where the rules see nothing, what it sees is offered.

use toolroom_tagger::Intent;

use super::statements::cannot_repeat;
use super::{Needs, Play};
use crate::read::tagged::Tagged;
use crate::wish::{Draft, Heard, SmallTalk, Strength, Target, Wish};

/// How sure the trained reader must be of a change that no rule read, to offer it.
pub(super) const LIKELY: f32 = 0.5;
/// How sure it must be of a new task to offer it in place of what the rules read.
pub(super) const SURE: f32 = 0.85;

const QUOTES: [[char; 2]; 4] = [['"', '"'], ['\'', '\''], ['\u{201c}', '\u{201d}'], ['\u{2018}', '\u{2019}']];

impl Play<'_> {
    /// Whether the trained reader sees the same change, or cannot tell.
    pub(super) fn agrees(tagged: &Tagged<'_>, wish: &Wish) -> bool {
        let agrees = match wish {
            Wish::Create(drafts) => {
                let intents = [Intent::Create, Intent::More];
                let titles = tagged.new_titles(&intents);
                tagged.wants(&intents) > 0.0 && same_titles(drafts, &titles, tagged.text)
            }
            Wish::Complete(target, true) => names(tagged, target, &[Intent::Complete]),
            Wish::Complete(target, false) => names(tagged, target, &[Intent::Reopen]),
            Wish::Update(target, _) => names(tagged, target, &[Intent::Update, Intent::Amend]),
            Wish::Delete(target) => names(tagged, target, &[Intent::Delete]),
            _ => return true,
        };
        tagged.held().is_none() && (agrees || tagged.is_unsure())
    }

    /// The wish that is shown in place of one that is in doubt: with the titles that the trained reader sees, if it is sure.
    pub(super) fn preferred(&self, tagged: &Tagged<'_>, wish: Wish) -> Wish {
        let found = tagged.changes(&self.here);
        let [(other @ Wish::Create(seen), sure)] = found.as_slice() else { return wish };
        let drafts = match &wish {
            Wish::Create(drafts) if *sure >= SURE && !is_cut(drafts, seen) => drafts,
            // "I have to drop off the parcel" deletes nothing.
            Wish::Delete(Target::Words(_))
            | Wish::Complete(Target::Words(_), _)
            | Wish::Update(Target::Words(_), _)
                if *sure >= SURE =>
            {
                return other.clone();
            }
            _ => return wish,
        };
        let mut seen = seen.clone();
        for (at, draft) in seen.iter_mut().enumerate() {
            let Some(ruled) = drafts.get(at).or(drafts.first()) else { continue };
            // A date that it could not read is that of the rules, if they could.
            if draft.due.as_ref().is_none_or(|when| when.meaning.is_err()) {
                draft.due = ruled.due.clone().or(draft.due.take());
            }
            draft.priority = draft.priority.or(ruled.priority);
            draft.tags.clone_from(&ruled.tags);
        }
        Wish::Create(seen)
    }

    /// Offers what only the trained reader sees; `false` if it sees nothing either.
    /// A new task of which it is sure comes before what the rules guess from a statement.
    pub(super) fn suggested(
        &mut self,
        tagged: &Tagged<'_>,
        heard: &[Heard],
        least: f32,
    ) -> Result<bool, Needs> {
        if !self.bindings.keeps_tasks() || !heard.iter().all(is_open) || tagged.held().is_some() {
            return Ok(false);
        }
        let changes = tagged.changes(&self.here);
        let [(wish, sure)] = changes.as_slice() else {
            return match tagged.question(&self.here) {
                Some(wish) if changes.is_empty() && least < SURE => self.wish(wish).map(|()| true),
                _ => Ok(false),
            };
        };
        if *sure < least || least >= SURE && !matches!(wish, Wish::Create(_)) {
            return Ok(false);
        }
        if tagged.unread() > 0 {
            self.says.push("I read only the beginning and the end of your message closely.".into());
        }
        self.unrepeatable(tagged);
        self.hinted(wish.clone())?;
        Ok(true)
    }
}

impl Play<'_> {
    /// Says that what is to repeat is there once, if that was not said yet.
    pub(super) fn unrepeatable(&mut self, tagged: &Tagged<'_>) {
        let text = tagged.repeats().map(cannot_repeat);
        if let Some(text) =
            text.filter(|_| self.says.iter().all(|said| !said.starts_with("Tasks do not repeat")))
        {
            self.says.push(text);
        }
    }
}

/// Whether nothing was understood of a clause.
fn is_open(heard: &Heard) -> bool {
    match &heard.wish {
        Wish::SmallTalk(talk) => {
            matches!(talk, SmallTalk::Unknown | SmallTalk::Vague | SmallTalk::Knowledge | SmallTalk::Remark)
        }
        Wish::Search(_) | Wish::Run(None) | Wish::Ask(_) => heard.strength == Strength::Hint,
        _ => false,
    }
}

/// Whether tasks that are to be made have just the words of the titles that were seen, articles aside.
fn same_titles(drafts: &[Draft], titles: &[&str], text: &str) -> bool {
    let each: Vec<Vec<String>> = titles.iter().map(|title| content(title)).collect();
    let is_seen = |draft: &Draft| {
        let Some(title) = &draft.title else { return true };
        let words = content(title);
        // What was put in quotation marks is the title beyond doubt.
        let is_quoted = QUOTES.iter().any(|[open, close]| text.contains(&format!("{open}{title}{close}")));
        is_quoted || each.contains(&words)
    };
    drafts.iter().all(is_seen)
}

/// Whether the trained reader has only cut the end of a title, names and the like, and not a remark behind it.
fn is_cut(drafts: &[Draft], seen: &[Draft]) -> bool {
    let ([ruled], [seen]) = (drafts, seen) else { return false };
    let (ruled, seen) =
        (ruled.title.as_deref().unwrap_or_default(), seen.title.as_deref().unwrap_or_default());
    let is_remark = |rest: &str| {
        rest.contains([',', '.', ':', ';', '"', '('])
            || content(rest).iter().any(|word| REMARKS.contains(&word.as_str()))
    };
    let rest = ruled.to_lowercase().strip_prefix(&seen.to_lowercase()).map(str::to_owned);
    rest.is_some_and(|rest| rest.starts_with([' ', '\'', '\u{2019}']) && !is_remark(&rest))
}

/// Words of remarks about a task, rather than of its title.
const REMARKS: [&str; 9] = ["it", "that", "please", "list", "me", "add", "also", "priority", "due"];

/// Whether a clause of these intents speaks of the task that is meant.
fn names(tagged: &Tagged<'_>, target: &Target, intents: &[Intent]) -> bool {
    if tagged.wants(intents) == 0.0 {
        return false;
    }
    let Target::Words(words) = target else { return true };
    let seen = content(&tagged.targets(intents).join(" "));
    content(words).iter().any(|word| seen.contains(word))
}

/// Words in small letters, articles and signs left out.
fn content(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '\u{2019}');
    let words = words.map(|word| word.trim_matches(['\'', '\u{2019}']).to_lowercase());
    words.filter(|word| !matches!(word.as_str(), "" | "a" | "an" | "the" | "my" | "to")).collect()
}
