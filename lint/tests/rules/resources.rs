//! Kinds and resources that are misspelled, exempt, or unknown to an API server.

use gavel_lint::{Linter, Options, rules};
use gavel_manifest::{Format, read};
use gavel_policy::api::OWN_GROUP;

#[test]
fn webhooks_for_reviews_are_reported_since_1_37() {
    let manifest = "apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: a}
webhooks:
- name: a.example.com
  rules: [{apiGroups: [authorization.k8s.io], apiVersions: [v1], operations: ['*'], resources: [subjectaccessreviews]}]
  clientConfig: {url: 'https://a.example.com'}
  sideEffects: None
  admissionReviewVersions: [v1]
";
    let documents = read(manifest, Format::Yaml).all().unwrap();
    for (server, expected) in [("1.36", false), ("1.37", true)] {
        let options = Options {
            server: server.parse().unwrap(),
            ..Options::default()
        };
        let linter = Linter::new(&options, &documents).unwrap();
        let found = linter.document(&documents[0]);
        let is_exempt = found.iter().any(|each| each.rule == "exempt-resource");
        assert_eq!(is_exempt, expected, "{server}: {found:?}");
    }
}

#[test]
fn resources_are_exempt_for_policies_or_for_webhooks() {
    let policy = "kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [GROUP], apiVersions: [v1], operations: ['*'], resources: [RESOURCE]}]
  validations: [{expression: request.name != 'a', message: a}]
";
    let webhook = "kind: ValidatingWebhookConfiguration
metadata: {name: a}
webhooks:
- name: a.example.com
  rules: [{apiGroups: [GROUP], apiVersions: [v1], operations: ['*'], resources: [RESOURCE]}]
  clientConfig: {url: 'https://a.example.com'}
  sideEffects: None
  admissionReviewVersions: [v1]
";
    let registration = "admissionregistration.k8s.io";
    for (own_group, group, resource, expected) in [
        (
            registration,
            registration,
            "mutatingadmissionpolicies/status",
            [true, true],
        ),
        (
            registration,
            registration,
            "validatingwebhookconfigurations",
            [false, true],
        ),
        (registration, registration, "'*'", [false, true]),
        (
            registration,
            "authentication.k8s.io",
            "tokenreviews",
            [true, true],
        ),
        (
            registration,
            OWN_GROUP,
            "validatingadmissionpolicies",
            [false, false],
        ),
        (registration, "'*'", "'*'", [false, false]),
        (OWN_GROUP, OWN_GROUP, "'*'", [true, false]),
        (
            OWN_GROUP,
            registration,
            "validatingwebhookconfigurations",
            [true, true],
        ),
    ] {
        for (n, (group_of_kind, manifest)) in [(own_group, policy), (registration, webhook)]
            .into_iter()
            .enumerate()
        {
            let manifest = manifest
                .replace("GROUP", group)
                .replace("RESOURCE", resource);
            let manifest = format!("apiVersion: {group_of_kind}/v1\n{manifest}");
            let documents = read(&manifest, Format::Yaml).all().unwrap();
            let linter = Linter::new(&Options::default(), &documents).unwrap();
            let found = linter.document(&documents[0]);
            let is_exempt = found.iter().any(|each| each.rule == "exempt-resource");
            assert_eq!(is_exempt, expected[n], "{manifest}{found:?}");
        }
    }
}

/// Another project may have a kind with the same name in a group of its own, so only groups that look misspelled are reported.
#[test]
fn kinds_of_misspelled_groups_are_reported() {
    let check = |version: &str, kind: &str, meant: Option<&str>| {
        let manifest = format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n");
        let documents = read(&manifest, Format::Yaml).all().unwrap();
        let linter = Linter::new(&Options::default(), &documents).unwrap();
        assert_eq!(Linter::is_subject(&documents[0]), meant.is_some());
        let found = linter.document(&documents[0]);
        let found = found.iter();
        let found: Vec<_> = found.map(|each| (&*each.message, each.help())).collect();
        let message = match version {
            "" => "must be set".to_owned(),
            "1" => "must be a string".to_owned(),
            _ => format!("no matches for kind {kind:?} in version {version:?}"),
        };
        let help = meant.map(|meant| format!("{kind} is of {meant}/v1"));
        let expected = help.iter().map(|help| (&*message, &**help));
        assert_eq!(found, expected.collect::<Vec<_>>());
    };
    let policy = "ValidatingAdmissionPolicy";
    let group = Some("admissionregistration.k8s.io");
    for version in [
        "",
        "1",
        "v1",
        "admissionregistration/v1",
        "admisionregistration.k8s.io/v1",
    ] {
        check(version, policy, group);
    }
    check("policies.gavel.exmple.com/v1", policy, Some(OWN_GROUP));
    check("policies.example.com/v1", policy, None);
    let definition = "CustomResourceDefinition";
    let group = Some("apiextensions.k8s.io");
    for version in ["", "apiextensions/v1", "apiextension.k8s.io/v1"] {
        check(version, definition, group);
    }
    check("example.com/v1", definition, None);
}

