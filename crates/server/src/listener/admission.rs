//! Who may open one more connection: a limit on all, and one per address other than loopback and trusted proxies.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Peer;

/// The open connections of one listener, counted.
#[derive(Clone)]
pub(super) struct Admission(Arc<Inner>);

struct Inner {
    max_total: usize,
    max_per_peer: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    total: usize,
    by_network: HashMap<IpAddr, usize>,
}

/// The right to one connection, released on drop.
pub(super) struct Permit {
    admission: Admission,
    network: Option<IpAddr>,
}

impl Admission {
    pub(super) fn new(max_total: usize, max_per_peer: usize) -> Self {
        Self(Arc::new(Inner { max_total, max_per_peer, open: Mutex::default() }))
    }

    /// `None` if the peer, or all peers together, have as many connections as they may.
    pub(super) fn admit(&self, peer: Peer) -> Option<Permit> {
        let mut permit = self.admit_proxy()?;
        (peer.is_local() || peer.ip().is_some_and(|ip| permit.count(ip))).then_some(permit)
    }

    /// The same for a proxy, which stands for many clients.
    pub(super) fn admit_proxy(&self) -> Option<Permit> {
        let mut open = self.open();
        if open.total >= self.0.max_total {
            return None;
        }
        open.total += 1;
        drop(open);
        Some(Permit { admission: self.clone(), network: None })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Counts the connection as one of this client; `false` if that has as many as it may.
    pub(super) fn count(&mut self, client: IpAddr) -> bool {
        let network = network_of(client);
        let mut open = self.admission.open();
        let of_client = open.by_network.entry(network).or_default();
        if *of_client >= self.admission.0.max_per_peer {
            return false;
        }
        *of_client += 1;
        drop(open);
        self.network = Some(network);
        true
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.admission.open();
        open.total -= 1;
        let Some(network) = self.network else { return };
        if let Some(of_peer) = open.by_network.get_mut(&network) {
            *of_peer -= 1;
            if *of_peer == 0 {
                open.by_network.remove(&network);
            }
        }
    }
}

/// A single host commonly owns a whole IPv6 /64, so that is what is counted.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: &str) -> Peer {
        Peer::Tcp(address.parse().unwrap())
    }

    #[test]
    fn one_remote_network_cannot_take_all_places() {
        let admission = Admission::new(4, 1);
        let first = admission.admit(peer("[2001:db8::1]:1")).unwrap();
        assert!(admission.admit(peer("[2001:db8::2]:1")).is_none());
        assert!(admission.admit(peer("192.0.2.7:1")).is_some());
        drop(first);
        assert!(admission.admit(peer("[2001:db8::2]:1")).is_some());
    }

    #[test]
    fn loopback_is_bound_by_the_total_only() {
        let admission = Admission::new(2, 1);
        let _first = admission.admit(peer("127.0.0.1:1")).unwrap();
        let second = admission.admit(peer("[::ffff:127.0.0.1]:2")).unwrap();
        assert!(admission.admit(peer("127.0.0.1:3")).is_none());
        drop(second);
        assert!(admission.admit(Peer::Owner).is_some());
    }
}
