//! Meters of requests, by the part of the server that they are for. Handles are made once: none is looked up on the
//! way of a request, and no caller can add a label.

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// The parts, by how the path begins; whatever else is the console.
const AREAS: [(&str, &str); 6] = [
    ("api", "/api/"),
    ("mcp", "/mcp"),
    ("sse", "/sse"),
    ("openai", "/v1/"),
    ("health", "/healthz"),
    ("metrics", "/metrics"),
];
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Requests over HTTP. Cheap to clone.
#[derive(Clone)]
pub struct HttpMetrics(Arc<Meters>);

struct Meters {
    areas: Vec<Area>,
    running: Gauge,
}

struct Area {
    requests: [Counter; CLASSES.len()],
    duration: Histogram,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    area: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AreaLabel {
    area: &'static str,
}

/// A request that was not answered yet. One that is given up counts as running no longer.
pub struct Running {
    meters: Arc<Meters>,
    area: usize,
}

impl HttpMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let requests: Family<Request, Counter> = Family::default();
        let durations: Family<AreaLabel, Histogram> = Family::new_with_constructor(
            (|| Histogram::new(exponential_buckets(0.000_1, 4.0, 10))) as fn() -> Histogram,
        );
        let running = Gauge::default();
        registry.register(
            "http_requests",
            "Requests that were answered, by part and class of status",
            requests.clone(),
        );
        let about = "How long requests took until their answer began";
        registry.register("http_request_duration_seconds", about, durations.clone());
        registry.register("http_running", "Requests being answered now", running.clone());
        let names = AREAS.iter().map(|(name, _)| *name).chain(["console"]);
        let areas = names.map(|area| Area {
            requests: CLASSES.map(|status| requests.get_or_create(&Request { area, status }).clone()),
            duration: durations.get_or_create(&AreaLabel { area }).clone(),
        });
        Self(Arc::new(Meters { areas: areas.collect(), running }))
    }

    /// How many requests were answered so far.
    pub fn answered(&self) -> u64 {
        self.0.areas.iter().flat_map(|area| &area.requests).map(Counter::get).sum()
    }

    /// A request to this path began.
    pub fn begin(&self, path: &str) -> Running {
        let found = AREAS.iter().position(|(_, start)| path.starts_with(start));
        self.0.running.inc();
        Running { meters: Arc::clone(&self.0), area: found.unwrap_or(AREAS.len()) }
    }
}

impl Running {
    /// It was answered.
    pub fn end(self, status: u16, seconds: f64) {
        let Some(area) = self.meters.areas.get(self.area) else { return };
        area.duration.observe(seconds);
        if let Some(class) = area.requests.get(usize::from(status / 100).saturating_sub(1)) {
            class.inc();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.meters.running.dec();
    }
}
