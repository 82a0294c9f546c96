//! The web, code, questions to people, talk, and other tools of the catalogue.

use serde_json::{Map, Value};

use super::{Needs, Play};
use crate::memory::Question;
use crate::read::tagged::Tagged;
use crate::read::{self, Utterance};
use crate::say;
use crate::tool_bindings::{Call, ToolBindings, has};
use crate::wish::{Code, Heard, SmallTalk, Strength, Wish};
use toolroom_model::ToolSpec;

impl Play<'_> {
    pub(super) fn search(&mut self, query: Option<String>) -> Result<(), Needs> {
        if self.bindings.tool("search-web").is_none() {
            self.lacks("search the web");
            return Ok(());
        }
        let Some(query) = query else {
            self.ask_for("What shall I search the web for?", Question::Query);
            return Ok(());
        };
        let mut fields = Map::new();
        fields.insert("query".into(), query.clone().into());
        let Some(call) = self.bindings.call("search-web", fields) else { return Ok(()) };
        let outcome = self.result(call)?;
        if let Some(why) = outcome.failure {
            self.says.push(format!("The search did not work: {why}"));
            return Ok(());
        }
        let data = outcome.result.get("data").filter(|data| data.is_object()).unwrap_or(outcome.result);
        let results = data.get("results").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if results.is_empty() {
            self.says.push(format!("The search for {} found nothing.", say::quoted(&query)));
            return Ok(());
        }
        let mut lines = vec![format!("This is what the web has on {}:", say::quoted(&query))];
        for found in results.iter().take(5) {
            let text = |key: &str| found.get(key).and_then(Value::as_str).unwrap_or_default();
            lines.push(format!(
                "- {}: {} {}",
                say::quoted(text("title")),
                say::quoted(text("snippet")),
                text("url")
            ));
        }
        self.says.push(lines.join("\n"));
        Ok(())
    }

    pub(super) fn run(&mut self, code: Option<Code>) -> Result<(), Needs> {
        if self.bindings.tool("execute-code").is_none() {
            self.lacks("run code");
            return Ok(());
        }
        let Some(code) = code else {
            self.ask_for("I can run code, but I cannot write it: I am the offline planner, not a language model. Which code shall I run?", Question::Code);
            return Ok(());
        };
        let mut fields = Map::new();
        fields.insert("code".into(), code.text.into());
        fields.insert("language".into(), code.language.into());
        let Some(call) = self.bindings.call("execute-code", fields) else { return Ok(()) };
        let outcome = self.result(call)?;
        // Code that failed is a failed call, whose error has what it wrote.
        let places = [outcome.result.get("data"), outcome.result.pointer("/error/data")];
        let data = places.into_iter().flatten().find(|data| data.is_object()).unwrap_or(outcome.result);
        let text =
            |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default().trim_end().to_owned();
        let exit = data.get("exitCode").or_else(|| data.get("exit_code")).and_then(Value::as_i64);
        if exit.is_none() {
            let why = outcome.failure.unwrap_or_else(|| "there was no result".into());
            self.says.push(format!("The code did not run: {why}"));
            return Ok(());
        }
        let (out, err) = (text("stdout"), text("stderr"));
        let mut says = Vec::new();
        if !out.is_empty() {
            says.push(format!("The code printed:\n```\n{}\n```", out.replace("```", "'''")));
        }
        if exit != Some(0) {
            says.push(format!("The code failed with exit code {}.", exit.unwrap_or_default()));
        }
        if !err.is_empty() {
            says.push(format!("On stderr:\n```\n{}\n```", err.replace("```", "'''")));
        }
        if says.is_empty() {
            says.push("The code ended well and printed nothing.".into());
        }
        self.says.push(says.join("\n"));
        Ok(())
    }

    pub(super) fn ask(&mut self, question: Option<String>) -> Result<(), Needs> {
        if self.bindings.tool("request-human-input").is_none() {
            self.lacks("put questions to other people");
            return Ok(());
        }
        let Some(question) = question else {
            self.ask_for("What shall the question be?", Question::Words);
            return Ok(());
        };
        if let Some(answer) = self.asked_person(&question)? {
            self.says.push(format!("The answer is {}.", say::quoted(&answer)));
        }
        Ok(())
    }

    /// Puts a question by the tool for it; `None` if that failed, which was said.
    fn asked_person(&mut self, question: &str) -> Result<Option<String>, Needs> {
        let mut fields = Map::new();
        fields.insert("question".into(), question.to_owned().into());
        let Some(call) = self.bindings.call("request-human-input", fields) else { return Ok(None) };
        let outcome = self.result(call)?;
        if outcome.waiting {
            return Ok(None);
        }
        if let Some(why) = outcome.failure {
            self.says.push(format!("The question got no answer: {why}"));
            return Ok(None);
        }
        let data = outcome.result.get("data").filter(|data| data.is_object()).unwrap_or(outcome.result);
        Ok(data.get("answer").and_then(Value::as_str).map(str::to_owned))
    }

    pub(super) fn talk(&mut self, talk: SmallTalk) -> Result<(), Needs> {
        // Where there are no tasks to speak of, the tool for questions is the way to ask.
        if talk == SmallTalk::Vague
            && !self.bindings.keeps_tasks()
            && self.bindings.tool("request-human-input").is_some()
        {
            let Some(answer) = self.asked_person("I need to know more: what exactly shall I do?")? else {
                return Ok(());
            };
            let said = Utterance::new(&answer);
            if !said.is_whole {
                self.says.push(say::too_long());
                return Ok(());
            }
            let heard = read::wishes(&said, &Tagged::unread_by_it(&answer), &self.here);
            for one in heard {
                match one.wish {
                    Wish::SmallTalk(SmallTalk::Vague) => {
                        let text = self.words_for(SmallTalk::Unknown);
                        self.says.push(text);
                    }
                    wish => self.wish(wish)?,
                }
            }
            return Ok(());
        }
        let text = self.words_for(talk);
        self.says.push(text);
        Ok(())
    }

    fn words_for(&mut self, talk: SmallTalk) -> String {
        let has = |canonical: &str| self.bindings.tool(canonical).is_some();
        let help = say::help(
            self.bindings.keeps_tasks(),
            has("search-web"),
            has("execute-code"),
            has("request-human-input"),
        );
        let is_known = self.memory.told_abilities;
        self.memory.told_abilities |= matches!(
            talk,
            SmallTalk::Help
                | SmallTalk::Identity
                | SmallTalk::HowTo
                | SmallTalk::Knowledge
                | SmallTalk::Unknown
        );
        say::talk(talk, &help, is_known, &self.here)
    }

    /// Calls a tool that was named, if its parameters can be read out of the words.
    pub(super) fn call_named(&mut self, name: &str, words: &str) -> Result<(), Needs> {
        let Some(tool) = self.bindings.tools.iter().find(|tool| tool.name == name) else { return Ok(()) };
        let given = parameters(tool, words);
        self.call_with(name, given)
    }

    pub(super) fn call_with(&mut self, name: &str, given: Map<String, Value>) -> Result<(), Needs> {
        let Some(tool) = self.bindings.tools.iter().find(|tool| tool.name == name) else { return Ok(()) };
        let required =
            tool.parameters.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let missing = required.iter().filter_map(Value::as_str).find(|field| !given.contains_key(*field));
        if let Some(field) = missing {
            let about = tool
                .parameters
                .get("properties")
                .and_then(|fields| fields.get(field)?.get("description")?.as_str());
            let about = about.map(|about| format!(" ({})", say::quoted(about))).unwrap_or_default();
            self.ask_for(
                &format!("What value should \u{201c}{field}\u{201d}{about} have for {}?", tool.name),
                Question::Parameter(name.to_owned(), given, field.to_owned()),
            );
            return Ok(());
        }
        let outcome = self.result(Call { name: name.to_owned(), arguments: Value::Object(given) })?;
        if outcome.waiting {
            return Ok(());
        }
        let text = match outcome.failure {
            Some(why) => format!("{} did not work: {why}", tool.name),
            None => {
                let data = outcome.result.get("data").unwrap_or(outcome.result);
                let shown: String = data
                    .as_str()
                    .map_or_else(|| data.to_string(), str::to_owned)
                    .chars()
                    .take(2000)
                    .collect();
                format!("{} answers:\n```\n{}\n```", tool.name, shown.replace("```", "'''"))
            }
        };
        self.says.push(text);
        Ok(())
    }
}

