//! What a caller is shown of prompts and resources, as hashes: a change that they do not see is none.

use std::collections::BTreeMap;

use serde::Serialize;
use toolroom_mcp::method::notification;

use super::sources::{News, Visitor};

/// What there is to tell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    Prompts,
    Resources,
    /// What is behind this address.
    Updated(String),
}

impl Told {
    /// The notification that says so.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Told::Prompts => notification::PROMPTS_CHANGED,
            Told::Resources => notification::RESOURCES_CHANGED,
            Told::Updated(_) => notification::RESOURCE_UPDATED,
        }
    }

    pub(crate) fn uri(&self) -> Option<&str> {
        match self {
            Told::Updated(uri) => Some(uri),
            Told::Prompts | Told::Resources => None,
        }
    }
}

/// What a listener has seen.
#[derive(Default)]
pub(crate) struct Seen {
    prompts: Option<blake3::Hash>,
    resources: Option<blake3::Hash>,
    contents: BTreeMap<String, Option<blake3::Hash>>,
}

impl Seen {
    /// Everything as it is now, with what is behind these addresses.
    pub(crate) async fn now(visitor: Visitor<'_>, uris: &[String]) -> Self {
        let sources = &visitor.app.mcp.sources;
        let mut contents = BTreeMap::new();
        for uri in uris {
            let found = sources.read(visitor, uri).await.ok().flatten();
            contents.insert(uri.clone(), found.map(|found| hash(&found)));
        }
        Self {
            prompts: sources.prompts(visitor).await.ok().map(|all| hash(&all)),
            resources: sources.resources(visitor).await.ok().map(|all| hash(&all)),
            contents,
        }
    }

    /// What is other than it was. An address that was not watched before is no news.
    pub(crate) async fn update(&mut self, visitor: Visitor<'_>, uris: &[String]) -> Vec<Told> {
        let now = Self::now(visitor, uris).await;
        let mut told = Vec::new();
        if now.prompts != self.prompts {
            told.push(Told::Prompts);
        }
        if now.resources != self.resources {
            told.push(Told::Resources);
        }
        for (uri, hash) in &now.contents {
            if self.contents.get(uri).is_some_and(|before| before != hash) {
                told.push(Told::Updated(uri.clone()));
            }
        }
        *self = now;
        told
    }

    /// What the news are to this listener. News that were missed are found by comparing.
    pub(crate) async fn hear(
        &mut self,
        news: Option<News>,
        visitor: Visitor<'_>,
        uris: &[String],
    ) -> Vec<Told> {
        match news {
            Some(News::Task(_)) => Vec::new(),
            Some(News::Resource(uri)) if uris.iter().any(|watched| **watched == *uri) => {
                vec![Told::Updated(uri.to_string())]
            }
            Some(News::Resource(_)) => Vec::new(),
            Some(News::Lists) | None => self.update(visitor, uris).await,
        }
    }
}

fn hash(value: &impl Serialize) -> blake3::Hash {
    blake3::hash(&serde_json::to_vec(value).unwrap_or_default())
}
