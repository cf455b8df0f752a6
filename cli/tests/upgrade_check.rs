//! `gavel upgrade-check`, run as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test")]

use program::{Folder, gavel, root};
use serde_json::Value as Json;

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

/// Runs `gavel upgrade-check` in `testdata/upgrade`.
fn check(arguments: &str) -> (i32, String, String) {
    gavel(
        &root().join("testdata/upgrade"),
        &format!("upgrade-check {arguments}"),
        "",
    )
}

const ALL: &str = "--from 1.34 --to 1.37 policy.yaml crd.yaml --sample route.yaml";

#[test]
fn the_examples_of_the_documentation_are_what_is_printed() {
    let path = root().join("docs/upgrade-check.md");
    let mut documentation = std::fs::read_to_string(&path).unwrap();
    let (status, out, err) = check(ALL);
    assert_eq!(status, 1, "{err}");
    let command =
        "$ gavel upgrade-check --from 1.34 --to 1.37 policy.yaml crd.yaml --sample route.yaml\n";
    let (_, lines, _) = check(&format!("{ALL} --output json"));
    let first = lines.lines().next().unwrap();
    let expected = [
        (format!("```\n{command}"), format!("{out}{err}")),
        ("```json\n".to_owned(), format!("{first}\n")),
    ];
    for (start, shown) in &expected {
        let (before, rest) = documentation.split_once(start).unwrap();
        let (_, after) = rest.split_once("```\n").unwrap();
        documentation = format!("{before}{start}{shown}```\n{after}");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &documentation).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(
        written == documentation,
        "docs/upgrade-check.md shows other output; UPDATE_GOLDEN=1 writes it anew"
    );
}

#[test]
fn programs_read_changes_as_lines_of_json() {
    let (status, out, err) = check(&format!("{ALL} -o json"));
    assert_eq!((status, err.as_str()), (1, ""));
    let lines: Vec<Json> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let estimate = lines
        .iter()
        .find(|line| line["topic"] == "estimate")
        .unwrap();
    assert_eq!(estimate["file"], "policy.yaml");
    assert_eq!(estimate["name"], "routes");
    assert_eq!(estimate["effect"], "cost");
    assert!(estimate["before"].as_u64() > estimate["after"].as_u64());
    assert_eq!(estimate["causes"][0]["name"], "CostsAreOfWhatIsRead");
    let decision = lines
        .iter()
        .find(|line| line["topic"] == "decision")
        .unwrap();
    assert_eq!(decision["effect"], "verdict");
    assert_eq!(decision["before"], Json::Null);
    assert_eq!(decision["causes"][0]["since"], "1.36");
}

#[test]
fn the_exit_status_tells_whether_something_changes() {
    for (arguments, expected) in [
        ("--to 1.34 policy.yaml", 0),
        ("policy.yaml", 1),
        ("crd.yaml", 0),
        ("crd.yaml --sample route.yaml", 1),
        ("missing.yaml", 2),
        ("route.yaml", 2),
        ("--to 1.33 policy.yaml", 2),
        ("policy.yaml --sample missing.yaml", 2),
        ("crd.yaml --sample /dev/null", 2),
    ] {
        let (status, out, err) = check(&format!("--from 1.34 {arguments}"));
        assert_eq!(status, expected, "{arguments}: {out}{err}");
    }
}

