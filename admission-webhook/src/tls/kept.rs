//! Certificates that are stored outside the process, shared by replicas, and renewed.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::TlsError;

/// The stored certificates and keys in PEM, by name.
pub type Kept = BTreeMap<String, String>;

/// The server's certificate.
const CERTIFICATE: &str = "tls.crt";
/// The key of the server's certificate.
const KEY: &str = "tls.key";
/// The certificates of the authorities, the newest first. One of these authorities has signed the server's certificate.
pub const AUTHORITIES: &str = "ca.crt";
/// The key of the newest authority.
const AUTHORITY_KEY: &str = "ca.key";
/// The names in the certificate, separated by commas.
const NAMES: &str = "names";

/// The lifetime of an authority, as a multiple of a certificate's lifetime.
const AUTHORITY: u32 = 40;
/// How long before its creation a new certificate begins to be valid, because clocks differ.
const EARLIER: Duration = Duration::from_secs(300);

/// Creates and renews a server's certificates and the certificate authorities that sign them.
#[derive(Debug, Clone)]
pub struct Certifier {
    /// The names and IP addresses of the server.
    pub names: Vec<String>,
    /// How long a certificate is valid. It is renewed when a third of this time is left.
    pub lifetime: Duration,
}

impl Certifier {
    /// Returns the new certificates and keys to store; `None` if the stored ones need no change.
    ///
    /// If the newest authority has less than two certificate lifetimes left, a successor is added. The successor signs its first
    /// certificate no earlier than a thirtieth of a certificate lifetime after it was added, so that all clients trust it by then.
    ///
    /// # Errors
    ///
    /// A name cannot be in a certificate, or the stored contents are unusable.
    pub fn certify(&self, kept: Option<&Kept>, now: SystemTime) -> Result<Option<Kept>, TlsError> {
        let Some(kept) = kept else {
            let mut made = Kept::new();
            self.add_authority(&mut made, now)?;
            self.sign(&mut made, now)?;
            return Ok(Some(made));
        };
        if !kept.contains_key(AUTHORITY_KEY) {
            return Err(TlsError::Kept(AUTHORITY_KEY));
        }
        let authorities = validities(kept, AUTHORITIES)?;
        let newest = first(&authorities, AUTHORITIES)?;
        let certificate = first(&validities(kept, CERTIFICATE)?, CERTIFICATE)?;
        let mut renewed = kept.clone();
        if newest.left(now) < self.lifetime.saturating_mul(2) {
            self.add_authority(&mut renewed, now)?;
            return Ok(Some(renewed));
        }
        let is_due = certificate.left(now) < part(self.lifetime, 3)
            || kept.get(NAMES) != Some(&self.names.join(","));
        let is_trusted = authorities.len() == 1
            || newest.age(now) >= EARLIER.saturating_add(part(self.lifetime, 30));
        if !is_due || !is_trusted {
            return Ok(None);
        }
        self.sign(&mut renewed, now)?;
        Ok(Some(renewed))
    }

    /// Adds a new authority in front of the authorities that are still valid.
    fn add_authority(&self, kept: &mut Kept, now: SystemTime) -> Result<(), TlsError> {
        let key = KeyPair::generate()?;
        let mut made = authority();
        limit(&mut made, now, self.lifetime.saturating_mul(AUTHORITY));
        let mut authorities = made.self_signed(&key)?.pem();
        if kept.contains_key(AUTHORITIES) {
            for (pem, validity) in validities(kept, AUTHORITIES)? {
                if !validity.left(now).is_zero() {
                    authorities.push_str(&pem);
                }
            }
        }
        kept.insert(AUTHORITIES.to_owned(), authorities);
        kept.insert(AUTHORITY_KEY.to_owned(), key.serialize_pem());
        Ok(())
    }

