//! What a script answered, as the pipeline knows it: data, content and hints.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use toolroom_contract::hints::{
    Alternative, Dependency, PreferenceAlignment, RelatedResource, RiskFactor, ValidityPeriod, Warning,
};
use toolroom_contract::{Answer, Content, HintsDraft, SuggestedAction};
use toolroom_worker::{Block, Media, Output};

use crate::journal::Secrets;

/// The answer without the secrets that the script was given; an error says which of the hints is wrong.
pub(super) fn of(mut output: Output, secrets: &Secrets) -> Result<Answer, String> {
    if !secrets.is_empty() {
        output.data = secrets.hide_in(&output.data);
        output.hints = output.hints.map(|hints| secrets.hide_in(&hints));
        for block in &mut output.content {
            match block {
                Block::Text(text) => *text = secrets.hide(text).into_owned(),
                Block::Media { name, data, .. } => {
                    *name = name.take().map(|name| secrets.hide(&name).into_owned());
                    hide_in_bytes(data, secrets);
                }
            }
        }
    }
    let hints = output.hints.map(hints).transpose()?.unwrap_or_default();
    let content = (!output.content.is_empty()).then(|| Arc::new(content(&output.data, &output.content)));
    Ok(Answer { data: output.data, hints, content })
}

/// Hides secrets in the bytes of a text. Others stay as they are: a changed picture or archive would be a broken one.
fn hide_in_bytes(data: &mut String, secrets: &Secrets) {
    let Ok(bytes) = STANDARD.decode(data.as_bytes()) else { return };
    let Ok(text) = str::from_utf8(&bytes) else { return };
    let hidden = secrets.hide(text);
    if hidden != text {
        *data = STANDARD.encode(&*hidden);
    }
}

/// The blocks, after a text with the data: a client that shows blocks shows nothing else.
fn content(data: &Value, blocks: &[Block]) -> Content {
    let names_blocks = data.as_object().is_some_and(|data| data.len() == 1 && data.contains_key("content"));
    let text = (!names_blocks).then(|| match data {
        Value::String(text) => text.clone(),
        data => data.to_string(),
    });
    let text = text.map(|text| json!({ "type": "text", "text": text }));
    let blocks: Vec<Value> = text.into_iter().chain(blocks.iter().map(block)).collect();
    Content::of(&blocks)
}

fn block(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Media { kind: Media::Image, mime_type, data, .. } => {
            json!({ "type": "image", "data": data, "mimeType": mime_type })
        }
        Block::Media { kind: Media::Audio, mime_type, data, .. } => {
            json!({ "type": "audio", "data": data, "mimeType": mime_type })
        }
        Block::Media { kind: Media::File, mime_type, name, data } => {
            let uri = format!("file:///{}", path_segment(name.as_deref().unwrap_or("file")));
            json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime_type, "blob": data } })
        }
    }
}

/// A file's name, as a URI has it.
fn path_segment(name: &str) -> String {
    let mut segment = String::new();
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => segment.push(byte.into()),
            other => segment.push_str(&format!("%{other:02X}")),
        }
    }
    segment
}

/// The hints that an author may give. Where they say nothing, the computed ones stand.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
struct AuthorHints {
    suggested_next_actions: Vec<SuggestedAction>,
    related_resources: Vec<RelatedResource>,
    confidence: Option<f64>,
    validity_period: Option<ValidityPeriod>,
    context_needed: Vec<String>,
    assumptions: Vec<String>,
    risk_factors: Vec<RiskFactor>,
    dependencies: Vec<Dependency>,
    preference_alignment: Vec<PreferenceAlignment>,
    reasoning: Option<String>,
    warnings: Vec<Warning>,
    alternatives: Vec<Alternative>,
    constraints: Vec<String>,
}

fn hints(given: Value) -> Result<HintsDraft, String> {
    let given: AuthorHints = serde_path_to_error::deserialize(&given)
        .map_err(|error| format!("agentHints.{}: {}", error.path(), error.inner()))?;
    let within = |value: f64, low: f64| (low..=1.0).contains(&value);
    let in_range = given.confidence.is_none_or(|value| within(value, 0.0))
        && given
            .suggested_next_actions
            .iter()
            .all(|one| one.confidence.is_none_or(|value| within(value, 0.0)))
        && given.related_resources.iter().all(|one| within(one.relevance, 0.0))
        && given.risk_factors.iter().all(|one| within(one.probability, 0.0) && within(one.impact, 0.0))
        && given.preference_alignment.iter().all(|one| within(one.score, -1.0))
        && given.alternatives.iter().all(|one| within(one.confidence, 0.0));
    if !in_range {
        return Err("agentHints: a number is not between 0 and 1".to_owned());
    }
    Ok(HintsDraft {
        next: given.suggested_next_actions,
        related: given.related_resources,
        warnings: given.warnings,
        context_needed: given.context_needed,
        assumptions: given.assumptions,
        risks: given.risk_factors,
        dependencies: given.dependencies,
        alignment: given.preference_alignment,
        alternatives: given.alternatives,
        constraints: given.constraints,
        reasoning: given.reasoning,
        validity: given.validity_period,
        // Evidence like any other: it can lower the computed confidence, and not raise it.
        matched: given.confidence,
        complete: None,
    })
}
