//! Tests decisions through the public interface: apply objects, send a request, check the decision.
#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod allocations;
mod conversion;
mod go_values;
mod many;
mod requests;

use std::cell::Cell;
use std::sync::Arc;

use gavel_engine::value::Arena;
use gavel_libraries::EnvSet;
use gavel_libraries::authorizer::{Authorizer, AuthorizerAttributes, Decision as Answer, Verdict};
use gavel_policy::{
    AdmissionRequest, Decision, Observer, Options, PolicyIndex, Run, Snapshot, dispatch,
};
use gavel_schema::read_value;
use serde_json::{Value as Json, json};

/// An authorizer that allows everything.
#[derive(Debug)]
struct Allows;

impl Authorizer for Allows {
    fn authorize(&self, _: &AuthorizerAttributes) -> Answer {
        Answer {
            verdict: Verdict::Allow,
            ..Answer::default()
        }
    }
}

fn index() -> PolicyIndex {
    let environments = EnvSet::new("1.36".parse().unwrap()).unwrap();
    PolicyIndex::new(&environments)
}

fn policy(name: &str, failure_policy: &str, more: Json) -> Json {
    let mut spec = json!({
        "failurePolicy": failure_policy,
        "matchConstraints": {"resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}
        ]},
    });
    let fields = spec.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name}, "spec": spec,
    })
}

fn binding(name: &str, policy: &str, actions: &[&str], more: Json) -> Json {
    let mut spec = json!({"policyName": policy, "validationActions": actions});
    let fields = spec.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name}, "spec": spec,
    })
}

fn config_map(name: &str, most: i64) -> Json {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "labels": {"set": "a"}}, "most": most,
    })
}

fn request(arena: &Arena) -> AdmissionRequest<'_> {
    request_with(json!({}), arena)
}

/// A request to create a pod, as JSON.
fn request_json() -> Json {
    json!({
        "uid": "1", "operation": "CREATE", "name": "web", "namespace": "default",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "userInfo": {"username": "ada"},
        "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "replicas": 3},
    })
}

/// A request to create a pod, parsed from JSON. `fields` replaces some of its fields.
fn request_with(fields: Json, arena: &Arena) -> AdmissionRequest<'_> {
    let mut request = request_json();
    let all = request.as_object_mut().unwrap();
    all.extend(fields.as_object().unwrap().clone());
    let text = arena.bump().alloc_str(&request.to_string());
    let request = read_value(text.as_bytes(), arena).unwrap();
    AdmissionRequest::read(request, arena).unwrap()
}

fn filled(objects: &[Json]) -> PolicyIndex {
    let mut index = index();
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
    for object in [namespace].iter().chain(objects) {
        match object["kind"].as_str() {
            Some("ConfigMap" | "Secret") => index.apply_param(object.clone()),
            _ => index.apply(object.clone()).unwrap(),
        }
    }
    index
}

fn decided(index: &PolicyIndex, options: &Options<'_>) -> Decision {
    let authorizer: Arc<dyn Authorizer> = Arc::new(Allows);
    let options = Options {
        authorizer: Some(&authorizer),
        ..*options
    };
    dispatch(&index.snapshot(), &request(&Arena::new()), &options)
}

/// The text after `denied request: ` in the message, and the HTTP status code; `None` if the request is allowed.
fn denial(objects: &[Json]) -> Option<(String, u16)> {
    let status = decided(&filled(objects), &Options::default()).status?;
    let message = status.message.split_once("denied request: ")?.1.to_owned();
    Some((message, status.code))
}

fn validations(expressions: &[&str]) -> Json {
    let validations = expressions.iter().map(|text| json!({"expression": text}));
    json!({"validations": Vec::from_iter(validations)})
}

