//! Tests that no evaluation costs more than its estimate, with random objects that satisfy their schema.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use gavel_engine::value::{Arena, Value};
use gavel_libraries::EnvSet;
use gavel_libraries::authorizer::{Authorizer, AuthorizerAttributes, Decision, Verdict};
use gavel_policy::api::{Registration, ValidatingAdmissionPolicy};
use gavel_policy::typecheck::{Estimate, KindCosts, TypeChecker};
use gavel_policy::{
    AdmissionRequest, GroupVersionKind, Observer, Options, PolicyIndex, Run, Snapshot, dispatch,
};
use gavel_schema::JsonSchema;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// The variables that the expressions below can read.
const VARIABLES: &[(&str, &str)] = &[
    ("items", "object.spec.items"),
    ("optional", "object.?spec.?items.orValue([])"),
    ("kept", "has(object.spec.items) ? object.spec.items : []"),
    ("ported", "variables.kept.filter(i, size(i.ports) > 1)"),
    ("names", "variables.items.map(i, i.name)"),
    ("spec", "object.spec"),
    ("both", "object.spec.tags + variables.names"),
    ("parts", "object.spec.name.split('a')"),
    ("labels", "object.metadata.?labels.orValue({})"),
    ("first", "variables.items[0]"),
];

const VALIDATIONS: &[&str] = &[
    "object.spec.name.startsWith('ab')",
    "object.spec.name.endsWith(object.spec.name)",
    "object.spec.name.matches('^[ab]*$')",
    "object.spec.name.contains('b')",
    "object.spec.name.indexOf('b') > object.spec.name.lastIndexOf('a')",
    "object.spec.name + object.spec.mode != object.spec.mode + object.spec.name",
    "object.spec.name.upperAscii().lowerAscii().replace('a', 'bbb').size() > 3",
    "object.spec.name.find('[a-b]+') == object.spec.name.substring(1)",
    "object.spec.name.findAll('a').size() > 0 && object.spec.name.findAll('a').all(x, x.startsWith('a'))",
    "object.spec.name.split('a').exists(p, p.startsWith('b'))",
    "object.spec == oldObject.spec",
    "object.spec.items == variables.kept",
    "object.spec.items.all(i, i.image.startsWith('a') && i.ports.all(p, p > 1 && i.name == string(p)))",
    "object.spec.items.exists(i, i.ports.exists(p, p in object.spec.items[0].ports))",
    "object.spec.items.exists_one(i, has(i.image) && i.name.matches('a+'))",
    "object.spec.items.filter(i, i.name.size() > 2).map(i, i.image).all(x, x.contains('b'))",
    "object.spec.items.map(i, i.name + '/' + i.image).join(', ').startsWith('a')",
    "object.spec.items.map(i, i.ports.size() > 1, i.name).join() != ''",
    "object.spec.tags.join('-').endsWith('b')",
    "object.spec.tags.isSorted() || object.spec.tags.indexOf('a') > 0",
    "'a' in object.spec.tags",
    "sets.contains(object.spec.tags, ['a', 'b']) || sets.equivalent(object.spec.tags, ['a'])",
    "object.metadata.labels.all(k, k.startsWith('a') && object.metadata.labels[k].startsWith('b'))",
    "object.metadata.labels.transformList(k, v, k + v).exists(x, x.startsWith('ab'))",
    "object.metadata.labels.a.startsWith('b') || object.metadata.labels['bb'].endsWith('a')",
    "object.metadata.?labels[?'a'].orValue('abcabc').startsWith('b')",
    "object.?metadata.?labels.a.hasValue()",
    "object.spec.items[0].image.startsWith('a') ? object.spec.name.endsWith('b') : object.spec.mode.endsWith('b')",
    "(object.spec.count > 1 ? object.spec.items : object.spec.items.filter(i, i.name != 'a'))[0].name.endsWith('b')",
    "string(object.spec.port).startsWith('1') || object.spec.port == 'abcdefgh'",
    "object.spec.when == oldObject.spec.when",
    "object.?spec.?items.optMap(x, x.all(i, i.name.startsWith('a'))).orValue(true)",
    "'%s of %d'.format([object.spec.name, object.spec.count]) != ''",
    "quantity(object.spec.name).isGreaterThan(quantity('1'))",
    "isURL(object.spec.name) && url(object.spec.name) == url(object.spec.name)",
    "format.dns1123Label().validate(object.spec.name).hasValue()",
    "ip(object.spec.name) == ip('1.2.3.4') || cidr('10.0.0.0/8').containsIP(object.spec.name)",
    "variables.ported.all(i, i.image.endsWith('b') && i.ports.sum() > 3)",
    "variables.optional.all(i, i.image.startsWith('b'))",
    "variables.names.all(n, n.startsWith('a')) && variables.names.join('').endsWith('b')",
    "variables.spec.items.exists(i, i.image.startsWith(variables.spec.name))",
    "variables.both.all(b, b.startsWith('a'))",
    "variables.parts[0].startsWith('b')",
    "variables.labels.exists(k, variables.labels[k].startsWith('b'))",
    "variables.first.image.endsWith('a') || [object.spec.name][0].endsWith('b')",
    "[1, 2].map(x, [x, object.spec.count]).exists(l, l.sum() > 2)",
    "request.name.startsWith('w') && request.operation == 'UPDATE' && request.kind.kind.endsWith('g')",
    "authorizer.group('').resource('pods').check('get').allowed() && authorizer.requestResource.check('get').allowed()",
    "namespaceObject.metadata.name.startsWith('d') || namespaceObject.metadata.labels.exists(k, k.endsWith('e'))",
];