#[test]
fn objects_without_the_group_of_their_kind_are_reported() {
    let policy = program::mutating_policy("labels", "pods", "Object{}");
    let version = "apiVersion: admissionregistration.k8s.io/v1\n";
    assert!(policy.contains(version));
    let folder = Folder::new()
        .with("none.yaml", &policy.replace(version, ""))
        .with("core.yaml", &policy.replace(version, "apiVersion: v1\n"))
        .with(
            "other.yaml",
            &policy.replace(version, "apiVersion: example.com/v1\n"),
        )
        .with("kind.yaml", &policy.replace("kind: Mut", "kind: mut"))
        .with("crd.yaml", "kind: CustomResourceDefinition\n")
        .with("values.yaml", "replicas: 1\n");
    let group =
        "must name the group admissionregistration.k8s.io, as admissionregistration.k8s.io/v1 does";
    for (file, expected) in [
        ("none.yaml", format!("1:1: apiVersion: {group}")),
        ("core.yaml", format!("1:13: apiVersion: {group}")),
        (
            "crd.yaml",
            "1:1: apiVersion: must name the group apiextensions.k8s.io, as apiextensions.k8s.io/v1 does".to_owned(),
        ),
        (
            "kind.yaml",
            "2:7: kind: no kind \"mutatingAdmissionPolicy\" is registered for version \"admissionregistration.k8s.io/v1\"".to_owned(),
        ),
    ] {
        let args = format!("upgrade-check --from 1.36 --to 1.37 {file}");
        let (status, out, err) = folder.gavel(&args);
        assert_eq!((status, out.as_str()), (2, ""), "{err}");
        assert!(err.starts_with(&format!("error: {file}:{expected}\n")), "{err}");
    }
    folder.write("policy.yaml", &policy);
    let args = "upgrade-check --from 1.36 --to 1.37 policy.yaml other.yaml values.yaml";
    let (status, _, err) = folder.gavel(args);
    assert_eq!(
        (status, err.as_str()),
        (0, "2 objects, 0 samples, 0 changes\n")
    );
}