/// Checks the messages and the help of the rule `unknown-resource`.
fn check_unknown_resources(text: &str, options: &Options, expected: &[(&str, &str)]) {
    let documents = read(text, Format::Yaml).all().unwrap();
    let linter = Linter::new(options, &documents).unwrap();
    let found = documents.iter().flat_map(|each| linter.document(each));
    let found: Vec<_> = found
        .filter(|each| each.rule == "unknown-resource")
        .collect();
    let found: Vec<_> = found
        .iter()
        .map(|each| (&*each.message, each.help()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn versions_that_a_group_does_not_have_are_unknown() {
    let check = |versions: &str, expected: &[(&str, &str)]| {
        let policy = rules::Frame::Policy.manifest("validations: [{expression: 'true'}]\n");
        let text = policy.replace("apiVersions: [v1]", &format!("apiVersions: [{versions}]"));
        check_unknown_resources(&text, &Options::default(), expected);
    };
    for known in ["v1", "'*'", "v2, v1", "v1beta1", "v9alpha1"] {
        check(known, &[]);
    }
    let message =
        "apps has no resource \"deployments\" in version v2 or v3, so the rule does not match it";
    check("v2, v3", &[(message, "did you mean `v1`?")]);
}

#[test]
fn groups_and_kinds_of_params_that_kubernetes_does_not_have_are_unknown() {
    let groups = |groups: &str, expected: &[(&str, &str)]| {
        let policy = rules::Frame::Policy.manifest("validations: [{expression: 'true'}]\n");
        let text = policy.replace("apiGroups: [apps]", &format!("apiGroups: [{groups}]"));
        assert_ne!(text, policy);
        check_unknown_resources(&text, &Options::default(), expected);
    };
    groups("'*'", &[]);
    groups("apps.example.com", &[]);
    groups(
        "apps/v1",
        &[("there is no API group \"apps/v1\"", "did you mean `apps`?")],
    );
    groups(
        "app",
        &[("there is no API group \"app\"", "did you mean `apps`?")],
    );
    groups(
        "core",
        &[(
            "there is no API group \"core\"",
            "the name of the core group is empty",
        )],
    );
    let params = |api_version: &str, kind: &str, expected: &[(&str, &str)]| {
        let spec = format!(
            "paramKind: {{apiVersion: {api_version}, kind: {kind}}}\nvalidations: [{{expression: 'true'}}]\n"
        );
        let text = rules::Frame::Policy.manifest(&spec);
        check_unknown_resources(&text, &Options::default(), expected);
    };
    params("v1", "ConfigMap", &[]);
    params("example.com/v1", "Limit", &[]);
    params("apps/v9", "Deployment", &[]);
    let message = "v1 has no kind \"Configmap\", so the policy fails";
    params("v1", "Configmap", &[(message, "did you mean `ConfigMap`?")]);
    let message = "apps/v1 has no kind \"ConfigMap\", so the policy fails";
    params("apps/v1", "ConfigMap", &[(message, "")]);
    let core = (
        "there is no API group \"core\"",
        "the name of the core group is empty",
    );
    params("core/v1", "ConfigMap", &[core]);
}

#[test]
fn resources_and_fields_are_those_of_the_version() {
    let policy = rules::Frame::Policy.manifest("validations: [{expression: 'true'}]\n");
    let policy = policy.replace("[apps]", "[certificates.k8s.io]");
    let policy = policy.replace("deployments", "clustertrustbundles");
    let message = "certificates.k8s.io has no resource \"clustertrustbundles\" in version v1, so the rule does not match it";
    let pods = rules::Frame::Policy
        .manifest("validations: [{expression: has(object.spec.evictionResponders)}]\n");
    let pods = pods.replace("[apps]", "['']");
    let pods = pods.replace("deployments", "pods");
    for (server, expected, is_field) in [("1.36", &[(message, "")][..], false), ("1.37", &[], true)]
    {
        let options = Options {
            server: server.parse().unwrap(),
            ..Options::default()
        };
        check_unknown_resources(&policy, &options, expected);
        let documents = read(&pods, Format::Yaml).all().unwrap();
        let linter = Linter::new(&options, &documents).unwrap();
        let found = linter.document(&documents[0]);
        let mut found = found.iter().filter(|each| each.rule == "undefined-field");
        assert_eq!(found.next().is_none(), is_field, "{server}");
    }
}

/// A group may have definitions that are not among the linted files.
#[test]
fn resources_of_definitions_are_unknown_only_if_a_similar_one_is_defined() {
    let check = |resource: &str, expected: &[(&str, &str)]| {
        let definition = rules::Frame::Schema.manifest("type: object\n");
        let policy = rules::Frame::Policy.manifest("validations: [{expression: 'true'}]\n");
        let policy = policy.replace("[apps]", "[example.com]");
        let policy = policy.replace("deployments", resource);
        let text = format!("{definition}---\n{policy}");
        check_unknown_resources(&text, &Options::default(), expected);
    };
    check("routes", &[]);
    check("gateways", &[]);
    check(
        "route",
        &[(
            "no linted definition of example.com has the resource \"route\"",
            "did you mean `routes`?",
        )],
    );
}

#[test]
fn params_of_cluster_scoped_kinds_have_no_namespace() {
    let manifest = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec:
  paramKind: {apiVersion: v1, kind: KIND}
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [pods]}]
  validations: [{expression: request.name != params.metadata.name}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: a}
spec:
  policyName: a
  validationActions: [Deny]
  paramRef: {name: limits, namespace: shop, parameterNotFoundAction: Deny}
";
    for (kind, expected) in [
        ("ConfigMap", &[][..]),
        ("Node", &["objects of v1 Node have no namespace"]),
    ] {
        let documents = read(&manifest.replace("KIND", kind), Format::Yaml)
            .all()
            .unwrap();
        let linter = Linter::new(&Options::default(), &documents).unwrap();
        let found = linter.references(&documents);
        let found: Vec<&str> = found.iter().map(|each| &*each.message).collect();
        assert_eq!(found, expected, "{kind}");
    }
}
