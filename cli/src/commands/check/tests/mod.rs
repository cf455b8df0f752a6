//! Tests that run `gavel check` in a folder of files.

use gavel_engine::value::Json;

use crate::commands::tests::{TestFolder, run_in};
use crate::exit_code::Exit;

mod explanations;

const POLICY: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE], resources: [deployments]}
  matchConditions:
  - {name: not-system, expression: \"!request.userInfo.username.startsWith('system:')\"}
  variables:
  - {name: max, expression: 'int(params.data.max)'}
  validations:
  - expression: object == null || object.spec.replicas <= variables.max
    messageExpression: \"'at most ' + string(variables.max) + ' replicas'\"
  - expression: object == null || oldObject == null || object.spec.replicas >= oldObject.spec.replicas
    message: replicas must not become fewer
  - expression: request.operation != 'DELETE' || namespaceObject.metadata.?labels[?'stage'].orValue('') != 'prod'
    message: nothing is deleted in production
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: default}
data: {max: '5'}
";

/// A definition without its versions.
const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {plural: things, kind: Thing}
  scope: Namespaced
  versions:
";

fn binding(actions: &str) -> String {
    format!(
        "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: bound}}
spec:
  policyName: replicas
  paramRef: {{name: limits, namespace: default, parameterNotFoundAction: Deny}}
  validationActions: [{actions}]
"
    )
}

fn deployment(name: &str, replicas: u32) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec: {{replicas: {replicas}}}\n"
    )
}

/// A mutating policy for ConfigMaps with more lines of its `spec`, and its binding.
fn mutating_policy(name: &str, spec: &str) -> String {
    format!(
        "\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}}
{spec}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: {name}}}
---
"
    )
}

fn folder() -> TestFolder {
    TestFolder::new()
        .with("policies/policy.yaml", POLICY)
        .with("policies/binding.yaml", &binding("Deny"))
        .with(
            "web.yaml",
            &format!("{}---\n{}", deployment("small", 3), deployment("large", 7)),
        )
}

fn gavel(folder: &TestFolder, args: &[&str]) -> (Exit, String) {
    run_in(folder.path(), &[&["check"], args].concat())
}

#[test]
fn policies_are_recognized_by_their_kind() {
    let (exit, out) = gavel(&folder(), &["./policies", "./web.yaml"]);
    let expected = "web.yaml:6: Deployment/large: denied: at most 5 replicas (policy replicas, binding bound, param default/limits)\n";
    assert_eq!((exit, out.as_str()), (Exit::Rejected, expected));
}

#[test]
fn params_are_checked_by_policies_that_match_them() {
    let other = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: owners}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [RESOURCE]}
  validations: [{expression: has(object.metadata.labels), message: must have labels}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: owners}
spec: {policyName: owners, validationActions: [Deny]}
";
    let folder = folder().with("owners.yaml", &other.replace("RESOURCE", "configmaps"));
    let paths = ["./policies", "./owners.yaml"];
    let expected = "policies/policy.yaml:21: ConfigMap/limits: denied: must have labels (policy owners, binding owners)\n";
    assert_eq!(
        gavel(&folder, &paths),
        (Exit::Rejected, expected.to_owned())
    );
    // A param that no policy matches is only read. It has no line, and does not count as an object.
    let folder = folder.with("owners.yaml", &other.replace("RESOURCE", "secrets"));
    assert_eq!(gavel(&folder, &paths), (Exit::Usage, String::new()));
    let args = [&paths[..], &["./web.yaml", "--explain", "-o", "json"]].concat();
    let (_, out) = gavel(&folder, &args);
    assert_eq!(out.lines().count(), 2, "{out}");
}

#[test]
fn params_are_converted_to_the_version_of_the_param_kind() {
    let versions = "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: &any {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: *any}}
";
    let kind = "{apiVersion: example.com/v2, kind: Thing}";
    let policy = POLICY
        .replace("{apiVersion: v1, kind: ConfigMap}", kind)
        .replace(
            "apiVersion: v1\nkind: ConfigMap",
            "apiVersion: example.com/v1\nkind: Thing",
        );
    let folder = folder().with("policies/policy.yaml", &policy).with(
        "policies/definition.yaml",
        &format!("{DEFINITION}{versions}"),
    );
    let (_, out) = gavel(&folder, &["./policies", "./web.yaml"]);
    assert!(out.contains("denied: at most 5 replicas"), "{out}");
}

