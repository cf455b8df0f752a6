use serde_json::{Map, json};

use gavel_apimachinery::field::{BadValue, Error};
use gavel_apimachinery::server::Server;
use gavel_apimachinery::version::KubeVersion;
use gavel_engine::value::Json;

use super::*;
use crate::rule::RuleEnvs;

fn server() -> Server {
    Server::default()
}

fn envs() -> RuleEnvs {
    RuleEnvs::new(server().compatible()).unwrap()
}

/// A definition of a namespaced `Thing` of `example.com` with these versions.
pub(crate) fn definition(versions: Json) -> Json {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "things", "kind": "Thing"},
            "scope": "Namespaced",
            "versions": versions,
        },
    })
}

/// The version `v1` with this schema.
pub(crate) fn version(schema: Json) -> Json {
    json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}})
}

fn texts(errors: &[Error]) -> Vec<String> {
    errors.iter().map(Error::to_string).collect()
}

#[track_caller]
fn refuses(definition: Json, expected: &[&str]) {
    let errors = Definition::read(&definition).unwrap().validate(&envs());
    assert_eq!(texts(&errors), expected);
}

/// Compares the errors of a schema of `spec` with the expected ones, whose paths start at `spec`.
#[track_caller]
fn check(spec: Json, expected: &[&str]) {
    let root = json!({"type": "object", "properties": {"spec": spec}});
    let definition = Definition::read(&definition(json!([version(root)]))).unwrap();
    let errors = texts(&definition.validate(&envs()));
    let start = "spec.validation.openAPIV3Schema.properties[spec]";
    let errors: Vec<_> = errors
        .iter()
        .map(|error| error.replace(start, "spec"))
        .collect();
    assert_eq!(errors, expected);
}

#[test]
fn fields_around_the_schema_are_checked() {
    refuses(definition(json!([version(json!({"type": "object"}))])), &[]);
    let mut wrong = definition(json!([
        {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}},
            "additionalPrinterColumns": [{"name": "a", "type": "text", "jsonPath": "a"}],
            "subresources": {"scale": {"specReplicasPath": ".status.a", "statusReplicasPath": ".status.a"}},
            "selectableFields": [{"jsonPath": ".metadata.name"}]},
        {"name": "V2", "served": true, "storage": true},
    ]));
    wrong["metadata"]["name"] = json!("thing.example.com");
    wrong["spec"]["names"]["kind"] = json!("ThingList");
    wrong["spec"]["names"]["listKind"] = json!("ThingList");
    wrong["spec"]["scope"] = json!("World");
    let errors = Definition::read(&wrong).unwrap().validate(&envs());
    let errors: Vec<_> = errors
        .iter()
        .map(|error| {
            (
                error.field.as_str(),
                error.kind.text(),
                error.detail.as_str(),
            )
        })
        .collect();
    let label = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    assert_eq!(
        errors,
        [
            (
                "metadata.name",
                "Invalid value",
                "must be spec.names.plural+\".\"+spec.group"
            ),
            (
                "spec.scope",
                "Unsupported value",
                "supported values: \"Cluster\", \"Namespaced\""
            ),
            (
                "spec.versions[1].schema.openAPIV3Schema",
                "Required value",
                ""
            ),
            (
                "spec.versions[0].subresources.scale.specReplicasPath",
                "Invalid value",
                "should be a json path under .spec"
            ),
            (
                "spec.versions[0].additionalPrinterColumns[0].type",
                "Invalid value",
                "must be one of boolean,date,integer,number,string"
            ),
            (
                "spec.versions[0].additionalPrinterColumns[0].JSONPath",
                "Invalid value",
                "must be a simple json path starting with ."
            ),
            (
                "spec.versions[0].selectableFields[0].jsonPath",
                "Invalid value",
                "is an invalid path: does not refer to a valid field"
            ),
            ("spec.versions[1].name", "Invalid value", label),
            (
                "spec.versions",
                "Invalid value",
                "must have exactly one version marked as storage version"
            ),
            (
                "spec.names.listKind",
                "Invalid value",
                "kind and listKind may not be the same"
            ),
            (
                "status.storedVersions",
                "Invalid value",
                "must have the storage version V2"
            ),
        ]
    );
}

