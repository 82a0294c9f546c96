//! Host and Origin on every route: a web page must not reach this server under its own name.

use std::collections::HashSet;

use axum::extract::Request;
use http::{HeaderMap, StatusCode, header};

use super::Problem;
use crate::listener::Peer;

/// Balancers and orchestrators ask these by address, or with no Host at all. What they tell is for everybody.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// The names under which this server may be addressed, in addition to loopback.
#[derive(Clone, Debug, Default)]
pub struct HostPolicy {
    allowed: HashSet<Authority>,
}

/// A host and perhaps a port, in the form that is compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Authority {
    host: String,
    port: Option<u16>,
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No Host header, several of them, or one that is not a host.
    #[error("The request must have exactly one valid Host header.")]
    BadHost,
    /// The Host, or the host in the request line, is none of ours.
    #[error("This host name is not allowed. Add it to allowed_hosts in toolroom.toml.")]
    ForeignHost,
    /// The Origin is opaque, malformed, repeated, or of another host.
    #[error("Requests from this origin are not allowed. Add its host to allowed_hosts in toolroom.toml.")]
    ForeignOrigin,
}

impl HostPolicy {
    /// `allowed_hosts` are exact names or addresses. One with a port allows only that port, one without any port.
    pub fn new<S: AsRef<str>>(allowed_hosts: impl IntoIterator<Item = S>) -> Self {
        let parse = |name: S| {
            let parsed = Authority::parse(name.as_ref().trim());
            if parsed.is_none() {
                tracing::warn!(name = name.as_ref(), "allowed_hosts: not a host name, ignored");
            }
            parsed
        };
        Self { allowed: allowed_hosts.into_iter().filter_map(parse).collect() }
    }

    /// Checks a request's peer and headers; `target` is the authority in the request line, if it has one.
    pub fn judge(
        &self,
        peer: Option<Peer>,
        target: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        // No browser reaches the owner's socket, and its clients have no host to name.
        if peer != Some(Peer::Owner) {
            let mut hosts = headers.get_all(header::HOST).iter();
            let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(Refusal::BadHost) };
            let host = host.to_str().map_err(|_| Refusal::BadHost)?;
            for host in [host].into_iter().chain(target) {
                let (host, port) = split(host).ok_or(Refusal::BadHost)?;
                if !self.allows(host, port) {
                    return Err(Refusal::ForeignHost);
                }
            }
        }
        self.judge_origin(headers)
    }

    /// 403 for whatever is refused.
    #[allow(clippy::result_large_err, reason = "made once per refused request")]
    pub(super) fn check(&self, request: &Request) -> Result<(), Problem> {
        let judged = if PROBES.contains(&request.uri().path()) {
            self.judge_origin(request.headers())
        } else {
            let peer = request.extensions().get::<Peer>().copied();
            let target = request.uri().authority().map(|authority| authority.as_str());
            self.judge(peer, target, request.headers())
        };
        judged.map_err(|refusal| Problem::new(StatusCode::FORBIDDEN, "forbidden").detail(refusal.to_string()))
    }

    fn judge_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(()) };
        let allowed = origins.next().is_none()
            && origin
                .to_str()
                .ok()
                .and_then(|origin| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")))
                .and_then(split)
                .is_some_and(|(host, port)| self.allows(host, port));
        if allowed { Ok(()) } else { Err(Refusal::ForeignOrigin) }
    }

    fn allows(&self, host: &str, port: Option<u16>) -> bool {
        if is_loopback(host) {
            return true;
        }
        let allowed = |port| self.allowed.contains(&Authority { host: host.to_ascii_lowercase(), port });
        allowed(port) || (port.is_some() && allowed(None))
    }
}

impl Authority {
    fn parse(text: &str) -> Option<Self> {
        split(text).map(|(host, port)| Self { host: host.to_ascii_lowercase(), port })
    }
}

/// Whether a host is this machine under a name that means that everywhere.
pub(crate) fn is_loopback(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| host.eq_ignore_ascii_case(local))
}

/// A valid host without the dot that may end it, and the port.
pub(crate) fn split(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.rfind(':') {
        Some(colon) if !text.ends_with(']') => (&text[..colon], Some(text[colon + 1..].parse().ok()?)),
        _ => (text, None),
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    let valid = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)),
    };
    valid.then_some((host, port))
}

/// How the headers begin that only one proxy or cloud adds.
const PROXIES: [&str; 18] = [
    "cf-",
    "cloudfront-",
    "fastly-",
    "fly-",
    "ngrok-",
    "tailscale-",
    "x-amz-cf-",
    "x-amzn-",
    "x-appengine-",
    "x-arr-",
    "x-auth-request-",
    "x-azure-",
    "x-envoy-",
    "x-goog-authenticated-",
    "x-ms-client-principal",
    "x-nf-",
    "x-original-",
    "x-vercel-",
];

