//! Tests of CustomResourceDefinitions.

use super::gavel;
use crate::commands::tests::TestFolder;
use crate::exit_code::Exit;

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  group: example.com
  names: {plural: shops, singular: shop, kind: Shop, listKind: ShopList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          status:
            type: object
            properties:
              open: {type: integer}
            x-kubernetes-validations:
            - rule: self.open <= 9
              message: at most 9 open
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              max: {type: integer, default: 5}
              limits:
                type: object
                additionalProperties: {type: integer}
              sizes:
                type: array
                maxItems: 9
                items:
                  type: integer
                  x-kubernetes-validations:
                  - rule: self > 0
                    message: must be positive
            x-kubernetes-validations:
            - rule: self.size <= self.max
              messageExpression: 'self.max == 5 ? \"at most 5\" : \"at most max\"'
              fieldPath: .size
              reason: FieldValueForbidden
            - rule: self.max >= oldSelf.max
              message: max must not shrink
            - rule: '!has(self.limits) || self.limits[\"a\"] > 0'
              message: a must be positive
";

const TESTS: &str = "\
kind: PolicyTest
given: [crd.yaml]
object: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3}}
tests:
";

/// A policy that reads a default and changes an object with the label `grow`.
const POLICIES: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: shops}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [shops, shops/status]}]
  validations:
  - {expression: 'object.spec.max == 5', message: the policy wants 5}
  - {expression: 'object.?status.open.orValue(0) != 7', message: the policy wants no 7}
  - {expression: '!has(object.metadata.labels) || !has(object.metadata.labels.a)', message: the policy wants no label}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: grow}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    objectSelector: {matchLabels: {grow: 'yes'}}
    resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [shops]}]
  mutations:
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{spec: Object.spec{size: 9}}'}}
";

fn folder() -> TestFolder {
    TestFolder::new()
        .with("crd.yaml", DEFINITION)
        .with("policies.yaml", POLICIES)
}

/// Runs one test per line with the given files. All tests must pass.
fn check(given: &str, tests: &str) {
    let tests: String = tests.lines().map(|line| format!("- {line}\n")).collect();
    let suite = format!("{}{tests}", TESTS.replace("[crd.yaml]", given));
    let folder = folder().with("test.yaml", &suite);
    let (exit, out) = gavel(&folder, &["./test.yaml"]);
    assert_eq!(exit, Exit::Success, "{out}");
}