#[test]
fn errors_that_versions_share_are_reported_once() {
    let schema = json!({"type": "object", "properties": {"a": {}}});
    let versions = json!([
        version(schema.clone()),
        {"name": "v2", "served": true, "schema": {"openAPIV3Schema": schema}},
    ]);
    let error = "spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields";
    refuses(definition(versions.clone()), &[error]);
    let mut versions = versions;
    versions[1]["schema"]["openAPIV3Schema"]["description"] = json!("x");
    let own = |n: usize| error.replace("validation", &format!("versions[{n}].schema"));
    refuses(definition(versions), &[&own(0), &own(1)]);
}

#[test]
fn schemas_must_be_structural() {
    check(
        json!({"type": "object", "properties": {"l": {"type": "array"}}, "oneOf": [{"properties": {"m": {"type": "string"}}}]}),
        &[
            "spec.oneOf[0].properties[m].type: Forbidden: must be empty to be structural",
            "spec.properties[l].items: Required value: must be specified",
        ],
    );
    let int_or_string = json!([{"type": "integer"}, {"type": "string"}]);
    check(
        json!({"x-kubernetes-int-or-string": true, "anyOf": int_or_string}),
        &[],
    );
    check(
        json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": int_or_string}, {"pattern": "["}]}),
        &[
            "spec.allOf[1].pattern: Invalid value: \"[\": must be a valid regular expression, but isn't: error parsing regexp: missing closing ]: `[`",
        ],
    );
    check(
        json!({"type": "object", "$schema": "x"}),
        &[
            "spec.validation.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported",
        ],
    );
    check(
        json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set", "uniqueItems": true}),
        &[
            "spec.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
            "spec.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
        ],
    );
}

/// Fields that are named under `allOf`, `anyOf`, `oneOf` and `not` must be declared by the schema. Upstream checks this only for the
/// conditions of the root.
#[test]
fn conditions_of_the_root_are_about_declared_fields() {
    let schema = json!({"type": "object", "anyOf": [{"properties": {"a": {"minimum": 1}}}], "not": {"items": {}}});
    let declared = "because it is defined in spec.validation.openAPIV3Schema";
    refuses(
        definition(json!([version(schema)])),
        &[
            &format!("spec.validation.openAPIV3Schema.items: Required value: {declared}.not.items"),
            &format!(
                "spec.validation.openAPIV3Schema.properties[a]: Required value: {declared}.anyOf[0].properties[a]"
            ),
        ],
    );
}

#[test]
fn rules_are_compiled_where_nothing_else_is_wrong() {
    let rule = "{\"Rule\":\"self.nope\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}";
    let nope = format!(
        "spec.properties[a].x-kubernetes-validations[0].rule: Invalid value: {rule}: compilation failed: ERROR: <input>:1:5: type 'string' does not support field selection\n | self.nope\n | ....^"
    );
    let a = json!({"type": "string", "x-kubernetes-validations": [{"rule": "self.nope"}]});
    let spec = |b: Json| json!({"type": "object", "properties": {"a": a, "b": b}, "x-kubernetes-validations": [{"rule": "self.c"}]});
    check(
        spec(json!({"type": "string", "x-kubernetes-validations": [{"rule": " "}]})),
        &[
            "spec.properties[b].x-kubernetes-validations[0].rule: Required value: rule is not specified",
            &nope,
        ],
    );
    // If a rule rejects a default, no other error is reported.
    check(
        spec(
            json!({"type": "string", "default": "x", "x-kubernetes-validations": [{"rule": "self == 'y'"}]}),
        ),
        &["spec.properties[b].default: Invalid value: \"x\": failed rule: self == 'y'"],
    );
}

#[test]
fn rules_may_not_cost_too_much() {
    let list = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}]});
    let hint = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";
    check(
        list,
        &[
            &format!(
                "spec.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x {hint}"
            ),
            "spec.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            &format!(
                "spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x {hint}"
            ),
        ],
    );
}

