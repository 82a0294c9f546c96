//! What a connection may cost: every time, size and count that the listener enforces. One is hyper's own: a request
//! with more than 100 header fields is answered 431.

use std::time::Duration;

use super::proxies::TrustedProxies;

/// Limits of one listener. The defaults close every kind of slow connection within 30 seconds.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections in total; lowered to half of the open files that the process may have.
    pub max_connections: usize,
    /// Open connections of one address other than loopback and trusted proxies (of one /64 network for IPv6).
    pub max_connections_per_peer: usize,
    /// Time from the first byte of a request, or from the connection's start, to the end of its headers.
    pub header_timeout: Duration,
    /// Bytes of request line and headers together; more are answered 431.
    pub max_header_bytes: usize,
    /// Time for a request body, lengthened by what `min_rate` allows for the bytes that came.
    pub body_timeout: Duration,
    /// How long bytes may wait for a peer that does not read, lengthened by `min_rate` for what it took.
    pub write_timeout: Duration,
    /// Bytes per second that earn a slow but living peer more time, in both directions.
    pub min_rate: u32,
    /// How long a connection may be idle between two requests.
    pub idle_timeout: Duration,
    /// How long to read from a refused sender, so that it can read the refusal before the close.
    pub linger: Duration,
    /// How long idle connections stay open once a drain has begun, for requests already on their way.
    pub drain_notice: Duration,
    /// Who is believed about the addresses of others.
    pub proxies: TrustedProxies,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 2_000,
            max_connections_per_peer: 200,
            header_timeout: Duration::from_secs(10),
            max_header_bytes: 32 * 1024,
            body_timeout: Duration::from_secs(20),
            write_timeout: Duration::from_secs(20),
            min_rate: 16 * 1024,
            idle_timeout: Duration::from_secs(25),
            linger: Duration::from_millis(500),
            drain_notice: Duration::from_millis(200),
            proxies: TrustedProxies::default(),
        }
    }
}

impl Limits {
    /// The extra time that `bytes` moved earn at the minimum rate.
    pub(super) fn earned(&self, bytes: u64) -> Duration {
        Duration::from_secs_f64(bytes as f64 / f64::from(self.min_rate.max(1)))
    }
}
