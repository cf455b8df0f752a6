//! Expressions of the API server's configuration, and of selectors of devices.

use gavel_lint::{Linter, Options};
use gavel_manifest::{Format, read};

/// Checks the findings of a manifest of several documents: the field and the first line of the message of each.
fn check(manifest: &str, expected: &[&str]) {
    let documents = read(manifest, Format::Yaml).all().unwrap();
    let linter = Linter::new(&Options::default(), &documents).unwrap();
    let found = documents.iter().flat_map(|each| linter.document(each));
    let found: Vec<String> = found
        .map(|problem| {
            let message = problem.message.lines().next().unwrap_or_default();
            format!("{}: {message}", problem.field)
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn expressions_of_authenticators_have_the_types_of_their_fields() {
    check(
        "apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: https://example.com, audiences: [a]}
  claimValidationRules:
  - {expression: claims.hd == 'x'}
  - {expression: claims.hd == 'x'}
  - {expression: claims.hd}
  claimMappings:
    username: {expression: size(claims.sub)}
    groups: {expression: 'dyn(claims.roles).map(r, r)'}
    uid: {expression: claims.uid}
    extra:
    - {key: example.com/a, valueExpression: '[]'}
    - {key: example.com/b, valueExpression: 'claims.a.split(\",\")'}
    - {key: example.com/c, valueExpression: '[claims.a]'}
    - {key: example.com/d, valueExpression: 'claims.?a'}
  userValidationRules:
  - {expression: '!user.username.startsWith(\"system:\") && user.uid != \"\"'}
  - {expression: 'user.groups.all(g, g != \"x\") && user.extra[\"a\"][0] == \"b\"'}
  - {expression: user.name == ''}
",
        &[
            "jwt[0].claimValidationRules[1].expression: Duplicate value: \"claims.hd == 'x'\"",
            "jwt[0].claimValidationRules[2].expression: must evaluate to bool, not google.protobuf.Any",
            "jwt[0].claimMappings.username.expression: must evaluate to string, not int",
            "jwt[0].claimMappings.extra[3].valueExpression: must evaluate to one of [string list(string)], not optional_type(google.protobuf.Any)",
            "jwt[0].userValidationRules[2].expression: Invalid value: \"user.name == ''\": compilation failed: ERROR: <input>:1:5: undefined field 'name'",
        ],
    );
}

#[test]
fn conditions_of_authorizers_read_the_request() {
    check(
        "apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: a
  webhook:
    matchConditions:
    - {expression: has(request.resourceAttributes) && request.resourceAttributes.namespace == 'a'}
    - {expression: 'request.resourceAttributes.labelSelector.requirements.exists(r, r.key == \"a\" && r.operator == \"In\" && \"b\" in r.values)'}
    - {expression: request.resourceAttributes.fieldSelector.rawSelector == ''}
    - {expression: 'request.nonResourceAttributes.path == \"/a\" && request.extra[\"a\"] == request.groups'}
    - {expression: request.user}
",
        &["authorizers[0].webhook.matchConditions[4].expression: must evaluate to bool, not string"],
    );
}

#[test]
fn selectors_of_devices_read_attributes_and_capacities() {
    check(
        "apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: a}
spec:
  selectors:
  - cel: {expression: \"device.capacity['example.com'].memory.isGreaterThan(quantity('10Gi'))\"}
  - cel: {expression: \"cel.bind(a, device.attributes['example.com'], a.fast && a.large)\"}
  - cel: {expression: \"device.attributes['example.com'].fast\"}
  - cel: {expression: device.allowMultipleAllocations}
  - cel: {expression: device.driver}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: a}
spec:
  devices:
    requests:
    - name: a
      exactly: {deviceClassName: a, selectors: [{cel: {expression: device.name == 'a'}}]}
    - name: b
      firstAvailable: [{name: a, deviceClassName: a, selectors: [{cel: {expression: \"device.capacity['example.com'].memory\"}}]}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: a}
spec:
  spec:
    devices:
      requests: [{name: a, exactly: {deviceClassName: a, selectors: [{cel: {expression: '1'}}]}}]
",
        &[
            "spec.selectors[4].cel.expression: must evaluate to bool or the unknown type, not string",
            "spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: \"device.name == 'a'\": compilation failed: ERROR: <input>:1:7: undefined field 'name'",
            "spec.devices.requests[1].firstAvailable[0].selectors[0].cel.expression: must evaluate to bool or the unknown type, not kubernetes.Quantity",
            "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression: must evaluate to bool or the unknown type, not int",
        ],
    );
}
