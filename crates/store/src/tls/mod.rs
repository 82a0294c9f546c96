//! TLS to the engines: what their URLs ask for, with the files that they name.

pub(crate) mod options;
mod verifier;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use crate::StoreError;
use verifier::Verifier;

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
    /// Reads the files, for one connection.
    pub fn connector(&self) -> Result<TlsConnector, StoreError> {
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
        Ok(Arc::new(config).into())
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
