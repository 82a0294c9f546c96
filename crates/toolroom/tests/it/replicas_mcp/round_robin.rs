//! A balancer in small: every request goes to the next server in turn, whoever sends it and over whichever connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub struct RoundRobin {
    pub address: SocketAddr,
    served: Arc<Vec<AtomicUsize>>,
}

impl RoundRobin {
    pub fn start(servers: Vec<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served: Arc<Vec<AtomicUsize>> = Arc::new(servers.iter().map(|_| AtomicUsize::new(0)).collect());
        let counts = Arc::clone(&served);
        thread::spawn(move || {
            for (number, client) in listener.incoming().map_while(Result::ok).enumerate() {
                let place = number % servers.len();
                counts[place].fetch_add(1, Ordering::Relaxed);
                let server = servers[place];
                thread::spawn(move || pass(client, server));
            }
        });
        Self { address, served }
    }

    /// How many requests each of them got.
    pub fn served(&self) -> Vec<usize> {
        self.served.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }
}

/// One request and its answer; then the connection is closed, so that the next request is a new one.
fn pass(client: TcpStream, server: SocketAddr) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(given) = lower.strip_prefix("content-length:") {
            length = given.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
        if !lower.starts_with("connection:") {
            head += &line;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut upstream = TcpStream::connect(server).ok()?;
    upstream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).ok()?;
    upstream.write_all(&body).ok()?;
    // A client that leaves its stream takes the one behind it along.
    let (left, gone) = (upstream.try_clone().ok()?, client.try_clone().ok()?);
    thread::spawn(move || {
        let mut rest = [0; 64];
        let mut gone = gone;
        while gone.read(&mut rest).is_ok_and(|read| read > 0) {}
        left.shutdown(Shutdown::Both)
    });
    let mut client = client;
    std::io::copy(&mut upstream, &mut client).ok()?;
    client.shutdown(Shutdown::Both).ok()
}
