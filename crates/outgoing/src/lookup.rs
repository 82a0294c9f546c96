//! Names to addresses, with those that may not be reached refused.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::address::is_public;
use crate::error::Forbidden;

/// The future of one look-up.
pub type Looking<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Looks names up. Tests bring their own.
pub trait Lookup: Send + Sync + 'static {
    /// The addresses of a name.
    fn lookup<'a>(&'a self, name: &'a str) -> Looking<'a>;
}

/// The system's own way: hosts file, then DNS.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup<'a>(&'a self, name: &'a str) -> Looking<'a> {
        Box::pin(async move {
            Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
        })
    }
}

/// What the HTTP client asks before it connects; it connects to nothing but the answer.
pub(crate) struct Guard {
    pub(crate) lookup: Arc<dyn Lookup>,
    /// Whether addresses that are not public are allowed.
    pub(crate) open: bool,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, open) = (Arc::clone(&self.lookup), self.open);
        Box::pin(async move {
            let found = lookup.lookup(name.as_str()).await?;
            // One address that may not be reached condemns the name: it is somebody's attempt.
            if !open && !found.iter().copied().all(is_public) {
                return Err(Forbidden.into());
            }
            let addresses: Addrs = Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}
