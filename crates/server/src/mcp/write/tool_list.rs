//! Tools as clients are shown them. Rendered once per catalogue, profile, grants and revision.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use moka::sync::Cache;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolroom_contract::spelling;
use toolroom_mcp::{Annotations, Code, HeaderParam, Revision, RpcError, Tool, without_header_params};
use toolroom_runtime::catalogue::Shown;

use crate::app::App;
use crate::mcp::caller::Caller;

/// The tools of one caller, in order.
pub(crate) struct Listing {
    pub(crate) tools: Vec<Listed>,
}

/// One tool, as text.
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) text: Box<RawValue>,
}

/// Lists that were asked for lately.
pub(crate) struct Listings(Cache<String, Arc<Listing>>);

/// Catalogues times grants times revisions that are in use at once.
const MOST_KEPT: u64 = 256;
/// What every client passes on to its model without cutting it.
const LONGEST_DESCRIPTION: usize = 1023;

impl Default for Listings {
    fn default() -> Self {
        Self(Cache::new(MOST_KEPT))
    }
}

impl Listings {
    /// What this caller may use under the profile.
    pub(crate) fn of(
        &self,
        app: &App,
        caller: &Caller,
        revision: Revision,
    ) -> Result<Arc<Listing>, RpcError> {
        let snapshot = app.runtime.registry.snapshot();
        let grants: Vec<String> = caller.principal.grants.iter().map(ToString::to_string).collect();
        let today = app.runtime.today();
        let missing = || RpcError::new(Code::Internal, "The profile was removed.");
        let view = snapshot.view(&caller.principal, &caller.profile, today).ok_or_else(missing)?;
        let key = format!("{}|{}|{revision}|{today}|{}", snapshot.version, caller.profile, grants.join(","));
        if let Some(listing) = self.0.get(&key) {
            return Ok(listing);
        }
        let index = app.mcp.indexes.of(&snapshot);
        let aliases = &index.profile(&caller.profile).ok_or_else(missing)?.aliases;
        let tools = view
            .listed()
            .filter_map(|shown| {
                let name = aliases.show(shown.name).to_owned();
                let text = serde_json::value::to_raw_value(&tool(
                    &shown,
                    &name,
                    view.profile.requires_approval,
                    revision,
                ))
                .ok()?;
                Some(Listed { name, text })
            })
            .collect();
        let listing = Arc::new(Listing { tools });
        self.0.insert(key, Arc::clone(&listing));
        Ok(listing)
    }
}

/// The caller's own list, as a hash.
pub(crate) fn fingerprint(app: &App, caller: &Caller, revision: Revision) -> Result<blake3::Hash, RpcError> {
    let listing = app.mcp.listings.of(app, caller, revision)?;
    let mut hasher = blake3::Hasher::new();
    for tool in &listing.tools {
        hasher.update(tool.text.get().as_bytes());
    }
    Ok(hasher.finalize())
}

impl Listing {
    /// Where to go on after this tool.
    pub(crate) fn cursor(&self, last: &Listed) -> String {
        BASE64.encode(&last.name)
    }

    /// Where a cursor points to, also if its tool is gone by now.
    pub(crate) fn after(&self, cursor: &str) -> Option<usize> {
        let name = String::from_utf8(BASE64.decode(cursor).ok()?).ok()?;
        let found = self.tools.iter().position(|tool| tool.name == name);
        Some(found.map_or_else(|| self.tools.partition_point(|tool| tool.name <= name), |at| at + 1))
    }
}

fn tool(shown: &Shown<'_>, name: &str, requires_approval: bool, revision: Revision) -> Tool {
    let title = title(shown.name);
    Tool {
        name: name.to_owned(),
        description: Some(description(shown, requires_approval)),
        input_schema: Some(input_schema(shown.parameters)),
        output_schema: output_schema(shown).filter(|_| revision.has_structure()),
        // The title stands once: older revisions have it here.
        annotations: revision.has_annotations().then(|| {
            let title = (!revision.has_structure()).then(|| title.clone());
            Annotations::of(title, &shown.tool.policy)
        }),
        // Few words: the name says the same.
        title: Some(title).filter(|_| revision.has_structure() && !shown.is_plain()),
    }
}

/// What a model must know comes first: whatever is cut off is cut off at the end.
fn description(shown: &Shown<'_>, requires_approval: bool) -> String {
    let definition = shown.definition();
    let mut text = String::new();
    if let Some(deprecated) = &definition.deprecated {
        text.push_str(&format!("Deprecated: use '{}' instead. ", deprecated.replacement));
    }
    if requires_approval && shown.tool.policy.needs_approval {
        text.push_str("A person must agree to each call. ");
    }
    text.push_str(shown.description.trim());
    if text.chars().count() <= LONGEST_DESCRIPTION {
        return text;
    }
    let cut: String = text.chars().take(LONGEST_DESCRIPTION - 1).collect();
    let end = cut.rfind(char::is_whitespace).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end())
}

/// `create-task` is "Create task" to people.
fn title(name: &str) -> String {
    let words = name.split(['-', '_', '.']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut letters = words.chars();
    letters.next().map_or_else(|| name.to_owned(), |first| first.to_uppercase().chain(letters).collect())
}

/// Header annotations that clients would drop the whole tool for are left out.
fn input_schema(parameters: &Value) -> Value {
    let schema = parameters.clone();
    if HeaderParam::of_schema(&schema).is_ok() { schema } else { without_header_params(schema) }
}

/// What a profile shows of its answers; of the canonical ones, the fields of their data. The contract has the rest.
fn output_schema(shown: &Shown<'_>) -> Option<Value> {
    if let Some(binding) = shown.bound.and_then(|bound| bound.binding()) {
        return binding.plain.as_ref()?.output_schema.clone();
    }
    let data = spelling::outline(shown.definition().output.as_ref()?);
    Some(json!({ "type": "object", "properties": { "data": data }, "required": ["agentHints", "metadata"] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_words() {
        assert_eq!(title("greet-user"), "Greet user");
        assert_eq!(title("github__list_issues"), "Github list issues");
        assert_eq!(title("…"), "…");
    }
}
