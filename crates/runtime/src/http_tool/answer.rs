//! What a web service answered, as the pipeline knows it: JSON as it is, text as text, anything else as a file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_TYPE, LINK};
use serde_json::{Value, json};
use toolroom_contract::error::Outcome;
use toolroom_contract::exact;
use toolroom_contract::http_request::{HttpPlace, HttpRequest};
use toolroom_contract::{Answer, ErrorCode, HintsDraft, Priority, SuggestedAction, ToolError};
use toolroom_outgoing::{Reply, Url};

use crate::catalogue::Tool;
use crate::journal::Secrets;

/// The answer, without the secrets that the request had.
pub(super) fn of(
    tool: &Tool,
    request: &HttpRequest,
    secrets: &Secrets,
    reply: &Reply,
) -> Result<Answer, ToolError> {
    let hints = match next_page(tool, request, reply) {
        Some(next) => HintsDraft::default().next(next),
        None => HintsDraft::default(),
    };
    let kind = kind(reply);
    if reply.body.is_empty() {
        return Ok(Answer::new(json!({ "status": reply.status.as_u16() }))?.with_hints(hints));
    }
    if kind.is_empty() || kind == "application/json" || kind.ends_with("+json") {
        let text = String::from_utf8_lossy(&reply.body);
        let read = serde_json::from_slice::<Value>(&reply.body);
        if read.is_ok()
            && let Some(found) = exact::oversized_integer(&text)
        {
            let message = format!(
                "The service's answer to '{}' has an integer of more than 64 bits at '{}', which would lose digits.",
                tool.name(),
                secrets.hide(&found.pointer)
            );
            return Err(useless(tool, ToolError::new(ErrorCode::InvalidOutput, message)));
        }
        return match read {
            Ok(Value::Null) => Ok(Answer::new(json!({ "result": null }))?.with_hints(hints)),
            Ok(data) => Ok(Answer::new(secrets.hide_in(&data))?.with_hints(hints)),
            Err(error) => {
                let message =
                    format!("The service's answer to '{}' is not JSON, though it says so.", tool.name());
                Err(useless(tool, ToolError::new(ErrorCode::InvalidOutput, message).caused_by(error)))
            }
        };
    }
    if kind.starts_with("text/") || kind.ends_with("xml") || kind == "application/javascript" {
        let text = String::from_utf8_lossy(&reply.body);
        return Ok(Answer::new(json!({ "text": secrets.hide(&text) }))?.with_hints(hints));
    }
    let coded = STANDARD.encode(&reply.body);
    let block = match kind.split('/').next() {
        Some("image") => json!({ "type": "image", "data": coded, "mimeType": kind }),
        Some("audio") => json!({ "type": "audio", "data": coded, "mimeType": kind }),
        _ => {
            json!({ "type": "resource", "resource": { "uri": "file:///answer", "mimeType": kind, "blob": coded } })
        }
    };
    let data = json!({ "contentType": kind, "bytes": reply.body.len() });
    Ok(Answer::new(data)?.with_hints(hints).with_content(vec![block]))
}

/// The service has done what it does, though its answer is of no use.
fn useless(tool: &Tool, mut error: ToolError) -> ToolError {
    error.outcome = Some(Outcome::Applied).filter(|_| !tool.policy.read_only);
    error
}

/// The media type of an answer, in lower case and without its parameters.
pub(super) fn kind(reply: &Reply) -> String {
    let kind = reply.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The same call for the next page, if the answer names one.
fn next_page(tool: &Tool, request: &HttpRequest, reply: &Reply) -> Option<SuggestedAction> {
    let links = reply.headers.get(LINK)?.to_str().ok()?;
    let is_next = |link: &&str| {
        let parameters = link.split_once('>').map_or("", |(_, parameters)| parameters);
        parameters.split(';').any(|one| matches!(one.trim(), "rel=\"next\"" | "rel=next"))
    };
    let link = links.split(',').find(is_next)?;
    let address = link.trim().strip_prefix('<')?.split('>').next()?;
    let url = Url::parse(&request.server).ok()?.join(address).ok()?;
    let mut next = SuggestedAction::new(tool.name(), Priority::Medium).described("Read the next page");
    for (name, value) in url.query_pairs() {
        let is_it = |ours: &str, theirs: Option<&str>| theirs.unwrap_or(ours) == name;
        let field = request
            .fields
            .iter()
            .find(|(ours, field)| field.place == HttpPlace::Query && is_it(ours, field.name.as_deref()));
        if let Some((ours, _)) = field {
            let schema = tool.definition().parameters.pointer(&format!("/properties/{ours}/type")).cloned();
            let is_number = schema.is_some_and(|kind| kind.to_string().contains("\"integer\""));
            let value =
                value.parse::<i64>().ok().filter(|_| is_number).map_or_else(|| json!(value), Value::from);
            next = next.with(ours, value);
        }
    }
    next.data.is_some().then_some(next)
}
