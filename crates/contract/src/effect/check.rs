//! Whether an effect makes sense, before anybody relies on it.

use super::template::{NAMES, parse, sources};
use super::{Effect, EffectKind, Target};
use crate::definition::{Argument, Category, ToolDefinition};

/// Checks what a definition says of its effect; the message names the field.
pub fn check(definition: &ToolDefinition) -> Result<(), String> {
    let Some(effect) = &definition.effect else { return Ok(()) };
    let wrong = |field: &str, why: &str| Err(format!("effect/{field}: {why}"));
    let changes = definition.category == Category::Mutation;
    if changes == (effect.kind == EffectKind::None) {
        return wrong("kind", "is \"none\" for tools that change nothing, and for no others");
    }
    if effect.shows.is_some() && changes {
        return wrong("shows", "only a tool that changes nothing shows its targets");
    }
    if effect.also.len() > 8 || effect.also.contains(&EffectKind::None) {
        return wrong("also", "names at most 8 kinds of change");
    }
    if let Some(target) = &effect.target {
        self::target(target).map_err(|why| format!("effect/target/{why}"))?;
    }
    if let Some(each) = &effect.each {
        pointer(each, &["data"]).map_err(|why| format!("effect/each: {why}"))?;
    }
    templates(effect)?;
    let Some(undo) = &effect.undo else { return Ok(()) };
    let is_name = (1..=64).contains(&undo.tool.len())
        && !undo.tool.contains(|c: char| c.is_whitespace() || c.is_control());
    if !is_name || undo.tool == definition.name {
        return wrong("undo/tool", "must name another tool");
    }
    for argument in undo.arguments.values() {
        if let Argument::From(from) = argument {
            pointer(from, &["params", "data"]).map_err(|why| format!("effect/undo/arguments: {why}"))?;
        }
    }
    Ok(())
}

fn target(target: &Target) -> Result<(), String> {
    let noun = |noun: &String| {
        (1..=40).contains(&noun.len()) && noun.chars().all(|letter| letter.is_lowercase() || letter == '-')
    };
    let field = |name: &str| (1..=64).contains(&name.len());
    if !(1..=8).contains(&target.nouns.len()) || !target.nouns.iter().all(noun) {
        return Err("nouns: 1 to 8 words in lower case, of at most 40 letters".to_owned());
    }
    if !field(&target.id) || !target.title.as_deref().is_none_or(field) {
        return Err("id: id and title name a field of 1 to 64 letters".to_owned());
    }
    if target.at.len() > 8 {
        return Err("at: at most 8 pointers".to_owned());
    }
    target.at.iter().try_for_each(|at| pointer(at, &["params", "data"]).map_err(|why| format!("at: {why}")))
}

fn templates(effect: &Effect) -> Result<(), String> {
    const MOST: usize = 8;
    let roots: &[&str] =
        if effect.each.is_some() { &["params", "data", "item"] } else { &["params", "data"] };
    let lists = [("question", &effect.question), ("receipt", &effect.receipt)];
    let words = effect.words.iter().map(|(word, templates)| (word.as_str(), templates));
    if effect.words.len() > 32 {
        return Err("effect/words: at most 32 words".to_owned());
    }
    for (field, list) in lists.into_iter().chain(words) {
        if list.len() > MOST {
            return Err(format!("effect/{field}: at most {MOST} templates"));
        }
        for template in list {
            let parts = parse(template).map_err(|why| format!("effect/{field}: {why}"))?;
            for source in sources(&parts) {
                let fits = if NAMES.contains(&source) { Ok(()) } else { pointer(source, roots) };
                fits.map_err(|why| format!("effect/{field}: {why}"))?;
            }
        }
    }
    Ok(())
}

/// A JSON pointer that begins with one of these.
fn pointer(text: &str, roots: &[&str]) -> Result<(), String> {
    let wrong = || Err(format!("'{text}' must be a JSON pointer that begins with /{}", roots.join(" or /")));
    let Some(path) = text.strip_prefix('/').filter(|_| text.len() <= 200) else { return wrong() };
    let escaped = |key: &str| key.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    let root = path.split('/').next().unwrap_or_default();
    if roots.contains(&root) && path.split('/').all(escaped) { Ok(()) } else { wrong() }
}
