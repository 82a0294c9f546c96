//! The operations of a document, and the entry of each.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::http_request::HttpMethod;
use toolroom_work::step;

use crate::auth::Schemes;
use crate::document::{Document, DocumentError};
use crate::parameters::Fields;
use crate::schema::{Schemas, Side};
use crate::{Imported, RefusedOperation, Wish, answers, body, names, words};

const METHODS: [(&str, HttpMethod); 7] = [
    ("get", HttpMethod::Get),
    ("head", HttpMethod::Head),
    ("post", HttpMethod::Post),
    ("put", HttpMethod::Put),
    ("patch", HttpMethod::Patch),
    ("delete", HttpMethod::Delete),
    ("options", HttpMethod::Options),
];

const MOST_OPERATIONS: usize = 10_000;
/// The text of all entries, in bytes.
const LARGEST: usize = 32 << 20;
/// Tags of one tool.
const MOST_TAGS: usize = 6;

/// An operation, as it stands in the document.
pub(crate) struct Operation<'a> {
    pub(crate) method: HttpMethod,
    pub(crate) path: &'a str,
    pub(crate) fields: &'a Map<String, Value>,
    /// What stands around it, for all methods of the path.
    pub(crate) item: &'a Map<String, Value>,
    name: String,
}

impl<'a> Operation<'a> {
    pub(crate) fn place(&self) -> String {
        format!("{} {}", self.method.as_str(), self.path)
    }

    fn id(&self) -> Option<&'a str> {
        self.fields.get("operationId").and_then(Value::as_str)
    }

    fn tags(&self) -> impl Iterator<Item = &'a str> {
        self.fields.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// Whether a pattern names it: a path that it is at or below, a tag, its id, its name.
    fn is_named(&self, pattern: &str) -> bool {
        step(1);
        if pattern.starts_with('/') {
            let below = self.path.strip_prefix(pattern.trim_end_matches('/'));
            return below.is_some_and(|below| below.is_empty() || below.starts_with('/'));
        }
        self.name == pattern
            || self.id() == Some(pattern)
            || self.tags().any(|tag| tag.eq_ignore_ascii_case(pattern) || names::kebab(tag) == pattern)
    }
}

pub(crate) fn import(document: &Document<'_>, wish: &Wish) -> Result<Imported, DocumentError> {
    let all = list(document)?;
    let title = document.root.pointer("/info/title").and_then(Value::as_str).unwrap_or("this API");
    let name = wish.name.clone().unwrap_or_else(|| names::api_name(title));
    if !names::is_api_name(&name) {
        return Err(DocumentError::BadName(name));
    }
    let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
    for tag in all.iter().flat_map(Operation::tags) {
        *tags.entry(tag).or_default() += 1;
    }
    for pattern in &wish.only {
        if !all.iter().any(|operation| operation.is_named(pattern)) {
            let tags = tags.keys().map(|tag| (*tag).to_owned()).collect();
            return Err(DocumentError::NoMatch { pattern: pattern.clone(), tags });
        }
    }
    let mut importer = Importer {
        schemes: Schemes::new(document, &name, wish.auth.as_ref()),
        inputs: Schemas::new(document, Side::Input),
        outputs: Schemas::new(document, Side::Output),
        document,
        wish,
        api: &name,
        title,
        notes: Vec::new(),
    };
    let (mut tools, mut refused, mut size) = (Vec::new(), Vec::new(), 0);
    let is_wanted = |operation: &&Operation<'_>| {
        wish.only.is_empty() || wish.only.iter().any(|one| operation.is_named(one))
    };
    for operation in all.iter().filter(is_wanted) {
        match importer.entry(operation) {
            Ok((entry, bytes)) => {
                size += bytes;
                if size > LARGEST {
                    return Err(DocumentError::TooLarge(LARGEST));
                }
                tools.push(entry);
            }
            Err(reason) => refused.push(RefusedOperation { operation: operation.place(), reason }),
        }
    }
    let Importer { schemes, notes, .. } = importer;
    Ok(Imported {
        tools,
        refused,
        operations: all.iter().map(Operation::place).collect(),
        tags: tags.into_iter().map(|(tag, count)| (tag.to_owned(), count)).collect(),
        secrets: schemes.needed(),
        notes,
        title: words::shortened(title, 60),
        name,
    })
}