#[test]
fn custom_resources_are_validated_by_their_definition() {
    check(
        "[crd.yaml]",
        r#"{name: valid, expect: {decision: allow, warnings: []}}
{name: a default, set: {spec.size: 6}, expect: {decision: deny, message: 'Shop.example.com "main" is invalid: spec.size: Forbidden: at most 5'}}
{name: the schema, set: {spec.size: 0}, expect: {decision: deny, message: 'spec.size in body should be greater than or equal to 1'}}
{name: a type, set: {spec.size: a}, expect: {decision: deny, message: 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'}}
{name: a missing field, remove: [spec.size], expect: {decision: deny, message: 'spec.size: Required value'}}
{name: an item, set: {spec.sizes: [1, 0]}, expect: {decision: deny, message: 'spec.sizes[1]: Invalid value: 0: must be positive'}}
{name: two errors, set: {spec.sizes: [0], spec.size: 6}, expect: {decision: deny, message: 'is invalid: [spec.size: Forbidden: at most 5, spec.sizes[0]: Invalid'}}
{name: a failing rule, set: {spec.limits: {b: 1}}, expect: {decision: error, message: 'no such key: a evaluating rule: a must be positive'}}
{name: a rule that fails beside one that is false, set: {spec.limits: {b: 1}, spec.size: 6}, expect: deny}
{name: a name, set: {metadata.name: A}, expect: {decision: deny, message: 'metadata.name: Invalid value: "A"'}}
{name: an unknown field is dropped, object: {apiVersion: example.com/v1, kind: Shop, metadata: {name: a}, spec: {size: 1, sise: 2}}, expect: allow}
{name: another version, set: {apiVersion: example.com/v2}, expect: {decision: deny, message: 'the definition serves v1'}}
{name: a deletion, operation: DELETE, remove: [spec], expect: allow}
{name: a review, review: {request: {operation: CREATE, namespace: a, kind: {group: example.com, version: v1, kind: Shop}, resource: {group: example.com, version: v1, resource: shops}, object: {apiVersion: example.com/v1, kind: Shop, metadata: {name: a}}}}, expect: {decision: deny, message: 'spec: Required value'}}"#,
    );
}

#[test]
fn updates_run_transition_rules_and_tolerate_old_errors() {
    check(
        "[crd.yaml]",
        "{name: grows, oldObject: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3}}, set: {spec.max: 6}, expect: allow}
{name: shrinks, oldObject: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3}}, set: {spec.max: 4}, expect: {decision: deny, message: 'spec: Invalid value: max must not shrink'}}
{name: as invalid as before, oldObject: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3, sizes: [0]}}, set: {'spec.sizes[0]': 0}, expect: {decision: allow, warnings: ['spec.sizes[0]: Invalid value: 0: must be positive']}}
{name: the status of a new object is dropped, set: {status.open: 10}, expect: allow}
{name: so is the status of an update, oldObject: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3}}, set: {status.open: 10}, expect: allow}
{name: an update of the status, subresource: status, oldObject: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3}}, set: {status.open: 10, spec.size: 9}, expect: {decision: deny, message: 'is invalid: status: Invalid value: at most 9 open'}}
{name: a valid update of the status, subresource: status, oldObject: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3}}, set: {status.open: 9, spec.max: 1}, expect: allow}",
    );
}

/// Verified with an API server 1.36.
#[test]
fn definitions_decide_after_mutating_and_before_validating_policies() {
    check(
        "[crd.yaml, policies.yaml]",
        "{name: valid, expect: allow}
{name: invalid by the policy, set: {spec.max: 6}, expect: {decision: deny, message: the policy wants 5}}
{name: invalid by both, set: {spec.max: 2}, expect: {decision: deny, message: 'at most max'}}
{name: made invalid, set: {metadata.labels: {grow: 'yes'}}, expect: {decision: deny, message: 'at most 5'}}
{name: made valid, set: {spec.size: 0, spec.max: 9, metadata.labels: {grow: 'yes'}}, expect: {decision: deny, message: the policy wants 5}}
{name: no policy matches, operation: DELETE, expect: skip}
{name: the policy sees the status of a status update, subresource: status, oldObject: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3}}, set: {status.open: 7}, expect: {decision: deny, message: the policy wants no 7}}
{name: and no other change, subresource: status, oldObject: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3}}, set: {spec.max: 6, metadata.labels: {a: b}}, expect: allow}
{name: the policy does not see the status of a new object, set: {status.open: 7}, expect: allow}",
    );
}

#[test]
fn a_status_that_is_ignored_is_a_warning() {
    let old = "oldObject: {apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3}}";
    let tests = format!(
        "{TESTS}
- {{name: new, set: {{status.open: 1}}, expect: allow}}
- {{name: changed, {old}, set: {{status: {{}}}}, expect: allow}}
- {{name: status, subresource: status, {old}, set: {{status.open: 1}}, expect: allow}}
- {{name: spec, set: {{spec.size: 4}}, expect: allow}}
"
    );
    let folder = folder().with("test.yaml", &tests);
    let (exit, out) = gavel(&folder, &["./test.yaml", "-o", "github"]);
    let lines = out.lines().map(|line| line.split_once("title=").unwrap().1);
    let expected = [(0, "new"), (1, "changed")].map(|(n, name)| {
        format!("object::tests[{n}].set: test {name:?}: an API server ignores the status, except in updates with `subresource: status`")
    });
    assert_eq!(
        (exit, Vec::from_iter(lines)),
        (
            Exit::Success,
            expected.each_ref().map(String::as_str).to_vec()
        )
    );
}

