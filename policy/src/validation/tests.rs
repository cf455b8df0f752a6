use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::*;

/// An object of this kind in v1, with the fields of `rest`.
fn object(kind: &str, name: &str, rest: Json) -> Resource {
    let mut object =
        json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": {"name": name}});
    let entries = rest.as_object().cloned().unwrap();
    object.as_object_mut().unwrap().extend(entries);
    Resource::decode(&object.to_string()).unwrap().object
}

fn rules() -> Json {
    json!([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}])
}

/// A valid validating policy, except for `changes` in its spec.
fn validating(changes: &Json) -> Resource {
    let mut spec = json!({"matchConstraints": {"resourceRules": rules()}, "validations": [{"expression": "true"}]});
    merge(&mut spec, changes);
    object("ValidatingAdmissionPolicy", "p", json!({"spec": spec}))
}

/// A valid mutating policy, except for `changes` in its spec.
fn mutating(changes: &Json) -> Resource {
    let patch = json!({"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{}]"}});
    let mut spec = json!({"matchConstraints": {"resourceRules": rules()}, "mutations": [patch], "reinvocationPolicy": "Never"});
    merge(&mut spec, changes);
    object("MutatingAdmissionPolicy", "p", json!({"spec": spec}))
}

/// A valid binding, except for `changes` in its spec.
fn binding(changes: &Json) -> Resource {
    let mut spec = json!({"policyName": "p", "validationActions": ["Deny"]});
    merge(&mut spec, changes);
    object(
        "ValidatingAdmissionPolicyBinding",
        "b",
        json!({"spec": spec}),
    )
}

/// A configuration with one webhook, which is valid except for the given fields.
fn webhook(changes: &Json) -> Resource {
    let mut webhook = json!({
        "name": "a.example.com", "clientConfig": {"url": "https://a.example.com"}, "rules": rules(),
        "sideEffects": "None", "admissionReviewVersions": ["v1"]
    });
    merge(&mut webhook, changes);
    object(
        "ValidatingWebhookConfiguration",
        "w",
        json!({"webhooks": [webhook]}),
    )
}

fn merge(fields: &mut Json, changes: &Json) {
    let changes = changes.as_object().cloned().unwrap();
    fields.as_object_mut().unwrap().extend(changes);
}

fn validator() -> Validator {
    Validator::new("1.36".parse::<Server>().unwrap().compatible()).unwrap()
}

fn error_texts(report: &Report) -> Vec<String> {
    report.errors.iter().map(Error::to_string).collect()
}

/// Creates objects with changes, and checks the errors. `cases` are lines with the changes of an object as JSON; the expected errors are
/// indented lines after it.
fn check_created(of: fn(&Json) -> Resource, cases: &str) {
    let validator = validator();
    let mut lines = cases.trim().lines().peekable();
    while let Some(changes) = lines.next() {
        let errors = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("    ")));
        let expected: Vec<_> = errors.map(str::trim_start).collect();
        let report = validator.create(&of(&serde_json::from_str(changes).unwrap()), None);
        assert_eq!(error_texts(&report), expected, "{changes}");
    }
}

#[test]
fn faults_of_validating_policies_are_reported() {
    check_created(
        validating,
        r#"
{}
{"validations": []}
    spec.validations: Required value: validations or auditAnnotations must contain at least one item
    spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item
{"validations": [{"expression": " "}, {"expression": "1"}]}
    spec.validations[0].expression: Required value: expression is not specified
    spec.validations[1].expression: Invalid value: "1": must evaluate to bool but got int
{"validations": [{"expression": "true", "message": "a\nb", "messageExpression": " ", "reason": "No<"}]}
    spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified
    spec.validations[0].message: Invalid value: "a\nb": must not contain line breaks
    spec.validations[0].reason: Unsupported value: "No\u003c": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"
{"failurePolicy": "fail", "paramKind": {"apiVersion": "a/b/c", "kind": ""}}
    spec.failurePolicy: Unsupported value: "fail": supported values: "Fail", "Ignore"
    spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c
    spec.paramKind.kind: Required value
{"variables": [{"name": "in", "expression": "1"}, {"name": "a", "expression": ""}]}
    spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier
    spec.variables[1].expression: Required value: expression is not specified
{"auditAnnotations": [{"key": "c", "valueExpression": "1"}, {"key": "c", "valueExpression": ""}]}
    spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int
    spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified
    spec.auditAnnotations[1].key: Duplicate value: "c"
{"matchConstraints": {"resourceRules": [{"apiGroups": ["", "*"], "apiVersions": [], "operations": ["create"], "resources": ["pods/*", "pods/log", "*"]}]}}
    spec.matchConstraints.resourceRules[0].operations[0]: Unsupported value: "create": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"
    spec.matchConstraints.resourceRules[0].apiGroups: Invalid value: ["","*"]: if '*' is present, must not specify other API groups
    spec.matchConstraints.resourceRules[0].apiVersions: Required value
    spec.matchConstraints.resourceRules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log
"#,
    );
    let condition = |expression: &str| json!({"name": "a", "expression": expression});
    let policy =
        validating(&json!({"matchConditions": [condition(" params == null"), condition("true")]}));
    let report = validator().create(&policy, None);
    assert_eq!(
        error_texts(&report),
        [
            "spec.matchConditions[0].expression: Invalid value: \"params == null\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params == null\n | ^",
            r#"spec.matchConditions[1].name: Duplicate value: "a""#
        ]
    );
}