#[test]
fn webhook_configurations_of_both_kinds_change() {
    let webhooks = |kind: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1
kind: {kind}WebhookConfiguration
metadata: {{name: a}}
webhooks:
- name: a.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {{url: 'https://a.example.com'}}
  rules: [{{apiGroups: [authentication.k8s.io], apiVersions: [v1], operations: [CREATE], resources: [tokenreviews]}}]
  matchConditions: [{{name: a, expression: \"request.name.startsWith('a')\"}}]
"
        )
    };
    for kind in ["Validating", "Mutating"] {
        let folder = Folder::new().with("a.yaml", &webhooks(kind));
        let args = "upgrade-check --from 1.34 --to 1.37 a.yaml";
        let (status, out, err) = folder.gavel(args);
        assert_eq!(status, 1, "{err}");
        let expected = "\
a.yaml:1:1: warning [ReviewsCallNoWebhooks]
  1.34: no warning
  1.37: webhooks[0].rules[0]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect
a.yaml:10:43: webhooks[0].matchConditions[0].expression: cost at most [CostsAreOfWhatIsRead]
  1.34: unbounded
  1.37: 3
";
        assert!(out.starts_with(expected), "{kind}: {out}");
    }
}

#[test]
fn unknown_fields_are_reported() {
    let policy = program::mutating_policy("labels", "pods", "Object{}");
    let policy = policy.replace(
        "reinvocationPolicy: Never",
        "reinvocationPolicy: Never\n  bogus: 1",
    );
    let definition = program::definition("        type: object\n        maxItem: 1\n");
    let folder = Folder::new()
        .with("policy.yaml", &policy)
        .with("crd.yaml", &definition);
    let args = "upgrade-check --from 1.36 policy.yaml crd.yaml";
    let (status, _, err) = folder.gavel(args);
    let expected = "\
error: policy.yaml:6:3: unknown field \"spec.bogus\"
error: crd.yaml:15:9: unknown field \"spec.versions[0].schema.openAPIV3Schema.maxItem\"
note: did you mean `maxItems`?
3 objects, 0 samples, 0 changes
";
    assert_eq!((status, err.as_str()), (2, expected));
}

#[test]
fn versions_that_do_not_serve_a_kind_are_reported() {
    let policy = program::mutating_policy("labels", "pods", "Object{}");
    let folder = Folder::new()
        .with("policy.yaml", &policy)
        .with(
            "own.yaml",
            &policy.replace("admissionregistration.k8s.io", "policies.gavel.example.com"),
        )
        .with(
            "old.yaml",
            &std::fs::read_to_string(root().join("testdata/upgrade/policy.yaml"))
                .unwrap()
                .replace("k8s.io/v1\nkind: Val", "k8s.io/v1beta1\nkind: Val"),
        );
    let check = |from: &str, to: &str, file: &str| {
        folder.gavel(&format!("upgrade-check --from {from} --to {to} {file}"))
    };
    let error = "no matches for kind \"MutatingAdmissionPolicy\" in version \"admissionregistration.k8s.io/v1\" \
        (Kubernetes 1.36 is the first that serves it)";
    let (status, out, err) = check("1.35", "1.36", "policy.yaml");
    let expected =
        format!("policy.yaml:1:13: apiVersion: creation\n  1.35: {error}\n  1.36: accepted\n");
    assert!(out.starts_with(&expected), "{out}");
    assert_eq!(
        (status, out.matches("creation").count()),
        (1, 2),
        "{out}{err}"
    );
    let (_, out, _) = check("1.36", "1.35", "policy.yaml");
    let expected =
        format!("policy.yaml:1:13: apiVersion: creation\n  1.36: accepted\n  1.35: {error}\n");
    assert!(out.starts_with(&expected), "{out}");
    // Definitions serve Gavel's own kinds on every version.
    let (status, out, err) = check("1.35", "1.36", "own.yaml");
    assert_eq!((status, out.as_str()), (0, ""), "{err}");
    let (_, out, err) = check("1.34", "1.37", "old.yaml");
    let expected = "warning: old.yaml:1:13: apiVersion: no matches for kind \"ValidatingAdmissionPolicy\" \
        in version \"admissionregistration.k8s.io/v1beta1\" \
        (Kubernetes 1.34 removed it: use admissionregistration.k8s.io/v1)\n";
    assert!(err.starts_with(expected), "{err}");
    assert!(!out.contains("apiVersion"), "{out}");
}

#[test]
fn versions_that_do_not_exist_are_errors() {
    let policy =
        program::mutating_policy("labels", "pods", "Object{}").replace("k8s.io/v1", "k8s.io/v9");
    let folder = Folder::new().with("policy.yaml", &policy);
    let args = "upgrade-check --from 1.35 --to 1.36 policy.yaml";
    let (status, _, err) = folder.gavel(args);
    let expected = "error: policy.yaml:2:7: kind: no kind \"MutatingAdmissionPolicy\" is registered \
        for version \"admissionregistration.k8s.io/v9\"\n";
    assert_eq!(status, 2);
    assert!(err.starts_with(expected), "{err}");
}

#[test]
fn the_versions_should_be_different_and_must_be_known() {
    let (status, _, err) = check("--from 1.37 policy.yaml");
    let expected = "warning: nothing changes: --from and --to are both 1.37; ";
    assert_eq!((status, err.starts_with(expected)), (0, true), "{err}");
    let (status, _, err) = check("--from 1.36 --to 1.99 policy.yaml");
    let expected = "the version must be from 1.34 to 1.37\n";
    assert_eq!((status, err.contains(expected)), (2, true), "{err}");
}

#[test]
fn reviews_are_samples_with_places_in_their_objects() {
    let object = std::fs::read_to_string(root().join("testdata/upgrade/route.yaml")).unwrap();
    let object = object.replace("metadata:\n", "metadata:\n  namespace: shop\n");
    let object: String = object.lines().map(|line| format!("    {line}\n")).collect();
    let review = format!(
        "apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  uid: '1'
  operation: CREATE
  kind: {{group: example.com, version: v1, kind: Route}}
  resource: {{group: example.com, version: v1, resource: routes}}
  name: web
  namespace: shop
  object:
{object}"
    );
    let folder = Folder::new().with("review.yaml", &review);
    let review = folder.file("review.yaml");
    let (status, out, err) = check(&format!(
        "--from 1.34 --to 1.37 policy.yaml crd.yaml --sample {review}"
    ));
    assert_eq!(status, 1, "{err}");
    let place =
        format!("{review}:17:14: spec.hosts: decision [RulesShowValues] (Route.example.com)\n");
    assert!(out.contains(&place), "{out}");
}
