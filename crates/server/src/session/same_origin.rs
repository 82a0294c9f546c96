//! With a session, a request must come from our own page: the same scheme, host and port. For keys any port of this
//! machine will do, but a cookie is sent along by pages that never asked for it.

use http::{HeaderMap, header};
use toolroom_contract::ErrorCode;

use crate::middleware::Problem;
use crate::middleware::host_origin::{is_loopback, split};
use crate::problems::problem;

const NO_TLS: &str = "Beyond this machine the console works over https alone, because a session must not cross a network \
                      in the clear. Put a proxy with TLS before the server, and its name into allowed_hosts of \
                      toolroom.toml; or open the console on the server's own machine.";
const FOREIGN: &str =
    "This request did not come from the console's own page. Log in at /console, and use it there.";

/// Refuses what another page sent.
#[allow(clippy::result_large_err, reason = "made once per refused request")]
pub(crate) fn check(headers: &HeaderMap) -> Result<(), Problem> {
    match judge(headers) {
        Verdict::Same => Ok(()),
        Verdict::Foreign => Err(problem(ErrorCode::Forbidden, FOREIGN)),
        Verdict::InTheClear => Err(problem(ErrorCode::Forbidden, NO_TLS)),
    }
}

/// Whether the page came over https, by a proxy before us.
pub(crate) fn is_https(headers: &HeaderMap) -> bool {
    own(headers).is_some_and(|(scheme, ..)| scheme == "https")
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Same,
    Foreign,
    InTheClear,
}

fn judge(headers: &HeaderMap) -> Verdict {
    let Some((scheme, host, port)) = own(headers) else { return Verdict::Foreign };
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    let plain = scheme == "http" || origin.is_some_and(|origin| origin.starts_with("http://"));
    if plain && !is_loopback(host) {
        return Verdict::InTheClear;
    }
    let same = match origin {
        Some(origin) => origin.split_once("://").is_some_and(|(theirs, rest)| {
            theirs == scheme
                && split(rest).is_some_and(|(name, given)| {
                    name.eq_ignore_ascii_case(host) && given.unwrap_or(usual_port(scheme)) == port
                })
        }),
        // Browsers leave the origin out of a plain read, and say this instead, which no page can forge.
        None => headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin"),
    };
    if same { Verdict::Same } else { Verdict::Foreign }
}

/// The scheme, host and port by which this server was addressed.
fn own(headers: &HeaderMap) -> Option<(&str, &str, u16)> {
    let (host, port) = split(headers.get(header::HOST)?.to_str().ok()?)?;
    let forwarded = headers.get("x-forwarded-proto").and_then(|value| value.to_str().ok());
    let scheme = match forwarded.and_then(|schemes| schemes.split(',').next()).map(str::trim) {
        Some(scheme) => scheme,
        // We speak no TLS ourselves: who reaches us by another name does so through a proxy, which must.
        None if is_loopback(host) => "http",
        None => "https",
    };
    Some((scheme, host, port.unwrap_or(usual_port(scheme))))
}

fn usual_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(fields: &[(&'static str, &str)]) -> Verdict {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        judge(&headers)
    }

    #[test]
    fn only_the_same_scheme_host_and_port_is_our_own_page() {
        let here = |origin| verdict(&[("host", "127.0.0.1:7878"), ("origin", origin)]);
        assert_eq!(here("http://127.0.0.1:7878"), Verdict::Same);
        for foreign in [
            "http://127.0.0.1:3000",
            "http://localhost:7878",
            "https://127.0.0.1:7878",
            "http://127.0.0.1",
            "null",
            "",
            "http://127.0.0.1:7878/x",
        ] {
            assert_eq!(here(foreign), Verdict::Foreign, "{foreign}");
        }
    }

    #[test]
    fn without_an_origin_the_browser_must_say_that_it_is_the_same() {
        let here = |site| verdict(&[("host", "localhost:7878"), ("sec-fetch-site", site)]);
        assert_eq!(here("same-origin"), Verdict::Same);
        for foreign in ["same-site", "cross-site", "none"] {
            assert_eq!(here(foreign), Verdict::Foreign, "{foreign}");
        }
        assert_eq!(verdict(&[("host", "localhost:7878")]), Verdict::Foreign);
    }

    #[test]
    fn another_machine_needs_https() {
        let there = |origin| verdict(&[("host", "tools.example.com"), ("origin", origin)]);
        assert_eq!(there("https://tools.example.com"), Verdict::Same);
        assert_eq!(there("https://tools.example.com:443"), Verdict::Same);
        assert_eq!(there("http://tools.example.com"), Verdict::InTheClear);
        let read =
            [("host", "tools.example.com"), ("x-forwarded-proto", "http"), ("sec-fetch-site", "same-origin")];
        assert_eq!(verdict(&read), Verdict::InTheClear);
        let behind = [
            ("host", "localhost:8443"),
            ("x-forwarded-proto", "https"),
            ("origin", "https://localhost:8443"),
        ];
        assert_eq!(verdict(&behind), Verdict::Same);
    }
}
