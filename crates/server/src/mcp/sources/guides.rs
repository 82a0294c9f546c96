//! Prompts on how to use the tools, under the names that the caller's profile gives them.

use serde_json::{Map, Value, json};

use super::contracts::{contract, published_as, tool_names};
use super::servers::{call, data};
use super::{
    Answering, AskedPrompt, Completes, Completing, Prompt, PromptArgument, PromptEnding, PromptText, Source,
    SourceError, Visitor, ready,
};

pub(super) struct Guides;

const TASK_TOOLS: &str = "use-task-tools";
const INTENTS: &str = "task-intents";
const ONE_TASK: &str = "work-on-task";
const ONE_TOOL: &str = "use-tool";
/// Titles that are looked through while one is typed.
const MOST_TITLES: usize = 1000;

impl Source for Guides {
    fn prompts<'a>(&'a self, visitor: Visitor<'a>) -> Answering<'a, Vec<Prompt>> {
        let prompt = |name: &str, title: &str, description: &str, arguments| Prompt {
            more: Default::default(),
            name: name.into(),
            title: Some(title.into()),
            description: Some(description.into()),
            arguments,
        };
        let mut all = vec![prompt(
            ONE_TOOL,
            "Use a tool",
            "Call one tool correctly, with its contract at hand.",
            vec![
                PromptArgument::required("name", "The tool, as the list of tools names it"),
                PromptArgument::optional("goal", "What you want to achieve"),
            ],
        )];
        if Names::of(visitor).is_some() {
            all.push(prompt(
                TASK_TOOLS,
                "Use the task tools",
                "Which task tool does what, and what to mind.",
                vec![PromptArgument::optional("goal", "What you want to achieve")],
            ));
            all.push(prompt(
                INTENTS,
                "What people mean, and which tools do it",
                "The usual requests about tasks, the calls that each takes, and when to ask first.",
                vec![PromptArgument::optional("request", "What the person said, in their words")],
            ));
            all.push(prompt(
                ONE_TASK,
                "Work on a task",
                "Find one task by its title and do something with it.",
                vec![
                    PromptArgument::required("title", "The task's title, or the words of it that you know"),
                    PromptArgument::optional("wish", "What to do with it; without it, show it"),
                ],
            ));
        }
        ready(all)
    }

    fn prompt<'a>(
        &'a self,
        visitor: Visitor<'a>,
        asked: AskedPrompt<'a>,
    ) -> Answering<'a, Option<PromptEnding>> {
        if asked.name == ONE_TOOL {
            return Box::pin(std::future::ready(one_tool(visitor, asked).map(Some)));
        }
        let Some(names) = Names::of(visitor) else { return ready(None) };
        let text = match asked.name {
            TASK_TOOLS => names.overview(asked.argument("goal")),
            INTENTS => names.intents(asked.argument("request")),
            ONE_TASK => names.one_task(asked.argument("title").unwrap_or_default(), asked.argument("wish")),
            _ => return ready(None),
        };
        ready(Some(PromptEnding::Done(PromptText::of(text))))
    }

    fn complete<'a>(
        &'a self,
        visitor: Visitor<'a>,
        asked: Completing<'a>,
    ) -> Answering<'a, Option<Vec<String>>> {
        match (asked.of, asked.argument) {
            (Completes::Prompt(ONE_TOOL), "name") => ready(Some(tool_names(visitor))),
            (Completes::Prompt(ONE_TASK), "title") => Box::pin(titles(visitor)),
            (Completes::Prompt(ONE_TOOL | ONE_TASK | TASK_TOOLS | INTENTS), _) => ready(Some(Vec::new())),
            _ => ready(None),
        }
    }
}

fn one_tool(visitor: Visitor<'_>, asked: AskedPrompt<'_>) -> Result<PromptEnding, SourceError> {
    let name = asked.argument("name").unwrap_or_default();
    let missing = || SourceError::Refused("name: unknown tool, or not allowed for you".into());
    let contract = contract(visitor, name).ok_or_else(missing)?;
    let goal = asked.argument("goal").map(|goal| format!(" The goal: {goal}")).unwrap_or_default();
    let text = format!(
        "Use the tool {name}.{goal}\nIts contract follows. Send only the parameters that it names, and leave out \
         those that you do not need. If the answer is an error, read its code and details before you try again: \
         they say what to change, and whether a retry can help. Follow suggestedNextActions where they serve the \
         goal. Report only what the answer says."
    );
    let resource = json!({
        "uri": format!("toolroom://tools/{name}"),
        "mimeType": "application/json",
        "text": contract.to_string(),
    });
    let text = PromptText::of(text).and(json!({ "type": "resource", "resource": resource }));
    Ok(PromptEnding::Done(text))
}