    /// Stores a new certificate, signed by the newest authority, and its key in place of the old ones.
    fn sign(&self, kept: &mut Kept, now: SystemTime) -> Result<(), TlsError> {
        let key = kept.get(AUTHORITY_KEY);
        let key = KeyPair::from_pem(key.ok_or(TlsError::Kept(AUTHORITY_KEY))?)?;
        let issuer = Issuer::new(authority(), key);
        let key = KeyPair::generate()?;
        let mut server = CertificateParams::new(self.names.clone())?;
        server.distinguished_name.push(DnType::CommonName, "gavel");
        server.use_authority_key_identifier_extension = true;
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        limit(&mut server, now, self.lifetime);
        let certificate = server.signed_by(&key, &issuer)?;
        kept.insert(CERTIFICATE.to_owned(), certificate.pem());
        kept.insert(KEY.to_owned(), key.serialize_pem());
        kept.insert(NAMES.to_owned(), self.names.join(","));
        Ok(())
    }
}

/// The certificate of a server with its key.
pub(super) fn identity(
    kept: &Kept,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let pem = |name| kept.get(name).map(String::as_bytes);
    let certificate = pem(CERTIFICATE).and_then(|pem| CertificateDer::from_pem_slice(pem).ok());
    let key = pem(KEY).and_then(|pem| PrivateKeyDer::from_pem_slice(pem).ok());
    Ok((
        vec![certificate.ok_or(TlsError::Kept(CERTIFICATE))?],
        key.ok_or(TlsError::Kept(KEY))?,
    ))
}

/// The parameters for creating an authority. All authorities have the same name; their keys identify them.
fn authority() -> CertificateParams {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    authority
        .distinguished_name
        .push(DnType::CommonName, "gavel-ca");
    authority
}

fn limit(certificate: &mut CertificateParams, now: SystemTime, lifetime: Duration) {
    certificate.not_before = now.checked_sub(EARLIER).unwrap_or(now).into();
    certificate.not_after = now.checked_add(lifetime).unwrap_or(now).into();
}

fn part(time: Duration, of: u32) -> Duration {
    time.checked_div(of).unwrap_or_default()
}

/// The period in which a certificate is valid.
#[derive(Debug, Clone, Copy)]
struct Validity {
    begins: SystemTime,
    ends: SystemTime,
}

impl Validity {
    fn left(self, now: SystemTime) -> Duration {
        self.ends.duration_since(now).unwrap_or_default()
    }

    fn age(self, now: SystemTime) -> Duration {
        now.duration_since(self.begins).unwrap_or_default()
    }
}

/// The validity of the first of the certificates that are stored under `name`.
///
/// # Errors
///
/// There is no certificate.
fn first(found: &[(String, Validity)], name: &'static str) -> Result<Validity, TlsError> {
    let first = found.first().ok_or(TlsError::Kept(name))?;
    Ok(first.1)
}

/// The certificates that are stored under `name`, in PEM, with their validities.
fn validities(kept: &Kept, name: &'static str) -> Result<Vec<(String, Validity)>, TlsError> {
    let text = kept.get(name).ok_or(TlsError::Kept(name))?;
    let blocks = text
        .split_inclusive("-----END CERTIFICATE-----\n")
        .filter(|block| !block.trim().is_empty());
    let found: Option<Vec<_>> = blocks
        .map(|block| Some((block.to_owned(), validity(block)?)))
        .collect();
    found.ok_or(TlsError::Kept(name))
}

