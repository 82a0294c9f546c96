//! TLS to PostgreSQL: what the URL asks for (`sslmode` and its files, as psql knows them), and the handshake.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use postgres::config::SslMode;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sha2::{Digest, Sha256, Sha384, Sha512};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;

use super::verifier::Verifier;
use crate::StoreError;

/// How a connection is protected. Files are read at each connection, so that renewed certificates are found.
#[derive(Clone, Default)]
pub(crate) struct Tls {
    pub mode: Mode,
    pub roots: Roots,
    /// The files of a client certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// `sslmode`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    Disable,
    /// Encrypted if the server can, whoever it is.
    #[default]
    Prefer,
    /// Encrypted; the certificate is checked only where roots are named.
    Require,
    /// The certificate is checked, the name in it is not.
    VerifyCa,
    VerifyFull,
}

/// `sslrootcert`: who may sign the server's certificate.
#[derive(Clone, Default)]
pub(crate) enum Roots {
    #[default]
    Unnamed,
    System,
    File(PathBuf),
}

impl Tls {
    /// What the driver is told.
    pub fn driver_mode(&self) -> SslMode {
        match self.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }

    /// Reads the files, for one connection.
    pub fn connector(&self) -> Result<Connector, StoreError> {
        let provider = Arc::new(ring::default_provider());
        let failed = |error: rustls::Error| StoreError::Unavailable { cause: format!("TLS: {error}") };
        let is_checked = match self.mode {
            Mode::Disable | Mode::Prefer => false,
            Mode::Require => !matches!(self.roots, Roots::Unnamed),
            Mode::VerifyCa | Mode::VerifyFull => true,
        };
        let any_name = self.mode != Mode::VerifyFull;
        let verifier = match &self.roots {
            _ if !is_checked => Verifier::of_anybody(&provider),
            Roots::Unnamed | Roots::System => {
                let system = rustls_platform_verifier::Verifier::new(Arc::clone(&provider));
                Verifier::of(Arc::new(system.map_err(failed)?), any_name)
            }
            Roots::File(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates("sslrootcert", path)? {
                    roots.add(certificate).map_err(|error| unusable("sslrootcert", path, &error))?;
                }
                let own = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
                Verifier::of(own.build().map_err(|error| unusable("sslrootcert", path, &error))?, any_name)
            }
        };
        let start = ClientConfig::builder_with_provider(provider);
        let start = start.with_safe_default_protocol_versions().map_err(failed)?;
        let start = start.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let config = match &self.identity {
            None => start.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates("sslcert", certificate)?;
                let read =
                    PrivateKeyDer::from_pem_file(key).map_err(|error| unusable("sslkey", key, &error))?;
                start.with_client_auth_cert(chain, read).map_err(|error| unusable("sslkey", key, &error))?
            }
        };
        Ok(Connector { tls: Arc::new(config).into(), name: None })
    }
}

fn certificates(option: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| unusable(option, path, &error))?;
    if read.is_empty() { Err(unusable(option, path, &"it has no certificate in PEM form")) } else { Ok(read) }
}

fn unusable(option: &str, path: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unavailable { cause: format!("{option} {}: {error}", path.display()) }
}

/// Makes the handshakes of one connection.
#[derive(Clone)]
pub(crate) struct Connector {
    tls: TlsConnector,
    name: Option<ServerName<'static>>,
}

impl<S> MakeTlsConnect<S> for Connector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type TlsConnect = Self;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Self> {
        // A socket in the file system has no name, and needs none.
        Ok(Self { tls: self.tls.clone(), name: ServerName::try_from(domain.to_owned()).ok() })
    }
}

impl<S> TlsConnect<S> for Connector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let name = self.name.ok_or_else(|| io::Error::other("the server has no name to check"))?;
            self.tls.connect(name, stream).await.map(Stream)
        })
    }
}

/// An encrypted connection.
pub(crate) struct Stream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> postgres::tls::TlsStream for Stream<S> {
    /// Ties the password's proof to this server's certificate, so that nobody between can pass it on.
    fn channel_binding(&self) -> ChannelBinding {
        let shown = self.0.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let hash = shown.and_then(|certificate| certificate_hash(certificate));
        hash.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

/// RFC 5929: by the hash that the certificate is signed with, at least SHA-256.
fn certificate_hash(certificate: &[u8]) -> Option<Vec<u8>> {
    let (_, rest) = der_value(der_value(certificate)?.0)?;
    let (oid, _) = der_value(der_value(rest)?.0)?;
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA_SHA2: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    let (last, family) = oid.split_last()?;
    match (family, last) {
        // MD5 and SHA-1 count as SHA-256.
        (RSA, 4 | 5 | 11) | (ECDSA_SHA2, 2) => Some(Sha256::digest(certificate).to_vec()),
        (RSA, 12) | (ECDSA_SHA2, 3) => Some(Sha384::digest(certificate).to_vec()),
        (RSA, 13) | (ECDSA_SHA2, 4) => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// The first value of a DER encoding, and what follows it.
fn der_value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[_, length], rest) = text.split_first_chunk::<2>()?;
    let (length, rest) = match length {
        0x00..=0x7f => (usize::from(length), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, space)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
