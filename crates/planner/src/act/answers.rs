//! Answers to what was asked, and corrections of what was said before.

use super::others::typed;
use super::tasks::with_target;
use super::{Needs, Play};
use crate::memory::Question;
use crate::read::{self, Utterance, priority, slots, stripped, target, title_of};
use crate::seen::Task;
use crate::similar;
use crate::text::{Word, begins, begins_any, find_any, raw};
use crate::wish::{Change, Code, Heard, SmallTalk, Strength, Target, When, Wish};
use crate::words::patterns;

impl Play<'_> {
    /// Takes a message for the answer to a question; `false` if it is something else, and the question is dropped.
    pub(super) fn answered(&mut self, question: Question, said: &Utterance<'_>) -> Result<bool, Needs> {
        let heard = read::wishes(said, &self.here);
        let talk = match heard.as_slice() {
            [Heard { wish: Wish::SmallTalk(talk), .. }] => Some(*talk),
            _ => None,
        };
        if matches!(talk, Some(SmallTalk::Cancel))
            || matches!(talk, Some(SmallTalk::No)) && !matches!(question, Question::Date(_))
        {
            self.says.push("All right, I leave it at that.".into());
            return Ok(true);
        }
        // A remark between keeps the question open.
        if matches!(
            talk,
            Some(
                SmallTalk::Help
                    | SmallTalk::Identity
                    | SmallTalk::Today
                    | SmallTalk::HowAreYou
                    | SmallTalk::Greeting
            )
        ) {
            self.memory.question = Some(question);
            return Ok(false);
        }
        if matches!(talk, Some(SmallTalk::Leave | SmallTalk::Hypothetical | SmallTalk::HowTo)) {
            return Ok(false);
        }
        match question {
            Question::Title(draft) => self.title(draft, said, &heard),
            Question::Which(wish, candidates) => self.which(&wish, candidates, said, &heard),
            Question::Target(wish) => self.target(&wish, said, &heard),
            Question::Change(wish) => self.what(wish, said, &heard),
            Question::Date(wish) => self.date(wish, said, talk),
            Question::Offer(wishes, _) => match talk {
                Some(SmallTalk::Yes) => {
                    for wish in wishes {
                        self.wish(wish)?;
                    }
                    Ok(true)
                }
                _ => self.offered_otherwise(wishes, said),
            },
            Question::Code => match heard.first().map(|one| &one.wish) {
                Some(Wish::Run(Some(_))) => Ok(false),
                _ if read::looks_like_code(said.text) => {
                    let code = Code { text: said.text.trim().to_owned(), language: "python" };
                    self.run(Some(code)).map(|()| true)
                }
                _ if switches(&heard) || said.words.len() > 12 => Ok(false),
                _ => {
                    self.ask_for("That does not look like code. Which code shall I run?", Question::Code);
                    Ok(true)
                }
            },
            Question::Query if !switches(&heard) => {
                self.search(Some(said.text.trim().to_owned())).map(|()| true)
            }
            Question::Words if !switches(&heard) => {
                self.ask(Some(said.text.trim().to_owned())).map(|()| true)
            }
            Question::Parameter(name, mut given, field) if !switches(&heard) => {
                let value = self
                    .bindings
                    .tools
                    .iter()
                    .find(|tool| tool.name == name)
                    .map(|tool| typed(tool, &field, said.text.trim()));
                given.extend(value.map(|value| (field, value)));
                self.call_with(&name, given).map(|()| true)
            }
            Question::Query | Question::Words | Question::Parameter(..) => Ok(false),
        }
    }

    /// "for friday", "make that 4pm" while a change is offered: the same with that date.
    fn offered_otherwise(&mut self, wishes: Vec<Wish>, said: &Utterance<'_>) -> Result<bool, Needs> {
        let words = stripped(&said.words);
        let alone = || Change {
            due: slots::date_alone(said.text, words, &self.here).map(Some),
            priority: priority::alone(words),
            ..Change::default()
        };
        let mut value = self.value_alone(said, &said.words).unwrap_or_else(alone);
        if find_any(words, &["no|without a|any? date|due|deadline"]).is_some() {
            value = Change { due: Some(None), ..Change::default() };
        }
        if value.is_empty() {
            return Ok(false);
        }
        match wishes.as_slice() {
            [Wish::Create(drafts)] => {
                let mut drafts = drafts.clone();
                for draft in &mut drafts {
                    if let Some(due) = value.due.clone() {
                        draft.due = due.map(|due| self.on_its_day(due, draft.due.as_ref()));
                    }
                    draft.priority = value.priority.or(draft.priority);
                }
                self.create(drafts).map(|()| true)
            }
            [Wish::Update(target, change)] => {
                let due = value.due.or_else(|| change.due.clone());
                let change = Change { due, priority: value.priority.or(change.priority), ..change.clone() };
                self.wish(Wish::Update(target.clone(), change)).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// A time without a day is on the day that was offered.
    pub(super) fn on_its_day(&self, when: When, offered: Option<&When>) -> When {
        match offered.map(|offered| &offered.meaning) {
            Some(Ok(old)) if self.is_time_alone(&when) => {
                let day = old.due.date_in(self.here.zone);
                slots::date(&format!("{day} {}", when.said), &self.here)
            }
            _ => when,
        }
    }

    fn title(
        &mut self,
        old: crate::wish::Draft,
        said: &Utterance<'_>,
        heard: &[Heard],
    ) -> Result<bool, Needs> {
        if let [Heard { wish: Wish::Create(drafts), strength: Strength::Strong }] = heard
            && let [new] = drafts.as_slice()
            && new.title.is_some()
        {
            let mut new = new.clone();
            new.priority = new.priority.or(old.priority);
            new.due = new.due.or(old.due);
            return self.create(vec![new]).map(|()| true);
        }
        if switches(heard) && speaks_plainly(said, heard) {
            return Ok(false);
        }
        let mut new = title_of(said.text, &said.words, &self.here);
        new.priority = new.priority.or(old.priority);
        new.due = new.due.or(old.due);
        new.description = new.description.or(old.description);
        if new.tags.is_empty() {
            new.tags = old.tags;
        }
        self.create(vec![new]).map(|()| true)
    }

    fn which(
        &mut self,
        wish: &Wish,
        candidates: Vec<Task>,
        said: &Utterance<'_>,
        heard: &[Heard],
    ) -> Result<bool, Needs> {
        let words = answer_words(&said.words);
        if let Some(chosen) = choice(said.text, words, &candidates) {
            if chosen.is_empty() {
                self.says.push("All right, I leave it at that.".into());
                return Ok(true);
            }
            self.chose(wish, &chosen, &candidates);
            let ids = chosen.iter().map(|task| task.id).collect();
            self.memory.focus = chosen;
            return self.chosen_wish(with_target(wish, Target::Ids(ids))).map(|()| true);
        }
        if switches(heard) {
            return Ok(false);
        }
        // Words that fit several of them, or none.
        let left = similar::best(raw(said.text, words), candidates.clone());
        let left = if left.len() > 1 { left } else { candidates };
        self.says.push(crate::say::which(&left, None, super::choose::verb(wish), &self.here));
        self.memory.shown.clone_from(&left);
        self.memory.question = Some(Question::Which(wish.clone(), left));
        Ok(true)
    }

    /// A wish whose task was just chosen out of a list: it need not be looked up once more.
    fn chosen_wish(&mut self, wish: Wish) -> Result<(), Needs> {
        let known = self.memory.focus.clone();
        match &wish {
            Wish::Delete(_) | Wish::Complete(..) | Wish::Restore(_) => {
                for task in known {
                    self.queue_change(&wish, task);
                }
                Ok(())
            }
            _ => self.wish(wish),
        }
    }

    fn target(&mut self, wish: &Wish, said: &Utterance<'_>, heard: &[Heard]) -> Result<bool, Needs> {
        if switches(heard) && speaks_plainly(said, heard) {
            return Ok(false);
        }
        if matches!(heard, [Heard { wish: Wish::SmallTalk(SmallTalk::Yes), .. }]) {
            self.ask_target(wish);
            return Ok(true);
        }
        let words = answer_words(&said.words);
        match target::read(said.text, words, &self.here) {
            Target::Missing => Ok(false),
            found => self.wish(with_target(wish, found)).map(|()| true),
        }
    }

    fn what(&mut self, wish: Wish, said: &Utterance<'_>, heard: &[Heard]) -> Result<bool, Needs> {
        let Wish::Update(target, asked) = wish else { return Ok(false) };
        let words = stripped(&said.words);
        // "rename task 7": what was asked for is a title.
        if asked.title.as_deref() == Some("") && !(switches(heard) && is_marked(said)) {
            let title = super::follow_ups::as_title(said.text, &said.words);
            let change = Change { title: Some(title), ..Change::default() };
            return self.wish(Wish::Update(target, change)).map(|()| true);
        }
        if matches!(&asked.description, Some(Some(note)) if note.is_empty()) && !is_marked(said) {
            let note = said.text.trim().trim_end_matches('.').to_owned();
            let change = Change { description: Some(Some(note)), appends: true, ..Change::default() };
            return self.wish(Wish::Update(target, change)).map(|()| true);
        }
        let value = words
            .get(begins_any(words, patterns("before a value in an answer")).unwrap_or(0)..)
            .unwrap_or_default();
        let mut change = Change { priority: priority::alone(value), ..Change::default() };
        if change.priority.is_none() {
            change.due = slots::date_alone(said.text, value, &self.here).map(Some);
        }
        if change.is_empty() {
            if let Some(Heard { wish: Wish::Update(Target::It | Target::Missing, found), .. }) = heard.first()
            {
                change = found.clone();
            } else if begins(words, "the? new? title|name").is_some() {
                change.title =
                    Some(raw(said.text, value).trim_matches(['"', '\'', '\u{201c}', '\u{201d}']).to_owned());
            } else if begins(words, "the? new? description|note").is_some() {
                change.description = Some(Some(raw(said.text, value).to_owned()));
            }
        }
        if change.is_empty() || change.title.as_deref() == Some("") {
            return Ok(false);
        }
        self.wish(Wish::Update(target, change)).map(|()| true)
    }

    fn date(&mut self, wish: Wish, said: &Utterance<'_>, talk: Option<SmallTalk>) -> Result<bool, Needs> {
        let all = stripped(&said.words);
        let words = all;
        let words = words
            .get(
                begins(words, "no|i|mean|meant|make|it|rather|use|on|for|the*")
                    .filter(|taken| *taken < words.len())
                    .unwrap_or(0)..,
            )
            .unwrap_or_default();
        let new = slots::date_alone(said.text, words, &self.here);
        let none = find_any(all, patterns("no date at all")).is_some();
        match (wish, new, talk) {
            (Wish::Create(mut drafts), new, talk) => {
                let Some(draft) = drafts.last_mut() else { return Ok(false) };
                match (new, talk) {
                    (Some(new), _) => {
                        draft.due = Some(new);
                        self.create(drafts).map(|()| true)
                    }
                    // It was asked about, and is wanted.
                    (None, Some(SmallTalk::Yes))
                        if draft.due.as_ref().is_some_and(|when| when.meaning.is_ok()) =>
                    {
                        let drafts = std::mem::take(&mut drafts);
                        drafts.into_iter().for_each(|draft| self.queue_create(draft));
                        Ok(true)
                    }
                    (None, _) if none => {
                        draft.due = None;
                        self.create(drafts).map(|()| true)
                    }
                    (None, Some(SmallTalk::No | SmallTalk::Yes)) => {
                        self.says.push("Which date do you mean? You can also say \u{201c}no date\u{201d}, or \u{201c}cancel\u{201d}.".into());
                        self.memory.question = Some(Question::Date(Wish::Create(drafts)));
                        Ok(true)
                    }
                    _ => Ok(false),
                }
            }
            (Wish::Update(target, change), Some(new), _) => {
                self.wish(Wish::Update(target, Change { due: Some(Some(new)), ..change })).map(|()| true)
            }
            (Wish::Update(target, change), None, Some(SmallTalk::Yes))
                if matches!(change.due, Some(Some(When { meaning: Ok(_), .. }))) =>
            {
                let wish = Wish::Update(target.clone(), change.clone());
                let Some(tasks) = self.chosen(&target, &wish)? else { return Ok(true) };
                self.queue_updates(&wish, &change, tasks)?;
                Ok(true)
            }
            (_, None, Some(SmallTalk::No)) => {
                self.says.push("All right, I leave it at that.".into());
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn queue_updates(&mut self, wish: &Wish, change: &Change, tasks: Vec<Task>) -> Result<(), Needs> {
        for task in tasks {
            self.queue_update(wish, change, task)?;
        }
        Ok(())
    }
}

/// Whether the message has a separate wish.
fn switches(heard: &[Heard]) -> bool {
    heard.iter().any(|one| {
        one.strength == Strength::Strong
            && !matches!(
                one.wish,
                Wish::SmallTalk(
                    SmallTalk::Yes
                        | SmallTalk::No
                        | SmallTalk::Remark
                        | SmallTalk::Thanks
                        | SmallTalk::Greeting
                )
            )
    })
}

/// Whether a wish is so plain that the message is not an answer to a question for words.
fn speaks_plainly(said: &Utterance<'_>, heard: &[Heard]) -> bool {
    let looks =
        matches!(heard.first().map(|one| &one.wish), Some(Wish::List(_) | Wish::Undo | Wish::Search(_)));
    is_marked(said) || looks
}

/// Whether a message speaks of tasks or tools in so many words.
fn is_marked(said: &Utterance<'_>) -> bool {
    said.words.iter().any(|word| {
        word.is_any(target::TASK_NOUNS) || word.is_hash_number() || word.is_any("list|everything|web|undo")
    })
}

/// The words of an answer without what stands around them.
fn answer_words(words: &[Word]) -> &[Word] {
    let words = stripped(words);
    words.get(begins(words, "i|mean|meant|want|its|it|is|that|would|be|choose|pick|take|lets|go|with|for|make|guess|think|use*").filter(|taken| *taken < words.len()).unwrap_or(0)..).unwrap_or_default()
}

/// Which of several tasks an answer means; an empty choice is "none of them".
fn choice(text: &str, words: &[Word], candidates: &[Task]) -> Option<Vec<Task>> {
    let words = target::trimmed(words);
    if begins_any(words, &["none|neither of? them|these|those?", "nothing"]) == Some(words.len()) {
        return Some(Vec::new());
    }
    if begins_any(
        words,
        &["both|all|everything of? them|these|those|it? two|three|four?", "each one?", "every one"],
    ) == Some(words.len())
    {
        return Some(candidates.to_vec());
    }
    let at = |place: usize| candidates.get(place).cloned();
    let by_id = |id: i64| candidates.iter().find(|task| task.id == id).cloned();
    match target::places(words) {
        Some(Target::Places(places)) => {
            let found: Vec<Task> = places.iter().filter_map(|place| at(*place)).collect();
            return (found.len() == places.len()).then_some(found);
        }
        Some(Target::Last) => return Some(candidates.last().cloned().into_iter().collect()),
        _ => {}
    }
    if let Some(ids) = target::ids(words) {
        let says_task = words.iter().any(|word| word.is_hash_number())
            || begins(words, "task|id|todo|the? task|id|todo|item?").is_some()
                && words.first().is_none_or(|word| word.number().is_none());
        let one = |number: i64| -> Option<Task> {
            let place = usize::try_from(number).ok()?.checked_sub(1).and_then(at);
            match (place, by_id(number), says_task) {
                (_, Some(task), true) => Some(task),
                (Some(place), Some(task), false) if place.id != task.id => None,
                (Some(place), _, false) => Some(place),
                (None, task, _) => task,
                (Some(_), None, true) => None,
            }
        };
        let found: Vec<Task> = ids.iter().filter_map(|id| one(*id)).collect();
        return (found.len() == ids.len()).then_some(found);
    }
    let words_left: Vec<&Word> = words.iter().filter(|word| !word.is_sign()).collect();
    if words_left.is_empty() || words_left.len() > 12 {
        return None;
    }
    if let Some(Target::Words(named)) = Some(target::read(text, words, &NOWHERE)) {
        let found = similar::best(&named, candidates.to_vec());
        if found.len() == 1 {
            return Some(found);
        }
    }
    let by_priority = priority::alone(
        words
            .get(begins(words, "the|one|with*").unwrap_or(0)..)?
            .split(|word| word.is_any("one|task"))
            .next()?,
    );
    let priority = by_priority?.as_str();
    let found: Vec<Task> =
        candidates.iter().filter(|task| task.priority.as_deref() == Some(priority)).cloned().collect();
    (found.len() == 1).then_some(found)
}

static UTC: jiff::tz::TimeZone = jiff::tz::TimeZone::UTC;
static NOWHERE: read::Here<'static> = read::Here { now: jiff::Timestamp::UNIX_EPOCH, zone: &UTC };