#[test]
fn the_first_denial_makes_the_status() {
    let check = |expressions: &[&str], actions: &[&str], expected: Option<&str>| {
        let objects = [
            policy("p", "Fail", validations(expressions)),
            binding("b", "p", actions, json!({})),
        ];
        let found = denial(&objects);
        assert_eq!(
            found.as_ref().map(|(text, _)| text.as_str()),
            expected,
            "{expressions:?}"
        );
    };
    check(&["object.replicas < 5"], &["Deny"], None);
    check(
        &["true", " false ", "1 > 2"],
        &["Deny"],
        Some("failed expression: false"),
    );
    check(&["false"], &["Warn", "Audit"], None);
    check(
        &["object.spec.x == 1"],
        &["Deny"],
        Some("expression 'object.spec.x == 1' resulted in error: no such key: spec"),
    );
    check(
        &["object.replicas"],
        &["Deny"],
        Some("compilation error: must evaluate to bool but got dyn"),
    );
}

#[test]
fn the_failure_policy_decides_if_params_cannot_be_selected() {
    let check = |failure_policy: &str, selection: Json, expected: Option<&str>| {
        let mut spec = validations(&["object.replicas <= params.most"]);
        spec.as_object_mut().unwrap().insert(
            "paramKind".to_owned(),
            json!({"apiVersion": "v1", "kind": "ConfigMap"}),
        );
        let objects = [
            policy("p", failure_policy, spec),
            binding("b", "p", &["Deny"], json!({"paramRef": selection})),
            config_map("two", 2),
            config_map("five", 5),
        ];
        let found = denial(&objects);
        assert_eq!(
            found.as_ref().map(|(text, _)| text.as_str()),
            expected,
            "{selection}"
        );
    };
    let missing = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
    let named = |name: &str, action: &str| json!({"name": name, "parameterNotFoundAction": action});
    check("Fail", named("none", "Deny"), Some(missing));
    check("Ignore", named("none", "Deny"), None);
    check("Fail", named("none", "Allow"), None);
    check("Fail", named("five", "Deny"), None);
    let failed = Some("failed expression: object.replicas <= params.most");
    check("Ignore", named("two", "Deny"), failed);
    let all = json!({"selector": {"matchLabels": {"set": "a"}}, "parameterNotFoundAction": "Deny"});
    check("Fail", all, failed);
}

#[test]
fn a_broken_policy_stays_visible_and_stops_no_other() {
    let objects = [
        policy("a-broken", "Ignore", validations(&["nonsense("])),
        binding("a", "a-broken", &["Deny"], json!({})),
        policy("b", "Fail", validations(&["false"])),
        binding("b", "b", &["Deny"], json!({})),
    ];
    assert!(denial(&objects).is_some());
    let index = filled(&objects);
    let broken: Vec<String> = index
        .snapshot()
        .policies()
        .flat_map(|policy| {
            policy
                .errors()
                .into_iter()
                .map(|error| error.to_string())
                .collect::<Vec<_>>()
        })
        .collect();
    let [broken] = &broken[..] else {
        panic!("{broken:?}");
    };
    let expected =
        "spec.validations[0].expression: compilation failed: ERROR: <input>:1:10: Syntax error: ";
    assert!(broken.starts_with(expected), "{broken}");
}

#[test]
fn only_policies_bindings_and_namespaces_are_applied() {
    let check = |object: Json, expected: &str| {
        let error = index().apply(object).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let changed = |path: &str, value: Json| {
        let mut policy = policy("p", "Fail", validations(&["true"]));
        let (parent, key) = path.rsplit_once('/').unwrap();
        policy.pointer_mut(parent).unwrap()[key] = value;
        policy
    };
    check(
        changed("/kind", json!("ValidatingAdmisionPolicy")),
        r#"no kind "ValidatingAdmisionPolicy" is registered for version "admissionregistration.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111""#,
    );
    check(
        changed("/apiVersion", json!("admissionregistration.k8s.io/v9")),
        r#"no kind "ValidatingAdmissionPolicy" is registered for version "admissionregistration.k8s.io/v9" in scheme "pkg/runtime/scheme.go:111""#,
    );
    check(
        changed("/spec/validation", json!([])),
        r#"strict decoding error: unknown field "spec.validation""#,
    );
    check(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
        r#"no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111""#,
    );
    check(
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}),
        "a ValidatingWebhookConfiguration is neither policy nor binding",
    );
}

