//! The parameters of an operation in one flat object, and where each of them goes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolroom_contract::http_request::{HttpField, HttpPlace, HttpStyle};
use toolroom_work::step;

use crate::document::Document;
use crate::names;
use crate::operations::Operation;
use crate::schema::Schemas;
use crate::words;

/// More parameters than this are nobody's to fill in.
const MOST: usize = 512;

/// The parameters of one tool.
#[derive(Default)]
pub(crate) struct Fields {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// What must be given too, by what is given.
    together: Map<String, Value>,
    /// Where each goes.
    pub(crate) places: BTreeMap<String, HttpField>,
}

impl Fields {
    pub(crate) fn take_parameters<'a>(
        &mut self,
        document: &Document<'a>,
        operation: &Operation<'a>,
        schemas: &mut Schemas<'a>,
    ) -> Result<(), String> {
        // What the operation says itself comes before what its path says.
        let mut found: Vec<(&str, HttpPlace, &'a Map<String, Value>)> = Vec::new();
        for around in [operation.fields, operation.item] {
            for parameter in around.get("parameters").and_then(Value::as_array).into_iter().flatten() {
                let parameter = document.resolve(parameter)?;
                let Some(name) = parameter.get("name").and_then(Value::as_str) else { continue };
                let Some(place) = place(parameter) else { continue };
                step(found.len());
                let is_known = found.iter().any(|(known, at, _)| *known == name && *at == place);
                let is_own = place == HttpPlace::Header && is_ours(name);
                if !is_known && !is_own {
                    found.push((name, place, parameter));
                }
                if found.len() > MOST {
                    return Err(format!("it has more than {MOST} parameters"));
                }
            }
        }
        let in_path: Vec<&str> = path_names(operation.path).collect();
        found.retain(|(name, place, _)| *place != HttpPlace::Path || in_path.contains(name));
        for name in &in_path {
            if !found.iter().any(|(known, at, _)| known == name && *at == HttpPlace::Path) {
                self.put(name, HttpPlace::Path, json!({ "type": "string" }), true, (None, None));
            }
        }
        // Those of the path first: they are what a call is about.
        found.sort_by_key(|(_, place, _)| *place != HttpPlace::Path);
        for (name, place, parameter) in found {
            self.take(name, place, parameter, schemas)?;
        }
        Ok(())
    }

    fn take<'a>(
        &mut self,
        name: &str,
        place: HttpPlace,
        parameter: &'a Map<String, Value>,
        schemas: &mut Schemas<'a>,
    ) -> Result<(), String> {
        let content = parameter.get("content").and_then(Value::as_object).and_then(|all| all.values().next());
        let schema = content.and_then(|content| content.get("schema")).or_else(|| parameter.get("schema"));
        let mut schema = schema.map_or(Ok(json!({})), |schema| schemas.convert(schema))?;
        if let (Some(text), Some(schema)) =
            (parameter.get("description").and_then(Value::as_str), schema.as_object_mut())
        {
            schema.insert("description".to_owned(), words::field(text).into());
        }
        let segments = parameter.get("x-multi-segment") == Some(&Value::Bool(true));
        let style = match parameter.get("style").and_then(Value::as_str) {
            _ if content.is_some() => Some(HttpStyle::Json),
            _ if segments && place == HttpPlace::Path => Some(HttpStyle::Segments),
            Some("label") => Some(HttpStyle::Label),
            Some("matrix") => Some(HttpStyle::Matrix),
            Some("spaceDelimited") => Some(HttpStyle::SpaceDelimited),
            Some("pipeDelimited") => Some(HttpStyle::PipeDelimited),
            Some("deepObject") => Some(HttpStyle::DeepObject),
            _ => None,
        };
        let explode = parameter.get("explode").and_then(Value::as_bool);
        let required = place == HttpPlace::Path || parameter.get("required") == Some(&Value::Bool(true));
        self.put(name, place, schema, required, (style, explode));
        Ok(())
    }

    /// Adds a parameter, under a name that no other has.
    pub(crate) fn put(
        &mut self,
        name: &str,
        place: HttpPlace,
        schema: Value,
        required: bool,
        (style, explode): (Option<HttpStyle>, Option<bool>),
    ) -> String {
        let prefix = match place {
            HttpPlace::Path => "path_",
            HttpPlace::Query => "query_",
            HttpPlace::Header => "header_",
            HttpPlace::Cookie => "cookie_",
            HttpPlace::Body | HttpPlace::WholeBody => "body_",
        };
        let mut ours = names::parameter(name);
        while ours.is_empty() || self.places.contains_key(&ours) {
            step(1);
            ours = format!("{prefix}{ours}");
        }
        let other = (ours != name && place != HttpPlace::WholeBody).then(|| name.to_owned());
        self.places.insert(ours.clone(), HttpField { place, name: other, style, explode });
        if required {
            self.required.push(ours.clone());
        }
        self.properties.insert(ours.clone(), schema);
        ours
    }

    /// Of these parameters, all that are marked must be given if any is.
    pub(crate) fn go_together(&mut self, names: Vec<(String, bool)>) {
        let needed: Vec<&str> =
            names.iter().filter(|(_, is_needed)| *is_needed).map(|(name, _)| name.as_str()).collect();
        step(names.len() * needed.len());
        for (name, _) in &names {
            let others: Vec<&str> = needed.iter().copied().filter(|needed| needed != name).collect();
            if !others.is_empty() {
                self.together.insert(name.clone(), json!(others));
            }
        }
    }

    /// The schema of the parameters.
    pub(crate) fn schema(&self) -> Value {
        let mut schema =
            json!({ "type": "object", "properties": self.properties, "additionalProperties": false });
        if let (false, Some(schema)) = (self.required.is_empty(), schema.as_object_mut()) {
            schema.insert("required".to_owned(), json!(self.required));
        }
        if let (false, Some(schema)) = (self.together.is_empty(), schema.as_object_mut()) {
            schema.insert("dependentRequired".to_owned(), self.together.clone().into());
        }
        schema
    }
}

fn place(parameter: &Map<String, Value>) -> Option<HttpPlace> {
    match parameter.get("in").and_then(Value::as_str) {
        Some("path") => Some(HttpPlace::Path),
        Some("query") => Some(HttpPlace::Query),
        Some("header") => Some(HttpPlace::Header),
        Some("cookie") => Some(HttpPlace::Cookie),
        _ => None,
    }
}

/// Headers that the request itself has, and those by which it is framed.
fn is_ours(name: &str) -> bool {
    const OURS: [&str; 13] = [
        "accept",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "proxy-authorization",
    ];
    OURS.contains(&name.to_ascii_lowercase().as_str())
}

/// The names in a path such as `/pets/{petId}`.
fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name))
}