#[test]
fn findings_name_the_param() {
    let binding = binding("Deny").replace("name: limits, namespace: default", "selector: {}");
    let other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: default}, data: {max: '5'}}";
    let folder = folder()
        .with("policies/binding.yaml", &binding)
        .with("policies/other.yaml", other);
    let (_, out) = gavel(&folder, &["./policies", "./web.yaml"]);
    let line = "web.yaml:6: Deployment/large: denied: at most 5 replicas (policy replicas, binding bound, param default/NAME)\n";
    let expected = ["limits", "other"].map(|name| line.replace("NAME", name));
    let mut lines: Vec<&str> = out.split_inclusive('\n').collect();
    lines.sort_unstable();
    assert_eq!(lines, expected);
}

#[test]
fn a_binding_that_warns_denies_nothing() {
    let folder = folder().with("policies/binding.yaml", &binding("Warn"));
    let (exit, out) = gavel(&folder, &["./policies", "-f", "./web.yaml"]);
    let expected = "web.yaml:6: Deployment/large: warned: at most 5 replicas (policy replicas, binding bound, param default/limits)\n";
    assert_eq!((exit, out.as_str()), (Exit::Success, expected));
}

#[test]
fn old_objects_make_updates() {
    let folder = folder().with("old.yaml", &deployment("small", 4));
    let args = ["./policies", "./web.yaml", "--old", "./old.yaml"];
    let (exit, out) = gavel(&folder, &args);
    let small = "web.yaml:1: Deployment/small: denied: replicas must not become fewer (policy replicas, binding bound, param default/limits)\n";
    assert!(out.starts_with(small), "{out}");
    assert_eq!(exit, Exit::Rejected);
}

#[test]
fn deleted_objects_are_the_old_object() {
    let namespace =
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {stage: prod}}\n";
    let folder = folder().with("policies/namespace.yaml", namespace);
    let args = [
        "./web.yaml",
        "--policies",
        "./policies",
        "--operation",
        "delete",
    ];
    let (exit, out) = gavel(&folder, &args);
    let denied = "denied: nothing is deleted in production";
    assert_eq!(out.matches(denied).count(), 2, "{out}");
    assert_eq!(exit, Exit::Rejected);
}

#[test]
fn a_namespace_of_a_manifest_is_as_an_api_server_stores_it() {
    let policy = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: names}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop, tier: gold}}
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - expression: object == null
    messageExpression: namespaceObject.status.phase + ' ' + namespaceObject.spec.finalizers.join(',')
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: names}
spec: {policyName: names, validationActions: [Deny]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {tier: gold}}
";
    let folder = folder().with("names.yaml", policy);
    let args = ["--policies", "./names.yaml", "./web.yaml", "-n", "shop"];
    let (_, out) = gavel(&folder, &args);
    let line =
        "web.yaml:1: Deployment/small: denied: Active kubernetes (policy names, binding names)\n";
    assert!(out.starts_with(line), "{out}");
}

#[test]
fn validating_policies_see_a_generated_name_and_mutating_policies_none() {
    let mutations = "  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{data: {'had': string(has(object.metadata.name))}}\"}";
    let validating = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: names}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  validations:
  - expression: object == null
    messageExpression: object.metadata.name + ' ' + request.name + ' ' + object.data.had
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: names}
spec: {policyName: names, validationActions: [Deny]}
";
    let folder = TestFolder::new()
        .with(
            "policies.yaml",
            &(mutating_policy("map", mutations) + validating),
        )
        .with(
            "map.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}",
        );
    let (_, out) = gavel(&folder, &["./policies.yaml", "./map.yaml", "-o", "json"]);
    let found: Json = serde_json::from_str(&out).unwrap();
    let expected = "configmaps \"a-22222\" is forbidden: ValidatingAdmissionPolicy 'names' with binding 'names' denied request: a-22222 a-22222 false";
    assert_eq!(found["message"], expected);
}

#[test]
fn json_has_the_message_of_definitions_and_decoders() {
    let version = "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, maximum: 5}}}}}\n";
    let folder = folder()
        .with("crd.yaml", &format!("{DEFINITION}{version}"))
        .with(
            "thing.yaml",
            "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, size: 6}",
        )
        .with(
            "web.yaml",
            &deployment("web", 3).replace("replicas: 3", "replicas: many"),
        );
    for (object, expected) in [
        (
            "./thing.yaml",
            "Thing.example.com \"a\" is invalid: size: Invalid value: 6: ",
        ),
        (
            "./web.yaml",
            "Deployment in version \"v1\" cannot be handled as a Deployment: json: ",
        ),
    ] {
        let (_, out) = gavel(&folder, &["./crd.yaml", "./policies", object, "-o", "json"]);
        let found: Json = serde_json::from_str(&out).unwrap();
        let message = found["message"].as_str().unwrap();
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(found["allowed"], false);
    }
}

