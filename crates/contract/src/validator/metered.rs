//! JSON values that count how often a validation looks at them. One that looks too often, or goes too deep, sees
//! only empty values from then on, and so comes to its end at once.

use std::borrow::Cow;
use std::cell::Cell;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp, unique};
use serde_json::{Map, Number, Value};

/// The stack that a validation may take. Threads of the server have 2 MiB.
const MOST_STACK: usize = 768 * 1024;

/// What looking costs under one schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// Steps for a field or an item: schemas may apply to it that look at nothing.
    pub per_child: u64,
    /// Steps for 64 bytes of text: patterns read it.
    pub per_text: u64,
    /// Steps for a byte of text that a pattern reads which can keep many states busy; and of a field's name.
    pub per_byte: u64,
    pub per_name_byte: u64,
    /// Bytes that the way through the schema takes in an error, for each level of the value.
    pub path_per_level: u64,
}

impl Rates {
    const LEAST: Self = Self { per_child: 1, per_text: 1, per_byte: 0, per_name_byte: 0, path_per_level: 0 };

    fn text(self, length: usize) -> u64 {
        let length = length as u64;
        (length / 64).saturating_mul(self.per_text).saturating_add(length.saturating_mul(self.per_byte))
    }

    fn name(self, length: usize) -> u64 {
        let length = length as u64;
        (length / 64).saturating_mul(self.per_text).saturating_add(length.saturating_mul(self.per_name_byte))
    }
}

/// The budget of the validation that runs on this thread.
struct Meter {
    left: Cell<u64>,
    rates: Cell<Rates>,
    stack: Cell<usize>,
    /// Bytes that errors may still take, and what each takes at least.
    error_bytes_left: Cell<u64>,
    error_bytes: Cell<u64>,
}

thread_local! {
    static METER: Meter = const {
        Meter {
            left: Cell::new(0),
            rates: Cell::new(Rates::LEAST),
            stack: Cell::new(0),
            error_bytes_left: Cell::new(0),
            error_bytes: Cell::new(0),
        }
    };
}

/// An error without its paths.
const ERROR_BYTES: u64 = 512;

/// Runs a validation; `None` if it took more steps than that, or more stack than it may.
pub(super) fn within<T>(steps: u64, rates: Rates, validation: impl FnOnce() -> T) -> Option<T> {
    METER.with(|meter| {
        meter.left.set(steps);
        meter.rates.set(rates);
        meter.stack.set(stack_position());
    });
    let result = validation();
    METER.with(|meter| meter.left.get() > 0).then_some(result)
}

/// The same for a validation that makes errors; `None` also if they took more memory than that.
pub(super) fn listing_within<T>(
    (steps, bytes): (u64, u64),
    rates: Rates,
    value: &Value,
    listing: impl FnOnce() -> T,
) -> Option<T> {
    METER.with(|meter| {
        meter.error_bytes_left.set(bytes);
        meter.error_bytes.set(ERROR_BYTES.saturating_add(longest_path(value, rates.path_per_level)));
    });
    within(steps, rates, listing)
}

/// The longest pointer into a value, with the way through the schema beside it.
fn longest_path(value: &Value, per_level: u64) -> u64 {
    let below = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.len() as u64).saturating_add(longest_path(value, per_level)))
            .max(),
        Value::Array(items) => items.iter().map(|item| longest_path(item, per_level).saturating_add(8)).max(),
        _ => None,
    };
    below.map_or(0, |below| below.saturating_add(per_level))
}

/// An error is made, which keeps this much beside its paths.
fn spend_error(bytes: u64) {
    METER.with(|meter| {
        let bytes = bytes.saturating_add(meter.error_bytes.get());
        let left = meter.error_bytes_left.get().saturating_sub(bytes);
        meter.error_bytes_left.set(left);
        if left == 0 {
            meter.left.set(0);
        }
    });
}

/// Whether there was budget left for it.
fn spend(steps: impl FnOnce(Rates) -> u64) -> bool {
    METER.with(|meter| {
        let left = meter.left.get().saturating_sub(steps(meter.rates.get()));
        meter.left.set(left);
        left > 0
    })
}

fn spend_text(length: usize) -> bool {
    spend(|rates| rates.text(length).saturating_add(1))
}

/// Every validation that goes deep goes through an object or an array.
fn spend_container() -> bool {
    METER.with(|meter| {
        if meter.stack.get().abs_diff(stack_position()) > MOST_STACK {
            meter.left.set(0);
        }
    });
    spend(|_| 1)
}

#[inline(never)]
fn stack_position() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)) as usize
}

