//! Proxies in front of the server: which ones are believed, and what they say about the client's address.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use http::{HeaderMap, HeaderName, header};

use super::Peer;

/// The proxies whose word about a client's address is taken. By default nobody's is.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    networks: Vec<Network>,
    header: ForwardedHeader,
    /// Whether their connections begin with the PROXY protocol.
    pub(super) proxy_protocol: bool,
}

/// The header in which the proxies name the client. Any other may come from the client itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded`, of RFC 7239.
    Forwarded,
}

/// A text that is neither an address nor a network.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is not an address such as 10.0.0.5 or a network such as 10.0.0.0/8")]
pub struct BadNetwork(String);

#[derive(Clone, Copy, Debug)]
struct Network {
    address: IpAddr,
    bits: u32,
}

impl TrustedProxies {
    /// Trusts these addresses and networks.
    pub fn new<S: AsRef<str>>(
        networks: impl IntoIterator<Item = S>,
        header: ForwardedHeader,
        proxy_protocol: bool,
    ) -> Result<Self, BadNetwork> {
        let networks = networks.into_iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>()?;
        Ok(Self { networks, header, proxy_protocol })
    }

    pub(super) fn trust(&self, peer: Peer) -> bool {
        peer.ip().is_some_and(|ip| self.trust_address(ip))
    }

    fn trust_address(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    /// Who makes a request that came over a connection of `peer`.
    ///
    /// Every proxy adds on the right whom it heard from, so that the last address that is not a proxy's is the client.
    /// What stands before it is the client's own word.
    pub(super) fn client(&self, peer: Peer, headers: &HeaderMap) -> Peer {
        if !self.trust(peer) {
            return peer;
        }
        let name = match self.header {
            ForwardedHeader::XForwardedFor => HeaderName::from_static("x-forwarded-for"),
            ForwardedHeader::Forwarded => header::FORWARDED,
        };
        let mut client = peer;
        for value in headers.get_all(name).iter().rev() {
            let elements = split_unquoted(value.as_bytes(), b',');
            for element in elements.into_iter().rev() {
                let named = match self.header {
                    ForwardedHeader::XForwardedFor => address(element),
                    ForwardedHeader::Forwarded => forwarded_for(element).and_then(address),
                };
                // A proxy that does not say whom it heard from: all that is known is that somebody is behind it.
                let Some(named) = named else { return client.ip().map_or(peer, Peer::Proxied) };
                client = Peer::Proxied(named);
                if !self.trust_address(named) {
                    return client;
                }
            }
        }
        client
    }
}

/// The value of `for` in one element of `Forwarded`.
fn forwarded_for(element: &[u8]) -> Option<&[u8]> {
    split_unquoted(element, b';').into_iter().find_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        pair[..at].trim_ascii().eq_ignore_ascii_case(b"for").then(|| pair[at + 1..].trim_ascii())
    })
}

/// An address, perhaps quoted, in brackets or with a port.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let text = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address| address.to_canonical())
}

fn split_unquoted(text: &[u8], separator: u8) -> Vec<&[u8]> {
    let mut quoted = false;
    text.split(|byte| {
        quoted ^= *byte == b'"';
        *byte == separator && !quoted
    })
    .collect()
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - self.bits).unwrap_or(0);
                (network.to_bits() ^ address.to_bits()) & mask == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - self.bits).unwrap_or(0);
                (network.to_bits() ^ address.to_bits()) & mask == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, BadNetwork> {
        let bad = || BadNetwork(text.to_owned());
        let (address, bits) =
            text.trim().split_once('/').map_or((text.trim(), None), |(a, bits)| (a, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| bad())?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(longest), str::parse).map_err(|_| bad())?;
        if bits > longest { Err(bad()) } else { Ok(Self { address, bits }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(proxies: &TrustedProxies, peer: &str, fields: &[(&'static str, &str)]) -> Peer {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        proxies.client(Peer::Tcp(peer.parse().unwrap()), &headers)
    }

    fn proxied(address: &str) -> Peer {
        Peer::Proxied(address.parse().unwrap())
    }

    #[test]
    fn the_last_address_that_is_not_a_proxys_is_the_client() {
        let proxies =
            TrustedProxies::new(["10.0.0.0/8", "2001:db8::/32"], ForwardedHeader::default(), false).unwrap();
        let name = "x-forwarded-for";
        for (given, wanted) in [
            ("192.0.2.7", "192.0.2.7"),
            ("127.0.0.1, 192.0.2.7", "192.0.2.7"),
            ("192.0.2.7, 10.1.2.3", "192.0.2.7"),
            ("192.0.2.7:4711, [2001:db8::1]:80", "192.0.2.7"),
            ("[2001:db9::5]", "2001:db9::5"),
            ("10.9.9.9, 10.1.2.3", "10.9.9.9"),
            ("192.0.2.7, unknown", "10.0.0.1"),
            ("192.0.2.7, unknown, 10.1.2.3", "10.1.2.3"),
            ("", "10.0.0.1"),
        ] {
            assert_eq!(client(&proxies, "10.0.0.1:1", &[(name, given)]), proxied(wanted), "{given}");
        }
        let lines = [(name, "192.0.2.1"), (name, "192.0.2.2, 10.1.1.1")];
        assert_eq!(client(&proxies, "10.0.0.1:1", &lines), proxied("192.0.2.2"));
        let direct = Peer::Tcp("192.0.2.9:1".parse().unwrap());
        assert_eq!(client(&proxies, "192.0.2.9:1", &[(name, "192.0.2.7")]), direct, "not a proxy's word");
        let other = client(&proxies, "10.0.0.1:1", &[("forwarded", "for=192.0.2.7")]);
        assert_eq!(other, Peer::Tcp("10.0.0.1:1".parse().unwrap()), "not the proxy's header");
    }

    #[test]
    fn the_standard_header_is_read_with_its_quotes() {
        let proxies = TrustedProxies::new(["127.0.0.1"], ForwardedHeader::Forwarded, false).unwrap();
        for (given, wanted) in [
            ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
            ("for=192.0.2.43, For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
            ("by=\"a,b;c\"; FOR=192.0.2.1", "192.0.2.1"),
            ("for=192.0.2.1, for=_hidden", "127.0.0.1"),
            ("proto=https", "127.0.0.1"),
        ] {
            let found = client(&proxies, "127.0.0.1:9", &[("forwarded", given)]);
            assert_eq!(found, proxied(wanted), "{given}");
            assert!(!found.is_local(), "{given}");
        }
    }

    #[test]
    fn networks_are_addresses_with_or_without_a_length() {
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "proxy.example", "10.0.0.1/", "10.0.0.1/-1"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("203.0.113.9".parse().unwrap()));
        let one: Network = "192.0.2.1".parse().unwrap();
        assert!(one.contains("::ffff:192.0.2.1".parse().unwrap()));
        assert!(!one.contains("192.0.2.2".parse().unwrap()));
    }
}
