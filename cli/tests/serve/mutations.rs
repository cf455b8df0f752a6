//! The answers of `POST /mutate`: patches that an API server applies.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::program::{Folder, mutating_policy};
use crate::server::{Server, post_review_at, review};

/// The expression of an `applyConfiguration` that sets a label.
pub(crate) const LABEL: &str =
    "Object{metadata: Object.metadata{labels: Object.metadata.labels{team: 'a/b'}}}";

/// Applies the patch of an answer. Supports only operations on fields of objects.
fn patched(object: &Json, response: &Json) -> Json {
    assert_eq!(response["patchType"], "JSONPatch", "{response}");
    let patch = STANDARD.decode(response["patch"].as_str().unwrap());
    let patch: Vec<Json> = serde_json::from_slice(&patch.unwrap()).unwrap();
    let mut object = object.clone();
    for operation in patch {
        let (parent, name) = operation["path"]
            .as_str()
            .unwrap()
            .rsplit_once('/')
            .unwrap();
        let members = object.pointer_mut(parent).unwrap();
        let members = members.as_object_mut().unwrap();
        let name = name.replace("~1", "/").replace("~0", "~");
        match operation["op"].as_str() {
            Some("add") => assert!(!members.contains_key(&name), "{operation}"),
            Some("replace") => assert!(members.contains_key(&name), "{operation}"),
            _ => panic!("{operation}"),
        }
        members.insert(name, operation["value"].clone());
    }
    object
}

#[tokio::test(flavor = "multi_thread")]
async fn the_patch_makes_the_object_that_policies_want() {
    let policy = mutating_policy("label", "configmaps", LABEL);
    let folder = Folder::new().with("policy.yaml", &policy);
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    for labels in [
        json!(null),
        json!({}),
        json!({"team": "other"}),
        json!({"app": "web", "example.com/a~b": "c"}),
    ] {
        let mut review = review("a");
        let object = &mut review["request"]["object"];
        if !labels.is_null() {
            object["metadata"]["labels"] = labels;
        }
        let object = object.clone();
        let mut expected = object.clone();
        expected["metadata"]["labels"]["team"] = "a/b".into();
        let response = post_review_at(&client, &server, "/mutate", &review).await;
        assert_eq!(response["allowed"], true, "{response}");
        assert_eq!(patched(&object, &response), expected);

        // An object that the policies would not change gets no patch.
        review["request"]["object"] = expected;
        let response = post_review_at(&client, &server, "/mutate", &review).await;
        assert_eq!(response["allowed"], true, "{response}");
        assert_eq!(response["patch"], Json::Null, "{response}");
        assert_eq!(response["patchType"], Json::Null, "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unmatched_objects_stay_and_failed_mutations_are_rejected() {
    let folder = Folder::new()
        .with("label.yaml", &mutating_policy("label", "secrets", LABEL))
        .with(
            "data.yaml",
            &mutating_policy("data", "configmaps", "Object{size: 1}"),
        );
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    let mut pod = review("a");
    for (kind, resource) in [("kind", "resource"), ("requestKind", "requestResource")] {
        pod["request"][kind]["kind"] = "Pod".into();
        pod["request"][resource]["resource"] = "pods".into();
    }
    pod["request"]["object"]["kind"] = "Pod".into();
    let response = post_review_at(&client, &server, "/mutate", &pod).await;
    assert_eq!(response["allowed"], true, "{response}");
    assert_eq!(response["patch"], Json::Null, "{response}");

    let response = post_review_at(&client, &server, "/mutate", &review("a")).await;
    assert_eq!(response["allowed"], false, "{response}");
    assert_eq!(response["patch"], Json::Null, "{response}");
    let message = response["status"]["message"].as_str().unwrap();
    let expected = "policy 'data' with binding 'data' denied request: error applying patch: ";
    assert!(message.contains(expected), "{message}");
    assert!(
        message.contains(".size: field not declared in schema"),
        "{message}"
    );
}