/// What a comparison of two values may cost at most: the smaller one.
fn comparison_steps(one: &Value, other: &Value) -> u64 {
    match (one, other) {
        (Value::String(one), Value::String(other)) => 1 + (one.len().min(other.len()) / 64) as u64,
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            1 + one.iter().zip(other).map(|(one, other)| comparison_steps(one, other)).sum::<u64>()
        }
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            let both = one.iter().filter_map(|(name, value)| Some((value, other.get(name)?)));
            1 + both.map(|(one, other)| comparison_steps(one, other)).sum::<u64>()
        }
        _ => 1,
    }
}

/// All that is in a value.
pub(super) fn size(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        Value::String(text) => (text.len() / 64) as u64,
        _ => 0,
    }
}

/// The representation, as the validator takes it.
pub(super) struct MeteredJson;

impl Json for MeteredJson {
    type Node<'a> = Metered<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;
    // As for plain values.
    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Metered<'_>) -> T) -> T {
        *buffer = Value::String(string.to_owned());
        f(Metered(buffer))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Metered<'a>(pub &'a Value);

impl<'a> Node<'a, MeteredJson> for Metered<'a> {
    type Object = Fields<'a>;
    type Array = Items<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Fields<'a>> {
        self.0.as_object().map(|fields| Fields(spend_container().then_some(fields)))
    }

    fn as_array(&self) -> Option<Items<'a>> {
        self.0.as_array().map(|items| Items(if spend_container() { items } else { &[] }))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.0.as_str().map(|text| Cow::Borrowed(if spend_text(text.len()) { text } else { "" }))
    }

    fn as_number(&self) -> Option<&'a Number> {
        spend(|_| 1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        spend(|_| 1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        spend(|_| 1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        spend(|_| 1);
        match self.0 {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn string_length(&self) -> Option<u64> {
        self.0
            .as_str()
            .map(|text| if spend(|_| 1 + text.len() as u64 / 64) { text.chars().count() as u64 } else { 0 })
    }

    fn equals_value(&self, expected: &Value) -> bool {
        spend(|_| comparison_steps(self.0, expected)) && cmp::equal(self.0, expected)
    }

    /// For an error, of which the type alone is told: each branch of an `anyOf` would keep a copy of the whole value.
    /// Some errors name all unknown fields.
    fn to_value(&self) -> Cow<'a, Value> {
        let names = |fields: &Map<String, Value>| fields.keys().map(|name| 32 + name.len() as u64).sum();
        spend_error(32 + self.0.as_object().map_or(0, names));
        Cow::Owned(match self.0 {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(*value),
            Value::Number(_) => Value::Number(0.into()),
            Value::String(_) => Value::String(String::new()),
            Value::Array(_) => Value::Array(Vec::new()),
            Value::Object(_) => Value::Object(Map::new()),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.0) as usize))
    }
}

/// The fields of an object; `None` once the budget is spent.
pub(super) struct Fields<'a>(Option<&'a Map<String, Value>>);

impl<'a> Object<'a, MeteredJson> for Fields<'a> {
    type Node = Metered<'a>;
    type MemberName = &'a str;
    type MembersIter = FieldsIter<'a>;

    fn len(&self) -> usize {
        self.0.map_or(0, Map::len)
    }

    fn get(&self, key: &String) -> Option<Metered<'a>> {
        let found = self.0?.get(key.as_str())?;
        spend(|rates| rates.per_child).then_some(Metered(found))
    }

    fn members(&self) -> FieldsIter<'a> {
        FieldsIter(self.0.map(Map::iter))
    }
}

pub(super) struct FieldsIter<'a>(Option<serde_json::map::Iter<'a>>);

impl<'a> Iterator for FieldsIter<'a> {
    type Item = (&'a str, Metered<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.as_mut()?.next()?;
        spend(|rates| rates.name(name.len()).saturating_add(rates.per_child))
            .then_some((name.as_str(), Metered(value)))
    }
}

/// The items of an array; none once the budget is spent.
pub(super) struct Items<'a>(&'a [Value]);

impl<'a> Array<'a, MeteredJson> for Items<'a> {
    type Node = Metered<'a>;
    type ElementsIter = ItemsIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        let items = self.0.len() as u64;
        // Few are compared in pairs, many by a hash that a sender can make collide to some degree.
        let each = self.0.iter().map(size).sum::<u64>().saturating_mul(items.clamp(4, 16));
        spend(|_| each.saturating_add(items * items / 4096)) && unique::is_unique(self.0)
    }
}

pub(super) struct ItemsIter<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for ItemsIter<'a> {
    type Item = Metered<'a>;

    fn next(&mut self) -> Option<Metered<'a>> {
        let item = self.0.next()?;
        spend(|rates| rates.per_child).then_some(Metered(item))
    }
}
