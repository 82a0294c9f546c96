//! Whose certificate is accepted: anybody's, one that is signed by somebody we know, or also with the right name.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

#[derive(Debug)]
pub(super) enum Verifier {
    /// Encryption alone, as `sslmode=require` means it.
    Anybody(Arc<CryptoProvider>),
    Known {
        verifier: Arc<dyn ServerCertVerifier>,
        any_name: bool,
    },
}

impl Verifier {
    pub fn of_anybody(provider: &Arc<CryptoProvider>) -> Self {
        Self::Anybody(Arc::clone(provider))
    }

    pub fn of(verifier: Arc<dyn ServerCertVerifier>, any_name: bool) -> Self {
        Self::Known { verifier, any_name }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Self::Known { verifier, any_name } = self else { return Ok(ServerCertVerified::assertion()) };
        // The name is looked at last, when everything else is right.
        match verifier.verify_server_cert(certificate, chain, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if *any_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self {
            Self::Anybody(provider) => {
                let known = &provider.signature_verification_algorithms;
                verify_tls12_signature(message, certificate, signed, known)
            }
            Self::Known { verifier, .. } => verifier.verify_tls12_signature(message, certificate, signed),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self {
            Self::Anybody(provider) => {
                let known = &provider.signature_verification_algorithms;
                verify_tls13_signature(message, certificate, signed, known)
            }
            Self::Known { verifier, .. } => verifier.verify_tls13_signature(message, certificate, signed),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self {
            Self::Anybody(provider) => provider.signature_verification_algorithms.supported_schemes(),
            Self::Known { verifier, .. } => verifier.supported_verify_schemes(),
        }
    }
}
