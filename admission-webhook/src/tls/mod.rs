//! TLS: the server's certificate, the authorities of client certificates, and how they are reloaded.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::sync::watch;

mod kept;
mod self_signed;

pub use kept::{AUTHORITIES, Certifier, Kept};
pub use self_signed::SelfSigned;

/// The server's certificate, and the authorities of client certificates.
#[derive(Debug)]
pub struct TlsSettings {
    /// The server's certificate and key.
    pub identity: Identity,
    /// A PEM file of authorities. If it is set, clients must present a certificate that one of them has signed.
    pub client_ca: Option<PathBuf>,
}

/// A certificate with its key.
#[derive(Debug)]
pub enum Identity {
    /// PEM files: the key, and the chain of certificates up to the authority. The files are read again when they change.
    Files {
        /// The chain of certificates, the server's own first.
        certificate: PathBuf,
        /// The private key: PKCS #8, PKCS #1 or SEC 1.
        key: PathBuf,
    },
    /// A certificate that is created at the start, for trials.
    SelfSigned(SelfSigned),
    /// A certificate from a [`Certifier`], replaced whenever it is renewed.
    Kept(watch::Receiver<Kept>),
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or holds no PEM block of the kind that is needed.
    #[error("{}: {error}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// The error of reading the file.
        error: rustls::pki_types::pem::Error,
    },
    /// A file contains no certificate.
    #[error("{}: contains no certificate", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A key does not belong to the certificate, or has an unknown type.
    #[error("the private key cannot be used with the certificate: {0}")]
    Identity(#[source] rustls::Error),
    /// The authorities of client certificates are invalid.
    #[error("the certificates of {} cannot be used: {error}", path.display())]
    ClientCa {
        /// The file.
        path: PathBuf,
        /// The error of the TLS library.
        error: String,
    },
    /// The stored entry with this name is missing or unreadable, so the Secret was not written by Gavel.
    #[error("not made by gavel serve: {0} is missing, or cannot be read")]
    Kept(&'static str),
    /// A certificate could not be created.
    #[error("the certificate could not be created: {0}")]
    SelfSigned(#[from] rcgen::Error),
}

/// The current TLS configuration. A connection keeps the configuration that it began with.
#[derive(Debug)]
pub(crate) struct Tls {
    settings: TlsSettings,
    /// A hash of the contents of the files, made just before they were first used.
    first: u64,
    current: ArcSwap<Offered>,
}

/// The current configuration, which new connections use.
#[derive(Debug)]
struct Offered {
    config: Arc<ServerConfig>,
    /// When the server's certificate expires, in seconds since the epoch; `None` if unknown.
    expires: Option<i64>,
}

impl Tls {
    /// Creates the configuration, and reads the files that the settings name.
    pub(crate) fn new(settings: TlsSettings) -> Result<Self, TlsError> {
        let first = hash_of_files(&settings);
        let current = ArcSwap::from_pointee(offered(&settings)?);
        Ok(Tls {
            settings,
            first,
            current,
        })
    }

    /// A hash of the contents of the files, made just before they were first used.
    pub(crate) fn first_hash(&self) -> u64 {
        self.first
    }

    /// A hash of the current contents of the files.
    pub(crate) fn hash(&self) -> u64 {
        hash_of_files(&self.settings)
    }

    /// The configuration of new connections.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.current.load().config)
    }

    /// When the server's certificate expires, in seconds since the epoch; `None` if unknown.
    pub(crate) fn expires(&self) -> Option<i64> {
        self.current.load().expires
    }

    /// Reads the certificates again. If they cannot be used, the previous configuration stays.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let offered = offered(&self.settings)?;
        self.current.store(Arc::new(offered));
        Ok(())
    }

    /// The renewed certificates; `None` unless a [`Certifier`] renews them.
    pub(crate) fn kept(&self) -> Option<watch::Receiver<Kept>> {
        match &self.settings.identity {
            Identity::Kept(kept) => Some(kept.clone()),
            Identity::Files { .. } | Identity::SelfSigned(_) => None,
        }
    }

    /// The files that the settings name.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        files(&self.settings)
            .into_iter()
            .map(Path::to_owned)
            .collect()
    }
}

fn files(settings: &TlsSettings) -> Vec<&Path> {
    let identity = match &settings.identity {
        Identity::Files { certificate, key } => vec![certificate.as_path(), key.as_path()],
        Identity::SelfSigned(_) | Identity::Kept(_) => Vec::new(),
    };
    let client_ca = settings.client_ca.as_deref();
    identity.into_iter().chain(client_ca).collect()
}

/// A hash, so that no copy of a private key stays in memory.
fn hash_of_files(settings: &TlsSettings) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in files(settings) {
        std::fs::read(file).ok().hash(&mut hasher);
    }
    hasher.finish()
}

fn offered(settings: &TlsSettings) -> Result<Offered, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (chain, key) = match &settings.identity {
        Identity::Files { certificate, key } => (certificates(certificate)?, private_key(key)?),
        Identity::SelfSigned(made) => (made.chain(), made.key()),
        Identity::Kept(kept) => kept::identity(&kept.borrow())?,
    };
    let expires = chain.first().and_then(|certificate| {
        let (_, read) = x509_parser::parse_x509_certificate(certificate).ok()?;
        Some(read.validity().not_after.timestamp())
    });
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Identity)?;
    let builder = match &settings.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let verifier = client_verifier(path, provider)?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder
        .with_single_cert(chain, key)
        .map_err(TlsError::Identity)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Offered {
        config: Arc::new(config),
        expires,
    })
}

fn client_verifier(
    path: &Path,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>, TlsError> {
    let error = |error: String| TlsError::ClientCa {
        path: path.to_owned(),
        error,
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots
            .add(certificate)
            .map_err(|cause| error(cause.to_string()))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|cause| error(cause.to_string()))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = |error| TlsError::Pem {
        path: path.to_owned(),
        error,
    };
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(pem)?.collect();
    let found = found.map_err(pem)?;
    match found.is_empty() {
        true => Err(TlsError::Empty {
            path: path.to_owned(),
        }),
        false => Ok(found),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    if is_readable_by_all(path) {
        tracing::warn!(path = %path.display(), "every user of this machine can read the key");
    }
    PrivateKeyDer::from_pem_file(path).map_err(|error| TlsError::Pem {
        path: path.to_owned(),
        error,
    })
}

#[cfg(unix)]
fn is_readable_by_all(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_all(_path: &Path) -> bool {
    false
}
