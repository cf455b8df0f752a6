//! Keeps the server's certificate in a Secret that all replicas share, and writes the certificate authorities into the webhook
//! configurations that call the server.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube::Client;
use kube::api::PostParams;
use kube::core::Request;
use kube::runtime::watcher::DefaultBackoff;
use serde_json::{Value as Json, json};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::access::message;
use crate::client::{ConnectError, Target, bytes, config, connect, get, put};

/// The data of a Secret, decoded from base64. Values that are not UTF-8 are omitted.
pub type SecretData = BTreeMap<String, String>;

/// Returns new data for the Secret, given its current data (`None` if there is no Secret); returns `None` to keep the current data.
pub type Certify =
    Box<dyn Fn(Option<&SecretData>) -> Result<Option<SecretData>, String> + Send + Sync>;

/// The webhook configurations that call the server.
const CONFIGURATIONS: [&str; 2] = ["gavel", "gavel-policies"];
/// The plural names of the kinds of webhook configurations.
const KINDS: [&str; 2] = [
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
];
/// The number of attempts to write the Secret while other replicas write it too.
const ATTEMPTS: usize = 5;

/// Manages a certificate in a Secret.
pub struct Certificates {
    /// The name of the Secret. The Secret is in the client's default namespace: in a cluster, the namespace of Gavel's service account.
    pub secret: String,
    /// The key of the Secret's data that holds the certificate authorities, in PEM format.
    pub authorities: &'static str,
    /// Creates and renews the certificate.
    pub certify: Certify,
    /// The interval at which `certify` is called.
    pub pause: Duration,
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Certificates { secret, pause, .. } = self;
        f.debug_struct("Certificates")
            .field("secret", secret)
            .field("pause", pause)
            .finish_non_exhaustive()
    }
}

impl Certificates {
    /// Creates or reads the certificate, and returns a receiver of the Secret's data. A task keeps the certificate up to date until all
    /// receivers are dropped.
    ///
    /// # Errors
    ///
    /// The kubeconfig cannot be used.
    pub async fn keep(self, target: &Target) -> Result<watch::Receiver<SecretData>, ConnectError> {
        let client = connect(config(target).await?)?;
        let namespace = client.default_namespace().to_owned();
        let keeper = Keeper {
            path: format!("/api/v1/namespaces/{namespace}/secrets"),
            client,
            certificates: self,
        };
        let mut delays = DefaultBackoff::default();
        let first = loop {
            match keeper.current(None).await {
                Ok(data) => break data,
                Err(error) => tracing::warn!(
                    error,
                    "the first certificate could not be created; trying again"
                ),
            }
            sleep(delays.next().unwrap_or(keeper.certificates.pause)).await;
        };
        let (publisher, published) = watch::channel(first);
        tokio::spawn(keeper.run(publisher));
        Ok(published)
    }
}

struct Keeper {
    client: Client,
    /// The API path of the Secrets of the namespace.
    path: String,
    certificates: Certificates,
}

impl Keeper {
    async fn run(self, publisher: watch::Sender<SecretData>) {
        loop {
            let authorities = self.certificates.authorities;
            let authorities = publisher.borrow().get(authorities).cloned();
            if let Some(authorities) = authorities {
                self.trust(&authorities).await;
            }
            tokio::select! {
                () = publisher.closed() => return,
                () = sleep(self.certificates.pause) => {}
            }
            let offered = publisher.borrow().clone();
            match self.current(Some(&offered)).await {
                Ok(data) => {
                    publisher.send_if_modified(|published| {
                        let is_new = *published != data;
                        *published = data;
                        is_new
                    });
                }
                Err(error) => tracing::warn!(error, "certificate not renewed"),
            }
        }
    }

    /// Returns the contents of the Secret, and creates or renews them if needed. A deleted Secret is created again with the certificate in
    /// use, because the API server trusts that certificate.
    async fn current(&self, offered: Option<&SecretData>) -> Result<SecretData, String> {
        let name = &self.certificates.secret;
        for _ in 0..ATTEMPTS {
            let secret = get(&self.client, &self.path, name).await.map_err(message)?;
            let data = secret.as_ref().map(data);
            let certified = match (&data, offered) {
                (None, Some(offered)) => Ok(Some(offered.clone())),
                _ => (self.certificates.certify)(data.as_ref()),
            };
            let certified = certified.map_err(|error| format!("secret {name}: {error}"))?;
            let Some(certified) = certified else {
                return Ok(data.unwrap_or_default());
            };
            if self.write(secret, &certified).await.map_err(message)? {
                tracing::info!(secret = name, "certificate written");
                return Ok(certified);
            }
        }
        Err(format!("secret {name}: other clients keep changing it"))
    }