#[test]
fn errors_have_positions_in_the_expression_as_written() {
    let wrong = "\n  'a' +\n  1 + true";
    let policy = validating(&json!({
        "auditAnnotations": [{"key": "a", "valueExpression": wrong}],
        "matchConditions": [{"name": "a", "expression": " 1 + true"}],
        "variables": [{"name": "a", "expression": " 1 + true"}],
    }));
    let mut errors = validator().create(&policy, None).errors;
    errors.sort_by(|one, other| one.field.cmp(&other.field));
    let places = errors.iter().map(|error| error.expression);
    let places: Vec<_> = places
        .map(|place| place.map(|place| (place.line, place.column)))
        .collect();
    assert_eq!(places, [Some((2, 7)), Some((1, 4)), Some((1, 4))]);
}

#[test]
fn after_an_interrupt_no_expression_is_compiled() {
    let policy = validating(&json!({
        "variables": [{"name": "a", "expression": "1"}],
        "validations": [{"expression": "true"}, {"expression": "true"}],
    }));
    let calls = AtomicUsize::new(0);
    let interrupt = || calls.fetch_add(1, Ordering::Relaxed) > 0;
    let report = validator().create(&policy, Some(&interrupt));
    assert_eq!(
        error_texts(&report),
        [
            "spec.validations[0].expression: Internal error: operation interrupted",
            "spec.validations[1].expression: Internal error: operation interrupted",
        ]
    );
}

#[test]
fn errors_that_repeat_a_long_name_are_limited() {
    let mut policy =
        json!({"metadata": {"name": "n".repeat(1 << 20)}, "spec": {"auditAnnotations": []}});
    let annotations = vec![json!({"key": "", "valueExpression": "''"}); 100];
    policy["spec"]["auditAnnotations"] = json!(annotations);
    let policy = object("ValidatingAdmissionPolicy", "p", policy);
    let errors = validator().create(&policy, None).errors;
    let size: usize = errors.iter().map(|error| error.to_string().len()).sum();
    assert!(size < 40 << 20, "{size}");
}

#[test]
fn faults_of_mutating_policies_are_reported() {
    check_created(
        mutating,
        r#"
{}
{"mutations": [{"patchType": "JSONPatch", "applyConfiguration": {"expression": "Object{}"}}, {"patchType": "x"}], "reinvocationPolicy": "Always"}
    spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch
    spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch
    spec.mutations[1].patchType: Unsupported value: "x": supported values: "ApplyConfiguration", "JSONPatch"
    spec.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"
{"matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["pods"]}]}}
    spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"
"#,
    );
}

#[test]
fn faults_of_bindings_are_reported() {
    check_created(
        binding,
        r#"
{}
{"policyName": "", "validationActions": ["Audit", "Audit"], "paramRef": {"name": "x", "selector": {}}}
    spec.policyName: Required value
    spec.paramRef.name: Forbidden: name and selector are mutually exclusive
    spec.paramRef.selector: Forbidden: name and selector are mutually exclusive
    spec.paramRef.parameterNotFoundAction: Required value
    spec.validationActions[1]: Duplicate value: "Audit"
{"validationActions": [], "paramRef": {"parameterNotFoundAction": "deny"}}
    spec.paramRef: Required value: one of name or selector must be specified
    spec.paramRef.parameterNotFoundAction: Unsupported value: "deny": supported values: "Deny", "Allow"
    spec.validationActions: Required value: at least one validation action is required
"#,
    );
}

#[test]
fn a_running_server_validates_bindings_declaratively() {
    let faulty = binding(
        &json!({"policyName": "", "validationActions": [], "paramRef": {"name": "x", "parameterNotFoundAction": "x"}}),
    );
    let texts = |server: &str, is_running: bool| -> Vec<String> {
        let validator = Validator::new(server.parse().unwrap()).unwrap();
        let validator = match is_running {
            true => validator.of_a_running_server(),
            false => validator,
        };
        let errors = validator.create(&faulty, None).errors;
        errors.iter().map(ToString::to_string).collect()
    };
    let action = r#"spec.paramRef.parameterNotFoundAction: Unsupported value: "x": supported values: "Deny", "Allow""#;
    let actions = "spec.validationActions: Required value";
    let explained =
        "spec.validationActions: Required value: at least one validation action is required";
    let name = "spec.policyName: Required value";
    assert_eq!(texts("1.37", true), [action, name, actions]);
    for (server, is_running) in [("1.37", false), ("1.36", true)] {
        assert_eq!(texts(server, is_running), [name, action, explained]);
    }
}

#[test]
fn a_running_server_removes_the_namespace() {
    let mut placed = binding(&json!({"policyName": "a", "validationActions": ["Deny"]}));
    let Resource::ValidatingAdmissionPolicyBinding(object) = &mut placed else {
        panic!("not a binding")
    };
    object.metadata.namespace = "A b".to_owned();
    let validator = Validator::new(Server::default()).unwrap();
    let forbidden = "metadata.namespace: Forbidden: not allowed on this type";
    assert_eq!(
        validator.create(&placed, None).errors[0].to_string(),
        forbidden
    );
    let validator = validator.of_a_running_server();
    assert_eq!(validator.create(&placed, None).errors, []);
    let updated = validator.update(&placed, &placed, None).unwrap();
    assert!(
        !updated
            .errors
            .iter()
            .any(|error| error.field == "metadata.namespace")
    );
}

#[test]
fn faults_of_webhooks_are_reported() {
    check_created(
        webhook,
        r#"
{}
{"name": "a.b", "clientConfig": {}, "sideEffects": "Some", "timeoutSeconds": 0, "admissionReviewVersions": ["v1", "v1"]}
    webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots
    webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"
    webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds
    webhooks[0].clientConfig: Required value: exactly one of url or service is required
    webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version
{"clientConfig": {"url": "http://u@/x?q#f"}}
    webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]
    webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]
    webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL
    webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL
    webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL
{"clientConfig": {"service": {"name": "", "namespace": "", "path": "a//", "port": 0}}, "matchConditions": [{"name": "", "expression": "1"}]}
    webhooks[0].clientConfig.service.name: Required value
    webhooks[0].clientConfig.service.namespace: Required value
    webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive
    webhooks[0].clientConfig.service.path: Invalid value: "a//": must start with a '/'
    webhooks[0].clientConfig.service.path: Invalid value: "a//": segment[0] may not be empty
    webhooks[0].clientConfig.service.path: Invalid value: "a//": segment[1] may not be empty
    webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int
    webhooks[0].matchConditions[0].name: Required value
"#,
    );
}

