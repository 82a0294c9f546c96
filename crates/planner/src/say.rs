//! The planner's sentences: short, plain, and never a claim of work. What others wrote stands in quotation marks.

use jiff::civil::Date;

use super::read::Here;
use super::seen::Task;
use super::text::MOST_WORDS;
use super::wish::{Change, Draft, DueRange, Filter, Priority, SmallTalk, When};

/// Tasks of a list that are shown.
const MOST_SHOWN: usize = 50;

/// Somebody's words, on one line, in quotation marks.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 120;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.replace(['"', '\u{201c}', '\u{201d}', '\u{201e}'], "'");
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("\u{201c}{}\u{2026}\u{201d}", line.get(..at).unwrap_or_default()),
        None => format!("\u{201c}{line}\u{201d}"),
    }
}

/// A task by its number and title.
pub(crate) fn named(task: &Task) -> String {
    if task.title.is_empty() {
        format!("task {}", task.id)
    } else {
        format!("#{} {}", task.id, quoted(&task.title))
    }
}

/// A task in a list.
pub(crate) fn line(task: &Task, here: &Here<'_>) -> String {
    let mut notes = Vec::new();
    if task.done == Some(true) {
        notes.push("done".to_owned());
    }
    if let Some(priority @ ("high" | "low")) = task.priority.as_deref() {
        notes.push(format!("{priority} priority"));
    }
    if let Some(due) = task.due.as_deref() {
        let late = task.done != Some(true) && day(due, here).is_some_and(|day| day < here.today());
        notes.push(format!("due {}{}", date(due, here), if late { ", overdue" } else { "" }));
    }
    if !task.tags.is_empty() {
        notes.push(format!("tags {}", quoted(&task.tags.join(", "))));
    }
    if notes.is_empty() { named(task) } else { format!("{} ({})", named(task), notes.join("; ")) }
}

/// The day of a due date.
pub(crate) fn day(due: &str, here: &Here<'_>) -> Option<Date> {
    let resolved = toolroom_when::parse(due, here.now, here.zone).ok()?;
    Some(resolved.due.date_in(here.zone))
}

fn date(due: &str, here: &Here<'_>) -> String {
    let Ok(resolved) = toolroom_when::parse(due, here.now, here.zone) else { return due.to_owned() };
    match resolved.due {
        toolroom_when::Due::Instant(moment) => {
            let local = here.zone.to_datetime(moment.at());
            // The end of a day is how some profiles write a date.
            if local.time() == jiff::civil::time(23, 59, 59, 0) {
                return format!("{} {}", local.strftime("%A"), local.date());
            }
            format!("{} {} {}", local.strftime("%A"), local.date(), local.strftime("%H:%M"))
        }
        toolroom_when::Due::Date(_) => resolved.echo,
    }
}

/// A list with a line for each task.
pub(crate) fn list(tasks: &[Task], total: usize, filter: &Filter, here: &Here<'_>) -> String {
    let what = kind(filter, total);
    if total == 0 {
        return format!("You have no {what}.");
    }
    if filter.counts {
        return format!("You have {total} {what}.");
    }
    let mut lines = vec![format!("You have {total} {what}:")];
    lines.extend(tasks.iter().take(MOST_SHOWN).map(|task| format!("- {}", line(task, here))));
    let more = total.saturating_sub(tasks.len().min(MOST_SHOWN));
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    lines.join("\n")
}

/// "open tasks due today".
pub(crate) fn kind(filter: &Filter, count: usize) -> String {
    let mut words = Vec::new();
    match (filter.done, &filter.due) {
        (_, Some(DueRange::Overdue)) => words.push("overdue".to_owned()),
        (Some(true), _) => words.push("done".to_owned()),
        (Some(false), _) => words.push("open".to_owned()),
        _ => {}
    }
    match filter.priority {
        Some(Priority::High) => words.push("high-priority".into()),
        Some(Priority::Medium) => words.push("medium-priority".into()),
        Some(Priority::Low) => words.push("low-priority".into()),
        None => {}
    }
    words.push(if count == 1 { "task".into() } else { "tasks".into() });
    match &filter.due {
        Some(DueRange::Between(_, _, said)) => words.push(format!("due {said}")),
        Some(DueRange::Never) => words.push("without a due date".into()),
        _ => {}
    }
    if let Some(tag) = &filter.tag {
        words.push(format!("with the tag {}", quoted(tag)));
    }
    if let Some(text) = &filter.text {
        words.push(format!("about {}", quoted(text)));
    }
    if let Some(spared) = &filter.except {
        words.push(format!("beside {}", quoted(spared)));
    }
    words.join(" ")
}

/// One task with everything that is known of it.
pub(crate) fn whole(task: &Task, here: &Here<'_>) -> String {
    let mut text = line(task, here);
    if task.done == Some(false) {
        text.push_str(", open");
    }
    if task.due.is_none() {
        text.push_str(", no due date");
    }
    text.push('.');
    if let Some(description) = &task.description {
        text.push_str(&format!(" Description: {}", quoted(description)));
    }
    text
}

/// A task that is to be made.
pub(crate) fn draft(draft: &Draft) -> String {
    let mut text = quoted(draft.title.as_deref().unwrap_or_default());
    if let Some(Ok(resolved)) = draft.due.as_ref().map(|when| &when.meaning) {
        text.push_str(&format!(", due {}", resolved.echo));
    }
    if let Some(priority) = draft.priority {
        text.push_str(&format!(", {} priority", priority.as_str()));
    }
    if let Some(description) = &draft.description {
        text.push_str(&format!(", description {}", quoted(description)));
    }
    text
}