    /// Writes the Secret, if it is still the one that was read. Returns false if another replica was faster.
    async fn write(&self, secret: Option<Json>, data: &SecretData) -> kube::Result<bool> {
        let encoded: BTreeMap<_, _> = data
            .iter()
            .map(|(key, text)| (key, STANDARD.encode(text)))
            .collect();
        let (request, params) = (Request::new(&self.path), PostParams::default());
        let name = &self.certificates.secret;
        let request = match secret {
            None => {
                let made = json!({
                    "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
                    "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "gavel"}},
                    "data": encoded,
                });
                request.create(&params, bytes(&made)?)
            }
            Some(mut secret) => {
                if let Some(fields) = secret.as_object_mut() {
                    fields.insert("data".to_owned(), json!(encoded));
                }
                request.replace(name, &params, bytes(&secret)?)
            }
        };
        put(&self.client, request).await
    }

    /// Writes the authorities into the webhook configurations, so that the API server trusts them.
    async fn trust(&self, authorities: &str) {
        for kind in KINDS {
            for name in CONFIGURATIONS {
                match self.inject(kind, name, authorities).await {
                    Ok(false) => {}
                    Ok(true) => tracing::info!(kind, name, "authority written"),
                    Err(error) => {
                        let error = message(error);
                        tracing::warn!(kind, name, error, "authority not written");
                    }
                }
            }
        }
    }

    /// Writes the authorities into a webhook configuration. Returns false if the configuration already contains them, does not exist, or
    /// was changed in the meantime.
    async fn inject(&self, kind: &str, name: &str, authorities: &str) -> kube::Result<bool> {
        let path = format!("/apis/admissionregistration.k8s.io/v1/{kind}");
        let Some(mut configuration) = get(&self.client, &path, name).await? else {
            return Ok(false);
        };
        let bundle = json!(STANDARD.encode(authorities));
        let webhooks = configuration.get_mut("webhooks");
        let webhooks = webhooks.and_then(Json::as_array_mut).into_iter().flatten();
        let mut changes = false;
        for webhook in webhooks {
            let client = webhook.get_mut("clientConfig");
            if let Some(client) = client.and_then(Json::as_object_mut) {
                changes |= client
                    .insert("caBundle".to_owned(), bundle.clone())
                    .as_ref()
                    != Some(&bundle);
            }
        }
        if !changes {
            return Ok(false);
        }
        let params = PostParams::default();
        let request = Request::new(&path).replace(name, &params, bytes(&configuration)?);
        put(&self.client, request).await
    }
}

/// The text values of a Secret's data.
fn data(secret: &Json) -> SecretData {
    let data = secret.get("data").and_then(Json::as_object);
    let texts = data.into_iter().flatten().filter_map(|(key, value)| {
        let bytes = STANDARD.decode(value.as_str()?).ok()?;
        Some((key.clone(), String::from_utf8(bytes).ok()?))
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn while_the_api_server_is_away_the_old_certificate_is_offered() {
        // No server listens at this address.
        let config = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
        let checks = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&checks);
        let keeper = Keeper {
            client: Client::try_from(config).unwrap(),
            path: "/api/v1/namespaces/a/secrets".to_owned(),
            certificates: Certificates {
                secret: "tls".to_owned(),
                authorities: "ca.crt",
                certify: Box::new(move |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                    Ok(Some(SecretData::new()))
                }),
                pause: Duration::from_millis(1),
            },
        };
        let old = SecretData::from([("tls.crt".to_owned(), "old".to_owned())]);
        assert!(keeper.current(Some(&old)).await.is_err());
        let (publisher, mut published) = watch::channel(old.clone());
        let running = tokio::spawn(keeper.run(publisher));
        let changed = tokio::time::timeout(Duration::from_millis(100), published.changed());
        assert!(changed.await.is_err());
        assert_eq!(*published.borrow(), old);
        // While the Secret cannot be read, no new certificate is created, because it could not be stored.
        assert_eq!(checks.load(Ordering::Relaxed), 0);
        running.abort();
    }
}
