//! `deploy/`: what its manifests say is what the binary takes.

use std::path::{Path, PathBuf};

use gavel_manifest::Format;
use serde_json::{Value as Json, json};

use crate::certificates::Authority;
use crate::program::Folder;
use crate::server::{Server, ask_at, client, review};

fn base() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/base")
}

fn manifest(name: &str) -> Json {
    let text = std::fs::read_to_string(base().join(name)).unwrap();
    let documents = gavel_manifest::read(&text, Format::Yaml).unwrap();
    documents.into_iter().next().unwrap().into_value()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deployment_starts_and_answers_at_the_paths_of_probes_and_webhook() {
    let deployment = manifest("deployment.yaml");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let authority = Authority::new();
    let (certificate, key) = authority.sign("localhost");
    let folder = Folder::new()
        .with("tls.crt", &certificate)
        .with("tls.key", &key);
    let policies = base().join("policies");
    let arguments: Vec<String> = container["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| argument.as_str().unwrap())
        // What every test says itself.
        .filter(|argument| {
            !argument.starts_with("--listen") && !argument.starts_with("--log-format")
        })
        .map(|argument| {
            argument
                .replace("/etc/gavel/policies", policies.to_str().unwrap())
                .replace("/etc/gavel/tls", folder.text())
        })
        .collect();
    let [serve, arguments @ ..] = arguments.as_slice() else {
        panic!("{container}");
    };
    assert_eq!(serve, "serve");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = Server::start(&arguments);
    let client = client(&authority.pem()).build().unwrap();
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let path = container[probe]["httpGet"]["path"].as_str().unwrap();
        let answer = client.get(server.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{probe}");
    }

    let webhook = manifest("webhook.yaml");
    let path = webhook["webhooks"][0]["clientConfig"]["service"]["path"].as_str();
    let mut asked = review("x");
    let request = &mut asked["request"];
    for (kind, resource) in [("kind", "resource"), ("requestKind", "requestResource")] {
        request[kind]["kind"] = "Pod".into();
        request[resource]["resource"] = "pods".into();
    }
    request["object"]["kind"] = "Pod".into();
    request["object"]["spec"] = json!({"containers": [{"name": "web", "image": "web:latest"}]});
    let response = ask_at(&client, &server, path.unwrap(), &asked).await;
    assert_eq!(response["allowed"], true, "{response}");
    let warning = "Validation failed for ValidatingAdmissionPolicy 'images' with binding 'images': no fixed version of the image: web";
    assert_eq!(response["warnings"], json!([warning]));
}

#[test]
fn the_config_map_has_all_policies() {
    let generated = &manifest("kustomization.yaml")["configMapGenerator"][0]["files"];
    let mut listed: Vec<&str> = generated
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file.as_str().unwrap())
        .collect();
    listed.sort_unstable();
    let mut there: Vec<String> = std::fs::read_dir(base().join("policies"))
        .unwrap()
        .map(|entry| format!("policies/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect();
    there.sort_unstable();
    assert_eq!(listed, there);
}
