//! Prompts on how to use the tools, under the names that the caller's profile gives them.

use std::sync::Arc;

use serde_json::{Map, json};
use toolroom_contract::EffectKind;
use toolroom_contract::effect::Shows;
use toolroom_runtime::catalogue::Tool;

use super::contracts::{contract, tool_names, tools};
use super::servers::{call, data};
use super::{
    Answering, AskedPrompt, Completes, Completing, Prompt, PromptArgument, PromptEnding, PromptText, Source,
    SourceError, Visitor, ready,
};

pub(super) struct Guides;

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
        for Names { noun, .. } in Names::all(visitor) {
            all.push(prompt(
                &format!("use-{noun}-tools"),
                &format!("Use the {noun} tools"),
                &format!("Which {noun} tool does what, and what to mind."),
                vec![PromptArgument::optional("goal", "What you want to achieve")],
            ));
            all.push(prompt(
                &format!("{noun}-intents"),
                "What people mean, and which tools do it",
                &format!(
                    "The usual requests about {noun}s, the calls that each takes, and when to ask first."
                ),
                vec![PromptArgument::optional("request", "What the person said, in their words")],
            ));
            all.push(prompt(
                &format!("work-on-{noun}"),
                &format!("Work on a {noun}"),
                &format!("Find one {noun} by its title and do something with it."),
                vec![
                    PromptArgument::required(
                        "title",
                        &format!("The {noun}'s title, or the words of it that you know"),
                    ),
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
        let Some((names, guide)) = Names::guide(visitor, asked.name) else { return ready(None) };
        let text = match guide {
            Guide::Overview => names.overview(asked.argument("goal")),
            Guide::Intents => names.intents(asked.argument("request")),
            Guide::One => names.one(asked.argument("title").unwrap_or_default(), asked.argument("wish")),
        };
        ready(Some(PromptEnding::Done(PromptText::of(text))))
    }

    fn complete<'a>(
        &'a self,
        visitor: Visitor<'a>,
        asked: Completing<'a>,
    ) -> Answering<'a, Option<Vec<String>>> {
        let Completes::Prompt(name) = asked.of else { return ready(None) };
        if name == ONE_TOOL {
            return ready(Some(if asked.argument == "name" { tool_names(visitor) } else { Vec::new() }));
        }
        match Names::guide(visitor, name) {
            Some((names, Guide::One)) if asked.argument == "title" => Box::pin(titles(visitor, names)),
            Some(_) => ready(Some(Vec::new())),
            None => ready(None),
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

/// The caller's own titles, newest first, where they may list them: by the tool itself, so that it is permitted, limited
/// and journaled as any other look at them.
async fn titles(visitor: Visitor<'_>, names: Names) -> Result<Option<Vec<String>>, SourceError> {
    let Some(target) = &names.lister.effect.target else { return Ok(Some(Vec::new())) };
    let contract = contract(visitor, &names.list).unwrap_or_default();
    let takes = |field: &str| contract["parameters"]["properties"].get(field).is_some();
    let mut params = Map::new();
    if takes("user_id") {
        params.insert("user_id".into(), visitor.principal.user.key.to_string().into());
    }
    // A profile that cannot say so gives all of them, whole.
    if takes("whole") {
        params.insert("whole".into(), true.into());
        params.insert("fields".into(), json!([target.title]));
    }
    let reply = call(visitor, names.list, params.into(), None).await;
    let mut named = Vec::new();
    target.names_in(data(&reply)?.unwrap_or_default(), &mut named);
    Ok(Some(named.into_iter().filter_map(|one| one.title).take(MOST_TITLES).collect()))
}

fn is_about(tool: &Tool, noun: &str) -> bool {
    tool.effect.nouns().first().is_some_and(|one| one == noun)
}

/// Which guide to the tools for one kind of thing.
enum Guide {
    Overview,
    Intents,
    One,
}

/// The tools for one kind of thing, as the profile names them.
struct Names {
    noun: String,
    create: String,
    list: String,
    update: String,
    delete: String,
    get: Option<String>,
    complete: Option<String>,
    find: Option<String>,
    lister: Arc<Tool>,
    /// Whether such things are ever done, by this profile's tools or others.
    finishes: bool,
}

impl Names {
    /// The tools for each kind of thing with which the caller can do the usual.
    fn all(visitor: Visitor<'_>) -> Vec<Self> {
        let tools = tools(visitor);
        let mut nouns: Vec<&String> =
            tools.iter().filter_map(|(_, tool)| tool.effect.nouns().first()).collect();
        nouns.sort();
        nouns.dedup();
        let snapshot = visitor.app.runtime.registry.snapshot();
        let finishes = |noun: &str| {
            snapshot
                .tools
                .values()
                .any(|tool| tool.effect.kind == EffectKind::Complete && is_about(tool, noun))
        };
        let names = nouns.into_iter().filter_map(|noun| Self::of(noun, &tools));
        names.map(|names| Self { finishes: finishes(&names.noun), ..names }).collect()
    }

    fn of(noun: &str, tools: &[(String, Arc<Tool>)]) -> Option<Self> {
        let about = || tools.iter().filter(|(_, tool)| is_about(tool, noun));
        // Of several tools that do the same, the plain one is asked about in the usual words.
        let does = |kind: EffectKind| {
            let tools = about().filter(|(_, tool)| tool.effect.kind == kind && tool.effect.also.is_empty());
            tools.min_by_key(|(_, tool)| tool.effect.question.len()).map(|(name, _)| name.clone())
        };
        let shows = |how: Shows| about().find(|(_, tool)| tool.effect.shows == Some(how));
        let (list, lister) = shows(Shows::List).or_else(|| shows(Shows::Matches))?.clone();
        Some(Self {
            noun: noun.to_owned(),
            create: does(EffectKind::Create)?,
            update: does(EffectKind::Update)?,
            delete: does(EffectKind::Delete)?,
            complete: does(EffectKind::Complete),
            get: shows(Shows::One).map(|(name, _)| name.clone()),
            find: shows(Shows::Matches).map(|(name, _)| name.clone()),
            list,
            lister,
            finishes: false,
        })
    }

    /// The guide of that name.
    fn guide(visitor: Visitor<'_>, name: &str) -> Option<(Self, Guide)> {
        Self::all(visitor).into_iter().find_map(|names| {
            let noun = &names.noun;
            let guide = match name {
                _ if name == format!("use-{noun}-tools") => Guide::Overview,
                _ if name == format!("{noun}-intents") => Guide::Intents,
                _ if name == format!("work-on-{noun}") => Guide::One,
                _ => return None,
            };
            Some((names, guide))
        })
    }

    fn overview(&self, goal: Option<&str>) -> String {
        let Self { noun, create, list, update, delete, .. } = self;
        let mut lines = vec![
            format!("- {create}: makes a {noun}; give what it requires, and no more than you know."),
            format!("- {list}: shows {noun}s, newest first, with their ids."),
            format!("- {update}: changes the fields that you name and no others; null empties a field."),
            format!("- {delete}: takes a {noun} away. Show the {noun} and ask first."),
        ];
        if let Some(get) = &self.get {
            lines.push(format!("- {get}: shows one {noun} by its id."));
        }
        if let Some(complete) = &self.complete {
            lines.push(format!("- {complete}: marks a {noun} as done."));
        }
        if let Some(find) = &self.find {
            lines.push(format!(
                "- {find}: finds {noun}s by words of their titles, spelling mistakes forgiven."
            ));
        }
        let goal = goal.map(|goal| format!("\n\nThe goal: {goal}")).unwrap_or_default();
        format!(
            "You keep a person's {noun}s with these tools:\n{}\n\nTools take ids, people use words: {} If several \
             {noun}s fit, show them and let the person choose; never guess. Do not ask for what may be left out. Say \
             that something is done only after the tool said so.{goal}",
            lines.join("\n"),
            self.how_to_find(),
        )
    }

    fn how_to_find(&self) -> String {
        let noun = &self.noun;
        match &self.find {
            Some(find) => format!("look an id up with {find} when a {noun} is named in words."),
            None => format!("look an id up with {} when a {noun} is named in words.", self.list),
        }
    }

    /// The table of intents: what is said, what is called, and when.
    fn intents(&self, request: Option<&str>) -> String {
        let Self { noun, create, list, update, delete, .. } = self;
        let find = self.find.as_ref().unwrap_or(list);
        let show = self.get.as_ref().unwrap_or(list);
        let done = self.complete.as_ref().unwrap_or(update);
        let mut rows = vec![
            format!("| a new {noun} | {create} | once the title is known and the person agreed |"),
            format!("| all {noun}s | {list} | at once |"),
            format!("| deleting a {noun} by number | {show}, then {delete} | look, ask, delete on a yes |"),
            format!(
                "| deleting a {noun} by its words | {find}, then {delete} | find, ask, delete on a yes |"
            ),
            format!("| changing a {noun} by number | {update} | after the person agreed |"),
            format!("| changing a {noun} by its words | {find}, then {update} | find the id, then change |"),
        ];
        if self.finishes {
            rows.push(format!("| open or finished {noun}s only | {list} with that status | at once |"));
            rows.push(format!("| finishing a {noun} by number | {done} | after the person agreed |"));
            rows.push(format!(
                "| finishing a {noun} by its words | {find}, then {done} | find the id, then finish |"
            ));
        }
        let request = request.map(|said| format!("\n\nThe person says: {said}")).unwrap_or_default();
        format!(
            "Find out what the person means, and make these calls:\n\n| they mean | call | when |\n| --- | --- | --- \
             |\n{}\n\nNever delete without a yes. Never look through the whole list for a {noun} that was named in \
             words where {find} can find it. Never call a tool without what it requires: ask for that. Never say \
             that it is done when no call has said so.{request}",
            rows.join("\n"),
        )
    }

    fn one(&self, title: &str, wish: Option<&str>) -> String {
        let noun = &self.noun;
        let wish = wish.unwrap_or("show it with all that is known of it");
        format!(
            "The {noun}: \"{title}\". The wish: {wish}.\nFirst {} If exactly one {noun} fits, go on with its id. If \
             several fit, show them with their ids and ask which is meant. If none fits, say so and offer to make \
             it with {}. Before {}, show the {noun} and wait for a yes.",
            self.how_to_find(),
            self.create,
            self.delete,
        )
    }
}
