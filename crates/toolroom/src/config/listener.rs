//! `[server]` as the listener's limits.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use toolroom_server::listener::{ForwardedHeader, Limits, TrustedProxies};

use super::settings_file::{self, Server};
use crate::failure::Failure;

/// What connections may cost, and which proxies are believed.
pub fn limits(server: &Server, path: &Path) -> Result<Limits> {
    let header = match server.forwarded_header {
        settings_file::ForwardedHeader::XForwardedFor => ForwardedHeader::XForwardedFor,
        settings_file::ForwardedHeader::Forwarded => ForwardedHeader::Forwarded,
    };
    if server.proxy_protocol && server.trusted_proxies.is_empty() {
        return Err(Failure::new(
            format!("{}: [server] proxy_protocol is on, but no proxy is trusted", path.display()),
            "Name the proxy's address: trusted_proxies = [\"10.0.0.5\"]",
        )
        .into());
    }
    let proxies = TrustedProxies::new(&server.trusted_proxies, header, server.proxy_protocol);
    let proxies = proxies.map_err(|error| {
        Failure::new(
            format!("{}: [server] trusted_proxies: {error}", path.display()),
            "List addresses and networks, such as [\"10.0.0.5\", \"192.168.0.0/16\"].",
        )
    })?;
    Ok(Limits {
        max_connections: server.connections.get() as usize,
        max_connections_per_peer: server.connections_per_address.get() as usize,
        idle_timeout: Duration::from_secs(server.idle.get().into()),
        proxies,
        ..Limits::default()
    })
}

/// `public_url` without a slash at the end: an origin, because the paths below it are ours.
pub fn public_url(text: &str) -> Result<String> {
    let origin = text.trim().trim_end_matches('/');
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let is_host = |host: &str| {
        !host.is_empty()
            && !host.contains(|c: char| c.is_whitespace() || c.is_control() || "/?#@\\".contains(c))
    };
    if host.is_some_and(is_host) {
        return Ok(origin.to_owned());
    }
    Err(Failure::new(
        format!("[server] public_url: {text:?} is not an address"),
        "Write it as browsers see it, without a path: public_url = \"https://tools.example.com\"",
    )
    .into())
}