#[test]
fn a_kind_that_no_api_server_has_is_a_warning() {
    let object = deployment("a", 1).replace("kind: D", "kind: d");
    let folder = folder().with("object.yaml", &object);
    let (exit, out) = gavel(&folder, &["./policies", "./object.yaml", "-o", "github"]);
    assert!(
        out.starts_with("::warning file=object.yaml,line=2,col=7,"),
        "{out}"
    );
    let expected =
        "no matches for kind \"deployment\" in version \"apps/v1\"; did you mean Deployment?";
    assert!(out.contains(expected), "{out}");
    assert_eq!(exit, Exit::Success);
}

#[test]
fn policies_with_the_same_name_are_a_problem() {
    let second = POLICY.replace("message:", "reason: Forbidden\n    message:");
    let folder = folder().with("policies/policy.yaml", &format!("{POLICY}---\n{second}"));
    // A file that is named twice is read once.
    let (exit, out) = gavel(
        &folder,
        &["./policies", "./web.yaml", "--policies", "./policies"],
    );
    let expected =
        "ValidatingAdmissionPolicy \"replicas\" is defined at policies/policy.yaml:3:18 already";
    assert_eq!(out.matches(expected).count(), 1, "{out}");
    assert_eq!(exit, Exit::Rejected);
}

#[test]
fn policies_of_static_manifests_are_in_force() {
    let name = "replicas.static.k8s.io";
    let folder = folder()
        .with(
            "policies/policy.yaml",
            &POLICY.replace("replicas}", &format!("{name}}}")),
        )
        .with(
            "policies/binding.yaml",
            &binding("Deny").replace("replicas", name),
        );
    let (exit, out) = gavel(&folder, &["./policies", "./web.yaml"]);
    assert!(out.contains("policy replicas.static.k8s.io"), "{out}");
    assert_eq!(exit, Exit::Rejected);
}

#[test]
fn fields_and_kinds_are_those_of_the_version() {
    let objects = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {evictionResponders: []}}
---
{apiVersion: certificates.k8s.io/v1, kind: ClusterTrustBundle, metadata: {name: a}}
";
    let folder = folder().with("objects.yaml", objects);
    let warnings = [
        "unknown field \"spec.evictionResponders\"",
        "no matches for kind \"ClusterTrustBundle\" in version \"certificates.k8s.io/v1\"; Kubernetes 1.37 is the first that has it",
    ];
    for (version, expected) in [("1.36", &warnings[..]), ("1.37", &[])] {
        let version = format!("--kubernetes-version={version}");
        let args = ["./policies", "./objects.yaml", &version, "-o", "github"];
        let (_, out) = gavel(&folder, &args);
        assert_eq!(out.lines().count(), expected.len(), "{out}");
        assert!(expected.iter().all(|each| out.contains(each)), "{out}");
    }
}

#[test]
fn objects_of_built_in_kinds_are_decoded() {
    let wrong = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, lables: {a: b}}
spec:
  replicas: 2
  template: {spec: {containers: [{name: a, resources: {limits: {memory: 1Gii}}}]}}
";
    let folder = folder().with("web.yaml", wrong);
    let expected = "\
web.yaml:6:73: Deployment/web: denied: spec.template.spec.containers[0].resources.limits.memory: unable to parse quantity's suffix
web.yaml:3:23: Deployment/web: warned: unknown field \"metadata.lables\"; did you mean `labels`?
";
    assert_eq!(
        gavel(&folder, &["./policies", "./web.yaml"]),
        (Exit::Rejected, expected.to_owned())
    );
    let (_, out) = gavel(&folder, &["./policies", "./web.yaml", "-o", "json"]);
    let found: Json = serde_json::from_str(&out).unwrap();
    assert_eq!(found["warnings"][0], "unknown field \"metadata.lables\"");
    assert_eq!(found["findings"][0]["column"], 73);
    // The object of a deletion is not sent to the API server.
    let args = ["./policies", "./web.yaml", "--operation", "DELETE"];
    assert_eq!(gavel(&folder, &args), (Exit::Success, String::new()));
}

