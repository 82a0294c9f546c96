//! Finds the task that is meant; if that is not one task beyond doubt, the person is asked.

use serde_json::Map;
use toolroom_model::Asking;

use super::{Needs, Play};
use crate::memory::{Last, Question};
use crate::read::key_words;
use crate::say;
use crate::seen::{self, Task};
use crate::similar;
use crate::wish::{Target, Wish};

impl Play<'_> {
    /// The tasks that a wish is about; `None` if the person was asked, or told that there is none.
    pub(super) fn chosen(&mut self, target: &Target, wish: &Wish) -> Result<Option<Vec<Task>>, Needs> {
        match target {
            Target::Ids(ids) => Ok(Some(self.by_ids(ids))),
            Target::Words(words) => self.by_words(words, wish),
            Target::All(filter) => {
                let Some((mut tasks, mut total)) = self.fetch(filter)? else { return Ok(None) };
                if let Some(spared) = &filter.except {
                    let spared = similar::best(spared, tasks.clone());
                    if spared.is_empty() {
                        self.says.push(format!(
                            "I found no task that matches {} to leave out. Nothing was changed.",
                            say::quoted(filter.except.as_deref().unwrap_or_default())
                        ));
                        return Ok(None);
                    }
                    tasks.retain(|task| spared.iter().all(|one| one.id != task.id));
                    total = total.saturating_sub(spared.len());
                }
                if tasks.is_empty() {
                    self.says.push(format!(
                        "You have no {}, so there is nothing to {}.",
                        say::kind(filter, 0),
                        verb(wish)
                    ));
                    return Ok(None);
                }
                if total > tasks.len() {
                    self.says
                        .push(format!("There are {total} such tasks; I can take {} at a time.", tasks.len()));
                }
                Ok(Some(tasks))
            }
            Target::It => Ok(self.spoken_of(wish, false)),
            Target::Them => Ok(self.spoken_of(wish, true)),
            Target::Places(places) => Ok(self.by_places(places, wish)),
            Target::Last => match self.memory.shown.last().or(self.memory.focus.last()).cloned() {
                Some(task) => Ok(Some(vec![task])),
                None => Ok(self.ask_target(wish)),
            },
            Target::Other => self.other(wish),
            Target::Missing => Ok(self.ask_target(wish)),
        }
    }

    /// Tasks by number; what is known of them comes along.
    fn by_ids(&self, ids: &[i64]) -> Vec<Task> {
        let known = self.memory.shown.iter().chain(&self.memory.focus);
        let known: Vec<&Task> = known.collect();
        ids.iter()
            .map(|id| {
                known
                    .iter()
                    .find(|task| task.id == *id)
                    .map_or(Task { id: *id, ..Task::default() }, |task| (*task).clone())
            })
            .collect()
    }

    fn by_words(&mut self, words: &str, wish: &Wish) -> Result<Option<Vec<Task>>, Needs> {
        if let Wish::Restore(_) = wish {
            return Ok(self.deleted_by_words(words));
        }
        let mut found = self.matching(words)?;
        if let Some(several) = self.by_parts(words, &found)? {
            return Ok(Some(several));
        }
        let shorter = key_words(words);
        if found.is_empty() && !shorter.eq_ignore_ascii_case(words) {
            found = self.matching(&shorter)?;
        }
        if found.is_empty() {
            let titles = self.titles()?;
            found = similar::likeliest(words, &titles);
            if found.is_empty() {
                found = similar::likeliest_of(&self.naming, &titles);
            }
        }
        // Of several, the one that the other words of the message speak of.
        if found.len() > 1 {
            let others =
                self.naming.iter().filter(|(word, chance)| *chance >= 0.2 && !words.contains(word.as_str()));
            let speaks = |task: &&Task| others.clone().any(|(word, _)| similar::is_in(word, &task.title));
            if let [one] = found.iter().filter(speaks).cloned().collect::<Vec<_>>().as_slice() {
                found = vec![one.clone()];
            }
        }
        // Or the one that was just shown.
        if found.len() > 1 {
            let shown = |task: &&Task| self.memory.shown.iter().any(|one| one.id == task.id);
            if let [one] = found.iter().filter(shown).cloned().collect::<Vec<_>>().as_slice() {
                found = vec![one.clone()];
            }
        }
        // Only an open task can be completed, and only a done one opened again.
        if let Wish::Complete(_, done) = wish {
            let fitting: Vec<Task> =
                found.iter().filter(|task| task.done.is_none_or(|is| is != *done)).cloned().collect();
            if !fitting.is_empty() {
                found = fitting;
            }
        }
        // "party is at school, make it a day earlier": what was just spoken of.
        if let ([], [one], true) = (found.as_slice(), self.memory.focus.as_slice(), self.says_it) {
            found = vec![one.clone()];
        }
        match found.len() {
            0 => {
                self.says.push(format!(
                    "I found no task that matches {}. Nothing was changed.",
                    say::quoted(words)
                ));
                // "the oven, I mean" may follow.
                self.chose(wish, &[], &[]);
                Ok(None)
            }
            1 => {
                // "the report to Bob" is not beyond doubt "Send the report to Anna".
                if !matches!(wish, Wish::Show(_))
                    && found.iter().any(|task| !similar::covers(&task.title, words))
                {
                    self.asking = Asking::First;
                }
                Ok(Some(found))
            }
            _ => {
                self.says.push(say::which(&found, Some(words), verb(wish), &self.here));
                self.memory.shown.clone_from(&found);
                self.memory.question = Some(Question::Which(wish.clone(), found));
                Ok(None)
            }
        }
    }

    /// "the tap and the plants": each by itself, if every one of them is found.
    fn by_parts(&mut self, words: &str, whole: &[Task]) -> Result<Option<Vec<Task>>, Needs> {
        let spaced = words.replace([',', '&', ';'], " and ");
        let parts: Vec<&str> = spaced.split(" and ").map(str::trim).filter(|part| !part.is_empty()).collect();
        // A title of just these words is meant whole.
        let is_title = |task: &Task| !similar::best(words, vec![task.clone()]).is_empty();
        if parts.len() < 2 || parts.len() > 8 || whole.iter().any(is_title) {
            return Ok(None);
        }
        let titles = self.titles()?;
        let mut chosen: Vec<Task> = Vec::new();
        for part in parts {
            match similar::likeliest(part, &titles).as_slice() {
                [one] if chosen.iter().all(|task| task.id != one.id) => chosen.push(one.clone()),
                _ => return Ok(None),
            }
        }
        Ok(Some(chosen))
    }

    /// The tasks whose titles fit some words: by the tool for that, or out of the whole list.
    pub(super) fn matching(&mut self, words: &str) -> Result<Vec<Task>, Needs> {
        let query: String = words.chars().take(200).collect();
        let mut arguments = Map::new();
        arguments.insert("query".into(), query.clone().into());
        if let Some(call) = self.bindings.call("find-tasks", arguments) {
            let outcome = self.result(call)?;
            let found = if outcome.failure.is_some() { Vec::new() } else { seen::tasks(outcome.result) };
            return Ok(if found.len() > 1 && !seen::is_multiple(outcome.result) {
                found.into_iter().take(1).collect()
            } else {
                found
            });
        }
        let Some(call) = self.bindings.call("list-tasks", Map::new()) else { return Ok(Vec::new()) };
        let outcome = self.result(call)?;
        Ok(similar::best(&query, seen::tasks(outcome.result)))
    }

    /// Every task, to compare words with their titles.
    pub(super) fn titles(&mut self) -> Result<Vec<Task>, Needs> {
        if let Some(known) = &self.titles {
            return Ok(known.clone());
        }
        let mut fields = Map::new();
        fields.insert("status".into(), "all".into());
        fields.insert("limit".into(), 100.into());
        let Some(call) = self.bindings.call("list-tasks", fields) else { return Ok(Vec::new()) };
        let outcome = self.result(call)?;
        let found = if outcome.failure.is_some() { Vec::new() } else { seen::tasks(outcome.result) };
        self.titles = Some(found.clone());
        Ok(found)
    }

    fn deleted_by_words(&mut self, words: &str) -> Option<Vec<Task>> {
        let found = similar::best(words, self.memory.deleted.clone());
        match found.len() {
            1 => Some(found),
            0 => {
                self.says.push(format!(
                    "I know of no deleted task {}; give me its number, and I can restore it.",
                    say::quoted(words)
                ));
                None
            }
            _ => {
                self.says.push(say::which(&found, Some(words), "restore", &self.here));
                self.memory.question = Some(Question::Which(Wish::Restore(Target::Missing), found));
                None
            }
        }
    }

    fn spoken_of(&mut self, wish: &Wish, many: bool) -> Option<Vec<Task>> {
        let known = match wish {
            Wish::Restore(_) => self.memory.deleted.last().cloned().into_iter().collect(),
            _ if many && self.memory.focus.len() < 2 && self.memory.shown.len() > 1 => {
                self.memory.shown.clone()
            }
            _ if self.memory.focus.is_empty() && (2..=5).contains(&self.memory.shown.len()) => {
                self.memory.shown.clone()
            }
            _ => self.memory.focus.clone(),
        };
        let named = similar::likeliest_of(&self.naming, &known);
        match known.len() {
            0 => self.ask_target(wish),
            1 => Some(known),
            _ if many => Some(known),
            // "I found balloons in the cupboard, drop that one"
            _ if named.len() == 1 => Some(named),
            _ => {
                self.says.push(say::which(&known, None, verb(wish), &self.here));
                self.memory.question = Some(Question::Which(wish.clone(), known));
                None
            }
        }
    }

    fn by_places(&mut self, places: &[usize], wish: &Wish) -> Option<Vec<Task>> {
        if self.memory.shown.is_empty() {
            return self.ask_target(wish);
        }
        let gone = |task: &Task| self.memory.deleted.iter().any(|one| one.id == task.id);
        if let Some(task) =
            places.iter().filter_map(|place| self.memory.shown.get(*place)).find(|task| gone(task))
        {
            let text = format!("{} is gone already. Which one shall I {}?", say::named(task), verb(wish));
            self.says.push(text);
            self.memory.question = Some(Question::Target(wish.clone()));
            return None;
        }
        let found: Vec<Task> =
            places.iter().filter_map(|place| self.memory.shown.get(*place).cloned()).collect();
        if found.len() < places.len() {
            self.says.push(format!(
                "The last list has only {} tasks. Which one shall I {}?",
                self.memory.shown.len(),
                verb(wish)
            ));
            self.memory.question = Some(Question::Target(wish.clone()));
            return None;
        }
        Some(found)
    }

    /// The candidate that was not chosen the last time.
    fn other(&mut self, wish: &Wish) -> Result<Option<Vec<Task>>, Needs> {
        let last = self.memory.last.clone();
        let (candidates, chosen) = last.map(|last| (last.candidates, last.chosen)).unwrap_or_default();
        let mut candidates = if candidates.is_empty() { self.memory.shown.clone() } else { candidates };
        if let ([], [one]) = (candidates.as_slice(), chosen.as_slice()) {
            candidates = similar::kin(one, self.titles()?);
        }
        let left: Vec<Task> =
            candidates.into_iter().filter(|task| chosen.iter().all(|one| one.id != task.id)).collect();
        Ok(match left.len() {
            0 => self.ask_target(wish),
            1 => Some(left),
            _ => {
                self.says.push(say::which(&left, None, verb(wish), &self.here));
                self.memory.shown.clone_from(&left);
                self.memory.question = Some(Question::Which(wish.clone(), left));
                None
            }
        })
    }

    pub(super) fn ask_target(&mut self, wish: &Wish) -> Option<Vec<Task>> {
        self.says
            .push(format!("Which task shall I {}? Tell me its number, or words of its title.", verb(wish)));
        self.memory.question = Some(Question::Target(wish.clone()));
        None
    }

    /// Remembers between which tasks the person chose.
    pub(super) fn chose(&mut self, wish: &Wish, chosen: &[Task], candidates: &[Task]) {
        self.memory.last = Some(Last {
            wish: wish.clone(),
            chosen: chosen.to_vec(),
            before: chosen.to_vec(),
            candidates: candidates.to_vec(),
            done: false,
        });
    }

    /// Reads a task by its number, to know that it is there and what it is called.
    pub(super) fn looked_up(&mut self, task: &Task) -> Result<Option<Task>, Needs> {
        let Some(call) = self.bindings.read_one(task.id) else { return Ok(Some(task.clone())) };
        let outcome = self.result(call)?;
        let found = seen::tasks(outcome.result).into_iter().find(|found| found.id == task.id);
        if let (None, Some(found)) = (&outcome.failure, found) {
            return Ok(Some(found));
        }
        self.says.push(format!("There is no task {}.", task.id));
        Ok(None)
    }
}

/// What is done, for questions.
pub(super) fn verb(wish: &Wish) -> &'static str {
    match wish {
        Wish::Complete(_, true) => "mark as done",
        Wish::Complete(_, false) => "open again",
        Wish::Delete(_) => "delete",
        Wish::Restore(_) => "restore",
        Wish::Show(_) => "show",
        _ => "change",
    }
}
