//! `gavel mutate`, run as a user runs it.
#![cfg(test)]

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::{Folder, mutating_policy};

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
";

const CONFIG_MAP: &str = "\
apiVersion: v1
data:
  a: b
kind: ConfigMap
metadata:
  name: left
";

/// A folder with one policy, which sets the replicas of Deployments.
fn folder() -> Folder {
    let scale = "Object{spec: Object.spec{replicas: 2.0}}";
    Folder::new()
        .with(
            "policy.yaml",
            &mutating_policy("scale", "deployments", scale),
        )
        .with("objects.yaml", &format!("{DEPLOYMENT}---\n{CONFIG_MAP}"))
}

fn gavel(folder: &Folder, args: &str) -> (i32, String, String) {
    folder.gavel(&format!("mutate --policies policy.yaml -o {args}"))
}

#[test]
fn objects_are_printed_as_policies_make_them() {
    let (code, out, err) = gavel(&folder(), "yaml objects.yaml");
    let scaled = DEPLOYMENT.replace("replicas: 1", "replicas: 2");
    assert_eq!(out, format!("{scaled}---\n{CONFIG_MAP}"), "{err}");
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn a_difference_shows_only_what_changes() {
    let (code, out, err) = gavel(&folder(), "diff objects.yaml");
    let expected = "\
--- objects.yaml
+++ objects.yaml
@@ -3,4 +3,4 @@
 metadata:
   name: web
 spec:
-  replicas: 1
+  replicas: 2
";
    assert_eq!((code, out.as_str(), err.as_str()), (0, expected, ""));
}

#[test]
fn nothing_is_printed_if_a_policy_cannot_be_read() {
    let folder = folder();
    for (policies, expected) in [
        ("none.yaml", "none.yaml: No such file or directory"),
        (
            "objects.yaml",
            "--policies must name a MutatingAdmissionPolicy, but there is none",
        ),
        (
            ".",
            "--policies must name a MutatingAdmissionPolicy, but there is none; add -R to read 1 file in subfolders too",
        ),
    ] {
        let folder = folder.path().join("above");
        std::fs::create_dir_all(folder.join("below")).unwrap();
        std::fs::write(folder.join("below/policy.yaml"), "kind: Pod\n").unwrap();
        std::fs::write(folder.join("objects.yaml"), DEPLOYMENT).unwrap();
        let args = format!("mutate objects.yaml --policies {policies}");
        let (code, out, err) = program::gavel(&folder, &args, "");
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(expected), "{err}");
    }
}

#[test]
fn objects_that_no_api_server_can_read_are_rejected() {
    let folder = folder()
        .with(
            "text.yaml",
            &DEPLOYMENT.replace("replicas: 1", "replicas: many"),
        )
        .with("core.yaml", &DEPLOYMENT.replace("apps/v1", "v1"));
    let (code, out, err) = gavel(&folder, "yaml text.yaml");
    let expected = "error: text.yaml:6:13: spec.replicas: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32\nnote: the value must not be in quotes\n";
    assert_eq!((code, out.as_str(), err.as_str()), (1, "", expected));
    let (code, _, err) = gavel(&folder, "yaml core.yaml");
    let expected = "warning: core.yaml:2:7: no matches for kind \"Deployment\" in version \"v1\"; the kind is served in apps/v1\n";
    assert!(err.starts_with(expected), "{err}");
    assert_eq!(code, 1);
}

#[test]
fn objects_that_cannot_be_mutated_are_rejected_with_their_place() {
    let folder = folder().with(
        "policy.yaml",
        &mutating_policy("size", "configmaps", "Object{size: 1}"),
    );
    let (code, out, err) = gavel(&folder, "yaml objects.yaml");
    assert_eq!((code, out.as_str()), (1, DEPLOYMENT), "{err}");
    assert_eq!(
        err,
        "error: objects.yaml:8:1: policy 'size' with binding 'size' denied request: error applying patch: failed to convert patch object to typed object: .size: field not declared in schema\n"
    );
}

#[test]
fn a_changed_namespace_is_a_difference() {
    let moved = mutating_policy(
        "move",
        "deployments",
        "Object{metadata: Object.metadata{namespace: 'evil'}}",
    );
    let folder = folder().with("policy.yaml", &moved);
    let (code, out, err) = gavel(&folder, "diff objects.yaml");
    assert!(out.contains("+  namespace: evil\n"), "{out}{err}");
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn policies_see_the_groups_of_the_user() {
    let scale =
        "Object{spec: Object.spec{replicas: 'admins' in request.userInfo.groups ? 3.0 : 2.0}}";
    let policy = mutating_policy("scale", "deployments", scale);
    let folder = folder().with("policy.yaml", &policy);
    for (group, replicas) in [("admins", "replicas: 3"), ("others", "replicas: 2")] {
        let (_, out, err) = gavel(&folder, &format!("yaml objects.yaml --as-group {group}"));
        assert!(out.contains(replicas), "{out}{err}");
    }
}