/// The caller's own titles, newest first, where they may list tasks: by the tool itself, so that it is permitted, limited
/// and journaled as any other look at them.
async fn titles(visitor: Visitor<'_>) -> Result<Option<Vec<String>>, SourceError> {
    let Some(list) = published_as(visitor, "list-tasks") else { return Ok(Some(Vec::new())) };
    let contract = contract(visitor, &list).unwrap_or_default();
    let takes = |field: &str| contract["parameters"]["properties"].get(field).is_some();
    let mut params = Map::new();
    if takes("user_id") {
        params.insert("user_id".into(), visitor.principal.user.key.to_string().into());
    }
    // A profile that cannot say so gives all of them, whole.
    if takes("whole") {
        params.insert("whole".into(), true.into());
        params.insert("fields".into(), json!(["title"]));
    }
    let reply = call(visitor, list, params.into(), None).await;
    let tasks = data(&reply)?.and_then(|data| data.get("tasks")).and_then(Value::as_array);
    let titles = tasks.into_iter().flatten().filter_map(|task| task.get("title")?.as_str());
    Ok(Some(titles.take(MOST_TITLES).map(str::to_owned).collect()))
}

/// The task tools as the profile names them.
struct Names {
    create: String,
    list: String,
    update: String,
    delete: String,
    get: Option<String>,
    complete: Option<String>,
    find: Option<String>,
}

impl Names {
    /// `None` where the caller cannot do the usual things with tasks.
    fn of(visitor: Visitor<'_>) -> Option<Self> {
        let named = |canonical: &str| published_as(visitor, canonical);
        Some(Self {
            create: named("create-task")?,
            list: named("list-tasks")?,
            update: named("update-task")?,
            delete: named("delete-task")?,
            get: named("get-task"),
            complete: named("complete-task"),
            find: named("find-tasks"),
        })
    }

    fn overview(&self, goal: Option<&str>) -> String {
        let Self { create, list, update, delete, .. } = self;
        let mut lines = vec![
            format!("- {create}: makes a task; only the title is needed."),
            format!("- {list}: shows tasks, newest first, with their ids."),
            format!("- {update}: changes the fields that you name and no others; null empties a field."),
            format!("- {delete}: takes a task away. Show the task and ask first."),
        ];
        if let Some(get) = &self.get {
            lines.push(format!("- {get}: shows one task by its id."));
        }
        if let Some(complete) = &self.complete {
            lines.push(format!("- {complete}: marks a task as done."));
        }
        if let Some(find) = &self.find {
            lines
                .push(format!("- {find}: finds tasks by words of their titles, spelling mistakes forgiven."));
        }
        let goal = goal.map(|goal| format!("\n\nThe goal: {goal}")).unwrap_or_default();
        format!(
            "You keep a person's tasks with these tools:\n{}\n\nTools take ids, people use words: {} If several \
             tasks fit, show them and let the person choose; never guess. Do not ask for what may be left out. Say \
             that something is done only after the tool said so.{goal}",
            lines.join("\n"),
            self.how_to_find(),
        )
    }

    fn how_to_find(&self) -> String {
        match &self.find {
            Some(find) => format!("look an id up with {find} when a task is named in words."),
            None => format!("look an id up with {} when a task is named in words.", self.list),
        }
    }

    /// The table of intents: what is said, what is called, and when.
    fn intents(&self, request: Option<&str>) -> String {
        let Self { create, list, update, delete, .. } = self;
        let find = self.find.as_ref().unwrap_or(list);
        let show = self.get.as_ref().unwrap_or(list);
        let done = self.complete.as_ref().unwrap_or(update);
        let rows = [
            ("a new task", create.clone(), "once the title is known and the person agreed"),
            ("all tasks", list.clone(), "at once"),
            ("open or finished tasks only", format!("{list} with that status"), "at once"),
            ("deleting a task by number", format!("{show}, then {delete}"), "look, ask, delete on a yes"),
            ("deleting a task by its words", format!("{find}, then {delete}"), "find, ask, delete on a yes"),
            ("changing a task by number", update.clone(), "after the person agreed"),
            ("changing a task by its words", format!("{find}, then {update}"), "find the id, then change"),
            ("finishing a task by number", done.clone(), "after the person agreed"),
            ("finishing a task by its words", format!("{find}, then {done}"), "find the id, then finish"),
        ];
        let rows: Vec<String> =
            rows.iter().map(|(meant, calls, when)| format!("| {meant} | {calls} | {when} |")).collect();
        let request = request.map(|said| format!("\n\nThe person says: {said}")).unwrap_or_default();
        format!(
            "Find out what the person means, and make these calls:\n\n| they mean | call | when |\n| --- | --- | --- \
             |\n{}\n\nNever delete without a yes. Never look through the whole list for a task that was named in \
             words where {find} can find it. Never call a tool without what it requires: ask for that. Never say \
             that it is done when no call has said so.{request}",
            rows.join("\n"),
        )
    }

    fn one_task(&self, title: &str, wish: Option<&str>) -> String {
        let wish = wish.unwrap_or("show it with all that is known of it");
        format!(
            "The task: \"{title}\". The wish: {wish}.\nFirst {} If exactly one task fits, go on with its id. If \
             several fit, show them with their ids and ask which is meant. If none fits, say so and offer to make \
             it with {}. Before {}, show the task and wait for a yes.",
            self.how_to_find(),
            self.create,
            self.delete,
        )
    }
}