#[test]
fn a_snapshot_stays_as_it_is() {
    let bound = binding("b", "p", &["Deny"], json!({}));
    let mut index = filled(&[policy("p", "Fail", validations(&["false"])), bound.clone()]);
    let before = index.snapshot();
    let allowed = |snapshot: &Snapshot| {
        dispatch(snapshot, &request(&Arena::new()), &Options::default()).allowed()
    };
    index.delete(&bound);
    assert!(!allowed(&before));
    assert!(allowed(&index.snapshot()));
    index.apply(bound).unwrap();
    assert!(!allowed(&index.snapshot()));
}

#[test]
fn a_request_in_no_namespace_is_not_found() {
    let mut index = filled(&[
        policy("p", "Ignore", validations(&["true"])),
        binding("b", "p", &["Deny"], json!({})),
    ]);
    index
        .delete(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}));
    let status = decided(&index, &Options::default()).status.unwrap();
    assert_eq!(
        (status.message.as_str(), status.code),
        ("namespaces \"default\" not found", 404)
    );
}

#[test]
fn after_the_interrupt_the_failure_policy_decides() {
    let check = |failure_policy: &str, allowed: bool| {
        let index = filled(&[
            policy("p", failure_policy, validations(&["true"])),
            binding("b", "p", &["Deny"], json!({})),
        ]);
        let options = Options {
            interrupt: Some(&|| true),
            ..Options::default()
        };
        assert_eq!(
            decided(&index, &options).allowed(),
            allowed,
            "{failure_policy}"
        );
    };
    check("Fail", false);
    check("Ignore", true);
}

/// Counts the programs that ran, and adds up their costs in cost units.
#[derive(Debug, Default)]
struct Bill(Cell<(usize, u64)>);

impl Observer for Bill {
    fn ran(&self, run: &Run<'_>) {
        let (runs, cost) = self.0.get();
        self.0.set((runs + 1, cost + run.cost));
    }
}

#[test]
fn each_binding_is_charged_for_what_is_evaluated_once() {
    let bill = |bindings: usize| {
        let spec = json!({
            "variables": [
                {"name": "replicas", "expression": "object.replicas"},
                {"name": "twice", "expression": "variables.replicas * 2"},
            ],
            "validations": [
                {"expression": "variables.twice > 5", "messageExpression": "string(variables.replicas)"},
                {"expression": "variables.twice + variables.replicas > 5"},
            ],
        });
        let mut objects = vec![policy("p", "Fail", spec)];
        objects.extend((0..bindings).map(|n| binding(&format!("b{n}"), "p", &["Deny"], json!({}))));
        let bill = Bill::default();
        let options = Options {
            observer: &bill,
            ..Options::default()
        };
        assert!(decided(&filled(&objects), &options).allowed());
        bill.0.get()
    };
    let (runs, cost) = bill(1);
    // Two variables, two validations and a message. The message reads `replicas` in a group of its own, which counts again.
    assert_eq!(runs, 6);
    assert_eq!(bill(3), (3 * runs, 3 * cost));
}