const MESSAGE: &str = "string(object.spec.count) + variables.names.join(', ')";

fn schema() -> Json {
    let text = |most: u64| json!({"type": "string", "maxLength": most});
    let whole = json!({"type": "integer"});
    let item = json!({"type": "object", "properties": {
        "name": text(6),
        "image": text(20),
        "ports": {"type": "array", "items": whole, "maxItems": 4},
    }});
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "name": text(12),
        "count": whole,
        "mode": {"type": "string", "enum": ["a", "bbb"]},
        "port": {"x-kubernetes-int-or-string": true, "maxLength": 8},
        "when": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": text(8), "maxItems": 5},
        "items": {"type": "array", "items": item, "maxItems": 4},
    }}}})
}

fn text(most: usize) -> impl Strategy<Value = Json> {
    let letters = prop::sample::select(vec!["a", "b", "é", "1"]);
    let any = prop::collection::vec(letters, 0..=most).prop_map(|letters| letters.concat());
    prop_oneof![any, Just("é".repeat(most)), Just("a".repeat(most))].prop_map(Json::from)
}

fn list(of: impl Strategy<Value = Json>, most: usize) -> impl Strategy<Value = Json> {
    prop::collection::vec(of, 0..=most).prop_map(Json::from)
}

/// An object from which each field may be missing.
fn object(fields: Vec<(&'static str, BoxedStrategy<Json>)>) -> impl Strategy<Value = Json> {
    let fields = fields.into_iter().map(|(name, value)| {
        let value = prop_oneof![9 => value.prop_map(Some), 1 => Just(None)];
        value.prop_map(move |value| Some((name.to_owned(), value?)))
    });
    let fields: Vec<_> = fields.collect();
    fields.prop_map(|fields| Json::Object(fields.into_iter().flatten().collect()))
}

fn thing() -> impl Strategy<Value = Json> {
    let number = || (0..30_i64).prop_map(Json::from).boxed();
    let item = object(vec![
        ("name", text(6).boxed()),
        ("image", text(20).boxed()),
        ("ports", list(number(), 4).boxed()),
    ]);
    let spec = object(vec![
        ("name", text(12).boxed()),
        ("count", number()),
        (
            "mode",
            prop::sample::select(vec!["a", "bbb"])
                .prop_map(Json::from)
                .boxed(),
        ),
        ("port", prop_oneof![number(), text(8)].boxed()),
        (
            "when",
            Just(json!("2026-01-31T12:00:00.123456789+01:00")).boxed(),
        ),
        ("tags", list(text(8), 5).boxed()),
        ("items", list(item, 4).boxed()),
    ]);
    let labels = prop::collection::btree_map("[ab]{1,3}", text(9), 0..4);
    (spec, labels).prop_map(|(spec, labels)| {
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "web", "labels": labels}, "spec": spec})
    })
}

fn policy() -> Json {
    let variables = VARIABLES.iter();
    let variables = variables.map(|(name, text)| json!({"name": name, "expression": text}));
    let validations = VALIDATIONS.iter();
    let validations =
        validations.map(|text| json!({"expression": text, "messageExpression": MESSAGE}));
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["things"],
            }]},
            "variables": Vec::from_iter(variables),
            "validations": Vec::from_iter(validations),
        },
    })
}

