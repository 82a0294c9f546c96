//! Addresses that a caller might choose: none of them is reached, and each is refused in the same words.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolroom_outgoing::{Limits, Looking, Lookup, Outgoing, OutgoingError, Request, Url};

use crate::server::Server;

/// Answers with the addresses of its table, one row after the other, then the last forever.
struct Table(Vec<Vec<&'static str>>, AtomicUsize);

impl Table {
    fn new(rows: &[&[&'static str]]) -> Arc<Self> {
        Arc::new(Self(rows.iter().map(|row| row.to_vec()).collect(), AtomicUsize::new(0)))
    }
}

impl Lookup for Table {
    fn lookup<'a>(&'a self, _: &'a str) -> Looking<'a> {
        let at = self.1.fetch_add(1, Ordering::SeqCst).min(self.0.len() - 1);
        let row: Vec<IpAddr> = self.0[at].iter().map(|text| text.parse().unwrap()).collect();
        Box::pin(async move { if row.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(row) } })
    }
}

fn quick() -> Limits {
    Limits { timeout: Duration::from_millis(300), ..Limits::default() }
}

#[tokio::test]
async fn promise_no_address_of_this_machine_or_its_network_is_reached_in_any_spelling() {
    let canary = Server::canary().await;
    let outgoing = Outgoing::new(quick());
    for host in [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.1",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "0.0.0.0",
        "[::]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
        "[fd00::1]",
        "[fe80::1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "user:pass@127.0.0.1",
        "１２７.0.0.1",
    ] {
        let url: Url = format!("http://{host}:{}/", canary.port()).parse().unwrap();
        let error = outgoing.send(Request::get(url)).await.unwrap_err();
        assert!(matches!(error, OutgoingError::Refused), "{host}: {error:?}");
        assert_eq!(error.to_string(), "that address is not allowed");
    }
    assert_eq!(canary.seen().len(), 0);
}

#[tokio::test]
async fn no_scheme_but_http_and_https_is_taken() {
    let outgoing = Outgoing::new(quick());
    for url in
        ["file:///etc/passwd", "gopher://127.0.0.1:70/", "ftp://example.com/", "data:text/plain,x", "unix:/x"]
    {
        let error = outgoing.send(Request::get(url.parse().unwrap())).await.unwrap_err();
        assert!(matches!(error, OutgoingError::Refused), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_even_if_only_one_of_its_addresses_does() {
    let canary = Server::canary().await;
    for addresses in [&["127.0.0.1"][..], &["8.8.8.8", "127.0.0.1"], &["::ffff:127.0.0.1"], &["fd00::1"]] {
        let outgoing = Outgoing::new(quick()).with_lookup(Table::new(&[addresses]));
        let url: Url = format!("http://innocent.example:{}/", canary.port()).parse().unwrap();
        let error = outgoing.send(Request::get(url)).await.unwrap_err();
        assert!(matches!(error, OutgoingError::Refused), "{addresses:?}: {error:?}");
    }
    assert_eq!(canary.seen().len(), 0);
}

#[tokio::test]
async fn a_name_that_changes_its_address_between_check_and_connection_gains_nothing() {
    let canary = Server::canary().await;
    // 192.0.2.0/24 would be refused; this one is public, and nobody answers at that port.
    let table = Table::new(&[&["8.8.8.8"], &["127.0.0.1"]]);
    let outgoing = Outgoing::new(quick()).with_lookup(Arc::clone(&table) as Arc<dyn Lookup>);
    let url: Url = format!("http://rebinding.example:{}/", canary.port()).parse().unwrap();
    let first = outgoing.send(Request::get(url.clone())).await.unwrap_err();
    assert!(matches!(first, OutgoingError::Unreachable(_) | OutgoingError::Timeout), "{first:?}");
    assert_eq!(table.1.load(Ordering::SeqCst), 1, "a connection goes to the answer that was checked");
    let second = outgoing.send(Request::get(url)).await.unwrap_err();
    assert!(matches!(second, OutgoingError::Refused), "{second:?}");
    assert_eq!(canary.seen().len(), 0);
}

#[tokio::test]
async fn what_the_administrator_named_is_reached_and_its_neighbours_are_not() {
    let (named, canary) = (Server::canary().await, Server::canary().await);
    let outgoing = Outgoing::new(quick()).allow_private(named.url("/"));
    let reply = outgoing.send(Request::get(named.url("/search"))).await.unwrap();
    assert_eq!(reply.body, b"the canary sang");
    let error = outgoing.send(Request::get(canary.url("/"))).await.unwrap_err();
    assert!(matches!(error, OutgoingError::Refused), "{error:?}");
    assert_eq!((named.seen().len(), canary.seen().len()), (1, 0));
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_unreachable() {
    let outgoing = Outgoing::new(quick()).with_lookup(Table::new(&[&[]]));
    let error = outgoing.send(Request::get("http://nobody.example/".parse().unwrap())).await.unwrap_err();
    assert!(matches!(error, OutgoingError::Unreachable(_)), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("/nobody.example/"), "the URL may hold a key: {error:?}");
}