#[test]
fn a_decision_is_the_same_for_every_observer() {
    let mut spec = json!({
        "variables": [{"name": "replicas", "expression": "object.replicas"}],
        "validations": [
            {"expression": "object.replicas < 5"},
            {"expression": "object.replicas < params.most"},
            {"expression": "variables.replicas > 0"},
            {"expression": "object.metadata.name == 'web'"},
            {"expression": "object.replicas * 2 <= params.most", "message": "too many"},
        ],
        "auditAnnotations": [{"key": "most", "valueExpression": "string(params.most)"}],
    });
    spec["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let mut objects = vec![policy("p", "Fail", spec)];
    for most in [9, 2, 4, 6, 1] {
        let name = format!("m{most}");
        let reference = json!({"name": name, "parameterNotFoundAction": "Deny"});
        objects.push(config_map(&name, most));
        objects.push(binding(
            &name,
            "p",
            &["Deny", "Audit"],
            json!({"paramRef": reference}),
        ));
    }
    let index = filled(&objects);
    let mut decisions = Vec::new();
    for budget in 0..40 {
        let alone = Options {
            cost_budget: Some(budget),
            ..Options::default()
        };
        let bill = Bill::default();
        let followed = Options {
            observer: &bill,
            ..alone
        };
        let decision = decided(&index, &alone);
        assert_eq!(decision, decided(&index, &followed), "{budget}");
        decisions.push(decision);
    }
    decisions.dedup();
    // Small budgets are exceeded; with all others, the decision is the same.
    assert_eq!(decisions.len(), 2);
    let denials = decisions.last().unwrap().denials.iter();
    let denials: Vec<_> = denials
        .map(|denial| {
            (
                denial.binding.as_deref().unwrap_or_default(),
                &*denial.message,
            )
        })
        .collect();
    let less = "failed expression: object.replicas < params.most";
    assert_eq!(
        denials,
        [
            ("m2", less),
            ("m2", "too many"),
            ("m4", "too many"),
            ("m1", less),
            ("m1", "too many"),
        ]
    );
}

#[test]
fn variables_may_be_read_by_any_number_of_variables() {
    let mut variables = vec![json!({"name": "v0", "expression": "1"})];
    variables.extend((1..3_000).map(
        |n| json!({"name": format!("v{n}"), "expression": format!("variables.v{} + 1", n - 1)}),
    ));
    let spec =
        json!({"variables": variables, "validations": [{"expression": "variables.v2999 == 3000"}]});
    assert_eq!(
        denial(&[
            policy("p", "Fail", spec),
            binding("b", "p", &["Deny"], json!({}))
        ]),
        None
    );
}

#[test]
fn a_variable_that_reads_itself_fails() {
    let spec = json!({
        "variables": [
            {"name": "x", "expression": "1"},
            {"name": "x", "expression": "variables.x + 1"},
        ],
        "validations": [{"expression": "variables.x > 0"}],
    });
    let (message, code) = denial(&[
        policy("p", "Fail", spec),
        binding("b", "p", &["Deny"], json!({})),
    ])
    .unwrap();
    assert_eq!(
        message,
        "expression 'variables.x > 0' resulted in error: composited variable \"x\" fails to evaluate: composited variable \"x\" fails to evaluate: it reads itself"
    );
    assert_eq!(code, 422);
}

#[test]
fn the_types_of_variables_are_limited_in_depth() {
    let nested = |name: &str| format!("{}{name}{}", "[".repeat(240), "]".repeat(240));
    let variable = |n: usize| {
        let before = format!("variables.v{}", n.saturating_sub(1));
        let expression = nested(if n == 0 { "1" } else { &before });
        json!({"name": format!("v{n}"), "expression": expression})
    };
    let spec = json!({
        "variables": (0..100).map(variable).collect::<Vec<_>>(),
        "validations": [{"expression": "variables.v99.size() == 1"}],
    });
    let (message, _) = denial(&[
        policy("p", "Fail", spec),
        binding("b", "p", &["Deny"], json!({})),
    ])
    .unwrap();
    assert!(
        message.contains("the types of the expression are too large"),
        "{message:.200}"
    );
}

#[test]
fn exec_options_have_no_labels_to_select_by() {
    let check = |selector: Json, allowed: bool| {
        let mut spec = validations(&["false"]);
        spec.as_object_mut().unwrap().insert(
            "matchConstraints".to_owned(),
            json!({
                "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CONNECT"], "resources": ["pods/exec"]}],
                "objectSelector": selector,
            }),
        );
        let index = filled(&[
            policy("p", "Fail", spec),
            binding("b", "p", &["Deny"], json!({})),
        ]);
        let arena = Arena::new();
        let exec = request_with(
            json!({
                "operation": "CONNECT", "subResource": "exec",
                "kind": {"group": "", "version": "v1", "kind": "PodExecOptions"},
                "object": {"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh"]},
            }),
            &arena,
        );
        let decision = dispatch(&index.snapshot(), &exec, &Options::default());
        assert_eq!(decision.allowed(), allowed, "{selector}");
    };
    check(json!({}), false);
    let absent = json!({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]});
    check(absent, true);
}
