//! The reply of a tool, as MCP carries it: text for the model, structured content, `_meta`.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeSeq, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use toolroom_contract::error::ErrorBody;
use toolroom_contract::hints::SpokenHints;
use toolroom_contract::result::Body;
use toolroom_contract::{AgentHints, Metadata, ToolResult};
use toolroom_mcp::Revision;
use toolroom_mcp::content::{BlockHead, COMPLETE, RESOURCE_LINK, TEXT};
use toolroom_profiles::Answers;
use toolroom_runtime::Reply;

use super::result::{self, PassedOn};
use crate::mcp::large::{Abridged, Whole};
use crate::mcp::read::request::Request;

#[derive(serde::Serialize)]
struct ResultMeta<'a> {
    #[serde(rename = "dev.toolroom/agentHints", skip_serializing_if = "Option::is_none")]
    agent_hints: Option<Hints<'a>>,
    #[serde(rename = "dev.toolroom/metadata", skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
    #[serde(flatten)]
    own: PassedOn<'a>,
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Hints<'a> {
    Whole(&'a AgentHints),
    /// Those that say something.
    Spoken(SpokenHints<'a>),
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(flatten)]
    own: PassedOn<'a>,
    content: Blocks<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Structured<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

/// The result of `tools/call`.
pub(crate) async fn render(reply: &Reply, request: &Request<'_>, tool: &str) -> Vec<u8> {
    let revision = request.client.revision;
    let shown = Content::of(reply, request, tool).await;
    let result = &reply.result;
    // What the tool's own server gave beside the blocks.
    let own = result.content.as_deref();
    let is_shaped = reply.published.is_some();
    let meta = ResultMeta {
        agent_hints: is_shaped.then(|| match reply.answers {
            Answers::Contract => Hints::Whole(&result.agent_hints),
            // Some clients hand this to their models too.
            Answers::Data { .. } => Hints::Spoken(result.agent_hints.spoken()),
        }),
        metadata: is_shaped.then_some(&result.metadata),
        own: PassedOn(own.map_or(&[], |own| &own.meta)),
    };
    let structured = revision.has_structure().then(|| Structured::of(reply, revision, shown.whole.first()));
    let body = CallResult {
        own: PassedOn(own.map_or(&[], |own| &own.fields)),
        content: Blocks { blocks: &shown.blocks, revision },
        structured_content: structured.flatten(),
        is_error: reply.failed(),
    };
    result::write(revision, COMPLETE, &meta, &body)
}

/// The blocks of a result, none longer than the caller's budget.
struct Content<'a> {
    blocks: Vec<Block<'a>>,
    /// Where the whole of what was abridged is.
    whole: Vec<Whole>,
}

impl<'a> Content<'a> {
    /// The tool's own blocks, where it answered with some; else one block of text.
    async fn of(reply: &'a Reply, request: &Request<'_>, tool: &str) -> Self {
        let large = &request.app.mcp.large;
        let mut content = Self { blocks: Vec::new(), whole: Vec::new() };
        match &reply.result.content {
            None => {
                let text = text(reply);
                match large.abridge(request, tool, &text).await {
                    None => content.blocks.push(Block::text(text)),
                    Some(abridged) => content.abridge(abridged),
                }
            }
            Some(own) => {
                for own in &own.blocks {
                    let head = BlockHead::of(own);
                    let abridged = match head.text() {
                        Some(said) => large.abridge(request, tool, said).await,
                        None => None,
                    };
                    match abridged {
                        None => content.blocks.push(Block { kind: head.kind(), body: BlockBody::Own(own) }),
                        Some(abridged) => content.abridge(abridged),
                    }
                }
            }
        }
        content
    }

    fn abridge(&mut self, abridged: Abridged) {
        self.blocks.push(Block::text(abridged.text));
        self.blocks.push(Block { kind: RESOURCE_LINK.into(), body: BlockBody::Link(abridged.whole.link()) });
        self.whole.push(abridged.whole);
    }
}

struct Block<'a> {
    kind: Cow<'a, str>,
    body: BlockBody<'a>,
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum BlockBody<'a> {
    Text {
        r#type: &'static str,
        text: String,
    },
    /// As the tool made it.
    Own(&'a RawValue),
    Link(Value),
}

impl Block<'_> {
    fn text(text: String) -> Self {
        Self { kind: TEXT.into(), body: BlockBody::Text { r#type: TEXT, text } }
    }
}

/// Those blocks that the revision knows.
struct Blocks<'a> {
    blocks: &'a [Block<'a>],
    revision: Revision,
}

impl Serialize for Blocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(None)?;
        for block in self.blocks.iter().filter(|block| self.revision.knows_block(&block.kind)) {
            items.serialize_element(&block.body)?;
        }
        items.end()
    }
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Structured<'a> {
    Published(&'a Value),
    Canonical(Canonical<'a>),
}

impl<'a> Structured<'a> {
    fn of(reply: &'a Reply, revision: Revision, whole: Option<&'a Whole>) -> Option<Self> {
        match &reply.published {
            Some(_) if reply.answers == (Answers::Data { structured: false }) => None,
            Some(published) if published.is_object() || revision.has_any_structure() => {
                Some(Self::Published(published))
            }
            Some(_) => None,
            None => Some(Self::Canonical(Canonical::of(&reply.result, whole))),
        }
    }
}

/// The canonical result.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Canonical<'a> {
    #[serde(flatten)]
    body: Outcome<'a>,
    agent_hints: &'a AgentHints,
    metadata: &'a Metadata,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
enum Outcome<'a> {
    /// Where the data can be read. Clients hand this to their models too, so it is not there twice.
    Whole(&'a Whole),
    Data(&'a Value),
    /// As another server wrote it.
    #[serde(rename = "data")]
    Text(&'a RawValue),
    Error(&'a ErrorBody),
}

impl<'a> Outcome<'a> {
    fn of(body: &'a Body) -> Self {
        match body {
            Body::Data(data) => Self::Data(data),
            Body::Error(error) => Self::Error(error),
        }
    }
}

impl<'a> Canonical<'a> {
    fn of(result: &'a ToolResult, whole: Option<&'a Whole>) -> Self {
        let text = result.content.as_ref().and_then(|content| content.data.as_deref());
        let body = match (Outcome::of(&result.body), whole, text) {
            (Outcome::Data(_), Some(whole), _) => Outcome::Whole(whole),
            (Outcome::Data(_), None, Some(text)) => Outcome::Text(text),
            (body, _, _) => body,
        };
        Self { body, agent_hints: &result.agent_hints, metadata: &result.metadata }
    }
}

/// What a model reads: the published answer, or the data with the hints that say something. Compact, and in
/// stable order, so that prompt caches hold.
pub(crate) fn text(reply: &Reply) -> String {
    #[derive(serde::Serialize)]
    struct Said<'a> {
        #[serde(flatten)]
        body: Outcome<'a>,
        #[serde(flatten)]
        hints: SpokenHints<'a>,
    }
    let said = match &reply.published {
        // Plain data that is a text is that text.
        Some(Value::String(text)) if matches!(reply.answers, Answers::Data { .. }) => Ok(text.clone()),
        Some(published) => serde_json::to_string(published),
        None => {
            let (body, hints) = (Outcome::of(&reply.result.body), reply.result.agent_hints.spoken());
            serde_json::to_string(&Said { body, hints })
        }
    };
    // Our own types have string keys: this cannot fail.
    said.unwrap_or_default()
}