/// What is to be changed.
pub(crate) fn change(change: &Change) -> String {
    let mut parts = Vec::new();
    if let Some(title) = &change.title {
        parts.push(format!("title {}", quoted(title)));
    }
    match &change.due {
        Some(Some(When { meaning: Ok(resolved), .. })) => parts.push(format!("due {}", resolved.echo)),
        Some(Some(When { said, .. })) => parts.push(format!("due {}", quoted(said))),
        Some(None) => parts.push("no due date".to_owned()),
        None => {}
    }
    if let Some(days) = change.days {
        parts.push(format!("due {days:+} days"));
    }
    if let Some(minutes) = change.minutes {
        parts.push(format!("due {minutes:+} minutes"));
    }
    if let Some(priority) = change.priority {
        parts.push(format!("priority {}", priority.as_str()));
    }
    match &change.description {
        Some(Some(text)) => parts.push(format!("description {}", quoted(text))),
        Some(None) => parts.push("no description".to_owned()),
        None => {}
    }
    let tags = change.add_tags.iter().map(|tag| format!("+{tag}"));
    parts.extend(tags.chain(change.remove_tags.iter().map(|tag| format!("-{tag}"))));
    if change.clears_tags {
        parts.push("no tags".to_owned());
    }
    parts.join(", ")
}

/// Candidates to choose from.
pub(crate) fn which(tasks: &[Task], words: Option<&str>, verb: &str, here: &Here<'_>) -> String {
    let matching = words.map(|words| format!(" that match {}", quoted(words))).unwrap_or_default();
    let mut lines = vec![format!("I found {} tasks{matching}:", tasks.len())];
    lines.extend(
        tasks.iter().take(20).enumerate().map(|(at, task)| format!("{}. {}", at + 1, line(task, here))),
    );
    lines.push(format!("Which one shall I {verb}?"));
    lines.join("\n")
}

const WHAT_I_AM: &str = "I am Toolroom's offline planner, not a language model.";

/// What the planner can do with the tools that are there.
pub(crate) fn help(keeps_tasks: bool, web: bool, code: bool, human: bool) -> String {
    let mut can = Vec::new();
    if keeps_tasks {
        can.push("keep your tasks (\u{201c}add buy milk tomorrow\u{201d}, \u{201c}show my open tasks\u{201d}, \u{201c}mark task 3 as done\u{201d}, \u{201c}move the report to Friday\u{201d}, \u{201c}delete task 5\u{201d})");
    }
    if web {
        can.push("search the web (\u{201c}search the web for \u{2026}\u{201d})");
    }
    if code {
        can.push("run code that you give me (\u{201c}run python: print(6 * 7)\u{201d})");
    }
    if human {
        can.push("put a question to a person (\u{201c}ask a person whether \u{2026}\u{201d})");
    }
    match can.is_empty() {
        true => format!("{WHAT_I_AM} There is no tool here that I could use."),
        false => format!("{WHAT_I_AM} I can {}.", can.join("; ")),
    }
}

/// The answer to talk.
pub(crate) fn talk(talk: SmallTalk, help: &str, is_known: bool, here: &Here<'_>) -> String {
    let abilities = if is_known { "Say \u{201c}help\u{201d} to hear what I can do." } else { rest(help) };
    match talk {
        SmallTalk::Greeting => "Hello! What can I do for you?".into(),
        SmallTalk::HowAreYou => "All is well, thank you. What can I do for you?".into(),
        SmallTalk::Thanks => "You are welcome.".into(),
        SmallTalk::Farewell => "Goodbye!".into(),
        SmallTalk::Help | SmallTalk::Identity => help.to_owned(),
        SmallTalk::Today => {
            let now = here.zone.to_datetime(here.now);
            format!("It is {} {}, {}.", now.strftime("%A"), now.date(), now.strftime("%H:%M"))
        }
        SmallTalk::Leave => "All right, I leave everything as it is.".into(),
        SmallTalk::Hypothetical => "That is for you to decide; I change nothing on a question. Tell me plainly what to do, and I will ask where a yes is needed.".into(),
        SmallTalk::HowTo => format!("Just say it in plain words. {abilities}"),
        SmallTalk::Cancel => "All right, I leave it at that.".into(),
        SmallTalk::Yes => "There is nothing that waits for a yes. What shall I do?".into(),
        SmallTalk::No => "All right.".into(),
        SmallTalk::Remark => "All right. Tell me if there is something to do.".into(),
        SmallTalk::Knowledge => format!("{WHAT_I_AM} I have no answer to that of my own. {abilities}"),
        SmallTalk::Vague => format!("I need to know more: what exactly shall I do, and with which task? {WHAT_I_AM}"),
        SmallTalk::Unknown => format!("I did not understand that. {WHAT_I_AM} {abilities}"),
    }
}

fn rest(help: &str) -> &str {
    help.strip_prefix(WHAT_I_AM).unwrap_or(help).trim_start()
}

/// Of a message in another language, with the apology in it.
pub(crate) fn english_only(sorry: &str) -> String {
    let sorry = if sorry.is_empty() { String::new() } else { format!("{sorry}. ") };
    format!(
        "{sorry}I read English only: \u{201c}add buy milk\u{201d}, \u{201c}show my tasks\u{201d}, \u{201c}mark task 3 as done\u{201d}."
    )
}

/// Of a message that was not read to its end.
pub(crate) fn too_long() -> String {
    format!(
        "I read only the first {MOST_WORDS} words of your message. I did nothing, because the rest may change what you \
         mean. Please send it in shorter messages."
    )
}
