//! Results as each revision writes them: since 2026-07-28 they say what they are and who made them.

use std::sync::LazyLock;

use serde::Serialize;
use toolroom_contract::write_json;
use toolroom_mcp::Revision;
use toolroom_mcp::content::COMPLETE;

use super::introduction::SERVER_INFO;

/// Who we are as JSON, which nearly every answer has.
static WRITTEN_INFO: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = Vec::new();
    write_json(&mut out, &SERVER_INFO);
    out
});

/// A result whose fields are those of `body`.
pub(crate) fn complete(revision: Revision, body: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    open(&mut out, revision, COMPLETE, |_| {});
    append(&mut out, body);
    out
}

/// Begins a result, up to and without its closing brace. `meta` appends fields of `_meta`, each with a comma
/// before it.
pub(crate) fn open(out: &mut Vec<u8>, revision: Revision, kind: &str, meta: impl FnOnce(&mut Vec<u8>)) {
    if revision.is_stateless() {
        out.extend_from_slice(br#"{"resultType":""#);
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(br#"","_meta":{"io.modelcontextprotocol/serverInfo":"#);
        out.extend_from_slice(&WRITTEN_INFO);
        meta(out);
    } else {
        out.extend_from_slice(br#"{"_meta":{"#);
        let before = out.len();
        meta(out);
        if out.len() > before {
            // The comma before the first field.
            out.remove(before);
        }
    }
    out.push(b'}');
}

/// Adds the fields of an object to a result that was begun, and closes it.
pub(crate) fn append(out: &mut Vec<u8>, body: &impl Serialize) {
    let at = out.len();
    write_json(out, body);
    if out.get(at + 1) == Some(&b'}') {
        out.remove(at);
    } else if let Some(brace) = out.get_mut(at) {
        *brace = b',';
    }
}
