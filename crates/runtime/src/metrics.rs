//! Prometheus metrics, with the handles of a tool looked up once, when it is registered.

use std::sync::atomic::AtomicI64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use toolroom_contract::ErrorCode;

/// Every meter of the process.
pub struct Metrics {
    registry: Registry,
    executions: Family<ExecutionLabels, Counter>,
    durations: Family<ToolLabel, Histogram>,
    errors: Family<ErrorLabels, Counter>,
    cache_hits: Family<ToolLabel, Counter>,
    cache_misses: Family<ToolLabel, Counter>,
    queue_depth: Family<ToolLabel, Gauge>,
    /// Calls for names that are not in the catalogue: they get no label of their own.
    pub unknown_tools: Counter,
    /// Records that the journal could not take.
    pub journal_failures: Counter,
    /// Calls that run now.
    pub running: Gauge<i64, AtomicI64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ToolLabel {
    tool: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ExecutionLabels {
    tool: String,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    tool: String,
    code: &'static str,
}

/// The meters of one tool.
pub struct ToolMetrics {
    ok: Counter,
    failed: Counter,
    duration: Histogram,
    errors: Family<ErrorLabels, Counter>,
    tool: String,
    /// Answers out of the cache.
    pub cache_hits: Counter,
    /// Answers that had to be worked out.
    pub cache_misses: Counter,
    /// Calls that wait for a slot.
    pub queue_depth: Gauge,
}

impl Metrics {
    /// All meters at zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("toolroom");
        let executions = Family::default();
        let durations = Family::new_with_constructor(
            (|| Histogram::new(exponential_buckets(0.000_05, 4.0, 11))) as fn() -> Histogram,
        );
        let errors = Family::default();
        let (cache_hits, cache_misses) = (Family::default(), Family::default());
        let queue_depth = Family::default();
        let (unknown_tools, journal_failures) = (Counter::default(), Counter::default());
        let running = Gauge::default();
        registry.register("executions", "Calls that ended, by tool and status", executions.clone());
        registry.register("execution_duration_seconds", "How long calls took", durations.clone());
        registry.register("errors", "Calls that failed, by error code", errors.clone());
        registry.register("cache_hits", "Answers out of the cache", cache_hits.clone());
        registry.register("cache_misses", "Cacheable answers that were worked out", cache_misses.clone());
        registry.register("queue_depth", "Calls that wait for a slot", queue_depth.clone());
        registry.register("unknown_tools", "Calls of names nobody has", unknown_tools.clone());
        registry.register("journal_failures", "Records the journal could not take", journal_failures.clone());
        registry.register("running", "Calls that run now", running.clone());
        Self {
            registry,
            executions,
            durations,
            errors,
            cache_hits,
            cache_misses,
            queue_depth,
            unknown_tools,
            journal_failures,
            running,
        }
    }

    /// The handles of one tool; the same for the same name.
    pub fn of_tool(&self, name: &str) -> ToolMetrics {
        let tool = name.to_owned();
        let label = ToolLabel { tool: tool.clone() };
        let executions =
            |status| self.executions.get_or_create(&ExecutionLabels { tool: tool.clone(), status }).clone();
        ToolMetrics {
            ok: executions("ok"),
            failed: executions("error"),
            duration: self.durations.get_or_create(&label).clone(),
            errors: self.errors.clone(),
            cache_hits: self.cache_hits.get_or_create(&label).clone(),
            cache_misses: self.cache_misses.get_or_create(&label).clone(),
            queue_depth: self.queue_depth.get_or_create(&label).clone(),
            tool,
        }
    }

    /// The exposition text.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl ToolMetrics {
    /// Note the end of a call.
    pub fn note(&self, seconds: f64, error: Option<ErrorCode>) {
        self.duration.observe(seconds);
        match error {
            None => {
                self.ok.inc();
            }
            Some(code) => {
                self.failed.inc();
                let labels = ErrorLabels { tool: self.tool.clone(), code: code.as_str() };
                self.errors.get_or_create(&labels).inc();
            }
        }
    }
}