#[test]
fn updates_may_keep_what_was_accepted() {
    let read = |schema: Json| {
        let mut json = definition(json!([version(schema)]));
        json["metadata"]["resourceVersion"] = json!("1");
        Definition::read(&json).unwrap()
    };
    let sort = |more: Json| json!({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer"}, "maxItems": 3}, "m": more}, "x-kubernetes-validations": [{"rule": "self.l.sort() == self.l"}]});
    let (old, new) = (
        read(sort(json!({"type": "string"}))),
        read(sort(json!({"type": "integer"}))),
    );
    let envs = RuleEnvs::new(server().offering("1.33".parse().unwrap())).unwrap();
    assert_eq!(texts(&new.validate_update(&old, &envs)), [""; 0]);
    let created = new.validate(&envs);
    assert!(
        created
            .iter()
            .any(|error| error.detail.contains("undeclared reference to 'sort'")),
        "{created:?}"
    );

    let mut renamed = new.clone();
    renamed.spec.versions[0].name = "v2".to_owned();
    renamed.spec.group = "example.org".to_owned();
    assert_eq!(
        texts(&renamed.validate_update(&old, &envs)),
        [
            "spec.group: Invalid value: \"example.org\": field is immutable",
            "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions",
        ]
    );
}

#[test]
fn too_many_selectable_fields_may_stay_since_1_35() {
    let names: Vec<_> = (0..9).map(|n| format!("f{n}")).collect();
    let fields: Map<_, _> = names
        .iter()
        .map(|name| (name.clone(), json!({"type": "string"})))
        .collect();
    let mut selecting = version(json!({"type": "object", "properties": fields}));
    selecting["selectableFields"] = names
        .iter()
        .map(|name| json!({"jsonPath": format!(".{name}")}))
        .collect();
    let shared = json!([selecting]);
    let own = json!([selecting, {"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}}]);
    let message = |path: &str| format!("{path}: Too many: 9: must have at most 8 items");
    for (versions, path) in [
        (shared, "spec.selectableFields"),
        (own, "spec.versions[0].selectableFields"),
    ] {
        let mut json = definition(versions);
        json["metadata"]["resourceVersion"] = json!("1");
        let definition = Definition::read(&json).unwrap();
        for (minor, errors) in [(34, vec![message(path)]), (35, vec![])] {
            let server = Server::new(KubeVersion::v1(minor)).compatible();
            let envs = RuleEnvs::new(server).unwrap();
            let found = texts(&definition.validate_update(&definition, &envs));
            assert_eq!(found, errors, "{minor}");
        }
    }
}

#[test]
fn internal_errors_have_values_since_1_36() {
    let rules = json!([{"rule": "true"}]);
    let untyped =
        json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": rules});
    let root = json!({"type": "object", "properties": {"spec": untyped}});
    let definition = Definition::read(&definition(json!([version(root)]))).unwrap();
    for (minor, value) in [(35, BadValue::Omitted), (36, BadValue::Json(json!({})))] {
        let server = Server::new(KubeVersion::v1(minor)).compatible();
        let errors = definition.validate(&RuleEnvs::new(server).unwrap());
        let values: Vec<_> = errors.into_iter().map(|error| error.bad_value).collect();
        assert_eq!(values, [value], "{minor}");
    }
}

#[test]
fn the_types_of_the_status_are_checked() {
    let error = |condition: Json| {
        let mut json = definition(json!([version(json!({"type": "object"}))]));
        json["status"] = json!({"conditions": [condition]});
        Definition::read(&json).err().map(|error| error.to_string())
    };
    let time = "2020-01-01T00:00:00Z";
    assert_eq!(
        error(json!({"lastTransitionTime": time, "reason": null})),
        None
    );
    for wrong in [
        json!({"lastTransitionTime": 1}),
        json!({"lastTransitionTime": "2020-01-01"}),
        json!({"reason": 1}),
        json!({"message": true}),
        json!({"observedGeneration": 1.5}),
    ] {
        assert!(error(wrong.clone()).is_some(), "{wrong}");
    }
}

#[test]
fn lists_are_no_objects() {
    let full = || {
        let mut json = definition(json!([version(json!({"type": "object"}))]));
        json["spec"]["versions"][0]["subresources"] = json!({"status": {}, "scale": {}});
        json["spec"]["versions"][0]["selectableFields"] = json!([{}]);
        json["spec"]["versions"][0]["additionalPrinterColumns"] = json!([{}]);
        json["spec"]["conversion"] = json!({"webhook": {"clientConfig": {"service": {}}}});
        json["status"] = json!({"acceptedNames": {}, "conditions": [{}]});
        json
    };
    assert!(Definition::read(&full()).is_ok());
    for path in [
        "",
        "/spec",
        "/spec/names",
        "/spec/versions/0",
        "/spec/versions/0/subresources",
        "/spec/versions/0/subresources/scale",
        "/spec/versions/0/selectableFields/0",
        "/spec/versions/0/additionalPrinterColumns/0",
        "/spec/conversion",
        "/spec/conversion/webhook",
        "/spec/conversion/webhook/clientConfig",
        "/spec/conversion/webhook/clientConfig/service",
        "/status",
        "/status/acceptedNames",
        "/status/conditions/0",
    ] {
        let mut json = full();
        *json.pointer_mut(path).unwrap() = json!([]);
        assert!(Definition::read(&json).is_err(), "{path}");
    }
    let mut json = full();
    json["spec"]["names"] = json!(["things", "thing", [], "Thing"]);
    let error = Definition::read(&json).unwrap_err();
    assert_eq!(error.field, "spec.names");
}

#[test]
fn metadata_is_decoded_like_that_of_typed_objects() {
    let with = |name: &str, value: Json| {
        let mut json = definition(json!([version(json!({"type": "object"}))]));
        json["metadata"][name] = value;
        json
    };
    let fields = |name: &str| {
        let definition = Definition::read(&with(name, json!([null]))).unwrap();
        let errors = definition.validate(&envs());
        errors
            .into_iter()
            .map(|error| error.field)
            .collect::<Vec<_>>()
    };
    assert_eq!(fields("finalizers")[0], "metadata.finalizers");
    assert_eq!(fields("ownerReferences").len(), 4);
    assert_eq!(
        fields("managedFields"),
        ["metadata.managedFields[0].operation"]
    );
    // An API server removes the namespace, because definitions have none.
    let placed = Definition::read(&with("namespace", json!("a"))).unwrap();
    assert_eq!(placed.validate(&envs())[0].field, "metadata.namespace");
    assert_eq!(placed.without_namespace().validate(&envs()), []);
    for name in ["generation", "deletionGracePeriodSeconds"] {
        assert!(Definition::read(&with(name, json!(1))).is_ok(), "{name}");
        assert!(Definition::read(&with(name, json!(1.0))).is_err(), "{name}");
    }
}

#[test]
fn formats_that_are_not_known_are_warned_of_once() {
    let format = |format: &str| json!({"type": "string", "format": format});
    let read = |properties: Json| {
        let schema = json!({"type": "object", "properties": properties});
        Definition::read(&definition(json!([version(schema)]))).unwrap()
    };
    let old = read(json!({"a": format("weird"), "b": format("date-time")}));
    let new =
        read(json!({"a": format("weird"), "c": format("k8s-short-name"), "d": format("odd")}));
    let server = server().compatible();
    assert_eq!(
        old.warnings(None, server),
        ["unrecognized format \"weird\""]
    );
    assert_eq!(
        new.warnings(Some(&old), server),
        ["unrecognized format \"odd\""]
    );
}

#[test]
fn depth_is_bounded_by_an_error() {
    let nest = |levels: usize, wrap: &dyn Fn(Json) -> Json| {
        (1..levels).fold(json!({"type": "string"}), |schema, _| wrap(schema))
    };
    let object = |name: &str, schema: Json| {
        let fields = [
            ("type".to_owned(), json!("object")),
            (name.to_owned(), schema),
        ];
        Json::Object(fields.into_iter().collect::<Map<_, _>>())
    };
    let rules = json!([{"rule": "has(self.a)"}]);
    let wraps: [&dyn Fn(Json) -> Json; 4] = [
        &|schema| {
            let mut node = object(
                "properties",
                Json::Object([("a".to_owned(), schema)].into_iter().collect()),
            );
            node["x-kubernetes-validations"] = rules.clone();
            node
        },
        &|schema| object("additionalProperties", schema),
        &|schema| object("not", schema),
        &|schema| object("allOf", Json::Array(vec![schema])),
    ];
    for wrap in wraps {
        let deep = definition(json!([version(Json::Null)]));
        let with = |levels: usize| {
            let mut deep = deep.clone();
            deep["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = nest(levels, wrap);
            Definition::read(&deep)
        };
        let definition = with(gavel_schema::MAX_DEPTH).unwrap();
        let errors = definition.validate(&envs());
        assert!(
            errors.len() <= 2 * gavel_schema::MAX_DEPTH,
            "{}",
            errors.len()
        );
        let error = with(gavel_schema::MAX_DEPTH + 1).unwrap_err().to_string();
        assert!(
            error.ends_with("schemas may be nested at most 200 deep"),
            "{error}"
        );
    }
}

#[test]
fn errors_about_list_keys_are_limited() {
    let keys: Vec<_> = (0..1_000).map(|n| format!("k{n}")).collect();
    let list = json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys});
    let schema = json!({"type": "object", "properties": {"l": list}});
    let errors = Definition::read(&definition(json!([version(schema)])))
        .unwrap()
        .validate(&envs());
    assert_eq!(errors.len(), 100);
}

#[test]
fn errors_about_defaults_are_limited() {
    let key = "k".repeat(1 << 20);
    let list = json!({"type": "array", "items": {"type": "string"}, "default": vec![1; 100]});
    let schema = json!({"type": "object", "properties": {key: list}});
    let errors = Definition::read(&definition(json!([version(schema)])))
        .unwrap()
        .validate(&envs());
    assert_eq!(errors.len(), 16);
}

#[test]
fn null_elements_of_lists_are_default_elements() {
    let string = json!({"type": "string", "x-kubernetes-validations": [null]});
    let object = json!({"type": "object", "properties": {"spec": string}});
    let mut v1 = version(object);
    v1["additionalPrinterColumns"] = json!([null]);
    let mut json = definition(json!([v1, null]));
    json["spec"]["names"]["shortNames"] = json!([null]);
    let definition = Definition::read(&json).unwrap();
    let errors = definition.validate(&envs());
    let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
    for field in [
        "spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule",
        "spec.versions[0].additionalPrinterColumns[0].name",
        "spec.versions[1].name",
        "spec.names.shortNames[0]",
    ] {
        assert!(fields.contains(&field), "{field}: {fields:#?}");
    }
}

#[test]
fn messages_show_absent_versions_as_null() {
    for (versions, shown) in [(Json::Null, "null"), (json!([]), "[]")] {
        let definition = Definition::read(&definition(versions)).unwrap();
        let errors = texts(&definition.validate(&envs()));
        let expected = format!(
            "spec.versions: Invalid value: {shown}: must have exactly one version marked as storage version"
        );
        assert!(errors.contains(&expected), "{errors:#?}");
    }
}
