//! Tests `gavel serve` with manifests that change while it runs.

use std::time::{Duration, Instant};

use crate::program::{Folder, definition};
use crate::server::{Server, policy, post_review, review};

async fn readyz(client: &reqwest::Client, server: &Server) -> String {
    let answer = client
        .get(server.url("/readyz?verbose"))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    answer.text().await.unwrap()
}

/// The log message about a manifest that cannot be served.
const NOT_SERVED: &str = "rejected; the last good version is served";

#[tokio::test(flavor = "multi_thread")]
async fn changed_policies_are_served_and_broken_ones_are_not() {
    let folder = Folder::new().with("a.yaml", &policy("a", "true", "", "Deny"));
    let server = Server::start(&["--policies", folder.text(), "-R", "--self-signed"]);
    let client = server.client();
    assert_eq!(
        post_review(&client, &server, &review("x")).await["allowed"],
        true
    );

    let changed = Instant::now();
    folder.write(
        "b/b.yaml",
        &policy("b", "object.metadata.name != 'x'", "no x", "Deny"),
    );
    while post_review(&client, &server, &review("x")).await["allowed"] == true {
        assert!(changed.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    folder.write("c.yaml", "kind: [\n");
    folder.write("d.json", "{\"kind\": \"ConfigMap\",\n \"kind\": 1}");
    server.wait_for_log("rejected; it is not in force");
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let ready = readyz(&client, &server).await;
        assert!(ready.ends_with("readyz check passed\n"), "{ready}");
        let duplicate = format!(
            "warn: not in force: {}:2:2: the key `kind` is already set at 1:2\n",
            folder.file("d.json")
        );
        let broken = format!("warn: not in force: {}:1:", folder.file("c.yaml"));
        if ready.contains(&duplicate) && ready.contains(&broken) {
            break;
        }
        assert!(Instant::now() < until, "{ready}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(
        post_review(&client, &server, &review("x")).await["allowed"],
        false
    );

    std::fs::remove_file(folder.path().join("d.json")).unwrap();
    folder.write("b/b.yaml", &policy("b", "true", "", "Deny"));
    folder.write("c.yaml", "");
    let until = Instant::now() + Duration::from_secs(20);
    while post_review(&client, &server, &review("x")).await["allowed"] == false {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!readyz(&client, &server).await.contains("warn:"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_away_for_a_while_is_read_again() {
    let folder = Folder::new().with("policies/a.yaml", &policy("a", "true", "", "Deny"));
    let (policies, away) = (folder.file("policies"), folder.file("away"));
    let server = Server::start(&["--policies", &policies, "--self-signed"]);
    let client = server.client();
    std::fs::rename(&policies, &away).unwrap();
    server.wait_for_log(NOT_SERVED);
    let ready = readyz(&client, &server).await;
    let warning = format!("warn: the last good version is served: {policies}: No such file");
    assert!(ready.contains(&warning), "{ready}");

    // The folder is created again with the same content. The warning disappears, and later changes in the folder take effect.
    folder.write("policies/a.yaml", &policy("a", "true", "", "Deny"));
    server.wait_for_log("manifests reloaded");
    assert!(!readyz(&client, &server).await.contains("warn:"));
    let changed = Instant::now();
    folder.write(
        "policies/a.yaml",
        &policy("a", "object.metadata.name != 'x'", "no x", "Deny"),
    );
    while post_review(&client, &server, &review("x")).await["allowed"] == true {
        assert!(changed.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until `/readyz?verbose` contains a text.
async fn until_ready_contains(client: &reqwest::Client, server: &Server, text: &str) {
    let began = Instant::now();
    loop {
        let ready = readyz(client, server).await;
        if ready.contains(text) {
            return;
        }
        let waited = began.elapsed();
        assert!(waited < Duration::from_secs(30), "no {text:?} in {ready}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn metrics(client: &reqwest::Client, server: &Server) -> String {
    let metrics = client.get(server.url("/metrics")).send().await.unwrap();
    metrics.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_good_version_of_a_policy_goes_on() {
    let good = policy("a", "object.metadata.name != 'x'", "no x", "Deny");
    let folder = Folder::new().with("a.yaml", &good);
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    for (broken, message) in [
        (
            "'a' <=> 1",
            "13:24: spec.validations[0].expression: Invalid value: ",
        ),
        (
            "'a' + 1",
            "13:22: spec.validations[0].expression: Invalid value: ",
        ),
    ] {
        // Another policy in the same file takes effect.
        let other = policy("b", "object.metadata.name != 'y'", "no y", "Deny");
        let text = good.replace("object.metadata.name != 'x'", broken);
        folder.write("a.yaml", &format!("{text}---\n{other}"));
        until_ready_contains(&client, &server, message).await;
        for (name, allowed) in [("x", false), ("y", false), ("z", true)] {
            let response = post_review(&client, &server, &review(name)).await;
            assert_eq!(response["allowed"], allowed, "{broken} {name} {response}");
        }
        let samples = metrics(&client, &server).await;
        assert!(
            samples.contains(
                "gavel_policy_compile_errors{kind=\"ValidatingAdmissionPolicy\",policy=\"a\"} 1"
            ),
            "{samples}"
        );
        assert!(
            samples.contains(
                "gavel_policy_compile_errors{kind=\"ValidatingAdmissionPolicy\",policy=\"b\"} 0"
            ),
            "{samples}"
        );
        let log = server.wait_for_log(NOT_SERVED);
        assert!(log["problem"].as_str().unwrap().contains(message), "{log}");
    }
    // The problem is of a text that the file has no more.
    folder.write("a.yaml", "");
    until_ready_contains(&client, &server, "no policies or bindings any more").await;
    let ready = readyz(&client, &server).await;
    assert!(!ready.contains("spec.validations[0]"), "{ready}");
    folder.write("a.yaml", &good);
    server.wait_for_log("manifests reloaded");
    assert!(!readyz(&client, &server).await.contains("warn:"));
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_files_are_not_loaded() {
    let good = policy("a", "object.metadata.name != 'x'", "no x", "Deny");
    let (first, _) = good.split_once("---").unwrap();
    let denied = async |client: &reqwest::Client, server: &Server| {
        post_review(client, server, &review("x")).await["allowed"] == false
    };
    for (text, expected) in [
        (Some(first), "the file has been truncated"),
        (
            Some(""),
            "the file contains no policies or bindings any more",
        ),
        (
            Some("# all gone\n"),
            "the file contains no policies or bindings any more",
        ),
        (None, "the file contains no policies or bindings any more"),
    ] {
        let folder = Folder::new()
            .with("a.yaml", &good)
            .with("b.yaml", &policy("b", "true", "", "Deny"));
        let change = || match text {
            Some(text) => folder.write("a.yaml", text),
            None => std::fs::remove_file(folder.path().join("a.yaml")).unwrap(),
        };
        let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
        let client = server.client();
        change();
        until_ready_contains(&client, &server, expected).await;
        assert!(denied(&client, &server).await, "{text:?}");

        // The policies were moved to another file, so none is lost.
        folder.write("c.yaml", &good);
        std::fs::remove_file(folder.path().join("a.yaml")).ok();
        server.wait_for_log("manifests reloaded");
        assert!(denied(&client, &server).await, "{text:?}");

        folder.write("a.yaml", &good);
        std::fs::remove_file(folder.path().join("c.yaml")).unwrap();
        let server = Server::start(&[
            "--policies",
            folder.text(),
            "--self-signed",
            "--allow-removal",
        ]);
        let client = server.client();
        assert!(denied(&client, &server).await);
        change();
        let until = Instant::now() + Duration::from_secs(30);
        while denied(&client, &server).await {
            assert!(Instant::now() < until, "{text:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[test]
fn inputs_that_are_no_manifests_are_reported_at_once() {
    let check = |prepare: &dyn Fn(&Folder), expected: &str| {
        let folder = Folder::new();
        prepare(&folder);
        let serve = "serve --plain-http --listen 127.0.0.1:0 --policies";
        let (status, _, stderr) = folder.gavel(&format!("{serve} {}", folder.text()));
        assert_eq!(status, 2, "{stderr}");
        assert!(stderr.contains(expected), "{expected}\n{stderr}");
    };
    check(&|_| {}, "has no files that end in .yaml, .yml or .json");
    check(
        &|folder| folder.write("a.txt", "x"),
        "has no files that end in .yaml, .yml or .json",
    );
    check(
        &|folder| {
            std::fs::create_dir(folder.path().join("team")).unwrap();
            folder.write("team/a.yaml", "");
        },
        "but its folders have 1 file: add -R to read them",
    );
    check(
        &|folder| {
            let fifo = folder.path().join("x.yaml");
            let made = std::process::Command::new("mkfifo").arg(fifo).status();
            assert!(made.unwrap().success());
        },
        "x.yaml: is not a regular file",
    );
    check(
        &|folder| std::os::unix::fs::symlink("/dev/zero", folder.path().join("x.yaml")).unwrap(),
        "x.yaml: is not a regular file",
    );
    check(
        &|folder| folder.write("x.yaml", &"#".repeat((8 << 20) + 1)),
        "x.yaml: is larger than 8388608 bytes",
    );
    check(
        &|folder| folder.write("x.yaml", &"---\n".repeat(20_001)),
        "x.yaml: contains more than 20000 documents",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fifo_does_not_end_reloading() {
    let folder = Folder::new().with("a.yaml", &policy("a", "true", "", "Deny"));
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path().join("x.yaml"))
        .status();
    assert!(made.unwrap().success());
    until_ready_contains(&client, &server, "x.yaml: is not a regular file").await;
    folder.write(
        "a.yaml",
        &policy("a", "object.metadata.name != 'x'", "no x", "Deny"),
    );
    let until = Instant::now() + Duration::from_secs(30);
    while post_review(&client, &server, &review("x")).await["allowed"] == true {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn inputs_of_policies_without_a_source_are_reported() {
    let with = |name: &str, spec: &str, binding: &str| {
        let text = policy(name, "authorizer != null || true", "", "Deny");
        let text = text.replacen("spec:\n", &format!("spec:\n{spec}"), 1);
        text.replace(
            "validationActions",
            &format!("{binding}\n  validationActions"),
        )
    };
    let limits = with(
        "limits",
        "  paramKind: {apiVersion: v1, kind: ConfigMap}\n",
        "paramRef: {name: limits, namespace: default, parameterNotFoundAction: Deny}",
    );
    let prod = with(
        "prod-images",
        "",
        "matchResources: {namespaceSelector: {matchLabels: {env: prod}}}",
    );
    let lost = policy("lost", "true", "", "Deny")
        .split_once("---\n")
        .unwrap()
        .1
        .to_owned();
    let folder = Folder::new()
        .with("limits.yaml", &limits)
        .with("prod.yaml", &prod)
        .with("lost.yaml", &lost);
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    let ready = readyz(&client, &server).await;
    for warning in [
        "limits: no ConfigMap default/limits",
        "prod-images selects namespaces by label, but there are no Namespaces",
        "limits asks authorizer, but there are no RBAC objects",
        r#"binding lost names the policy "lost", which does not exist"#,
    ] {
        assert!(
            ready.contains(&format!("warn: {warning}\n")),
            "{warning}\n{ready}"
        );
        server.wait_for_log(warning);
    }
    let samples = metrics(&client, &server).await;
    assert!(samples.contains("gavel_policies_unseen 5"), "{samples}");

    // A denial because of a missing param is counted.
    let response = post_review(&client, &server, &review("x")).await;
    let message = response["status"]["message"].as_str().unwrap();
    assert!(message.contains("no params found"), "{response}");
    let counted = "apiserver_validating_admission_policy_check_total{policy=\"limits\",policy_binding=\"limits\",error_type=\"invalid_error\",enforcement_action=\"deny\"} 1";
    let samples = metrics(&client, &server).await;
    assert!(samples.contains(counted), "{samples}");
    let log = server.wait_for_log("denied");
    assert!(
        log["error"].as_str().unwrap().contains("no params found"),
        "{log}"
    );

    folder.write(
        "objects.yaml",
        "apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: default}
---
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {env: prod}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: nobody}
rules: []
",
    );
    folder.write("lost.yaml", &policy("lost", "true", "", "Deny"));
    server.wait_for_log("manifests reloaded");
    assert!(!readyz(&client, &server).await.contains("warn:"));
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_are_there_before_anything_happens() {
    let folder = Folder::new().with("a.yaml", &policy("a", "true", "", "Deny, Audit"));
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let samples = metrics(&server.client(), &server).await;
    for expected in [
        "apiserver_validating_admission_policy_check_total{policy=\"a\",policy_binding=\"a\",error_type=\"invalid_error\",enforcement_action=\"audit\"} 0",
        "gavel_admission_fail_open_total{policy=\"a\"} 0",
        "gavel_http_requests_total{path=\"/validate\",method=\"POST\",code=\"429\"} 0",
        "gavel_manifest_reloads_total{status=\"failure\"} 0",
        "gavel_evaluations_waiting 0",
        "gavel_evaluation_wait_seconds_count 0",
        "gavel_policy_compile_errors{kind=\"ValidatingAdmissionPolicy\",policy=\"a\"} 0",
        "gavel_tls_handshakes_failed_total 0",
        "gavel_build_info{version=",
        "gavel_tls_certificate_expiry_timestamp_seconds ",
        "gavel_manifest_last_sync_timestamp_seconds ",
        "process_resident_memory_bytes ",
        "process_cpu_seconds_total ",
    ] {
        assert!(samples.contains(expected), "{expected}\n{samples}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_of_deleted_policies_are_removed() {
    let denying = policy("gone", "object.metadata.name != 'x'", "no x", "Deny, Audit");
    let folder = Folder::new()
        .with("a.yaml", &policy("a", "true", "", "Deny"))
        .with("gone.yaml", &denying);
    let args = [
        "--policies",
        folder.text(),
        "--self-signed",
        "--allow-removal",
    ];
    let server = Server::start(&args);
    let client = server.client();
    post_review(&client, &server, &review("x")).await;
    let samples = metrics(&client, &server).await;
    assert!(samples.contains("{policy=\"gone\",policy_binding=\"gone\""));
    std::fs::remove_file(folder.path().join("gone.yaml")).unwrap();
    server.wait_for_log("manifests reloaded");
    let samples = metrics(&client, &server).await;
    assert!(!samples.contains("gone"), "{samples}");
    assert!(samples.contains("{policy=\"a\",policy_binding=\"a\""));
}

#[test]
fn faults_at_the_start_are_reported_with_their_place() {
    let check = |text: &str, expected: &str| {
        let folder = Folder::new().with("a.yaml", text);
        let serve = "serve --plain-http --listen 127.0.0.1:0 --policies";
        let (status, _, stderr) = folder.gavel(&format!("{serve} {}", folder.text()));
        assert_eq!(status, 2);
        let expected = format!("{}:{expected}", folder.file("a.yaml"));
        assert!(stderr.contains(&expected), "{expected}\n{stderr}");
    };
    let good = policy("a", "true", "", "Deny");
    check("a: [", "1:4: ");
    check(
        &good.replace("\"true\"", "\"<=>\""),
        "13:18: spec.validations[0].expression: Invalid value: ",
    );
    check(
        &good.replace("validations:", "validation:"),
        "12:3: unknown field \"spec.validation\"",
    );
    check(
        &format!("{good}---\n{good}"),
        "27:9: ValidatingAdmissionPolicy \"a\" is defined at",
    );
    check(
        &good.replace(
            "  name: a\nspec:\n  policyName",
            "  name: A\nspec:\n  policyName",
        ),
        "19:9: metadata.name: Invalid value: \"A\": ",
    );
    check(
        &good.replace("validationActions: [Deny]", "validationActions: [Never]"),
        "22:23: spec.validationActions[0]: Unsupported value: \"Never\"",
    );
    check(
        &definition(
            "        type: object
        x-kubernetes-validations:
        - rule: self.nope == 1
",
        ),
        "16:21: spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value: ",
    );
}
