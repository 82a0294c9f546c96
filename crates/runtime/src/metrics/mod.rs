//! Prometheus metrics, with the handles of a tool looked up once, when it is registered.

mod classic;
mod http;
mod process;

use std::sync::atomic::AtomicI64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use toolroom_contract::ErrorCode;

pub use http::{HttpMetrics, Running};

/// Every meter of the process.
pub struct Metrics {
    registry: Registry,
    executions: Family<ExecutionLabels, Counter>,
    durations: Family<ToolLabel, Histogram>,
    errors: Family<ErrorLabels, Counter>,
    cache_hits: Family<ToolLabel, Counter>,
    cache_misses: Family<ToolLabel, Counter>,
    queue_depth: Family<ToolLabel, Gauge>,
    deferred_queue_depth: Family<ToolLabel, Gauge>,
    servers_up: Family<ServerLabel, Gauge>,
    server_calls: Family<ServerLabel, Counter>,
    server_failures: Family<ServerLabel, Counter>,
    server_reconnects: Family<ServerLabel, Counter>,
    /// Calls for names that are not in the catalogue: they get no label of their own.
    pub unknown_tools: Counter,
    /// Records that the journal could not take.
    pub journal_failures: Counter,
    /// Calls of limited tools that counted against this server's share.
    pub limit_shares: Counter,
    /// Calls that run now.
    pub running: Gauge<i64, AtomicI64>,
    /// Requests over HTTP.
    pub http: HttpMetrics,
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

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServerLabel {
    server: String,
}

/// The meters of one server that we draw on.
pub struct ServerMetrics {
    /// 1 while it can be called.
    pub up: Gauge,
    /// Calls that were passed on to it.
    pub calls: Counter,
    /// Those that failed.
    pub failures: Counter,
    reconnects: Counter,
}

impl ServerMetrics {
    /// The number of connections made in total; the first one is not a reconnect.
    pub fn note_connections(&self, connections: u64) {
        let again = connections.saturating_sub(1);
        self.reconnects.inc_by(again.saturating_sub(self.reconnects.get()));
    }
}

/// The meters of one tool.
pub struct ToolMetrics {
    ok: Counter,
    failed: Counter,
    waiting: Counter,
    duration: Histogram,
    errors: Family<ErrorLabels, Counter>,
    tool: String,
    /// Answers from the cache.
    pub cache_hits: Counter,
    /// Answers that had to be worked out.
    pub cache_misses: Counter,
    /// Calls waiting for a slot.
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
        let (queue_depth, deferred_queue_depth) = (Family::default(), Family::<ToolLabel, Gauge>::default());
        let servers_up = Family::default();
        let (server_calls, server_failures) = (Family::default(), Family::default());
        let server_reconnects = Family::default();
        let (unknown_tools, journal_failures) = (Counter::default(), Counter::default());
        let limit_shares = Counter::default();
        let running = Gauge::default();
        registry.register("executions", "Calls that ended, by tool and status", executions.clone());
        registry.register("execution_duration_seconds", "How long calls took", durations.clone());
        registry.register("errors", "Calls that failed, by error code", errors.clone());
        registry.register("cache_hits", "Answers from the cache", cache_hits.clone());
        registry.register("cache_misses", "Cacheable answers that were computed", cache_misses.clone());
        registry.register("queue_depth", "Calls waiting for a slot", queue_depth.clone());
        registry.register(
            "deferred_queue_depth",
            "Calls waiting for a worker, over all servers",
            deferred_queue_depth.clone(),
        );
        registry.register("server_up", "Whether a server of mcp.json can be called", servers_up.clone());
        registry.register("server_calls", "Calls passed on to a server", server_calls.clone());
        registry.register("server_failures", "Calls to a server that failed", server_failures.clone());
        registry.register("server_reconnects", "Reconnects", server_reconnects.clone());
        registry.register("unknown_tools", "Calls of unknown names", unknown_tools.clone());
        registry.register("journal_failures", "Records that could not be written", journal_failures.clone());
        registry.register(
            "limit_shares",
            "Calls that counted against this server's share of a limit, because Redis or the database was away",
            limit_shares.clone(),
        );
        registry.register("running", "Calls running now", running.clone());
        let http = HttpMetrics::new(&mut registry);
        Self {
            http,
            registry,
            executions,
            durations,
            errors,
            cache_hits,
            cache_misses,
            queue_depth,
            deferred_queue_depth,
            servers_up,
            server_calls,
            server_failures,
            server_reconnects,
            unknown_tools,
            journal_failures,
            limit_shares,
            running,
        }
    }

    /// How many calls of each tool wait for a worker, over all servers; of others, none does.
    pub fn set_deferred_queue(&self, depths: Vec<(String, i64)>) {
        self.deferred_queue_depth.clear();
        for (tool, depth) in depths {
            self.deferred_queue_depth.get_or_create(&ToolLabel { tool }).set(depth);
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
            waiting: executions("waiting"),
            duration: self.durations.get_or_create(&label).clone(),
            errors: self.errors.clone(),
            cache_hits: self.cache_hits.get_or_create(&label).clone(),
            cache_misses: self.cache_misses.get_or_create(&label).clone(),
            queue_depth: self.queue_depth.get_or_create(&label).clone(),
            tool,
        }
    }

    /// The handles of one server; the same for the same name.
    pub fn of_server(&self, name: &str) -> ServerMetrics {
        let label = ServerLabel { server: name.to_owned() };
        ServerMetrics {
            up: self.servers_up.get_or_create(&label).clone(),
            calls: self.server_calls.get_or_create(&label).clone(),
            failures: self.server_failures.get_or_create(&label).clone(),
            reconnects: self.server_reconnects.get_or_create(&label).clone(),
        }
    }

    /// Shows a server no longer.
    pub fn forget_server(&self, name: &str) {
        let label = ServerLabel { server: name.to_owned() };
        self.servers_up.remove(&label);
        self.server_calls.remove(&label);
        self.server_failures.remove(&label);
        self.server_reconnects.remove(&label);
    }

    /// The text in OpenMetrics 1.0.
    pub fn render(&self) -> String {
        let mut text = String::new();
        process::write(&mut text);
        // Writing to a String cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }

    /// The text in the classic format of Prometheus, 0.0.4.
    pub fn render_classic(&self) -> String {
        classic::of(&self.render())
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
            // Nothing went wrong: a person or the client program is asked first, and the call comes back.
            Some(ErrorCode::ApprovalRequired | ErrorCode::InputRequired) => {
                self.waiting.inc();
            }
            Some(code) => {
                self.failed.inc();
                let labels = ErrorLabels { tool: self.tool.clone(), code: code.as_str() };
                self.errors.get_or_create(&labels).inc();
            }
        }
    }
}
