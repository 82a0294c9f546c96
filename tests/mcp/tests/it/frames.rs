//! Malformed frames, each with the codes that a server may answer it with.

use serde_json::{Value, json};

/// Broken frames out of a seed, the same ones every time.
pub struct Frames {
    state: u64,
}

pub struct Frame {
    /// What is wrong with it.
    pub fault: &'static str,
    pub bytes: Vec<u8>,
    /// The codes that say so; empty if any answer is right that is one.
    pub codes: &'static [i64],
    /// The method as the headers repeat it.
    pub method: &'static str,
}

const PARSE: &[i64] = &[-32700];
const REQUEST: &[i64] = &[-32600];
const METHOD: &[i64] = &[-32601];
const PARAMS: &[i64] = &[-32602];
/// A frame that is no text at all, or no sound envelope: either name for it will do.
const UNREADABLE: &[i64] = &[-32700, -32600];
const ENVELOPE: &[i64] = &[-32600, -32602];

type Breakage = fn(&mut Frames) -> Frame;

const BREAKAGES: [Breakage; 17] = [
    truncated,
    not_utf8,
    control_character,
    no_object,
    wrong_version,
    wrong_id,
    wrong_method,
    unknown_method,
    wrong_params,
    wrong_meta,
    doubled_key,
    other_case,
    too_deep,
    wrong_name,
    wrong_arguments,
    flipped,
    spliced,
];

