//! Manifests that change.

use std::time::{Duration, Instant};

use crate::server::{Folder, Server, ask, policy, review};

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

#[test]
fn what_is_wrong_at_the_start_is_told_with_its_place() {
    let check = |text: &str, expected: &str| {
        let folder = Folder::new().with("a.yaml", text);
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_gavel"))
            .args([
                "serve",
                "--plain-http",
                "--listen",
                "127.0.0.1:0",
                "--policies",
                folder.text(),
            ])
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(2));
        let said = String::from_utf8(run.stderr).unwrap();
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
}