/// A tool of the catalogue that is called by its name: "run word_count with text=hello".
pub(super) fn named_tool(bindings: ToolBindings<'_>, text: &str, heard: &Heard) -> Option<Wish> {
    let strong = heard.strength == Strength::Strong
        && !matches!(heard.wish, Wish::SmallTalk(_) | Wish::Search(_) | Wish::Run(_) | Wish::Ask(_));
    if strong
        || matches!(
            heard.wish,
            Wish::SmallTalk(
                SmallTalk::Leave | SmallTalk::Hypothetical | SmallTalk::HowTo | SmallTalk::Cancel
            )
        )
    {
        return None;
    }
    // Only ASCII: what follows the name is cut from the text itself, so lengths must stay as they are.
    let low = text.to_ascii_lowercase();
    let mut named = bindings.tools.iter().filter(|tool| {
        toolroom_selection::Family::of(&tool.canonical).is_none()
            && (tool.name.contains(['_', '-']) || tool.name.len() > 6)
    });
    let tool = named.find(|tool| {
        let name = tool.name.to_lowercase();
        let spaced = name.replace(['_', '-'], " ");
        mentions(&low, &name) || spaced.contains(' ') && mentions(&low, &spaced)
    })?;
    let name = tool.name.to_lowercase();
    let spaced = name.replace(['_', '-'], " ");
    let at = low
        .find(&name)
        .map(|at| at + name.len())
        .or_else(|| low.find(&spaced).map(|at| at + spaced.len()))?;
    Some(Wish::Call(tool.name.clone(), text.get(at..).unwrap_or_default().to_owned()))
}

