//! One id per request, taken from the caller's trace if it has one, and one line in the log.

use std::time::Instant;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use toolroom_contract::TraceId;

use super::Problem;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACE_ID_HEADER: HeaderName = HeaderName::from_static("x-trace-id");

/// The id that a single valid `traceparent` header of version 00 carries.
pub fn from_headers(headers: &HeaderMap) -> Option<TraceId> {
    let mut found = headers.get_all(&TRACEPARENT).iter();
    let (Some(value), None) = (found.next(), found.next()) else { return None };
    from_traceparent(value.to_str().ok()?)
}

/// The id that a `traceparent` of version 00 carries.
pub(crate) fn from_traceparent(text: &str) -> Option<TraceId> {
    let mut parts = text.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if version != "00" || parts.next().is_some() {
        return None;
    }
    hexadecimal(flags, 2)?;
    hexadecimal(trace, 32).filter(|trace| *trace != 0)?;
    hexadecimal(parent, 16).filter(|parent| *parent != 0)?;
    trace.parse().ok()
}

/// A request on its way: it has its [`TraceId`], its answer gets `X-Trace-Id`, a problem its `traceId`.
pub(super) struct Followed {
    trace_id: TraceId,
    /// For the log, where that is wanted.
    line: Option<(Instant, Method, String)>,
}

impl Followed {
    pub(super) fn begin(request: &mut Request) -> Self {
        let trace_id = from_headers(request.headers()).unwrap_or_default();
        request.extensions_mut().insert(trace_id);
        // Queries and headers stay out of the log: they may carry secrets.
        let line = tracing::enabled!(tracing::Level::DEBUG)
            .then(|| (Instant::now(), request.method().clone(), request.uri().path().to_owned()));
        Self { trace_id, line }
    }

    pub(super) fn end(self, response: &mut Response) {
        let Self { trace_id, line } = self;
        if let Some(problem) = response.extensions_mut().remove::<Problem>() {
            write_again(problem, response, trace_id);
        }
        if let Ok(value) = HeaderValue::from_str(trace_id.as_str()) {
            response.headers_mut().insert(TRACE_ID_HEADER, value);
        }
        if let Some((began, method, path)) = line {
            let ms = began.elapsed().as_secs_f64() * 1000.0;
            let status = response.status().as_u16();
            tracing::debug!(%method, path, status, ms, traceId = %trace_id, "request answered");
        }
    }
}

/// Writes a problem document again with the id in it; the headers that later layers set are kept.
fn write_again(mut problem: Problem, response: &mut Response, trace_id: TraceId) {
    problem.trace_id = Some(Box::new(trace_id));
    let rendered = problem.into_response();
    let (parts, body) = rendered.into_parts();
    *response.body_mut() = body;
    if let Some(length) = parts.headers.get(http::header::CONTENT_LENGTH) {
        response.headers_mut().insert(http::header::CONTENT_LENGTH, length.clone());
    } else {
        response.headers_mut().remove(http::header::CONTENT_LENGTH);
    }
}

fn hexadecimal(text: &str, digits: usize) -> Option<u128> {
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == digits && text.bytes().all(lower)).then(|| u128::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_formed_traceparent_counts() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let id = from_traceparent(good).unwrap();
        assert_eq!(id.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        for bad in [
            "",
            "00",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        ] {
            assert_eq!(from_traceparent(bad), None, "{bad}");
        }
    }
}
