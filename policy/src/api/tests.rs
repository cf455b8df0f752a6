use super::*;

/// The JSON text of an object. `rest` is appended after the version and kind.
fn object(version: &str, kind: &str, rest: &str) -> String {
    format!(r#"{{"apiVersion":"{GROUP}/{version}","kind":"{kind}"{rest}}}"#)
}

#[test]
fn objects_that_are_no_registrations_are_rejected() {
    let check = |text: &str, expected: &str| {
        let error = Resource::decode(text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    };
    check(
        "[",
        "couldn't get version/kind; json parse error: unexpected end of JSON input",
    );
    check(
        r#"{"kind":"X"}"#,
        r#"Object 'apiVersion' is missing in '{"kind":"X"}'"#,
    );
    check(
        r#"{"apiVersion":"v1"}"#,
        r#"Object 'Kind' is missing in '{"apiVersion":"v1"}'"#,
    );
    check(
        r#"{"apiVersion":"a/b/c","kind":"X"}"#,
        "unexpected GroupVersion string: a/b/c",
    );
    check(
        &object("v1alpha1", "ValidatingWebhookConfiguration", ""),
        "no kind \"ValidatingWebhookConfiguration\" is registered for version \"admissionregistration.k8s.io/v1alpha1\" in scheme \"pkg/runtime/scheme.go:111\"",
    );
    check(
        &object(
            "v1",
            "ValidatingAdmissionPolicy",
            r#","spec":{"failurePolicy":1}"#,
        ),
        "json: cannot unmarshal number into Go struct field ValidatingAdmissionPolicySpec.spec.failurePolicy of type v1.FailurePolicyType",
    );
    check(
        &object("v1beta1", "MutatingAdmissionPolicy", r#","spec":[]"#),
        "json: cannot unmarshal array into Go struct field MutatingAdmissionPolicy.spec of type v1beta1.MutatingAdmissionPolicySpec",
    );
    check(
        &object(
            "v1",
            "ValidatingAdmissionPolicy",
            r#","spec":{"matchConstraints":{"resourceRules":[{"apiGroups":"x"}]}}"#,
        ),
        "json: cannot unmarshal string into Go struct field NamedRuleWithOperations.spec.matchConstraints.resourceRules.RuleWithOperations.Rule.apiGroups of type []string",
    );
    check(
        &object(
            "v1",
            "ValidatingWebhookConfiguration",
            r#","webhooks":[{"clientConfig":{"service":{"port":2147483648}}}]"#,
        ),
        "json: cannot unmarshal number 2147483648 into Go struct field ServiceReference.webhooks.clientConfig.service.port of type int32",
    );
}

#[test]
fn objects_are_written_with_defaults() {
    let check = |text: &str, expected: &str| {
        let decoded = Resource::decode(text).unwrap();
        assert_eq!(decoded.object.to_json(), expected, "{text}");
    };
    let webhooks =
        r#","webhooks":[{"name":"a","matchConditions":[],"clientConfig":{"service":{}}}]"#;
    check(
        &object("v1beta1", "ValidatingWebhookConfiguration", webhooks),
        r#"{"kind":"ValidatingWebhookConfiguration","apiVersion":"admissionregistration.k8s.io/v1beta1","metadata":{},"webhooks":[{"name":"a","clientConfig":{"service":{"namespace":"","name":"","port":443}},"failurePolicy":"Ignore","matchPolicy":"Exact","namespaceSelector":{},"objectSelector":{},"sideEffects":"Unknown","timeoutSeconds":30,"admissionReviewVersions":["v1beta1"]}]}"#,
    );
    check(
        &object(
            "v1",
            "ValidatingAdmissionPolicyBinding",
            r#","spec":{"paramRef":{"name":"b","selector":null}}"#,
        ),
        r#"{"kind":"ValidatingAdmissionPolicyBinding","apiVersion":"admissionregistration.k8s.io/v1","metadata":{},"spec":{"paramRef":{"name":"b"}}}"#,
    );
}

#[test]
fn unknown_and_duplicate_fields_are_reported_or_rejected() {
    let rest = r#","spec":{"paramRef":{"name":"a","name":"b"},"x":{"y":1}}"#;
    let text = object("v1", "ValidatingAdmissionPolicyBinding", rest);
    let faults_at = |level: FieldValidation| {
        let decoded = Resource::decode(&text).unwrap();
        level.apply(decoded).map(|(_, warnings)| warnings)
    };
    let faults = [
        r#"duplicate field "spec.paramRef.name""#,
        r#"unknown field "spec.x""#,
    ];
    assert_eq!(faults_at(FieldValidation::Warn).unwrap(), faults);
    assert!(faults_at(FieldValidation::Ignore).unwrap().is_empty());
    assert_eq!(
        faults_at(FieldValidation::Strict).unwrap_err().to_string(),
        format!("strict decoding error: {}", faults.join(", "))
    );
}