#[test]
fn the_user_of_the_request_matters() {
    let args = ["./policies", "./web.yaml", "--as", "system:kube-scheduler"];
    assert_eq!(gavel(&folder(), &args), (Exit::Success, String::new()));
}

#[test]
fn json_is_an_object_a_line() {
    let (exit, out) = gavel(&folder(), &["./policies", "./web.yaml", "-o", "json"]);
    let lines: Vec<Json> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((exit, lines.len()), (Exit::Rejected, 2));
    assert_eq!(lines[0]["allowed"], true);
    assert_eq!(lines[1]["findings"][0]["action"], "denied");
    assert_eq!(lines[1]["findings"][0]["validation"], 0);
    assert_eq!(lines[1]["line"], 6);
}

#[test]
fn definitions_and_policies_both_validate_custom_resources() {
    let versions = "  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer, maximum: 3,
            x-kubernetes-validations: [{rule: self > 1, message: too small}]}}}}
";
    let policy = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: named}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [example.com], apiVersions: ['*'], operations: [CREATE], resources: [things]}
  validations: [{expression: object.metadata.name != 'a', message: not a}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: named}
spec: {policyName: named, validationActions: [Audit]}
";
    let thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: 4}\n";
    let folder = TestFolder::new()
        .with("crd.yaml", &format!("{DEFINITION}{versions}"))
        .with("policy.yaml", policy)
        .with("thing.yaml", thing);
    let (exit, out) = gavel(&folder, &["./crd.yaml", "./policy.yaml", "./thing.yaml"]);
    assert!(
        out.starts_with("thing.yaml:4:14: Thing/a: denied: spec.size: Invalid value: 4"),
        "{out}"
    );
    assert!(
        out.ends_with("thing.yaml:1: Thing/a: audited: not a (policy named, binding named)\n"),
        "{out}"
    );
    assert_eq!(exit, Exit::Rejected);
    let small = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: b}\nspec: {size: 1}\n";
    let folder = folder.with("thing.yaml", small);
    let args = [
        "./crd.yaml",
        "./policy.yaml",
        "./thing.yaml",
        "--operation",
        "UPDATE",
    ];
    let warning = "spec.size: Invalid value: 1: too small";
    let warned = format!("thing.yaml:1:1: Thing/b: warned: {warning}\n");
    assert_eq!(gavel(&folder, &args), (Exit::Success, warned));
    let (_, out) = gavel(&folder, &[&args[..], &["-o", "json"]].concat());
    let line: Json = serde_json::from_str(&out).unwrap();
    assert_eq!(line["warnings"][0], warning);
}

#[test]
fn nothing_checked_is_no_success() {
    let nothing = (Exit::Usage, String::new());
    assert_eq!(gavel(&folder(), &["./policies"]), nothing);
    assert_eq!(gavel(&folder(), &["./web.yaml"]), nothing);
    let args = ["./policies", "./web.yaml", "--crd", "./web.yaml"];
    assert_eq!(gavel(&folder(), &args).0, Exit::Usage);
}

#[test]
fn policies_that_an_api_server_rejects_are_reported_with_their_place() {
    let wrong = POLICY.replace("variables.max\n", "variables.mux\n");
    let folder = folder().with("policies/policy.yaml", &wrong);
    let (exit, out) = gavel(&folder, &["./policies", "./web.yaml"]);
    assert!(out.starts_with("policies/policy.yaml:14:"), "{out}");
    assert!(out.contains("undefined field 'mux'"), "{out}");
    assert_eq!(exit, Exit::Rejected);
}

#[test]
fn unreadable_policies_are_reported_at_the_field() {
    let policy = |kind: &str, validations: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec:\n  validations: {validations}\n"
        )
    };
    for (kind, validations, expected) in [
        (
            "ValidatingAdmissionPolicy",
            "none",
            "policies/policy.yaml:5:16: json: cannot unmarshal string",
        ),
        (
            "ValidatingAdmisionPolicy",
            "[]",
            "policies/policy.yaml:2:7: no kind \"ValidatingAdmisionPolicy\" is registered for version \"admissionregistration.k8s.io/v1\"\n",
        ),
    ] {
        let folder = folder().with("policies/policy.yaml", &policy(kind, validations));
        let (exit, out) = gavel(&folder, &["./policies", "./web.yaml"]);
        assert!(out.starts_with(expected), "{out}");
        assert_eq!(exit, Exit::Rejected);
    }
}