#[test]
fn a_denial_by_a_definition_names_it() {
    let test = format!("{TESTS}- {{name: small, set: {{spec.size: 0}}, expect: allow}}\n");
    let test = test.replace("[crd.yaml]", "[crd.yaml, policies.yaml]");
    let (exit, out) = gavel(&folder().with("test.yaml", &test), &["./test.yaml"]);
    let expected = r#"FAILED test.yaml: small
    decision:
      - allow
      + deny
    message of the CustomResourceDefinition shops.example.com:
      + - "Shop.example.com \"main\" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"
"#;
    let out = out.replace(
        "      + - \"Shop.example.com \\\"main\\\" is invalid: \\u003cnil\\u003e: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation\"\n",
        "",
    );
    assert_eq!((exit, out.as_str()), (Exit::Rejected, expected));
    // Without the definition, only a policy could decide.
    let test =
        format!("{TESTS}- {{name: small, expect: allow}}\n").replace("kind: Shop", "kind: Shed");
    let (_, out) = gavel(&folder().with("test.yaml", &test), &["./test.yaml"]);
    let expected = "no policy is given, and no CustomResourceDefinition of example.com/v1 Shed\n";
    assert!(out.ends_with(expected), "{out}");
}

#[test]
fn a_test_can_expect_what_is_stored() {
    let stored =
        "{apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3, max: 5}}";
    let other = stored.replace("max: 5", "max: 6");
    let none = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
    let tests = format!(
        "{TESTS}\
- {{name: defaults, expect: {{stored: {stored}}}}}
- {{name: another, expect: {{stored: {other}}}}}
- {{name: invalid, set: {{spec.size: 9}}, expect: {{decision: deny, stored: {stored}}}}}
- {{name: no definition, object: {none}, expect: {{stored: {none}}}}}
"
    );
    let (exit, out) = gavel(&folder().with("test.yaml", &tests), &["./test.yaml"]);
    assert_eq!(exit, Exit::Usage);
    let another = "\
FAILED test.yaml: another
    stored:
        apiVersion: example.com/v1
        kind: Shop
        metadata:
          name: main
        spec:
      -   max: 6
      +   max: 5
          size: 3
FAILED test.yaml: invalid
    stored:
      - apiVersion: example.com/v1
";
    assert!(out.starts_with("ok     test.yaml: defaults\n"), "{out}");
    assert!(out.contains(another), "{out}");
    assert!(!out.contains("no definition"), "{out}");
}

