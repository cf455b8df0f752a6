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
                .replace("0.0.0.0:8081", "127.0.0.1:0")
        })
        .collect();
    let [serve, arguments @ ..] = arguments.as_slice() else {
        panic!("{container}");
    };
    assert_eq!(serve, "serve");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = Server::start(&arguments);
    let client = client(&authority.pem()).build().unwrap();
    let log = server.wait_for_log("serving health and metrics");
    let health = log["address"].as_str().unwrap();
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let get = &container[probe]["httpGet"];
        assert_eq!(get["port"], "health", "{probe}");
        let url = format!("http://{health}{}", get["path"].as_str().unwrap());
        let answer = reqwest::get(url).await.unwrap();
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
    for (image, is_fixed) in [
        ("web", false),
        ("web:latest", false),
        ("web:1.2", true),
        ("localhost:5000/web", false),
        ("localhost:5000/web:latest", false),
        ("localhost:5000/web:1.2", true),
        ("registry.example.com/a/web@sha256:0123", true),
    ] {
        for containers in ["containers", "initContainers", "ephemeralContainers"] {
            let request = &mut asked["request"];
            let fixed = json!([{"name": "fixed", "image": "web:1"}]);
            request["object"]["spec"] = json!({"containers": fixed});
            request["object"]["spec"][containers] = json!([{"name": "web", "image": image}]);
            let response = ask_at(&client, &server, path.unwrap(), &asked).await;
            assert_eq!(response["allowed"], true, "{response}");
            let warning = "Validation failed for ValidatingAdmissionPolicy 'images' with binding 'images': no fixed version of the image: web";
            let expected = match is_fixed {
                true => Json::Null,
                false => json!([warning]),
            };
            assert_eq!(response["warnings"], expected, "{containers} {image}");
        }
    }
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