#[test]
fn updates_are_forgiven_what_was_wrong_before() {
    let validator = validator();
    let check = |object: &Resource, old: &Resource, expected: &[&str]| {
        let report = validator.update(object, old, None).unwrap();
        assert_eq!(error_texts(&report), expected);
    };
    let fault = r#"webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun""#;
    let (sound, faulty) = (
        webhook(&json!({})),
        webhook(&json!({"sideEffects": "Some"})),
    );
    check(&faulty, &sound, &[fault]);
    check(&faulty, &faulty, &[]);
    // Match conditions are validated only if they or the params change.
    let faulty = |kind: &str| {
        validating(
            &json!({"matchConditions": [{"name": "a", "expression": "1"}], "paramKind": {"apiVersion": "v1", "kind": kind}}),
        )
    };
    check(&faulty("Secret"), &faulty("Secret"), &[]);
    let fault = r#"spec.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int"#;
    check(&faulty("Secret"), &faulty("ConfigMap"), &[fault]);
    assert_eq!(validator.update(&sound, &faulty("Secret"), None), None);
}

#[test]
fn rejections_name_the_object_and_report_each_fault_once() {
    let check = |object: &Resource, faults: usize, expected: &str| {
        let report = validator().create(object, None);
        assert_eq!(report.errors.len(), faults);
        assert_eq!(report.message().as_deref(), Some(expected));
    };
    check(
        &binding(&json!({"policyName": "", "validationActions": []})),
        2,
        "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io \"b\" is invalid: [spec.policyName: Required value, spec.validationActions: Required value: at least one validation action is required]",
    );
    let operations = ["DELETE", "DELETE"];
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": operations, "resources": ["pods"]});
    check(
        &mutating(&json!({"matchConstraints": {"resourceRules": [rule]}})),
        2,
        "MutatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is invalid: spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\"",
    );
}

#[test]
fn names_of_static_configurations_are_warned_of() {
    let spec = json!({"policyName": "p", "validationActions": ["Warn"]});
    let report = |validator: &Validator, name: &str, spec: &Json| {
        let rest = json!({"spec": spec});
        let object = object("ValidatingAdmissionPolicyBinding", name, rest);
        let Report {
            errors, warnings, ..
        } = validator.create(&object, None);
        (errors.len(), warnings.len())
    };
    let before = validator();
    assert_eq!(report(&before, "a.static.k8s.io", &spec), (0, 1));
    assert_eq!(report(&before, "a.k8s.io", &spec), (0, 0));
    assert_eq!(report(&before, "a.static.k8s.io", &json!({})).1, 0);
    let since = Validator::new("1.37".parse().unwrap()).unwrap();
    assert_eq!(report(&since, "a.static.k8s.io", &spec), (1, 0));
    let since = since.accepting_static_names();
    assert_eq!(report(&since, "a.static.k8s.io", &spec), (0, 1));
}