fn mentions(text: &str, name: &str) -> bool {
    let Some(at) = text.find(name) else { return false };
    let part = |c: char| c.is_alphanumeric() || c == '_';
    !text.get(..at).is_some_and(|before| before.ends_with(part))
        && !text.get(at + name.len()..).is_some_and(|after| after.starts_with(part))
}

/// Parameters in words: JSON, `name=value` or `name: value`, or the rest for a single required text.
fn parameters(tool: &ToolSpec, words: &str) -> Map<String, Value> {
    if let (Some(start), Some(end)) = (words.find('{'), words.rfind('}'))
        && let Some(Ok(Value::Object(given))) = words.get(start..=end).map(serde_json::from_str::<Value>)
    {
        return given.into_iter().filter(|(name, _)| has(tool, name)).collect();
    }
    let said = Utterance::new(words);
    let mut given = Map::new();
    let fields: Vec<&String> = tool
        .parameters
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
        .collect();
    for (at, word) in said.words.iter().enumerate() {
        let raw = words.get(word.place.clone()).unwrap_or_default();
        let pair = raw.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let next = || {
            let value = said
                .words
                .get(at + 2)
                .filter(|_| said.words.get(at + 1).is_some_and(|sign| sign.low == ":"))?;
            Some((raw.to_owned(), words.get(value.inner.clone())?.to_owned()))
        };
        if let Some((name, value)) = pair.or_else(next)
            && let Some(field) = fields.iter().find(|field| field.eq_ignore_ascii_case(&name))
            && !value.is_empty()
        {
            given.insert((*field).clone(), typed(tool, field, value.trim_matches(['"', '\''])));
        }
    }
    let required: Vec<&str> = tool
        .parameters
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let (true, [only]) = (given.is_empty(), required.as_slice()) {
        let rest = words.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '-'));
        let rest = ["tool ", "with ", "on ", "for ", "of ", "to "]
            .iter()
            .fold(rest, |rest, lead| rest.strip_prefix(lead).unwrap_or(rest));
        let rest = strip_field(rest, only);
        let rest = rest.trim().trim_matches(['"', '\'', '\u{201c}', '\u{201d}']);
        if !rest.is_empty() && !matches!(rest.to_lowercase().as_str(), "tool" | "please" | "now" | "?" | ".")
        {
            given.insert((*only).to_owned(), typed(tool, only, rest));
        }
    }
    given
}

/// "name Ada" without the name of the field.
fn strip_field<'a>(text: &'a str, field: &str) -> &'a str {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    if first.eq_ignore_ascii_case(field) && !rest.trim().is_empty() { rest } else { text }
}

/// A value of the type that the tool wants.
pub(super) fn typed(tool: &ToolSpec, field: &str, said: &str) -> Value {
    let kind = tool.parameters.get("properties").and_then(|fields| fields.get(field)?.get("type")?.as_str());
    let number =
        || said.parse::<i64>().ok().map(Value::from).or_else(|| said.parse::<f64>().ok().map(Value::from));
    match kind {
        Some("integer" | "number") => number().unwrap_or_else(|| said.into()),
        Some("boolean") => matches!(said.to_lowercase().as_str(), "true" | "yes" | "on").into(),
        Some("array") => said.split(',').map(|part| Value::from(part.trim())).collect(),
        _ => said.into(),
    }
}