/// Other headers that only a proxy adds.
const NAMES: [&str; 17] = [
    "cdn-loop",
    "front-end-https",
    "proxy-connection",
    "remote-user",
    "via",
    "x-authenticated-user",
    "x-coming-from",
    "x-goog-iap-jwt-assertion",
    "x-host",
    "x-ms-proxy",
    "x-real-port",
    "x-remote-user",
    "x-request-start",
    "x-scheme",
    "x-url-scheme",
    "x-varnish",
    "x-webauth-user",
];

/// Whether a proxy passed the request on, so that a loopback peer does not mean a local client.
pub fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| {
        let name = name.as_str();
        // CDNs and load balancers vary the name: X-Forwarded-For, X-Vercel-Forwarded-For, Fly-Client-IP,
        // CF-Connecting-IP, X-Real-IP, Ali-CDN-Real-IP, X-Azure-SocketIP, CloudFront-Viewer-Address.
        name.contains("forwarded")
            || ["-ip", "-ipv6", "clientip", "socketip", "-address", "-addr"]
                .iter()
                .any(|end| name.ends_with(end))
            || PROXIES.iter().any(|start| name.starts_with(start))
            || NAMES.contains(&name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(policy: &HostPolicy, fields: &[(&'static str, &str)]) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        policy.judge(None, None, &headers)
    }

    #[test]
    fn host_names_are_compared_whole_and_without_case() {
        let policy = HostPolicy::new(["Tools.Example.com", "other.example:8443"]);
        for good in ["localhost", "LOCALHOST:1", "127.0.0.1:7878", "[::1]:7878", "[::1]", "localhost."] {
            assert_eq!(judge(&policy, &[("host", good)]), Ok(()), "{good}");
        }
        for good in ["tools.example.com", "TOOLS.example.com.:9", "other.example:8443"] {
            assert_eq!(judge(&policy, &[("host", good)]), Ok(()), "{good}");
        }
        for foreign in ["evil.example", "localhost.evil.example", "xtools.example.com", "other.example:1"] {
            assert_eq!(judge(&policy, &[("host", foreign)]), Err(Refusal::ForeignHost), "{foreign}");
        }
        for bad in ["", "localhost@evil", "localhost:x", "[::1", "a b", "localhost:99999"] {
            assert_eq!(judge(&policy, &[("host", bad)]), Err(Refusal::BadHost), "{bad}");
        }
    }

    #[test]
    fn an_origin_must_be_of_an_allowed_host() {
        let policy = HostPolicy::new(["tools.example.com"]);
        let with = |origin| judge(&policy, &[("host", "localhost"), ("origin", origin)]);
        for good in ["http://localhost:3000", "https://tools.example.com", "http://[::1]"] {
            assert_eq!(with(good), Ok(()), "{good}");
        }
        for bad in ["null", "", "https://evil.example", "file://localhost", "http://localhost/x", "localhost"]
        {
            assert_eq!(with(bad), Err(Refusal::ForeignOrigin), "{bad}");
        }
    }

    #[test]
    fn the_owner_needs_no_host_and_the_request_line_counts_too() {
        let policy = HostPolicy::default();
        assert_eq!(policy.judge(Some(Peer::Owner), None, &HeaderMap::new()), Ok(()));
        let headers = HeaderMap::from_iter([(header::HOST, "localhost".parse().unwrap())]);
        assert_eq!(policy.judge(None, Some("evil.example"), &headers), Err(Refusal::ForeignHost));
    }

    #[test]
    fn headers_of_proxies_are_noticed() {
        for name in [
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-real-ip",
            "x-remote-addr",
            "via",
            "fly-client-ip",
            "fastly-client-ip",
            "cluster-client-ip",
            "x-cluster-client-ip",
            "x-envoy-external-address",
            "client-ip",
            "true-client-ip",
            "cf-connecting-ip",
            "x-azure-clientip",
            "x-vercel-forwarded-for",
            "cf-ray",
            "cdn-loop",
            "x-nf-client-connection-ip",
            "cloudfront-viewer-address",
            "x-proxyuser-ip",
            "ali-cdn-real-ip",
            "x-original-host",
            "x-host",
            "x-remote-addr",
            "x-azure-socketip",
            "x-azure-fdid",
            "x-amz-cf-id",
            "x-coming-from",
            "x-request-start",
            "tailscale-user-login",
            "x-amzn-trace-id",
            "x-auth-request-user",
            "x-goog-iap-jwt-assertion",
            "x-remote-user",
            "front-end-https",
            "ngrok-trace-id",
            "x-scheme",
            "remote-user",
            "x-ms-proxy",
            "x-goog-authenticated-user-email",
        ] {
            let headers = HeaderMap::from_iter([(http::HeaderName::from_static(name), "x".parse().unwrap())]);
            assert!(is_forwarded(&headers), "{name}");
        }
        assert!(!is_forwarded(&HeaderMap::from_iter([(header::HOST, "localhost".parse().unwrap())])));
    }
}
