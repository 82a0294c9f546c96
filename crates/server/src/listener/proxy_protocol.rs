//! The PROXY protocol, versions 1 and 2: the bytes in which a proxy says whose connection it passes on, before any
//! other. <https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt>

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncRead, AsyncReadExt};

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// The longest line of version 1, its end included.
const LONGEST_LINE: usize = 107;
/// Addresses and what proxies add to them; more is not believed to be a header.
const LONGEST_BLOCK: usize = 4096;

/// Reads the header and nothing after it. `None` where the proxy speaks for itself, as in its health checks, or does
/// not know.
pub(super) async fn read<S: AsyncRead + Unpin>(socket: &mut S) -> io::Result<Option<IpAddr>> {
    // Both versions are longer than this.
    let mut start = [0; SIGNATURE.len()];
    socket.read_exact(&mut start).await?;
    if start == SIGNATURE { read_block(socket).await } else { read_line(socket, &start).await }
}

async fn read_line<S: AsyncRead + Unpin>(socket: &mut S, start: &[u8]) -> io::Result<Option<IpAddr>> {
    let mut line = start.to_vec();
    if !line.starts_with(b"PROXY ") {
        return Err(malformed());
    }
    while !line.ends_with(b"\r\n") {
        if line.len() == LONGEST_LINE {
            return Err(malformed());
        }
        line.push(socket.read_u8().await?);
    }
    let line = std::str::from_utf8(&line).map_err(|_| malformed())?.trim_end();
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["PROXY", "UNKNOWN", ..] => Ok(None),
        ["PROXY", family @ ("TCP4" | "TCP6"), source, _, _, _] => {
            let source: IpAddr = source.parse().map_err(|_| malformed())?;
            if source.is_ipv4() == (family == "TCP4") { Ok(Some(source)) } else { Err(malformed()) }
        }
        _ => Err(malformed()),
    }
}

async fn read_block<S: AsyncRead + Unpin>(socket: &mut S) -> io::Result<Option<IpAddr>> {
    let (command, family) = (socket.read_u8().await?, socket.read_u8().await?);
    let length = usize::from(socket.read_u16().await?);
    if length > LONGEST_BLOCK {
        return Err(malformed());
    }
    let mut block = vec![0; length];
    socket.read_exact(&mut block).await?;
    let is_local = match command {
        0x20 => true,
        0x21 => false,
        _ => return Err(malformed()),
    };
    // Families: the upper half is IPv4, IPv6, or something without an address of the network.
    match family >> 4 {
        _ if is_local => Ok(None),
        1 => match block.first_chunk::<4>().filter(|_| length >= 12) {
            Some(source) => Ok(Some(Ipv4Addr::from(*source).into())),
            None => Err(malformed()),
        },
        2 => match block.first_chunk::<16>().filter(|_| length >= 36) {
            Some(source) => Ok(Some(Ipv6Addr::from(*source).into())),
            None => Err(malformed()),
        },
        0 | 3 => Ok(None),
        _ => Err(malformed()),
    }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed header of the PROXY protocol")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(bytes: &[u8]) -> (io::Result<Option<IpAddr>>, usize) {
        let mut rest = bytes;
        let read = read(&mut rest).await;
        (read, rest.len())
    }

    fn block(command: u8, family: u8, addresses: &[u8]) -> Vec<u8> {
        let length = u16::try_from(addresses.len()).unwrap().to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, addresses].concat()
    }

    #[tokio::test]
    async fn both_versions_name_the_client_and_nothing_after_the_header_is_read() {
        let v4 = [&[192, 0, 2, 7][..], &[127, 0, 0, 1, 0x12, 0x67, 0, 80]].concat();
        let v6: Vec<u8> = [&Ipv6Addr::LOCALHOST.octets()[..], &[0; 20]].concat();
        for (header, wanted) in [
            (b"PROXY TCP4 192.0.2.7 127.0.0.1 4711 80\r\n".to_vec(), Some("192.0.2.7")),
            (b"PROXY TCP6 2001:db8::7 ::1 4711 80\r\n".to_vec(), Some("2001:db8::7")),
            (b"PROXY UNKNOWN\r\n".to_vec(), None),
            (b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n".to_vec(), None),
            (block(0x21, 0x11, &v4), Some("192.0.2.7")),
            (block(0x21, 0x11, &[&v4[..], &[4, 0, 1, 0]].concat()), Some("192.0.2.7")),
            (block(0x21, 0x21, &v6), Some("::1")),
            (block(0x20, 0x00, &[]), None),
            (block(0x21, 0x31, &[0; 216]), None),
        ] {
            let (read, left) = read_all(&[&header[..], b"GET /"].concat()).await;
            assert_eq!(read.unwrap(), wanted.map(|text| text.parse().unwrap()), "{header:?}");
            assert_eq!(left, 5, "{header:?}");
        }
    }

    #[tokio::test]
    async fn anything_else_is_refused_after_a_bounded_read() {
        for header in [
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.7\r\n".to_vec(),
            b"PROXY TCP4 ::1 ::1 1 2\r\n".to_vec(),
            b"PROXY TCP4 nobody 127.0.0.1 1 2\r\n".to_vec(),
            [b"PROXY TCP4 ".as_slice(), &[b'1'; 200]].concat(),
            block(0x21, 0x11, &[1, 2, 3]),
            block(0x31, 0x11, &[0; 12]),
            block(0x21, 0x51, &[0; 12]),
            block(0x21, 0x11, &[0; LONGEST_BLOCK + 1]),
            b"PROXY".to_vec(),
        ] {
            assert!(read_all(&header).await.0.is_err(), "{header:?}");
        }
    }
}
