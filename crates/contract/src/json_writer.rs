//! The parts that every answer has, written straight into bytes: what serde makes of them, for a fraction of its work.
//! It would look for escapes in every byte of every key, most of which lead to nothing but an empty list.

use serde::Serialize;

use crate::hints::{AgentHints, EstimatedImpact};
use crate::result::Metadata;

impl AgentHints {
    /// Appends the hints as JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        list(out, r#"{"suggestedNextActions":"#, &self.suggested_next_actions);
        list(out, r#","relatedResources":"#, &self.related_resources);
        value(out, r#","confidence":"#, &self.confidence);
        value(out, r#","sourceQuality":"#, &self.source_quality);
        value(out, r#","validityPeriod":"#, &self.validity_period);
        list(out, r#","contextNeeded":"#, &self.context_needed);
        list(out, r#","assumptions":"#, &self.assumptions);
        list(out, r#","riskFactors":"#, &self.risk_factors);
        list(out, r#","dependencies":"#, &self.dependencies);
        self.estimated_impact.write(out);
        list(out, r#","preferenceAlignment":"#, &self.preference_alignment);
        if let Some(reasoning) = &self.reasoning {
            text(out, r#","reasoning":"#, reasoning);
        }
        some(out, r#","warnings":"#, &self.warnings);
        some(out, r#","alternatives":"#, &self.alternatives);
        some(out, r#","constraints":"#, &self.constraints);
        if let Some(metadata) = &self.metadata {
            value(out, r#","metadata":"#, metadata);
        }
        out.push(b'}');
    }

    /// Appends those that a model can act on and that say something, each with a comma before it.
    pub fn write_spoken(&self, out: &mut Vec<u8>) {
        some(out, r#","suggestedNextActions":"#, &self.suggested_next_actions);
        some(out, r#","warnings":"#, &self.warnings);
        some(out, r#","relatedResources":"#, &self.related_resources);
        some(out, r#","contextNeeded":"#, &self.context_needed);
        some(out, r#","assumptions":"#, &self.assumptions);
        some(out, r#","riskFactors":"#, &self.risk_factors);
        some(out, r#","dependencies":"#, &self.dependencies);
        some(out, r#","alternatives":"#, &self.alternatives);
        some(out, r#","constraints":"#, &self.constraints);
        if let Some(reasoning) = &self.reasoning {
            text(out, r#","reasoning":"#, reasoning);
        }
        value(out, r#","confidence":"#, &self.confidence);
    }
}

impl EstimatedImpact {
    fn write(&self, out: &mut Vec<u8>) {
        const NAME: &str = r#","estimatedImpact":"#;
        const NONE: EstimatedImpact =
            EstimatedImpact { benefit: 0.0, effort: 0.0, roi: 0.0, affected_metrics: Vec::new() };
        if *self == NONE {
            word(out, NAME, r#"{"benefit":0.0,"effort":0.0,"roi":0.0}"#);
        } else {
            value(out, NAME, self);
        }
    }
}

impl Metadata {
    /// Appends the metadata as JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        text(out, r#"{"toolVersion":"#, &self.tool_version);
        value(out, r#","timestamp":"#, &self.timestamp);
        value(out, r#","executionTime":"#, &self.execution_time);
        text(out, r#","serviceVersion":"#, &self.service_version);
        if let Some(id) = &self.trace_id {
            text(out, r#","traceId":"#, id.as_str());
        }
        if let Some(id) = &self.correlation_id {
            text(out, r#","correlationId":"#, id);
        }
        if let Some(cached) = self.cached {
            value(out, r#","cached":"#, &cached);
        }
        if let Some(id) = self.execution_id {
            let mut buffer = [0; uuid::fmt::Hyphenated::LENGTH];
            text(out, r#","executionId":"#, id.0.hyphenated().encode_lower(&mut buffer));
        }
        if self.replayed {
            word(out, r#","replayed":"#, "true");
        }
        if self.dry_run {
            word(out, r#","dryRun":"#, "true");
        }
        out.push(b'}');
    }
}

/// Appends anything as JSON.
pub fn write_json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Our own types have string keys and write to memory: this cannot fail.
    let _ = serde_json::to_writer(out, value);
}

/// Anything.
fn value(out: &mut Vec<u8>, name: &str, value: &impl Serialize) {
    out.extend_from_slice(name.as_bytes());
    write_json(out, value);
}

/// A list, most often an empty one.
fn list(out: &mut Vec<u8>, name: &str, items: &[impl Serialize]) {
    if items.is_empty() { word(out, name, "[]") } else { value(out, name, &items) }
}

/// A list that is left out where it is empty.
fn some(out: &mut Vec<u8>, name: &str, items: &[impl Serialize]) {
    if !items.is_empty() {
        value(out, name, &items);
    }
}

fn text(out: &mut Vec<u8>, name: &str, text: &str) {
    out.extend_from_slice(name.as_bytes());
    write_text(out, text);
}

/// Appends a string as JSON. Most are ids and versions, which have nothing to escape.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    // No early exit: this loop is vectorised.
    let plain = rest.iter().fold(true, |plain, byte| plain & !is_escaped(*byte));
    while !plain && let Some(at) = rest.iter().position(|byte| is_escaped(*byte)) {
        out.extend_from_slice(&rest[..at]);
        escape(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn is_escaped(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        b'"' | b'\\' => byte,
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// What is JSON already.
fn word(out: &mut Vec<u8>, name: &str, word: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(word.as_bytes());
}
