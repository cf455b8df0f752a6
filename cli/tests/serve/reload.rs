//! Manifests that change.

use std::time::{Duration, Instant};

use crate::program::{Folder, definition, gavel};
use crate::server::{Server, ask, policy, review};

async fn readyz(client: &reqwest::Client, server: &Server) -> String {
    let answer = client
        .get(server.url("/readyz?verbose"))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    answer.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_policies_are_served_and_broken_ones_are_not() {
    let folder = Folder::new().with("a.yaml", &policy("a", "true", "", "Deny"));
    let server = Server::start(&["--policies", folder.text(), "-R", "--self-signed"]);
    let client = server.client();
    assert_eq!(ask(&client, &server, &review("x")).await["allowed"], true);

    let changed = Instant::now();
    folder.write(
        "b/b.yaml",
        &policy("b", "object.metadata.name != 'x'", "no x", "Deny"),
    );
    while ask(&client, &server, &review("x")).await["allowed"] == true {
        assert!(changed.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    folder.write("c.yaml", "kind: [\n");
    folder.write("d.json", "{\"kind\": \"ConfigMap\",\n \"kind\": 1}");
    server.wait_for_log("manifests not reloaded; the last good state is served");
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let ready = readyz(&client, &server).await;
        assert!(ready.ends_with("readyz check passed\n"), "{ready}");
        let told = format!(
            "warn: the last good state is served: {}:2:2: the key `kind` is already set at 1:2\n",
            folder.file("d.json")
        );
        let broken = format!("{}:1:", folder.file("c.yaml"));
        if ready.contains(&told) && ready.contains(&broken) {
            break;
        }
        assert!(Instant::now() < until, "{ready}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(ask(&client, &server, &review("x")).await["allowed"], false);

    std::fs::remove_file(folder.path().join("d.json")).unwrap();
    folder.write("b/b.yaml", &policy("b", "true", "", "Deny"));
    folder.write("c.yaml", "");
    let until = Instant::now() + Duration::from_secs(20);
    while ask(&client, &server, &review("x")).await["allowed"] == false {
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
    server.wait_for_log("manifests not reloaded; the last good state is served");
    let ready = readyz(&client, &server).await;
    let told = format!("warn: the last good state is served: {policies}: No such file");
    assert!(ready.contains(&told), "{ready}");

    // As it was, by another folder: all is well again, and what changes in it is seen.
    folder.write("policies/a.yaml", &policy("a", "true", "", "Deny"));
    server.wait_for_log("manifests reloaded");
    assert!(!readyz(&client, &server).await.contains("warn:"));
    let changed = Instant::now();
    folder.write(
        "policies/a.yaml",
        &policy("a", "object.metadata.name != 'x'", "no x", "Deny"),
    );
    while ask(&client, &server, &review("x")).await["allowed"] == true {
        assert!(changed.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_compile_is_told_and_decided_by_its_failure_policy() {
    let folder = Folder::new().with("a.yaml", &policy("a", "'a' + 1", "", "Deny"));
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    let error =
        "ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'";
    let told = format!(
        "warn: {}:13:22: spec.validations[0].expression: compilation failed: {error}\n",
        folder.file("a.yaml")
    );
    let ready = readyz(&client, &server).await;
    assert!(ready.contains(&told), "{ready}");
    let response = ask(&client, &server, &review("x")).await;
    let message = response["status"]["message"].as_str().unwrap();
    let expected = format!(
        "ValidatingAdmissionPolicy 'a' with binding 'a' denied request: compilation error: compilation failed: {error}"
    );
    assert!(message.starts_with(&expected), "{message}");
    let metrics = client.get(server.url("/metrics")).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let counted = r#"apiserver_validating_admission_policy_check_total{policy="a",policy_binding="a",error_type="compile_error",enforcement_action="deny"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn what_is_wrong_at_the_start_is_told_with_its_place() {
    let check = |text: &str, expected: &str| {
        let folder = Folder::new().with("a.yaml", text);
        let serve = ["serve", "--plain-http", "--listen", "127.0.0.1:0"];
        let arguments = [&serve[..], &["--policies", folder.text()]].concat();
        let (status, _, said) = gavel(folder.path(), &arguments, "");
        assert_eq!(status, 2);
        let expected = format!("{}:{expected}", folder.file("a.yaml"));
        assert!(said.contains(&expected), "{expected}\n{said}");
    };
    let good = policy("a", "true", "", "Deny");
    check("a: [", "1:4: ");
    check(
        &good.replace("validations:", "validation:"),
        "13:5: unknown field \"spec.validation\"",
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
