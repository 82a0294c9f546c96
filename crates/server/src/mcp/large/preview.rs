//! A shorter JSON of the same shape: the first items, the beginnings of texts, and a list of what was left out.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Whole;

/// Items of an array (and twice as many fields of an object), characters of a text: tried one after another.
const STEPS: &[(usize, usize)] =
    &[(100, 4000), (50, 2000), (20, 1000), (10, 400), (5, 200), (3, 100), (2, 60), (1, 40)];
/// Places that are named; more of them would be no preview.
const MOST_PLACES: usize = 20;

/// Something that is not whole in the preview.
#[derive(Serialize)]
struct LeftOut {
    pointer: String,
    shown: usize,
    of: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Preview<'a> {
    preview: &'a Value,
    left_out: &'a [LeftOut],
    whole: &'a Whole,
    read_on: String,
}

/// Valid JSON of about that many characters at most.
pub(super) fn of_json(document: &Value, budget: usize, whole: &Whole) -> String {
    let (mut shorter, mut left_out) = (Value::Null, Vec::new());
    for &(items, letters) in STEPS {
        let mut cutter = Cutter { items, letters, left_out: Vec::new() };
        shorter = cutter.cut(document, &mut String::new());
        left_out = cutter.left_out;
        if shorter.to_string().chars().count() <= budget {
            break;
        }
    }
    if shorter.to_string().chars().count() > budget {
        left_out = vec![LeftOut { pointer: String::new(), shown: 0, of: 1 }];
        shorter = Value::Null;
    }
    left_out.truncate(MOST_PLACES);
    let uri = &whole.uri;
    let read_on = match left_out.first().filter(|first| !first.pointer.is_empty()) {
        Some(first) => format!(
            "This is a preview. Read the resource {uri}?pointer={} for that part, or {uri}?page=1 and on.",
            escaped(&first.pointer)
        ),
        None => format!("This is a preview. Read the resource {uri}?page=1 and on."),
    };
    let preview = Preview { preview: &shorter, left_out: &left_out, whole, read_on };
    serde_json::to_string(&preview).unwrap_or_default()
}

/// The beginning of a text that is not JSON.
pub(super) fn of_text(text: &str, budget: usize, whole: &Whole) -> String {
    let shown: String = text.chars().take(budget).collect();
    format!(
        "{shown}\n[This is a preview: {budget} of {} characters. Read the resource {}?page=1 and on, {} pages.]",
        whole.characters, whole.uri, whole.pages
    )
}

/// A pointer, as it can stand in a query.
fn escaped(pointer: &str) -> String {
    let mut out = String::new();
    for byte in pointer.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

struct Cutter {
    items: usize,
    letters: usize,
    left_out: Vec<LeftOut>,
}

impl Cutter {
    fn cut(&mut self, value: &Value, at: &mut String) -> Value {
        match value {
            Value::Array(all) => {
                self.note(at, all.len(), self.items);
                let shown = all.iter().take(self.items).enumerate();
                Value::Array(shown.map(|(n, item)| self.below(&n.to_string(), item, at)).collect())
            }
            Value::Object(all) => {
                let most = self.items * 2;
                self.note(at, all.len(), most);
                let shown = all.iter().take(most);
                let shown: Map<String, Value> = shown
                    .map(|(key, item)| {
                        let step = toolroom_contract::pointer::token(key);
                        (key.clone(), self.below(&step, item, at))
                    })
                    .collect();
                Value::Object(shown)
            }
            Value::String(text) if text.len() > self.letters => {
                let all = text.chars().count();
                if all <= self.letters {
                    return value.clone();
                }
                self.note(at, all, self.letters);
                Value::String(text.chars().take(self.letters).chain(['…']).collect())
            }
            other => other.clone(),
        }
    }

    fn below(&mut self, step: &str, value: &Value, at: &mut String) -> Value {
        let before = at.len();
        at.push('/');
        at.push_str(step);
        let shorter = self.cut(value, at);
        at.truncate(before);
        shorter
    }

    fn note(&mut self, at: &str, of: usize, shown: usize) {
        if of > shown {
            self.left_out.push(LeftOut { pointer: at.to_owned(), shown, of });
        }
    }
}
