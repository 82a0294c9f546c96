//! A way to the PostgreSQL server that can be cut and mended, as if the server went away and came back.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use postgres::config::Host;
use toolroom_store::DatabaseUrl;

pub struct Proxy {
    pub url: DatabaseUrl,
    address: SocketAddr,
    server: String,
    running: Option<Running>,
}

struct Running {
    stopping: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    acceptor: JoinHandle<()>,
}

impl Proxy {
    /// A proxy to the server of this URL, which must name it by host and port.
    pub fn to(url: &str) -> Self {
        let config: postgres::Config = url.parse().unwrap();
        let [Host::Tcp(host)] = config.get_hosts() else { panic!("one host is named") };
        let server = format!("{host}:{}", config.get_ports()[0]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let url = url.replacen(&server, &address.to_string(), 1).parse().unwrap();
        let running = Some(Running::start(listener, server.clone()));
        Self { url, address, server, running }
    }

    /// Breaks every connection and refuses new ones.
    pub fn cut(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop(self.address);
        }
    }

    pub fn mend(&mut self) {
        let listener = TcpListener::bind(self.address).unwrap();
        self.running = Some(Running::start(listener, self.server.clone()));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
    }
}

impl Running {
    fn start(listener: TcpListener, server: String) -> Self {
        let stopping = Arc::new(AtomicBool::new(false));
        let streams = Arc::new(Mutex::new(Vec::new()));
        let (stop, open) = (Arc::clone(&stopping), Arc::clone(&streams));
        let acceptor = std::thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let server = TcpStream::connect(&server).unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    std::thread::spawn(move || pump(from, to));
                }
                open.lock().unwrap().extend([client, server]);
            }
        });
        Self { stopping, streams, acceptor }
    }

    fn stop(self, address: SocketAddr) {
        self.stopping.store(true, Ordering::SeqCst);
        // The acceptor sees the flag when a connection wakes it.
        drop(TcpStream::connect(address));
        self.acceptor.join().unwrap();
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