fn list<'a>(document: &Document<'a>) -> Result<Vec<Operation<'a>>, DocumentError> {
    let mut all = Vec::new();
    for (path, item) in document.root.get("paths").and_then(Value::as_object).into_iter().flatten() {
        step(1);
        let Ok(item) = document.resolve(item) else { continue };
        for (word, method) in METHODS {
            if let Some(fields) = item.get(word).and_then(Value::as_object) {
                all.push(Operation { method, path, fields, item, name: String::new() });
            }
        }
        if all.len() > MOST_OPERATIONS {
            return Err(DocumentError::TooManyOperations(MOST_OPERATIONS));
        }
    }
    if all.is_empty() {
        return Err(DocumentError::NoOperations);
    }
    let names = names::of_operations(all.iter().map(|operation| (operation.id(), operation.place())));
    for (operation, name) in all.iter_mut().zip(names) {
        operation.name = name;
    }
    Ok(all)
}

struct Importer<'a> {
    document: &'a Document<'a>,
    wish: &'a Wish,
    api: &'a str,
    title: &'a str,
    schemes: Schemes<'a>,
    inputs: Schemas<'a>,
    outputs: Schemas<'a>,
    notes: Vec<String>,
}

impl<'a> Importer<'a> {
    /// The entry of an operation, and how large it is.
    fn entry(&mut self, operation: &Operation<'a>) -> Result<(ToolEntry, usize), String> {
        let mut fields = Fields::default();
        fields.take_parameters(self.document, operation, &mut self.inputs)?;
        let body = body::take(self.document, operation, &mut self.inputs, &mut fields)?;
        let parameters = self.inputs.assembled(&fields.schema())?;
        let answer = answers::of(self.document, operation, &mut self.outputs)?;
        let reads = matches!(operation.method, HttpMethod::Get | HttpMethod::Head | HttpMethod::Options);
        let repeats = reads || matches!(operation.method, HttpMethod::Put | HttpMethod::Delete);
        let right = if reads { "read" } else { "write" };
        let description = words::description(
            operation.fields,
            operation.id(),
            &operation.place(),
            self.title,
            answer.words,
        );
        let tags: Vec<String> = operation.tags().map(names::kebab).filter(|tag| !tag.is_empty()).collect();
        let tags = std::iter::once(self.api.to_owned()).chain(tags).take(MOST_TAGS);
        let request = json!({
            "api": self.api,
            "method": operation.method,
            "server": self.server(operation)?,
            "path": operation.path,
            "fields": fields.places,
            "body": body,
            "auth": self.schemes.of(operation)?,
        });
        let mut entry = json!({
            "name": operation.name,
            "description": description,
            "type": "http",
            "input_schema": parameters,
            "permissions": [format!("{}:{right}", self.api)],
            "category": if reads { "query" } else { "mutation" },
            "responseTime": "medium",
            "cacheable": false,
            "idempotent": repeats,
            "destructive": operation.method == HttpMethod::Delete,
            "tags": tags.collect::<Vec<_>>(),
            "config": { "request": request },
        });
        if let (Some(output), Some(entry)) = (answer.schema, entry.as_object_mut()) {
            entry.insert("output_schema".to_owned(), output);
        }
        let bytes = entry.to_string().len();
        step(bytes / 8);
        let entry = serde_json::from_value(entry).map_err(|error| error.to_string())?;
        Ok((entry, bytes))
    }

    /// The address of the operation's server: its own, that of its path, that of the document.
    fn server(&mut self, operation: &Operation<'a>) -> Result<String, String> {
        let first = |fields: &'a Map<String, Value>| fields.get("servers")?.as_array()?.first()?.as_object();
        let own = first(operation.fields).or_else(|| first(operation.item));
        let server = match (own, &self.wish.server) {
            (None, Some(server)) => return Ok(server.clone()),
            (own, _) => own.or_else(|| self.document.root.as_object().and_then(first)),
        };
        let template = server.and_then(|server| server.get("url")).and_then(Value::as_str).unwrap_or("/");
        let mut address = template.to_owned();
        let variables = server.and_then(|server| server.get("variables")).and_then(Value::as_object);
        for (name, variable) in variables.into_iter().flatten() {
            let value = variable.get("default").and_then(Value::as_str).unwrap_or_default();
            address = address.replace(&format!("{{{name}}}"), value);
            step(address.len());
            self.note(format!(
                "the address of the service has a part '{name}', taken as '{value}'; --server sets all of it"
            ));
        }
        if let Some(rest) = address.strip_prefix("//") {
            address = format!("https://{rest}");
        }
        if !address.starts_with("http://") && !address.starts_with("https://") {
            let Some(origin) = &self.wish.origin else {
                return Err(
                    "the document does not name the address of its server; give it with --server".to_owned()
                );
            };
            address = format!("{origin}/{}", address.trim_start_matches(['.', '/']));
        }
        if address.contains(['{', '}', ' ']) || address.len() > 2000 {
            return Err(
                "the address of its server has parts that are not given; name one with --server".to_owned()
            );
        }
        Ok(address.trim_end_matches('/').to_owned())
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) && self.notes.len() < 16 {
            self.notes.push(note);
        }
    }
}
