//! Tests of reloaded server certificates, and of required client certificates.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::program::Folder;
use crate::server::{Server, client, policy, post_review, review};

/// A certificate authority that signs certificates for tests.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A new certificate for `name`, and its key, as PEM.
    pub(crate) fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn new_certificates_are_offered_and_no_connection_is_dropped() {
    let (old, new) = (Authority::new(), Authority::new());
    let (certificate, key) = old.sign("localhost");
    let folder = Folder::new()
        .with("policies/a.yaml", &policy("a", "true", "", "Deny"))
        .with("tls.crt", &certificate)
        .with("tls.key", &key);
    let (policies, certificate, key) = (
        folder.file("policies"),
        folder.file("tls.crt"),
        folder.file("tls.key"),
    );
    let server = Server::start(&[
        "--policies",
        &policies,
        "--cert",
        &certificate,
        "--key",
        &key,
    ]);
    // A client whose connection stays open.
    let kept = client(&old.pem()).build().unwrap();
    post_review(&kept, &server, &review("x")).await;

    let (certificate, key) = new.sign("localhost");
    folder.write("tls.key", &key);
    server.wait_for_log("certificates not reloaded; the old ones are offered");
    post_review(&client(&old.pem()).build().unwrap(), &server, &review("x")).await;
    folder.write("tls.crt", &certificate);
    server.wait_for_log("certificates reloaded");

    post_review(&client(&new.pem()).build().unwrap(), &server, &review("x")).await;
    post_review(&kept, &server, &review("x")).await;
    let stranger = client(&old.pem()).build().unwrap();
    assert!(stranger.get(server.url("/livez")).send().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_clients_with_a_certificate_are_accepted() {
    let clients = Authority::new();
    let folder = Folder::new()
        .with("policies/a.yaml", &policy("a", "true", "", "Deny"))
        .with("clients.crt", &clients.pem());
    let (policies, authority) = (folder.file("policies"), folder.file("clients.crt"));
    let server = Server::start(&[
        "--policies",
        &policies,
        "--self-signed",
        "--client-ca",
        &authority,
    ]);
    assert!(
        server
            .client()
            .get(server.url("/livez"))
            .send()
            .await
            .is_err()
    );

    let identity = |authority: &Authority| {
        let (certificate, key) = authority.sign("kube-apiserver");
        let pem = format!("{certificate}{key}");
        let identity = reqwest::Identity::from_pem(pem.as_bytes()).unwrap();
        client(server.authority.as_deref().unwrap())
            .identity(identity)
            .build()
            .unwrap()
    };
    assert_eq!(
        post_review(&identity(&clients), &server, &review("x")).await["allowed"],
        true
    );
    let stranger = identity(&Authority::new());
    assert!(stranger.get(server.url("/livez")).send().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn health_and_metrics_have_a_listener_without_certificates() {
    let clients = Authority::new();
    let folder = Folder::new().with("clients.crt", &clients.pem());
    let authority = folder.file("clients.crt");
    let server = Server::start(&[
        "--demo",
        "--self-signed",
        "--client-ca",
        &authority,
        "--health-listen",
        "127.0.0.1:0",
    ]);
    let log = server.wait_for_log("serving health and metrics");
    let health = |path: &str| format!("http://{}{path}", log["address"].as_str().unwrap());
    let anyone = client(&clients.pem()).build().unwrap();
    for path in ["/livez", "/readyz", "/readyz/policies", "/metrics"] {
        let answer = anyone.get(health(path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
    let sent = anyone.post(health("/validate")).body("{}").send().await;
    assert_eq!(sent.unwrap().status(), 404);

    let (certificate, key) = clients.sign("kube-apiserver");
    let identity = reqwest::Identity::from_pem(format!("{certificate}{key}").as_bytes()).unwrap();
    let known = client(server.authority.as_deref().unwrap()).identity(identity);
    let known = known.build().unwrap();
    post_review(&known, &server, &review("x")).await;
    for path in ["/livez", "/readyz", "/metrics"] {
        let answer = known.get(server.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
    }
}

#[test]
fn a_world_readable_key_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let (certificate, key) = Authority::new().sign("localhost");
    let folder = Folder::new()
        .with("policies/a.yaml", &policy("a", "true", "", "Deny"))
        .with("tls.crt", &certificate)
        .with("tls.key", &key);
    let (policies, certificate, key) = (
        folder.file("policies"),
        folder.file("tls.crt"),
        folder.file("tls.key"),
    );
    let is_reported = |mode: u32| {
        std::fs::set_permissions(&key, PermissionsExt::from_mode(mode)).unwrap();
        let arguments = [
            "--policies",
            &policies,
            "--cert",
            &certificate,
            "--key",
            &key,
        ];
        let server = Server::start(&arguments);
        let message = "every user of this machine can read the key";
        server.logs().iter().any(|log| log["message"] == message)
    };
    assert!(is_reported(0o644));
    assert!(!is_reported(0o640));
}
