//! Checks that the manifests in `deploy/` fit the program.

use std::path::{Path, PathBuf};

use gavel_manifest::Format;
use serde_json::{Value as Json, json};

use crate::certificates::Authority;
use crate::program::Folder;
use crate::server::{Server, client, post_review_at, review};

fn base() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/base")
}

fn manifest(name: &str) -> Json {
    let text = std::fs::read_to_string(base().join(name)).unwrap();
    let documents = gavel_manifest::read(&text, Format::Yaml).all().unwrap();
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
        // The tests set these flags themselves.
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
    let mut review = review("x");
    let request = &mut review["request"];
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
            let request = &mut review["request"];
            let fixed = json!([{"name": "fixed", "image": "web:1"}]);
            request["object"]["spec"] = json!({"containers": fixed});
            request["object"]["spec"][containers] = json!([{"name": "web", "image": image}]);
            let response = post_review_at(&client, &server, path.unwrap(), &review).await;
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

/// The manifests that a program prints; `None` if the program is not installed.
fn rendered(program: &str, arguments: &[&str]) -> Option<String> {
    let deploy = base().join("..");
    let run = std::process::Command::new(program)
        .args(arguments)
        .current_dir(deploy)
        .output();
    let Ok(output) = run else {
        eprintln!("skipped: {program} is not installed");
        return None;
    };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program}: {stderr}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The objects in a text of YAML documents, by kind and name.
fn objects(text: &str) -> std::collections::BTreeMap<String, Json> {
    let documents = gavel_manifest::read(text, Format::Yaml).all().unwrap();
    let objects = documents
        .into_iter()
        .map(gavel_manifest::Document::into_value);
    objects
        .filter(|object| !object.is_null())
        .map(|object| {
            let name = object["metadata"]["name"].as_str().unwrap();
            (
                format!("{} {name}", object["kind"].as_str().unwrap()),
                object,
            )
        })
        .collect()
}

/// The manifests that Kustomize builds from a folder of `deploy/` with components; `None` if Kustomize is not installed.
fn kustomized(folder: &str, components: &[&str]) -> Option<String> {
    let own = Folder::new();
    // Kustomize does not accept absolute paths.
    let up = "../".repeat(own.path().canonicalize().unwrap().components().count());
    let deploy = base().join("..").canonicalize().unwrap();
    let deploy = format!("{up}{}", deploy.strip_prefix("/").unwrap().display());
    let components = components
        .iter()
        .map(|name| format!("{deploy}/components/{name}"));
    let components: Vec<String> = components.collect();
    let kustomization =
        json!({"resources": [format!("{deploy}/{folder}")], "components": components});
    own.write("kustomization.yaml", &kustomization.to_string());
    rendered("kubectl", &["kustomize", own.text()])
}

/// The manifests that Helm renders from the chart and values; `None` if Helm is not installed.
fn charted(namespace: &str, values: &str) -> Option<String> {
    let chart = ["template", "gavel", "chart", "--kube-version", "1.36.0"];
    let values = ["--namespace", namespace, "--set", values];
    rendered("helm", &[&chart[..], &values].concat())
}

#[test]
fn the_chart_and_the_kustomization_say_the_same() {
    let check = |values: &str, folder, components: &[&str], count| {
        let Some(kustomized) = kustomized(folder, components) else {
            return;
        };
        let Some(chart) = charted("gavel-system", values) else {
            return;
        };
        let mut kustomized = objects(&kustomized);
        // Helm creates the namespace itself.
        kustomized.remove("Namespace gavel-system");
        assert_eq!(kustomized.len(), count, "{:?}", kustomized.keys());
        if !values.contains("cluster") {
            // Only the chart sets the version, which Helm knows. With the component `cluster`, Gavel asks the API server instead.
            let container = "/spec/template/spec/containers/0/args";
            let args = kustomized.get_mut("Deployment gavel");
            let args =
                args.and_then(|deployment| deployment.pointer_mut(container)?.as_array_mut());
            args.unwrap().push(json!("--kubernetes-version=1.36"));
        }
        let chart = objects(&chart);
        for (name, object) in &kustomized {
            assert_eq!(chart.get(name), Some(object), "{values}: {name}");
        }
        assert_eq!(chart.len(), count, "{values}: {:?}", chart.keys());
    };
    check("", "default", &[], 14);
    check("cluster.enabled=true", "default", &["cluster"], 23);
    check("selfSigned=true", "base", &["self-signed"], 14);
    let both = ["cluster", "self-signed"];
    check("cluster.enabled=true,selfSigned=true", "base", &both, 23);
    let enforced = ["cluster", "enforce"];
    check(
        "cluster.enabled=true,failurePolicy=Fail",
        "default",
        &enforced,
        23,
    );
}

#[test]
fn a_chart_elsewhere_gives_its_own_account_the_rights() {
    let values = "cluster.enabled=true,selfSigned=true,cluster.params[0].apiGroups={example.com},\
        cluster.params[0].resources={limits},cluster.params[0].verbs={list,watch}";
    let Some(chart) = charted("other", values) else {
        return;
    };
    let chart = objects(&chart);
    let text = serde_json::to_string(&chart).unwrap();
    assert!(!text.contains("gavel-system"), "{text}");
    let names = "--self-signed=gavel.other.svc,gavel.other.svc.cluster.local";
    assert!(text.contains(names), "{text}");
    let expected = json!([{"apiGroups": ["example.com"], "resources": ["limits"], "verbs": ["list", "watch"]}]);
    assert_eq!(chart["ClusterRole gavel-params"]["rules"], expected);
}

#[test]
fn both_webhooks_get_an_authority_and_can_be_enforced() {
    let webhooks = |objects: std::collections::BTreeMap<String, Json>| {
        let kinds = ["Mutating", "Validating"];
        kinds.map(|kind| objects[&format!("{kind}WebhookConfiguration gavel")].clone())
    };
    if let Some(kustomized) = kustomized("default", &["enforce"]) {
        for webhook in webhooks(objects(&kustomized)) {
            let from = &webhook["metadata"]["annotations"]["cert-manager.io/inject-ca-from"];
            assert_eq!(from, "gavel-system/gavel", "{webhook}");
            assert_eq!(webhook["webhooks"][0]["failurePolicy"], "Fail", "{webhook}");
        }
    }
    let values = "certManager=false,caBundle=QUJD,failurePolicy=Fail";
    if let Some(chart) = charted("other", values) {
        for webhook in webhooks(objects(&chart)) {
            let webhook = &webhook["webhooks"][0];
            assert_eq!(webhook["failurePolicy"], "Fail", "{webhook}");
            assert_eq!(webhook["clientConfig"]["caBundle"], "QUJD", "{webhook}");
            assert_eq!(
                webhook["clientConfig"]["service"]["namespace"], "other",
                "{webhook}"
            );
        }
    }
}

#[test]
fn an_api_server_accepts_the_rendered_manifests() {
    let Some(text) = rendered("kubectl", &["kustomize", "default"]) else {
        return;
    };
    let policies = std::fs::read_to_string(base().join("policies/images.yaml")).unwrap();
    let outside = std::fs::read_to_string(base().join("../outside/webhook.yaml")).unwrap();
    let folder = Folder::new()
        .with("rendered.yaml", &text)
        .with("outside.yaml", &outside)
        .with("policies.yaml", &policies);
    for version in ["1.34", "1.35", "1.36", "1.37"] {
        let arguments = format!("lint --kubernetes-version {version} .");
        let (status, out, stderr) = folder.gavel(&arguments);
        assert_eq!(status, 0, "{version}: {out}{stderr}");
    }
}

#[test]
fn webhooks_outside_the_cluster_have_the_same_configuration() {
    let outside = std::fs::read_to_string(base().join("../outside/webhook.yaml")).unwrap();
    let outside = objects(&outside);
    for (file, kind, path) in [
        ("webhook.yaml", "Validating", "/validate"),
        ("mutating-webhook.yaml", "Mutating", "/mutate"),
    ] {
        let inside = &manifest(file)["webhooks"][0];
        let webhook = &outside[&format!("{kind}WebhookConfiguration gavel")]["webhooks"][0];
        assert_eq!(inside["clientConfig"]["service"]["path"], path);
        let url = format!("https://gavel.example.com:8443{path}");
        assert_eq!(webhook["clientConfig"]["url"], *url);
        for field in [
            "name",
            "rules",
            "namespaceSelector",
            "matchConditions",
            "failurePolicy",
            "reinvocationPolicy",
            "timeoutSeconds",
        ] {
            assert_eq!(webhook[field], inside[field], "{kind} {field}");
        }
    }
}

#[test]
fn only_nodes_and_the_control_plane_pass_policies_by() {
    let webhook = manifest("webhook.yaml");
    let conditions = webhook["webhooks"][0]["matchConditions"]
        .as_array()
        .unwrap();
    let condition = conditions
        .iter()
        .find(|condition| condition["name"] == "not-joining-nodes")
        .unwrap();
    let expression = condition["expression"].as_str().unwrap();
    let folder = Folder::new().with("condition.cel", expression);
    for (user, is_validated) in [
        ("system:serviceaccount:default:attacker", "true"),
        ("system:serviceaccount:kube-system-x:a", "true"),
        ("alice", "true"),
        ("system:node:a", "false"),
        ("system:bootstrap:a", "false"),
        ("system:serviceaccount:kube-system:node-controller", "false"),
        ("system:kube-controller-manager", "false"),
    ] {
        let resource = json!({"group": "", "resource": "nodes"});
        let request = json!({"resource": resource, "userInfo": {"username": user}});
        let arguments = format!("eval -f condition.cel --bind request={request}");
        let (status, out, stderr) = folder.gavel(&arguments);
        assert_eq!(status, 0, "{stderr}");
        assert_eq!(out.lines().next(), Some(is_validated), "{user}");
    }
}

/// The rules of the roles in `deploy/`. Each rule comes with the name of its role and the subjects of the role's bindings.
fn rules() -> Vec<(String, Json, Vec<Json>)> {
    let mut objects: Vec<Json> = Vec::new();
    for folder in [
        "base",
        "components/cluster",
        "components/self-signed",
        "components/audit",
    ] {
        let folder = base().join("..").join(folder);
        for file in gavel_manifest::files(&folder, false).unwrap() {
            let text = std::fs::read_to_string(file).unwrap();
            let read = gavel_manifest::read(&text, Format::Yaml).all().unwrap();
            objects.extend(read.into_iter().map(gavel_manifest::Document::into_value));
        }
    }
    let mut rules = Vec::new();
    for role in &objects {
        let (kind, name) = (&role["kind"], &role["metadata"]["name"]);
        let mut subjects = Vec::new();
        for binding in &objects {
            if &binding["roleRef"]["kind"] == kind && &binding["roleRef"]["name"] == name {
                subjects.extend(binding["subjects"].as_array().unwrap().iter().cloned());
            }
        }
        if kind == "Role" || kind == "ClusterRole" {
            for rule in role["rules"].as_array().unwrap() {
                rules.push((name.to_string(), rule.clone(), subjects.clone()));
            }
        }
    }
    rules
}

/// Checks that only Gavel's account can read the Secret with the TLS key, and that this account can read no other Secret and can change
/// only Gavel's own webhook configurations.
#[test]
fn the_account_may_do_no_more_than_the_threat_model_says() {
    let gavel = [json!({"kind": "ServiceAccount", "name": "gavel", "namespace": "gavel-system"})];
    let (mut keys, mut webhooks) = (0, 0);
    for (role, rule, subjects) in rules() {
        let context = format!("{role}: {rule}");
        let has = |field: &str, name: &str| {
            rule[field]
                .as_array()
                .is_some_and(|all| all.contains(&json!(name)))
        };
        assert!(!has("verbs", "*") && !has("apiGroups", "*"), "{context}");
        // The audit's role can list all resources of some groups, but not of the core group, which contains Secrets.
        let lists = rule["verbs"] == json!(["list"]) && !has("apiGroups", "");
        assert!(lists || !has("resources", "*"), "{context}");
        if has("resources", "secrets") {
            let reads = json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["gavel-tls"], "verbs": ["get", "update"]});
            let creates = json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]});
            assert!(rule == reads || rule == creates, "{context}");
            assert_eq!(subjects, gavel, "{context}");
            keys += 1;
        }
        if has("apiGroups", "admissionregistration.k8s.io")
            && rule["verbs"] != json!(["list", "watch"])
        {
            assert_eq!(
                rule["resourceNames"],
                json!(["gavel", "gavel-policies"]),
                "{context}"
            );
            assert_eq!(rule["verbs"], json!(["get", "update"]), "{context}");
            assert_eq!(subjects, gavel, "{context}");
            webhooks += 1;
        }
    }
    assert_eq!((keys, webhooks), (2, 1));
}