#[test]
fn rules_count_in_the_coverage_of_tests_without_policies() {
    let tests = format!("{TESTS}- {{name: one, set: {{spec.sizes: [1, 0]}}, expect: deny}}\n");
    let folder = folder().with("test.yaml", &tests);
    let args = ["./test.yaml", "--coverage", "--lcov", "./lcov.info"];
    let (_, out) = gavel(&folder, &args);
    let expected = "\
ok     test.yaml: one
crd.yaml:23: shops.example.com: status rule 0: never evaluated
crd.yaml:43: shops.example.com: spec rule 0: never false
crd.yaml:47: shops.example.com: spec rule 1: never evaluated
crd.yaml:49: shops.example.com: spec rule 2: never false
crd.yaml:49: shops.example.com: !has(self.limits): never false
crd.yaml:49: shops.example.com: has(self.limits): never true
crd.yaml:49: shops.example.com: self.limits[\"a\"] > 0: never evaluated
coverage: 37 % (6 of 16)
";
    assert_eq!(out, expected);
    let lcov = std::fs::read_to_string(folder.path().join("lcov.info")).unwrap();
    let expected = "DA:40,2\nBRDA:40,0,0,1\nBRDA:40,0,1,1\nDA:43,1\nBRDA:43,0,0,1\nBRDA:43,0,1,0\n";
    assert!(lcov.contains(expected), "{lcov}");
    // With policies, the definition is only a schema, and gives the object its defaults.
    let tests = tests.replace("[crd.yaml]", "[crd.yaml, policies.yaml]");
    let policies = POLICIES.replace(
        "'object.spec.max == 5'",
        "'object.spec.max == 5 && object.spec.size == 3'",
    );
    let folder = folder.with("policies.yaml", &policies);
    let tests = tests.replace("sizes: [1, 0]", "sizes: [1]");
    let (_, out) = gavel(&folder.with("test.yaml", &tests), &args[..2]);
    assert!(!out.contains("crd.yaml"), "{out}");
    for condition in ["object.spec.max == 5", "object.spec.size == 3"] {
        assert!(out.contains(&format!("{condition}: never false")), "{out}");
    }
}

#[test]
fn conditions_within_rules_count_where_they_are_reached() {
    let definition = DEFINITION
        .replace(
            "rule: self.size <= self.max\n",
            "rule: '!has(self.sizes) || self.sizes.all(s, s != 2 || self.size == 2)'\n",
        )
        .replace(
            "self.max >= oldSelf.max\n",
            "self.max >= oldSelf.max || self.max > 3\n",
        );
    let tests = format!("{TESTS}- {{name: one, set: {{spec.sizes: [1, 1]}}, expect: allow}}\n");
    let folder = folder()
        .with("crd.yaml", &definition)
        .with("test.yaml", &tests);
    let missing = |folder: &TestFolder| {
        let (_, out) = gavel(folder, &["./test.yaml", "--coverage"]);
        let lines = out.lines().filter_map(|line| {
            let (_, condition) = line.split_once("shops.example.com: ")?;
            let is_about = ["s != 2", "self.size == 2", "oldSelf", "self.max > 3"];
            let is_about = is_about.iter().any(|about| condition.contains(about));
            is_about.then(|| condition.to_owned())
        });
        lines.collect::<Vec<_>>()
    };
    let never = |condition: &str, outcome: &str| format!("{condition}: never {outcome}");
    let whole = "s != 2 || self.size == 2";
    let loops = format!("self.sizes.all(s, {whole})");
    let expected = [
        never(&loops, "false"),
        never(whole, "false"),
        never("s != 2", "false"),
        never("self.size == 2", "evaluated"),
        never("self.max >= oldSelf.max", "evaluated"),
        never("self.max > 3", "evaluated"),
    ];
    assert_eq!(missing(&folder), expected);
    let object =
        "{apiVersion: example.com/v1, kind: Shop, metadata: {name: main}, spec: {size: 3, max: 6}}";
    let more =
        format!("- {{name: two, oldObject: {object}, set: {{spec.sizes: [2]}}, expect: deny}}\n");
    let folder = folder.with("test.yaml", &format!("{tests}{more}"));
    let expected = [
        never("self.size == 2", "true"),
        never("self.max >= oldSelf.max", "true"),
        never("self.max > 3", "false"),
    ];
    assert_eq!(missing(&folder), expected);
}

#[test]
fn the_first_file_of_tests_of_a_definition_passes() {
    let folder = folder();
    let (exit, out) = gavel(&folder, &["--init", "./crd.yaml"]);
    assert_eq!(exit, Exit::Success);
    let folder = folder.with("first.yaml", &out);
    let (exit, ran) = gavel(&folder, &["./first.yaml"]);
    let expected = "\
ok     first.yaml: v1: a Shop with its required fields
ok     first.yaml: v1: a Shop with a name alone
";
    assert_eq!((exit, ran.as_str()), (Exit::Success, expected), "{out}");
    assert!(out.contains("    spec:\n      size: 1\n"), "{out}");
    assert!(out.contains("is invalid: spec: Required value"), "{out}");
}
