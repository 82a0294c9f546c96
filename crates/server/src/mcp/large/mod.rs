//! Results that are too long for a model: it gets a preview, and the whole is kept for a while as a resource that it
//! can read by page or by JSON pointer. Where several servers share a database, it is a parcel, which all of them read.
//!
//! | file | what is there |
//! | --- | --- |
//! | `parcel` | the whole as a parcel |
//! | `preview` | a shorter JSON of the same shape, and what was left out |
//! | `pages` | the whole, in parts |

mod pages;
mod parcel;
mod preview;

use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;
use serde::Serialize;
use serde_json::{Value, json};
use toolroom_mcp::content::RESOURCE_LINK;
use uuid::Uuid;

use super::caller::{Owner, Visitor};
use super::read::request::Request;
use super::sources::{Answering, Contents, Resource, ResourceTemplate, Source, SourceError, ready};

const PREFIX: &str = "toolroom://results/";
const TEMPLATE: &str = "toolroom://results/{id}{?page,pointer}";
const KEPT: Duration = Duration::from_secs(3600);
/// All kept results together.
const MOST_BYTES: u64 = 64 << 20;
/// What a client may ask for instead of the server's own budget.
const BUDGETS: std::ops::RangeInclusive<usize> = 1_000..=1_000_000;

/// The whole results, each for its caller alone.
pub(crate) struct LargeResults {
    kept: Cache<String, Arc<Kept>>,
    budget: usize,
}

struct Kept {
    owner: Owner,
    tool: String,
    text: String,
    json: bool,
    /// Characters on a page.
    page: usize,
}

/// What stands instead of a result that is too long.
pub(crate) struct Abridged {
    /// For the model.
    pub(crate) text: String,
    /// Where the whole is.
    pub(crate) whole: Whole,
}

/// The whole, as results point to it.
#[derive(Serialize)]
pub(crate) struct Whole {
    pub(crate) uri: String,
    characters: usize,
    pages: usize,
    #[serde(skip)]
    bytes: usize,
    #[serde(skip)]
    tool: String,
    #[serde(skip)]
    json: bool,
}

impl Whole {
    /// A block of content that leads there.
    pub(crate) fn link(&self) -> Value {
        json!({
            "type": RESOURCE_LINK,
            "uri": self.uri,
            "name": format!("result of {}", self.tool),
            "description": "The whole result. Add ?page=1 or ?pointer=/a/json/pointer to read a part.",
            "mimeType": mime(self.json),
            "size": self.bytes,
        })
    }
}

impl LargeResults {
    /// `budget` is the characters of text that a result may have.
    pub(crate) fn new(budget: usize) -> Self {
        let kept = Cache::builder()
            .weigher(|id: &String, kept: &Arc<Kept>| {
                u32::try_from(id.len() + kept.tool.len() + kept.text.len() + 256).unwrap_or(u32::MAX)
            })
            .max_capacity(MOST_BYTES)
            .time_to_live(KEPT)
            .build();
        Self { kept, budget }
    }

    /// The characters that this request's results may have.
    pub(crate) fn budget(&self, request: &Request<'_>) -> usize {
        match request.meta.text_budget {
            Some(wished) => wished.clamp(*BUDGETS.start(), *BUDGETS.end()),
            None => self.budget,
        }
    }

    /// Keeps a text that is longer than the budget; `None` if it is not.
    pub(crate) async fn abridge(&self, request: &Request<'_>, tool: &str, text: &str) -> Option<Abridged> {
        let budget = self.budget(request);
        // Most are far below it, and need not be counted.
        if text.len() <= budget || text.chars().count() <= budget {
            return None;
        }
        let document: Option<Value> = serde_json::from_str(text).ok();
        let whole = self.keep(request, tool, text, document.is_some(), budget).await;
        let text = match &document {
            Some(document) => preview::of_json(document, budget / 2, &whole),
            None => preview::of_text(text, budget / 2, &whole),
        };
        Some(Abridged { text, whole })
    }

    async fn keep(&self, request: &Request<'_>, tool: &str, text: &str, json: bool, page: usize) -> Whole {
        let id = Uuid::new_v4().simple().to_string();
        let characters = text.chars().count();
        let whole = Whole {
            uri: format!("{PREFIX}{id}"),
            characters,
            pages: characters.div_ceil(page),
            bytes: text.len(),
            tool: tool.to_owned(),
            json,
        };
        let owner = Owner::of(&request.caller.principal);
        let kept = Kept { owner, tool: tool.to_owned(), text: text.to_owned(), json, page };
        let store = &request.app.runtime.store;
        if store.lease().is_some()
            && let Err(error) = parcel::put(store, &id, &kept).await
        {
            tracing::warn!(%error, tool, "a long result can be read at this server only");
        }
        self.kept.insert(id, Arc::new(kept));
        whole
    }

    async fn find(&self, visitor: Visitor<'_>, id: &str) -> Result<Option<Arc<Kept>>, SourceError> {
        let owner = Owner::of(visitor.principal);
        match self.kept.get(id) {
            Some(kept) => Ok(Some(kept).filter(|kept| kept.owner == owner)),
            None => parcel::get(&visitor.app.runtime.store, id, owner).await.map(|found| found.map(Arc::new)),
        }
    }

    fn listed_here(&self, owner: &Owner) -> Vec<Resource> {
        let theirs = self.kept.iter().filter(|(_, kept)| kept.owner == *owner);
        theirs.map(|(id, kept)| listed(&id, &kept.tool, kept.json, kept.text.len() as u64)).collect()
    }
}

fn listed(id: &str, tool: &str, json: bool, size: u64) -> Resource {
    Resource {
        more: Default::default(),
        uri: format!("{PREFIX}{id}"),
        name: format!("result of {tool}"),
        title: None,
        description: Some("A result that was too long to be shown whole; kept for an hour.".into()),
        mime_type: Some(mime(json).into()),
        size: Some(size),
    }
}

fn mime(json: bool) -> &'static str {
    if json { "application/json" } else { "text/plain" }
}

impl Source for LargeResults {
    fn resources<'a>(&'a self, visitor: Visitor<'a>) -> Answering<'a, Vec<Resource>> {
        let (owner, store) = (Owner::of(visitor.principal), &visitor.app.runtime.store);
        match store.lease() {
            None => ready(self.listed_here(&owner)),
            Some(_) => Box::pin(async move { parcel::list(store, &owner).await }),
        }
    }

    fn templates(&self, _: Visitor<'_>) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
more: Default::default(),
            uri_template: TEMPLATE.into(),
            name: "result".into(),
            title: None,
            description: Some(
                "A result that was too long to be shown whole: all of it, one page (from 1), or what a JSON pointer \
                 points to."
                    .into(),
            ),
            mime_type: None,
        }]
    }

    fn read<'a>(&'a self, visitor: Visitor<'a>, uri: &'a str) -> Answering<'a, Option<Vec<Contents>>> {
        let Some(rest) = uri.strip_prefix(PREFIX) else { return ready(None) };
        let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
        Box::pin(async move {
            let Some(kept) = self.find(visitor, id).await? else { return Ok(None) };
            let read = pages::Part::parse(query)
                .and_then(|part| part.of(uri, &kept.text, kept.json, kept.page))
                .map_err(SourceError::Refused);
            read.map(|contents| Some(vec![contents]))
        })
    }
}
