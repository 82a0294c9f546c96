//! What the planner would do with a message, in the terms of the selection: a class, an intent, and how sure it is.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use toolroom_selection::{Because, Choice, Class, Family, Index, Intent, Selection};

use super::read::tagged::Tagged;
use super::read::{self, Here, Utterance};
use super::wish::{Heard, SmallTalk, Strength, Target, Wish};

/// What the planner's reading adds to the gate's confidence where both say the same.
const AGREED: f64 = 0.5;

/// The planner's reading where it has one, weighed with the gate's word on the whole.
pub(super) fn selection(index: &Index, text: &str) -> Selection {
    let gate = index.select(text);
    let here = Here { now: Timestamp::UNIX_EPOCH, zone: &TimeZone::UTC };
    let heard = read::wishes(&Utterance::new(text), &Tagged::new(text), &here);
    let Some(first) = heard.first() else { return gate };
    // A tool that belongs to no class is the index's to find.
    if gate.class.is_none() {
        return gate;
    }
    // No tool is called in either case; only the words differ.
    let silent = matches!(first.wish, Wish::SmallTalk(talk) if talk != SmallTalk::Unknown);
    if silent && matches!(gate.class, Some(Class::Human | Class::None)) && gate.acts() {
        return gate;
    }
    // An offer is a question, too.
    let offers = first.strength == Strength::Hint && first.wish.is_change();
    if offers && matches!(gate.class, Some(Class::Human | Class::None)) && gate.acts() {
        return gate;
    }
    let Some((class, intent, acts)) = reading(first) else {
        return Selection { choice: Choice::Ask(Because::Unsure), ..gate };
    };
    let same = gate.class == Some(class) && gate.intent == intent;
    let likely = match (class, intent) {
        (Class::Tasks, Some(intent)) => gate.chances.intent(intent),
        _ => gate.chances.class(class),
    };
    let confidence = match (acts, same) {
        (true, true) => likely + (1.0 - likely) * AGREED,
        (true, false) => 0.8,
        (false, _) => likely,
    };
    let choice = match (acts, class) {
        (false, _) => Choice::Ask(Because::Unsure),
        (true, Class::None) => Choice::None,
        (true, Class::Human) => Choice::Ask(Because::Incomplete),
        (true, _) => tool(index, class, intent),
    };
    Selection { choice, confidence, class: Some(class), intent, chances: gate.chances }
}

fn tool(index: &Index, class: Class, intent: Option<Intent>) -> Choice {
    let serves = |family: Family| match (family, class) {
        (Family::Task(own), Class::Tasks) => Some(own) == intent,
        (Family::Web, Class::Web) | (Family::Code, Class::Code) => true,
        _ => false,
    };
    let names = (0..index.len()).map(|at| index.name(at));
    match names.into_iter().find(|name| Family::of(name).is_some_and(serves)) {
        Some(name) => Choice::Tool { name: name.to_owned(), score: 1.0 },
        None => Choice::Ask(Because::NoTool),
    }
}

/// The class and intent of a wish, and whether the chat acts on it rather than offers it; `None` if it was not
/// understood.
fn reading(heard: &Heard) -> Option<(Class, Option<Intent>, bool)> {
    let sure = heard.strength == Strength::Strong;
    let task = |target: &Target, intent: Intent| match target {
        // Nothing is known that "it" could be.
        Target::Missing | Target::It | Target::Them | Target::Other => (Class::Human, None, true),
        _ => (Class::Tasks, Some(intent), sure),
    };
    Some(match &heard.wish {
        Wish::Create(drafts) if drafts.iter().all(|draft| draft.title.is_none()) => {
            (Class::Human, None, true)
        }
        Wish::Create(_) => (Class::Tasks, Some(Intent::Create), sure),
        Wish::List(_) => (Class::Tasks, Some(Intent::List), sure),
        Wish::Show(target @ Target::Words(_)) => task(target, Intent::Find),
        Wish::Show(target) => task(target, Intent::Get),
        Wish::Find(_) => (Class::Tasks, Some(Intent::Find), sure),
        Wish::Complete(target, _) => task(target, Intent::Complete),
        Wish::Update(target, _) => task(target, Intent::Update),
        Wish::Delete(target) => task(target, Intent::Delete),
        Wish::Restore(target) => task(target, Intent::Restore),
        Wish::Undo => (Class::Human, None, true),
        Wish::Search(Some(_)) => (Class::Web, None, true),
        Wish::Run(_) => (Class::Code, None, true),
        Wish::Ask(_) | Wish::Search(None) => (Class::Human, None, true),
        Wish::Call(..) => return None,
        Wish::SmallTalk(SmallTalk::Unknown) => return None,
        Wish::SmallTalk(SmallTalk::Vague) => (Class::Human, None, true),
        Wish::SmallTalk(_) => (Class::None, None, true),
    })
}