fn costs() -> KindCosts {
    let mut checker = TypeChecker::new("1.36".parse().unwrap()).unwrap();
    let schema: JsonSchema = serde_json::from_value(schema()).unwrap();
    checker.add_custom_kind(
        GroupVersionKind::new("example.com/v1", "Thing"),
        Some(&schema),
    );
    let policy = ValidatingAdmissionPolicy::from_json(&policy()).unwrap();
    let mut analysis = checker.analyze(&policy);
    assert!(analysis.unchecked.is_empty());
    let faults = analysis.faults.iter();
    let faults: Vec<_> = faults
        .map(|fault| format!("{}: {:?}", fault.field, fault.fault))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    analysis.costs.remove(0)
}

#[derive(Debug)]
struct Allows;

impl Authorizer for Allows {
    fn authorize(&self, _: &AuthorizerAttributes) -> Decision {
        Decision {
            verdict: Verdict::Allow,
            ..Decision::default()
        }
    }
}

/// Records the maximum cost of each expression, in cost units.
#[derive(Default)]
struct Costs(RefCell<BTreeMap<String, u64>>);

impl Observer for Costs {
    fn ran(&self, run: &Run<'_>) {
        let mut costs = self.0.borrow_mut();
        let most = costs.entry(run.expression.to_owned()).or_default();
        *most = run.cost.max(*most);
    }
}

fn snapshot() -> Snapshot {
    let environments = EnvSet::new("1.36".parse().unwrap()).unwrap();
    let mut index = PolicyIndex::new(&environments);
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]},
    });
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"kubernetes.io/metadata.name": "default"}},
    });
    for object in [policy(), binding, namespace] {
        index.apply(object).unwrap();
    }
    index.snapshot()
}

/// The cost of each expression for an update from `old` to `object`, in cost units.
fn run(snapshot: &Snapshot, object: Json, old: Json) -> BTreeMap<String, u64> {
    let request = json!({
        "uid": "1", "operation": "UPDATE", "name": "web", "namespace": "default",
        "kind": {"group": "example.com", "version": "v1", "kind": "Thing"},
        "resource": {"group": "example.com", "version": "v1", "resource": "things"},
        "userInfo": {"username": "ada"}, "object": object, "oldObject": old,
    });
    let arena = Arena::new();
    let request = AdmissionRequest::read(Value::from(&request), &arena);
    let costs = Costs::default();
    let authorizer: Arc<dyn Authorizer> = Arc::new(Allows);
    let options = Options {
        observer: &costs,
        authorizer: Some(&authorizer),
        ..Options::default()
    };
    let _ = dispatch(snapshot, &request.unwrap(), &options);
    costs.0.into_inner()
}

/// The estimated maximum cost of each expression, without expressions of unknown or unbounded cost.
fn most() -> BTreeMap<String, u64> {
    let fields: Vec<_> = costs().expressions.into_iter().collect();
    let policy = policy();
    let most = fields.into_iter().filter_map(|each| {
        let pointer = format!("/{}", each.field.replace(['.', '['], "/").replace(']', ""));
        let text = policy.pointer(&pointer)?.as_str()?.to_owned();
        match each.cost {
            Estimate::Bounded(cost) => Some((text, cost.max)),
            _ => None,
        }
    });
    most.collect()
}

#[test]
fn sizes_that_schemas_limit_are_limited() {
    let most = most();
    let texts = VALIDATIONS.iter().copied();
    let texts = texts.chain(VARIABLES.iter().map(|(_, text)| *text));
    let texts = texts.chain([MESSAGE]);
    let unbounded: Vec<_> = texts.filter(|text| !most.contains_key(*text)).collect();
    assert_eq!(unbounded, [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_evaluation_costs_more(object in thing(), old in thing()) {
        static POLICY: LazyLock<(Snapshot, BTreeMap<String, u64>)> = LazyLock::new(|| (snapshot(), most()));
        let (snapshot, most) = &*POLICY;
        let costs = run(snapshot, object, old);
        prop_assert!(costs.len() > VALIDATIONS.len());
        let exceeds = |(text, cost): &(&String, &u64)| most.get(*text).is_some_and(|most| *cost > most);
        let exceeding: Vec<_> = costs.iter().filter(exceeds).collect();
        prop_assert!(exceeding.is_empty(), "{exceeding:#?}");
    }
}
