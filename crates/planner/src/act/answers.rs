//! Answers to what was asked, and corrections of what was said before.

use super::choice::choice;
use super::others::typed;
use super::{Needs, Play};
use crate::memory::Question;
use crate::read::tagged::Tagged;
use crate::read::{self, Utterance, fields, priority, stripped, target};
use crate::seen::Task;
use crate::similar;
use crate::text::{Kind, Word, begins, begins_any, find_any, raw};
use crate::wish::{Change, Code, Draft, Heard, SmallTalk, Strength, Target, When, Wish, with_target};
use crate::words::patterns;

impl Play<'_> {
    /// Takes a message for the answer to a question; `false` if it is something else, and the question is dropped.
    pub(super) fn answered(
        &mut self,
        question: Question,
        said: &Utterance<'_>,
        tagged: &Tagged<'_>,
    ) -> Result<bool, Needs> {
        let heard = read::wishes(said, tagged, &self.here);
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
            Question::Which(wish, candidates) => self.which(&wish, candidates, said, tagged, &heard),
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
                // "yeah go on, put that on the list"
                _ if agrees(said) => wishes.into_iter().try_for_each(|wish| self.wish(wish)).map(|()| true),
                _ => Ok(false),
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

    /// A time without a day is on the day that was offered.
    pub(super) fn on_its_day(&self, when: When, offered: Option<&When>) -> When {
        match offered.map(|offered| &offered.meaning) {
            Some(Ok(old)) if self.is_time_alone(&when) => {
                let day = old.due.date_in(self.here.zone);
                fields::date(&format!("{day} {}", when.said), &self.here)
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
        if switches(heard)
            && speaks_plainly(said, heard)
            && !matches!(heard, [Heard { wish: Wish::Create(_), .. }])
        {
            return Ok(false);
        }
        let words = target::trimmed_of_signs(&said.words);
        if begins(words, "nothing|none|nobody|no one|never really|at|all*") == Some(words.len()) {
            self.says.push("All right, I leave it at that.".into());
            return Ok(true);
        }
        if said.words.last().is_some_and(|word| word.kind == Kind::Sign('?')) {
            return Ok(false);
        }
        if let Some(due) = fields::date_alone(said.text, stripped(&said.words), &self.here) {
            return self.create(vec![Draft { due: Some(due), ..old }]).map(|()| true);
        }
        let mut drafts = read::named(said.text, &self.here);
        for new in &mut drafts {
            new.priority = new.priority.or(old.priority);
            new.due = new.due.take().or_else(|| old.due.clone());
            new.description = new.description.take().or_else(|| old.description.clone());
            if new.tags.is_empty() {
                new.tags.clone_from(&old.tags);
            }
        }
        if drafts.is_empty() {
            drafts.push(old);
        }
        self.create(drafts).map(|()| true)
    }

    fn which(
        &mut self,
        wish: &Wish,
        candidates: Vec<Task>,
        said: &Utterance<'_>,
        tagged: &Tagged<'_>,
        heard: &[Heard],
    ) -> Result<bool, Needs> {
        // "not mom", "who is dad?": what is named is not chosen.
        let doubts = find_any(&said.words, patterns("is no choice")).is_some()
            || said.words.iter().any(|word| word.kind == Kind::Sign('?'));
        let changes = |one: &Heard| matches!(&one.wish, Wish::Update(_, change) if !change.is_empty());
        if doubts || !matches!(wish, Wish::Update(..)) && heard.iter().any(changes) {
            if switches(heard) && !doubts {
                return Ok(false);
            }
            return self.ask_which(wish, candidates);
        }
        let words = answer_words(&said.words);
        let next = tagged.follow_up(&self.here);
        let both = next.as_ref().filter(|next| next.target == Target::Them && next.change.is_empty());
        let both = both.map(|_| candidates.clone());
        let named = next.and_then(|next| next.named);
        let by_name = named.map(|name| similar::best(&name, candidates.clone()));
        let by_name = by_name.filter(|found| found.len() == 1);
        if let Some(chosen) = choice(said.text, words, &candidates).or(both).or(by_name) {
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
        // "Lindner. still today"
        if let [one] = similar::likeliest(raw(said.text, words), &candidates).as_slice()
            && said.words.len() <= 6
        {
            let one = one.clone();
            self.chose(wish, std::slice::from_ref(&one), &candidates);
            self.memory.focus = vec![one.clone()];
            return self.chosen_wish(with_target(wish, Target::Ids(vec![one.id]))).map(|()| true);
        }
        // Words that fit several of them, or none.
        let left = similar::best(raw(said.text, words), candidates.clone());
        self.ask_which(wish, if left.len() > 1 { left } else { candidates })
    }

    fn ask_which(&mut self, wish: &Wish, tasks: Vec<Task>) -> Result<bool, Needs> {
        self.says.push(crate::say::which(&tasks, None, super::choose::verb(wish), &self.here));
        self.memory.shown.clone_from(&tasks);
        self.memory.question = Some(Question::Which(wish.clone(), tasks));
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
            let title = as_title(said.text, &said.words);
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
            change.due = fields::date_alone(said.text, value, &self.here).map(Some);
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
        let new = fields::date_alone(said.text, words, &self.here);
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

/// Whether a message says yes in more words than one, and nothing else: "yeah go on, put that on the list".
fn agrees(said: &Utterance<'_>) -> bool {
    let words = target::trimmed_of_signs(&said.words);
    let asks = said.words.last().is_some_and(|word| word.kind == Kind::Sign('?'));
    !asks && begins_any(words, patterns("agrees in more words")) == Some(words.len())
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

/// The words of an answer that is a title, as they were written.
fn as_title(text: &str, words: &[Word]) -> String {
    fields::capital(&fields::tidy(
        raw(text, stripped(words)).trim_matches(['"', '\'', '\u{201c}', '\u{201d}']),
    ))
}