impl Frames {
    pub fn new(seed: u64) -> Self {
        Self { state: seed | 1 }
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        // xorshift64: enough to spread the faults about.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % bound as u64) as usize
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

impl Iterator for Frames {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let breakage = self.pick(&BREAKAGES);
        Some(breakage(self))
    }
}

/// A frame with nothing wrong.
pub fn sound(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn list() -> Value {
    sound(7, "tools/list", json!({}))
}

fn frame(fault: &'static str, bytes: impl Into<Vec<u8>>, codes: &'static [i64]) -> Frame {
    Frame { fault, bytes: bytes.into(), codes, method: "tools/list" }
}

fn changed(fault: &'static str, field: &str, value: Value, codes: &'static [i64]) -> Frame {
    let mut whole = list();
    whole[field] = value;
    frame(fault, whole.to_string(), codes)
}

fn truncated(frames: &mut Frames) -> Frame {
    let text = list().to_string();
    let end = 1 + frames.below(text.len() - 1);
    frame("truncated", &text.as_bytes()[..end], PARSE)
}

fn not_utf8(frames: &mut Frames) -> Frame {
    let mut bytes = list().to_string().into_bytes();
    let at = frames.below(bytes.len());
    bytes.insert(at, frames.pick(&[0xff, 0xc0, 0xfe]));
    frame("not UTF-8", bytes, PARSE)
}

fn control_character(frames: &mut Frames) -> Frame {
    let text = list().to_string().replace("tools/list", "tools\u{1}list");
    let text = if frames.below(2) == 0 { text } else { text.replace("\"id\"", "\u{0}\"id\"") };
    frame("a control character", text, PARSE)
}

fn no_object(frames: &mut Frames) -> Frame {
    let text = frames.pick(&["7", "\"text\"", "null", "true", "[]", "[1]", "1.5"]);
    frame("no object", text, UNREADABLE)
}

fn wrong_version(frames: &mut Frames) -> Frame {
    let value = frames.pick(&[json!("1.0"), json!(2.0), json!(null), json!(["2.0"])]);
    changed("a wrong jsonrpc", "jsonrpc", value, REQUEST)
}

fn wrong_id(frames: &mut Frames) -> Frame {
    let value = frames.pick(&[json!(null), json!(1.5), json!(true), json!([1]), json!({})]);
    changed("a wrong id", "id", value, REQUEST)
}

fn wrong_method(frames: &mut Frames) -> Frame {
    let value = frames.pick(&[json!(7), json!(null), json!(["tools/list"]), json!({})]);
    changed("a wrong method", "method", value, REQUEST)
}

fn unknown_method(frames: &mut Frames) -> Frame {
    let method = frames.pick(&["tools/lis", "Tools/list", "prompt/get", "x"]);
    Frame { method, ..changed("an unknown method", "method", json!(method), METHOD) }
}

fn wrong_params(frames: &mut Frames) -> Frame {
    let value = frames.pick(&[json!(7), json!("text"), json!([]), json!(true)]);
    changed("wrong params", "params", value, ENVELOPE)
}

fn wrong_meta(frames: &mut Frames) -> Frame {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let meta = frames.pick(&[
        json!({ version: "2026-07-28" }),
        json!({ version: "2026-07-28", capabilities: [] }),
        json!({ version: "2026-07-28", capabilities: "all" }),
        json!({ version: 2026, capabilities: {} }),
    ]);
    changed("wrong _meta", "params", json!({ "_meta": meta }), PARAMS)
}

fn doubled_key(frames: &mut Frames) -> Frame {
    let (key, value) =
        frames.pick(&[("method", "\"ping\""), ("id", "8"), ("params", "{}"), ("jsonrpc", "\"2.0\"")]);
    let text = list().to_string();
    frame("a doubled key", format!("{},\"{key}\":{value}}}", &text[..text.len() - 1]), UNREADABLE)
}

fn other_case(frames: &mut Frames) -> Frame {
    let (key, other) = frames.pick(&[("method", "Method"), ("params", "PARAMS"), ("jsonrpc", "JsonRpc")]);
    let text = list().to_string().replace(&format!("\"{key}\":"), &format!("\"{other}\":"));
    frame("a key in other letters", text, ENVELOPE)
}

fn too_deep(frames: &mut Frames) -> Frame {
    let depth = 200 + frames.below(2000);
    let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let text = list().to_string().replace("\"params\":{", &format!("\"params\":{{\"x\":{deep},"));
    frame("nested too deep", text, UNREADABLE)
}

fn wrong_name(frames: &mut Frames) -> Frame {
    let name = frames.pick(&[json!(7), json!(null), json!(["greet"]), json!({})]);
    let text = sound(7, "tools/call", json!({ "name": name, "arguments": {} })).to_string();
    Frame { method: "tools/call", ..frame("a wrong name", text, &[-32602, -32020]) }
}

fn wrong_arguments(frames: &mut Frames) -> Frame {
    let arguments = frames.pick(&[json!(7), json!("text"), json!([]), json!(true)]);
    let text = sound(7, "tools/call", json!({ "name": "greet", "arguments": arguments })).to_string();
    Frame { method: "tools/call", ..frame("wrong arguments", text, PARAMS) }
}

/// Some bits of a sound frame fall over; it may even be sound still.
fn flipped(frames: &mut Frames) -> Frame {
    let mut bytes = list().to_string().into_bytes();
    for _ in 0..=frames.below(4) {
        let at = frames.below(bytes.len());
        bytes[at] ^= 1 << frames.below(7);
    }
    // A frame of the line transport ends at a line's end.
    bytes.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    frame("flipped bits", bytes, &[])
}

/// Something that does not belong there stands anywhere in a sound frame; it may even be sound still.
fn spliced(frames: &mut Frames) -> Frame {
    const ODD: [&str; 13] = [
        "null",
        "-0",
        "1e400",
        "[]",
        "{}",
        "\"\\ud800\"",
        "\"\\u0000\"",
        "99999999999999999999999",
        "\u{feff}",
        "\"x\":1,\"x\":2",
        "-",
        "\"id\":7,",
        "[[[[[[[[",
    ];
    let mut text = list().to_string();
    for _ in 0..=frames.below(3) {
        let at = frames.below(text.len());
        if text.is_char_boundary(at) {
            text.insert_str(at, frames.pick(&ODD));
        }
    }
    frame("something spliced in", text, &[])
}
