//! The answers to valid and invalid reviews.

use serde_json::{Value as Json, json};

use crate::bounds::SLOW;
use crate::mutations::LABEL;
use crate::program::{Folder, definition, mutating_policy};
use crate::server::{Server, policy, post_review, post_review_at, review};

const NAMED: &str = "(object == null ? oldObject : object).metadata.?name.orValue('') != 'bad'";

#[tokio::test(flavor = "multi_thread")]
async fn policies_deny_warn_and_audit() {
    let folder = Folder::new()
        .with(
            "deny.yaml",
            &policy("deny", NAMED, "the name is bad", "Deny"),
        )
        .with(
            "warn.yaml",
            &policy(
                "warn",
                "request.operation != 'UPDATE'",
                "an update",
                "Warn, Audit",
            ),
        );
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    let object = |name: &str| review(name)["request"]["object"].clone();
    for version in ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"] {
        for (operation, name, subresource, allowed) in [
            ("CREATE", "good", "", true),
            ("CREATE", "bad", "", false),
            ("UPDATE", "good", "", true),
            ("UPDATE", "bad", "", false),
            ("DELETE", "good", "", true),
            ("DELETE", "bad", "", false),
            ("CONNECT", "good", "proxy", true),
            ("CONNECT", "bad", "proxy", false),
        ] {
            let mut review = review(name);
            review["apiVersion"] = version.into();
            let request = &mut review["request"];
            request["operation"] = operation.into();
            request["subResource"] = subresource.into();
            if matches!(operation, "UPDATE" | "DELETE") {
                request["oldObject"] = object(name);
                request["options"]["kind"] = format!(
                    "{}Options",
                    if operation == "UPDATE" {
                        "Update"
                    } else {
                        "Delete"
                    }
                )
                .into();
            }
            if operation == "DELETE" {
                request["object"] = Json::Null;
            }
            let response = post_review(&client, &server, &review).await;
            let context = format!("{version} {operation} {name}: {response}");
            assert_eq!(response["allowed"], allowed, "{context}");
            let message = "ValidatingAdmissionPolicy 'deny' with binding 'deny' denied request: the name is bad";
            match allowed {
                true => assert_eq!(response["status"], Json::Null, "{context}"),
                false => assert_eq!(
                    response["status"],
                    json!({
                        "status": "Failure",
                        "message": message,
                        "reason": "Invalid",
                        "details": {"name": "bad", "kind": "configmaps", "causes": [{"message": message}]},
                        "code": 422,
                    }),
                    "{context}"
                ),
            }
            let (warnings, failures) = match operation {
                "UPDATE" => (
                    json!([
                        "Validation failed for ValidatingAdmissionPolicy 'warn' with binding 'warn': an update"
                    ]),
                    json!({"validation_failure": r#"[{"message":"an update","policy":"warn","binding":"warn","expressionIndex":0,"validationActions":["Warn","Audit"]}]"#}),
                ),
                _ => (Json::Null, Json::Null),
            };
            assert_eq!(response["warnings"], warnings, "{context}");
            assert_eq!(response["auditAnnotations"], failures, "{context}");
        }
    }
    for message in ["denied", "evaluated"] {
        let log = server.wait_for_log_with(message, |log| log["uid"] == "uid-bad");
        let is_known = log["policy"] == "deny" || log["policy"] == "warn";
        assert!(is_known && log["binding"] == log["policy"], "{log}");
    }
    let metrics = client
        .get(server.url("/metrics"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    for expected in [
        r#"apiserver_validating_admission_policy_check_total{policy="deny",policy_binding="deny",error_type="invalid_error",enforcement_action="deny"} 8"#,
        r#"apiserver_validating_admission_policy_check_total{policy="warn",policy_binding="warn",error_type="invalid_error",enforcement_action="audit"} 4"#,
        r#"gavel_http_requests_total{path="/validate",method="POST",code="200"} 16"#,
        "process_resident_memory_bytes ",
    ] {
        assert!(metrics.contains(expected), "{expected}\n{metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_are_answered_with_a_status() {
    let folder = Folder::new().with("deny.yaml", &policy("deny", NAMED, "bad", "Deny"));
    let server = Server::start(&[
        "--policies",
        folder.text(),
        "--self-signed",
        "--max-body",
        "10000",
    ]);
    let client = server.client();
    let json_type = "application/json";
    let without = |key: &str| {
        let mut review = review("x");
        review.as_object_mut().unwrap().remove(key);
        review.to_string().into_bytes()
    };
    let with = |path: &str, value: Json| {
        let mut review = review("x");
        *review.pointer_mut(path).unwrap() = value;
        review.to_string().into_bytes()
    };
    let good = review("x").to_string().into_bytes();
    let nested = |levels: usize| {
        let mut review = review("x");
        review["request"]["object"]["data"] = "here".into();
        // The review, the request and the object are the first three levels.
        let lists = levels - 3;
        let lists = format!("{}{}", "[".repeat(lists), "]".repeat(lists));
        review.to_string().replace("\"here\"", &lists).into_bytes()
    };
    for (path, content_type, body, code, reason) in [
        ("/validate", json_type, b"".to_vec(), 400, "BadRequest"),
        ("/validate", json_type, b"{".to_vec(), 400, "BadRequest"),
        ("/validate", json_type, b"[]".to_vec(), 400, "BadRequest"),
        (
            "/validate",
            json_type,
            b"{\"a\": \"\xff\"}".to_vec(),
            400,
            "BadRequest",
        ),
        ("/validate", json_type, nested(127), 200, ""),
        ("/validate", json_type, nested(128), 400, "BadRequest"),
        ("/validate", json_type, nested(4_000), 400, "BadRequest"),
        (
            "/validate",
            json_type,
            without("request"),
            400,
            "BadRequest",
        ),
        (
            "/validate",
            json_type,
            without("apiVersion"),
            400,
            "BadRequest",
        ),
        (
            "/validate",
            json_type,
            with("/kind", json!("Pod")),
            400,
            "BadRequest",
        ),
        (
            "/validate",
            json_type,
            with("/request/uid", json!("")),
            400,
            "BadRequest",
        ),
        (
            "/validate",
            json_type,
            with("/request/object", json!(7)),
            400,
            "BadRequest",
        ),
        (
            "/validate",
            json_type,
            with("/request/userInfo", json!([])),
            400,
            "BadRequest",
        ),
        (
            "/validate?timeout=soon",
            json_type,
            good.clone(),
            400,
            "BadRequest",
        ),
        (
            "/validate",
            json_type,
            vec![b' '; 10_001],
            413,
            "RequestEntityTooLarge",
        ),
        (
            "/validate",
            "text/plain",
            good.clone(),
            415,
            "UnsupportedMediaType",
        ),
        (
            "/validate/nothing",
            json_type,
            good.clone(),
            404,
            "NotFound",
        ),
        ("/readyz", json_type, good.clone(), 405, "MethodNotAllowed"),
        (
            "/validate",
            "application/json; charset=utf-8",
            good,
            200,
            "",
        ),
    ] {
        let answer = client
            .post(server.url(path))
            .header("content-type", content_type)
            .body(body.clone())
            .send()
            .await
            .unwrap();
        let context = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(answer.status(), code, "{path} {context}");
        let answer: Json = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        if code != 200 {
            assert_eq!(answer["kind"], "Status", "{answer}");
            assert_eq!(
                (&answer["reason"], &answer["code"]),
                (&json!(reason), &json!(code)),
                "{answer}"
            );
        }
    }
    // The server answers before it has received the whole body. The client must still receive the answer.
    for (path, code) in [
        ("/validate", 413),
        ("/validate?timeout=soon", 400),
        ("/nothing", 404),
        ("/readyz", 405),
    ] {
        let answer = client
            .post(server.url(path))
            .header("content-type", json_type)
            .body(vec![b' '; 6 << 20])
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), code, "{path}");
        let answer: Json = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert_eq!(answer["code"], code, "{path}");
    }
    for path in ["/", "/livez/", "/readyz/nothing", "/livez/%ff"] {
        let answer = client.get(server.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
        let answer: Json = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert_eq!(answer["reason"], "NotFound", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn excess_requests_are_answered_with_429() {
    let folder = Folder::new().with("slow.yaml", &policy("slow", SLOW, "", "Deny"));
    let bounds = ["--max-evaluations", "1", "--max-waiting", "1"];
    let arguments = ["--policies", folder.text(), "--self-signed"];
    let server = Server::start(&[&arguments[..], &bounds].concat());
    let (client, url) = (server.client(), server.url("/validate?timeout=30s"));
    let answers = (0..32).map(|_| {
        let request = client.post(&url).header("content-type", "application/json");
        tokio::spawn(request.body(review("x").to_string()).send())
    });
    let mut codes = std::collections::BTreeMap::new();
    for answer in answers.collect::<Vec<_>>() {
        let answer = answer.await.unwrap().unwrap();
        *codes.entry(answer.status().as_u16()).or_insert(0_u32) += 1;
        if answer.status() == 429 {
            assert_eq!(answer.headers()["retry-after"], "1");
            let body: Json = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            assert_eq!(body["reason"], "TooManyRequests");
            assert_eq!(body["details"], json!({"retryAfterSeconds": 1}));
        }
    }
    assert!(codes.keys().eq([200, 429].iter()), "{codes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_resources_are_validated_against_their_definitions() {
    let schema = "        type: object
        properties:
          spec:
            type: object
            properties: {size: {type: integer, maximum: 9}}
            x-kubernetes-validations:
            - {rule: self.size >= oldSelf.size, message: must not shrink}
";
    let folder = Folder::new().with("things.yaml", &definition(schema));
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    let thing = |size: Json| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Thing",
            "metadata": {"name": "a", "namespace": "default", "uid": "1", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"size": size},
        })
    };
    for (operation, old, new, expected) in [
        ("CREATE", Json::Null, thing(json!(3)), None),
        ("UPDATE", thing(json!(3)), thing(json!(4)), None),
        ("DELETE", thing(json!(3)), Json::Null, None),
        (
            "UPDATE",
            thing(json!(3)),
            thing(json!(2)),
            Some("spec: Invalid value: must not shrink"),
        ),
        (
            "CREATE",
            Json::Null,
            thing(json!(10)),
            Some(
                "spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9",
            ),
        ),
    ] {
        let mut review = review("a");
        let request = &mut review["request"];
        for (kind, resource) in [("kind", "resource"), ("requestKind", "requestResource")] {
            request[kind] = json!({"group": "example.com", "version": "v1", "kind": "Thing"});
            request[resource] =
                json!({"group": "example.com", "version": "v1", "resource": "things"});
        }
        request["operation"] = operation.into();
        request["object"] = new;
        request["oldObject"] = old;
        let response = post_review_at(&client, &server, "/validate/crd", &review).await;
        let status = &response["status"];
        let expected = expected.map(|error| format!("Thing.example.com \"a\" is invalid: {error}"));
        assert_eq!(
            status["message"].as_str(),
            expected.as_deref(),
            "{response}"
        );
        assert_eq!(response["allowed"], expected.is_none(), "{response}");
    }
    let log = server.wait_for_log("denied");
    assert_eq!(
        (&log["uid"], &log["resource"], &log["reason"]),
        (
            &json!("uid-a"),
            &json!("things.example.com"),
            &json!("Invalid")
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_without_manifests_have_their_name() {
    let selecting = |name: &str| {
        let selector = format!(
            "matchConstraints:\n    namespaceSelector:\n      matchLabels: {{kubernetes.io/metadata.name: {name}}}\n"
        );
        policy(name, "namespaceObject.metadata.name == ''", "found", "Deny").replacen(
            "matchConstraints:\n",
            &selector,
            1,
        )
    };
    let folder = Folder::new()
        .with("a.yaml", &selecting("default"))
        .with("b.yaml", &selecting("elsewhere"));
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let response = post_review(&server.client(), &server, &review("x")).await;
    let message =
        "ValidatingAdmissionPolicy 'default' with binding 'default' denied request: found";
    assert_eq!(response["status"]["message"], message, "{response}");
    assert_eq!(
        response["status"]["details"]["causes"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_policy_decides_requests_about_policies_of_gavels_own_kinds() {
    let denying = policy("denying", "false", "denied", "Deny");
    let labeling = mutating_policy("label", "configmaps", LABEL);
    let folder = Folder::new()
        .with("denying.yaml", &denying.replace("[\"\"]", "['*']"))
        .with("labeling.yaml", &labeling.replace("['', apps]", "['*']"));
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    for (group, is_decided) in [("policies.gavel.example.com", false), ("", true)] {
        let mut review = review("a");
        for key in ["kind", "resource", "requestKind", "requestResource"] {
            review["request"][key]["group"] = group.into();
        }
        let client = server.client();
        let response = post_review(&client, &server, &review).await;
        assert_eq!(response["allowed"], !is_decided, "{response}");
        let response = post_review_at(&client, &server, "/mutate", &review).await;
        assert_eq!(response["patch"].is_string(), is_decided, "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_failure_policy_decides_slow_requests() {
    let ignored = policy("ignored", SLOW, "", "Deny").replacen(
        "spec:\n",
        "spec:\n  failurePolicy: Ignore\n",
        1,
    );
    let folder = Folder::new().with("slow.yaml", &policy("slow", SLOW, "", "Deny"));
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    let response = post_review_at(&client, &server, "/validate?timeout=2ms", &review("x")).await;
    let message = response["status"]["message"].as_str().unwrap();
    assert!(message.contains("operation interrupted"), "{response}");
    folder.write("slow.yaml", &ignored);
    server.wait_for_log("manifests reloaded");
    let response = post_review_at(&client, &server, "/validate?timeout=2ms", &review("x")).await;
    assert_eq!(response["allowed"], true, "{response}");
    let metrics = client
        .get(server.url("/metrics"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(
        metrics.contains(r#"gavel_admission_fail_open_total{policy="ignored"} 1"#),
        "{metrics}"
    );
}
