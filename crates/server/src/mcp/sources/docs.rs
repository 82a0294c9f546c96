//! The documentation that the binary carries, as resources.

use super::{Answering, Completes, Completing, Contents, Resource, ResourceTemplate, Source, Visitor, ready};

pub(super) struct Docs;

const PREFIX: &str = "toolroom://docs/";
const TEMPLATE: &str = "toolroom://docs/{name}";

/// Name, what it is about, text.
const PAGES: &[(&str, &str, &str)] = &[
    (
        "authoring",
        "Write tools as typed functions, in Python and TypeScript.",
        include_str!("../../../../../docs/authoring.md"),
    ),
    ("cards", "Flash cards with spaced repetition.", include_str!("../../../../../docs/cards.md")),
    (
        "chat",
        "Talk with your tools: models, streaming, confirmation.",
        include_str!("../../../../../docs/chat.md"),
    ),
    (
        "connect",
        "Put Toolroom into the settings of your MCP client.",
        include_str!("../../../../../docs/connect.md"),
    ),
    (
        "console",
        "The web console: logging in, approving, what each page is for.",
        include_str!("../../../../../docs/console.md"),
    ),
    (
        "contract",
        "What a tool declares, and what every answer holds.",
        include_str!("../../../../../docs/contract.md"),
    ),
    ("errors", "Every error code, and what to do about it.", include_str!("../../../../../docs/errors.md")),
    (
        "executor",
        "Scripts as tools: entries, limits, registration, the built-in tools.",
        include_str!("../../../../../docs/executor.md"),
    ),
    (
        "federation",
        "Other MCP servers as part of the catalogue.",
        include_str!("../../../../../docs/federation.md"),
    ),
    (
        "first-tool",
        "Turn a script into a tool in five minutes.",
        include_str!("../../../../../docs/first-tool.md"),
    ),
    ("frameworks", "Use the tools from agent frameworks.", include_str!("../../../../../docs/frameworks.md")),
    ("hints", "What the hints next to an answer mean.", include_str!("../../../../../docs/hints.md")),
    (
        "install",
        "Install it: pip, npm, Debian, a tarball, a container, a service.",
        include_str!("../../../../../docs/install.md"),
    ),
    ("mcp", "Connect an MCP client, and choose what it sees.", include_str!("../../../../../docs/mcp.md")),
    (
        "openapi-import",
        "Turn an API that is described by OpenAPI into tools.",
        include_str!("../../../../../docs/openapi-import.md"),
    ),
    (
        "operations",
        "Run it for others: backup, upgrade, TLS, proxies, limits, logs, metrics.",
        include_str!("../../../../../docs/operations.md"),
    ),
    (
        "replicas",
        "Several servers on one PostgreSQL database.",
        include_str!("../../../../../docs/replicas.md"),
    ),
    (
        "server-tokens",
        "Log in to MCP servers that want a token.",
        include_str!("../../../../../docs/server-tokens.md"),
    ),
    (
        "settings",
        "Every setting, environment variable and flag.",
        include_str!("../../../../../docs/settings.md"),
    ),
    ("tasks", "The task tools, with calls to try.", include_str!("../../../../../docs/tasks.md")),
];

impl Source for Docs {
    fn resources<'a>(&'a self, _: Visitor<'a>) -> Answering<'a, Vec<Resource>> {
        let page = |(name, about, text): &(&str, &str, &str)| Resource {
            more: Default::default(),
            uri: format!("{PREFIX}{name}"),
            name: (*name).into(),
            title: None,
            description: Some((*about).into()),
            mime_type: Some("text/markdown".into()),
            size: Some(text.len() as u64),
        };
        ready(PAGES.iter().map(page).collect())
    }

    fn templates(&self, _: Visitor<'_>) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            more: Default::default(),
            uri_template: TEMPLATE.into(),
            name: "docs".into(),
            title: None,
            description: Some("A page of the documentation.".into()),
            mime_type: Some("text/markdown".into()),
        }]
    }

    fn read<'a>(&'a self, _: Visitor<'a>, uri: &'a str) -> Answering<'a, Option<Vec<Contents>>> {
        let wanted = uri.strip_prefix(PREFIX);
        let page = PAGES.iter().find(|(name, ..)| Some(*name) == wanted);
        ready(page.map(|(_, _, text)| vec![Contents::text(uri, "text/markdown", *text)]))
    }

    fn complete<'a>(&'a self, _: Visitor<'a>, asked: Completing<'a>) -> Answering<'a, Option<Vec<String>>> {
        let ours = asked.of == Completes::Template(TEMPLATE) && asked.argument == "name";
        ready(ours.then(|| PAGES.iter().map(|(name, ..)| (*name).to_owned()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_documentation_is_carried() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut on_disk: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            // The list of resources is the index of the others.
            .filter(|name| name != "README")
            .collect();
        on_disk.sort();
        let carried: Vec<&str> = PAGES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(on_disk, carried);
    }
}