fn validity(pem: &str) -> Option<Validity> {
    let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
    let (_, read) = x509_parser::parse_x509_certificate(&certificate).ok()?;
    let at = |seconds: i64| {
        let since = Duration::from_secs(u64::try_from(seconds).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    };
    let validity = read.validity();
    Some(Validity {
        begins: at(validity.not_before.timestamp())?,
        ends: at(validity.not_after.timestamp())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn certifier() -> Certifier {
        Certifier {
            names: vec!["gavel.gavel-system.svc".to_owned(), "127.0.0.1".to_owned()],
            lifetime: DAY.saturating_mul(90),
        }
    }

    /// Whether one of `authorities` has signed the stored certificate.
    fn is_trusted(kept: &Kept, authorities: &str) -> bool {
        let certificate = CertificateDer::from_pem_slice(kept[CERTIFICATE].as_bytes()).unwrap();
        let mut roots = rustls::RootCertStore::empty();
        for authority in CertificateDer::pem_slice_iter(authorities.as_bytes()) {
            roots.add(authority.unwrap()).unwrap();
        }
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            rustls::client::WebPkiServerVerifier::builder_with_provider(roots.into(), provider)
                .build()
                .unwrap();
        let (_, validity) = validities(kept, CERTIFICATE).unwrap().remove(0);
        let now = validity.ends.checked_sub(DAY).unwrap();
        let now = now.duration_since(SystemTime::UNIX_EPOCH);
        let verified = rustls::client::danger::ServerCertVerifier::verify_server_cert(
            &*verifier,
            &certificate,
            &[],
            &"gavel.gavel-system.svc".try_into().unwrap(),
            &[],
            rustls::pki_types::UnixTime::since_unix_epoch(now.unwrap()),
        );
        verified.is_ok()
    }

    #[test]
    fn certificates_and_authorities_are_succeeded_and_always_trusted() {
        let (certifier, mut now) = (certifier(), SystemTime::now());
        let mut kept = certifier.certify(None, now).unwrap().unwrap();
        let (mut certificates, mut authorities) = (1, 1);
        // An API server that read the authorities a day ago trusts the current certificate.
        let mut known = kept[AUTHORITIES].clone();
        let mut verified = None;
        for _ in 0..12 * 365 {
            now += DAY;
            let pair = Some((kept[CERTIFICATE].clone(), known.clone()));
            if verified != pair {
                assert!(is_trusted(&kept, &known));
                verified = pair;
            }
            known.clone_from(&kept[AUTHORITIES]);
            let Some(renewed) = certifier.certify(Some(&kept), now).unwrap() else {
                continue;
            };
            let validity = validities(&renewed, CERTIFICATE).unwrap()[0].1;
            assert!(validity.left(now) > DAY * 28, "{validity:?}");
            if renewed[CERTIFICATE] != kept[CERTIFICATE] {
                let old = validities(&kept, CERTIFICATE).unwrap()[0].1;
                assert!(old.left(now) > part(certifier.lifetime, 4), "{old:?}");
                certificates += 1;
            }
            authorities += usize::from(renewed[AUTHORITIES] != kept[AUTHORITIES]);
            kept = renewed;
        }
        assert!((70..76).contains(&certificates), "{certificates}");
        assert_eq!(authorities, 2);
    }

    #[test]
    fn other_names_need_another_certificate() {
        let now = SystemTime::now();
        let kept = certifier().certify(None, now).unwrap().unwrap();
        assert!(certifier().certify(Some(&kept), now).unwrap().is_none());
        let names = vec!["other.example.com".to_owned()];
        let other = Certifier {
            names,
            ..certifier()
        };
        let renewed = other.certify(Some(&kept), now).unwrap().unwrap();
        assert_eq!(renewed[AUTHORITIES], kept[AUTHORITIES]);
        assert_ne!(renewed[CERTIFICATE], kept[CERTIFICATE]);
    }

    #[test]
    fn foreign_secrets_are_left_alone() {
        let now = SystemTime::now();
        let kept = certifier().certify(None, now).unwrap().unwrap();
        for name in [CERTIFICATE, AUTHORITIES] {
            let mut other = kept.clone();
            other.insert(name.to_owned(), "no certificate".to_owned());
            let error = certifier().certify(Some(&other), now).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
            other.remove(name);
            assert!(certifier().certify(Some(&other), now).is_err());
        }
        // A Secret that somebody else created: its authority expires soon, and the authority's key is missing.
        let mut other = kept;
        other.remove(AUTHORITY_KEY);
        let late = now + DAY * 3500;
        let error = certifier().certify(Some(&other), late).unwrap_err();
        assert!(error.to_string().contains(AUTHORITY_KEY), "{error}");
    }
}
