//! A throw-away authority and a certificate that it has signed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::TlsError;

/// A certificate that lives as long as the process, with the authority that has signed it. The authority's key is discarded.
#[derive(Debug)]
pub struct SelfSigned {
    authority_pem: String,
    chain: Vec<CertificateDer<'static>>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl SelfSigned {
    /// Creates a certificate for names and IP addresses.
    ///
    /// # Errors
    ///
    /// A name cannot be in a certificate.
    pub fn generate(names: Vec<String>) -> Result<Self, TlsError> {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority
            .distinguished_name
            .push(DnType::CommonName, "gavel (throw-away authority)");
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let mut server = CertificateParams::new(names)?;
        server.distinguished_name.push(DnType::CommonName, "gavel");
        let server = server.signed_by(&key, &authority)?;
        Ok(SelfSigned {
            authority_pem: authority.pem(),
            chain: vec![server.der().clone()],
            key: PrivatePkcs8KeyDer::from(key.serialize_der()),
        })
    }

    /// The authority's certificate in PEM.
    pub fn authority_pem(&self) -> &str {
        &self.authority_pem
    }

    /// The value of `clientConfig.caBundle` in a webhook configuration: the authority's certificate in PEM, encoded in base64.
    pub fn ca_bundle(&self) -> String {
        STANDARD.encode(&self.authority_pem)
    }

    pub(super) fn chain(&self) -> Vec<CertificateDer<'static>> {
        self.chain.clone()
    }

    pub(super) fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(self.key.clone_key())
    }
}
