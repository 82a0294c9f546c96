//! Parameters as they are written in paths, queries, headers and forms.

use serde_json::Value;
use toolroom_contract::http_request::HttpStyle;

/// A value as plain text: a text as it is, anything else as JSON.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Everything but letters, digits and `-._~` written as its bytes.
pub(super) fn encoded(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => written.push(byte.into()),
            other => written.push_str(&format!("%{other:02X}")),
        }
    }
    written
}

/// A parameter of a path.
pub(super) fn in_path(name: &str, value: &Value, style: HttpStyle, explode: bool) -> String {
    let name = encoded(name);
    match style {
        HttpStyle::Segments => text(value).split('/').map(encoded).collect::<Vec<_>>().join("/"),
        HttpStyle::Label => {
            let between = if explode { "." } else { "," };
            format!(".{}", list(value, explode).join(between))
        }
        HttpStyle::Matrix => match value {
            Value::Array(items) if explode => {
                items.iter().map(|item| format!(";{name}={}", encoded(&text(item)))).collect()
            }
            Value::Object(_) if explode => list(value, true).iter().map(|pair| format!(";{pair}")).collect(),
            other => format!(";{name}={}", list(other, false).join(",")),
        },
        HttpStyle::Json => encoded(&value.to_string()),
        _ => list(value, explode).join(","),
    }
}

/// A parameter of a query or a form, as encoded pairs.
pub(super) fn in_query(name: &str, value: &Value, style: HttpStyle, explode: bool) -> Vec<String> {
    let key = encoded(name);
    let pair = |value: &str| format!("{key}={value}");
    match (style, value) {
        (HttpStyle::Json, value) => vec![pair(&encoded(&value.to_string()))],
        (HttpStyle::DeepObject, Value::Object(_)) => {
            let mut pairs = Vec::new();
            deep(&key, value, &mut pairs);
            pairs
        }
        (HttpStyle::SpaceDelimited, Value::Array(_)) => vec![pair(&list(value, false).join("%20"))],
        (HttpStyle::PipeDelimited, Value::Array(_)) => vec![pair(&list(value, false).join("%7C"))],
        (_, Value::Array(items)) if explode => items.iter().map(|item| pair(&encoded(&text(item)))).collect(),
        (_, Value::Object(_)) if explode => list(value, true),
        (_, value) => vec![pair(&list(value, false).join(","))],
    }
}

/// `name[field][field]=value`.
fn deep(key: &str, value: &Value, pairs: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                deep(&format!("{key}%5B{}%5D", encoded(name)), value, pairs);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| deep(&format!("{key}%5B%5D"), item, pairs)),
        other => pairs.push(format!("{key}={}", encoded(&text(other)))),
    }
}

/// The parts of a list or an object, encoded; anything else is one part.
fn list(value: &Value, explode: bool) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(|item| encoded(&text(item))).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| {
                let (name, value) = (encoded(name), encoded(&text(value)));
                if explode { vec![format!("{name}={value}")] } else { vec![name, value] }
            })
            .collect(),
        other => vec![encoded(&text(other))],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_the_specification_shows() {
        let (list, record) = (json!(["blue", "black"]), json!({ "R": 100, "G": 200 }));
        assert_eq!(in_path("color", &list, HttpStyle::Simple, false), "blue,black");
        assert_eq!(in_path("color", &record, HttpStyle::Simple, true), "R=100,G=200");
        assert_eq!(in_path("color", &list, HttpStyle::Label, true), ".blue.black");
        assert_eq!(in_path("color", &list, HttpStyle::Matrix, true), ";color=blue;color=black");
        assert_eq!(in_path("path", &json!("a b/c"), HttpStyle::Segments, false), "a%20b/c");
        assert_eq!(in_path("path", &json!("a b/c"), HttpStyle::Simple, false), "a%20b%2Fc");
        let query = |value: &Value, style, explode| in_query("color", value, style, explode).join("&");
        assert_eq!(query(&list, HttpStyle::Form, true), "color=blue&color=black");
        assert_eq!(query(&list, HttpStyle::Form, false), "color=blue,black");
        assert_eq!(query(&list, HttpStyle::SpaceDelimited, false), "color=blue%20black");
        assert_eq!(query(&list, HttpStyle::PipeDelimited, false), "color=blue%7Cblack");
        assert_eq!(query(&record, HttpStyle::Form, true), "R=100&G=200");
        assert_eq!(query(&record, HttpStyle::DeepObject, true), "color%5BR%5D=100&color%5BG%5D=200");
        assert_eq!(query(&record, HttpStyle::Json, true), "color=%7B%22R%22%3A100%2C%22G%22%3A200%7D");
    }
}
