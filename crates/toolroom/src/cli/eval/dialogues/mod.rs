//! `toolroom eval --dialogues`: conversations without a model, judged by what they leave behind.

mod scene;
mod stage;
mod verdict;

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use self::scene::{Kind, Scene};
use self::stage::{Answer, Stage};
use self::verdict::Mistakes;
use super::report::Score;
use super::spread;
use crate::cli::Globals;
use crate::terminal::{self, Rows, cell};

/// What came of all scenes.
#[derive(Default)]
struct Report {
    prompts: Score,
    dialogues: Score,
    not_commands: Score,
    wrong_changes: usize,
    unconfirmed_deletions: usize,
    rows: Vec<Value>,
}

/// What came of one.
struct Played {
    replies: Vec<String>,
    mistakes: Mistakes,
    changed_wrongly: bool,
    unconfirmed_deletions: usize,
}

pub async fn run(globals: &Globals, set: Option<&Path>, limit: Option<usize>) -> Result<()> {
    let scenes = match set {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the dialogues in {}", path.display()))?;
            scene::scenes(&text).with_context(|| format!("in {}", path.display()))?
        }
        // The sentences that ask for nothing meet the tasks of the scenes before them.
        None => scene::scenes(&format!("{}{}", scene::TEST, scene::NOT_COMMANDS))?,
    };
    let mut report = Report::default();
    let mut stage = None;
    for scene in spread(scenes, limit) {
        let mut here = Stage::fresh(stage.take(), &scene.tasks).await?;
        let played = play(&mut here, &scene).await?;
        report.count(&scene, &played);
        stage = Some(here);
    }
    if let Some(stage) = stage {
        stage.close().await;
    }
    if globals.json { Ok(terminal::say_json(&report.json())?) } else { report.say() }
}

async fn play(stage: &mut Stage, scene: &Scene) -> Result<Played> {
    let mut replies = Vec::new();
    let mut before: Option<Answer> = None;
    let (mut known, mut unconfirmed_deletions) = (stage.tasks.clone(), 0);
    for turn in &scene.turns {
        let was_asked = before.as_ref().is_some_and(|answer| answer.pending_confirmation.is_some());
        let answer = stage.say(turn, before.as_ref()).await?;
        let now = stage.list().await?;
        let gone = known.iter().filter(|old| now.iter().all(|new| new.task_id != old.task_id)).count();
        unconfirmed_deletions += if was_asked { 0 } else { gone };
        known = now;
        replies.push(answer.response.clone());
        before = Some(answer);
    }
    let judge = |tasks: &[stage::Task], replies: &[String]| {
        let reply = replies.last().map(String::as_str).unwrap_or_default();
        verdict::mistakes(&stage.tasks, tasks, reply, &scene.right)
    };
    let mut mistakes = judge(&known, &replies);
    let mut changed_wrongly = !mistakes.wrong.is_empty();
    // In a dialogue the question may correct what an earlier message wished for.
    let may_repair = scene.kind == Kind::Dialogue || !changed_wrongly;
    // A question that shows the right change is as good as the change: a yes must lead to it.
    let is_asked = replies.last().is_some_and(|reply| reply.trim_end().ends_with('?'))
        || before.as_ref().is_some_and(|answer| answer.pending_confirmation.is_some());
    if is_asked && may_repair && !mistakes.is_none() && scene.kind != Kind::NotACommand {
        replies.push(stage.say("yes", before.as_ref()).await?.response);
        let agreed = judge(&stage.list().await?, &replies);
        if agreed.is_none() {
            (mistakes, changed_wrongly) = (agreed, false);
        }
    }
    Ok(Played { replies, mistakes, changed_wrongly, unconfirmed_deletions })
}

impl Report {
    fn count(&mut self, scene: &Scene, played: &Played) {
        let right = played.mistakes.is_none();
        let score = match scene.kind {
            Kind::Prompt => &mut self.prompts,
            Kind::Dialogue => &mut self.dialogues,
            Kind::NotACommand => &mut self.not_commands,
        };
        score.count(right);
        self.wrong_changes += usize::from(played.changed_wrongly);
        self.unconfirmed_deletions += played.unconfirmed_deletions;
        self.rows.push(json!({
            "turns": scene.turns,
            "replies": played.replies,
            "right": right,
            "wrong": played.mistakes.wrong,
            "missing": played.mistakes.missing,
        }));
    }

    fn total(&self) -> usize {
        self.prompts.total + self.dialogues.total + self.not_commands.total
    }

    fn json(&self) -> Value {
        json!({
            "prompts": self.prompts.json(),
            "dialogues": self.dialogues.json(),
            "not_commands": self.not_commands.json(),
            "wrong_changes": self.wrong_changes,
            "unconfirmed_deletions": self.unconfirmed_deletions,
            "rows": self.rows,
        })
    }

    fn say(&self) -> Result<()> {
        let mut rows = Rows::new(&["what", "number", "end right"]);
        for (name, score) in [
            ("one message", self.prompts),
            ("dialogues", self.dialogues),
            ("not commands", self.not_commands),
        ] {
            rows.add([cell(name), cell(score.total), cell(format!("{:.1} %", score.share() * 100.0))]);
        }
        rows.say("")?;
        terminal::say(&format!(
            "\nwrong changes: {} of {}; deletions without a yes: {}",
            self.wrong_changes,
            self.total(),
            self.unconfirmed_deletions
        ))?;
        Ok(())
    }
}
