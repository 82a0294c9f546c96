//! Which addresses are out in the world.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is out in the world: not of this machine, its networks or their neighbours, and no
/// other way of writing one that is.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    // Network and length of its prefix, by the registry of special-purpose addresses.
    const SPECIAL: [([u8; 4], u32); 15] = [
        // "This network", which Linux takes for this machine.
        ([0, 0, 0, 0], 8),
        ([10, 0, 0, 0], 8),
        // Between a provider and its customers; some clouds keep their metadata here.
        ([100, 64, 0, 0], 10),
        ([127, 0, 0, 0], 8),
        // Link-local, the metadata of most clouds among it.
        ([169, 254, 0, 0], 16),
        ([172, 16, 0, 0], 12),
        ([192, 0, 0, 0], 24),
        ([192, 0, 2, 0], 24),
        ([192, 88, 99, 0], 24),
        ([192, 168, 0, 0], 16),
        ([198, 18, 0, 0], 15),
        ([198, 51, 100, 0], 24),
        ([203, 0, 113, 0], 24),
        ([224, 0, 0, 0], 4),
        ([240, 0, 0, 0], 4),
    ];
    let bits = u32::from(address);
    !SPECIAL.iter().any(|(network, length)| {
        let mask = u32::MAX << (32 - length);
        bits & mask == u32::from(Ipv4Addr::from(*network))
    })
}

/// Only 2000::/3 is given out. That leaves out loopback, unspecified, unique local, link-local, multicast,
/// IPv4 in any mapped form and NAT64; what is left out of it here leads to IPv4 again, or nowhere.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // 2001::/23: Teredo and other protocols.
        [0x2001, second, ..] if second < 0x0200 => false,
        // Documentation.
        [0x2001, 0x0db8, ..] => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // 6to4.
        [0x2002, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}
