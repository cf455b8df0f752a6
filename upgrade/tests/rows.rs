//! Tests that each row of the table of differences is found as the cause of the changes that it makes.
#![cfg(test)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gavel_apimachinery::server::{DIFFERENCES, Difference, Row};
use gavel_apimachinery::version::KubeVersion;
use gavel_upgrade::{Cause, Topic, Upgrade};
use serde_json::{Value as Json, json};

/// The differences that an upgrade check does not see: it validates definitions as new ones, rejects objects of unknown kinds, and compares
/// errors by their text.
const UNSEEN: [Difference; 3] = [
    Difference::SelectableFieldsMayStay,
    Difference::SchemesAreOfLine111,
    Difference::InternalErrorsHaveValues,
];

/// The request of the row's case in `testdata/versions.ndjson`.
fn case(row: &Row) -> Json {
    if row.difference == Difference::BindingsAreValidatedDeclaratively {
        let mut binding = binding();
        binding["spec"]["validationActions"] = json!([]);
        return json!({"op": "object", "object": binding});
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/versions.ndjson");
    let cases = fs::read_to_string(path).unwrap();
    let mut cases = cases
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap());
    let name = format!("{:?}", row.difference);
    let found = cases.find(|case| case["difference"] == *name);
    found.unwrap()["request"].clone()
}

/// A policy's expression that shows the difference of a row. It is derived from the expression of the row's case, unless that expression
/// reads variables that a policy does not have.
fn condition(row: &Row, expression: &str) -> String {
    match row.difference {
        Difference::LoopVariablesComeFirst => "[1].all(object, object == .object)".to_owned(),
        Difference::StructNamesAreTypes => "object{b: 1}".to_owned(),
        Difference::OptionalTypeHasAParameter
        | Difference::ListAndMapAreOfDyn
        | Difference::SumsLeaveQuantitiesUnchanged
        | Difference::CostsAreOfWhatIsRead => expression.to_owned(),
        _ => format!("dyn({expression}) != dyn('')"),
    }
}

fn policy(expression: &str) -> Json {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "demo"},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]},
            ]},
            "validations": [{"expression": expression}],
        },
    })
}

fn binding() -> Json {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "demo"},
        "spec": {"policyName": "demo", "validationActions": ["Deny"]},
    })
}

/// The request that creates an object. `plural` is the plural name of the object's kind.
fn creation(plural: &str, object: &Json) -> Json {
    let (group, version) = match object["apiVersion"].as_str().unwrap().split_once('/') {
        Some(of_group) => of_group,
        None => ("", object["apiVersion"].as_str().unwrap()),
    };
    json!({
        "uid": "1",
        "operation": "CREATE",
        "kind": {"group": group, "version": version, "kind": object["kind"]},
        "resource": {"group": group, "version": version, "resource": plural},
        "name": object["metadata"]["name"],
        "namespace": "default",
        "object": object,
    })
}

fn upgrade(row: &Row) -> Upgrade {
    let mut upgrade = Upgrade::new(row.since.previous().into(), row.since.into());
    let request = case(row);
    match request["op"].as_str().unwrap() {
        "eval" => {
            let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}});
            let expression = condition(row, request["expr"].as_str().unwrap());
            upgrade.add(&policy(&expression)).unwrap();
            upgrade.add(&binding()).unwrap();
            upgrade.add_request(creation("pods", &pod)).unwrap();
        }
        "crd" => drop(upgrade.add(&request["crd"]).unwrap()),
        "validate" => {
            let crd = &request["crd"];
            upgrade.add(crd).unwrap();
            let plural = crd["spec"]["names"]["plural"].as_str().unwrap();
            let object = creation(plural, &request["object"]);
            upgrade.add_request(object).unwrap();
        }
        "object" => drop(upgrade.add(&request["object"]).unwrap()),
        "typecheck" => {
            let mut policy = request["policy"].clone();
            let rule = &mut policy["spec"]["matchConstraints"]["resourceRules"][0];
            *rule = json!({"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["things"]});
            let things = case(row_of(Difference::NamesOfResourcesAreBounded));
            upgrade.add(&things["crd"]).unwrap();
            upgrade.add(&policy).unwrap();
        }
        "vap" | "map" => {
            upgrade.add(&request["policy"]).unwrap();
            for binding in request["bindings"].as_array().unwrap() {
                upgrade.add(binding).unwrap();
            }
            upgrade.add_request(request["request"].clone()).unwrap();
        }
        op => panic!("{op}"),
    }
    upgrade
}

fn row_of(difference: Difference) -> &'static Row {
    let mut rows = DIFFERENCES.iter();
    rows.find(|row| row.difference == difference).unwrap()
}

#[test]
fn each_row_is_found_as_a_cause() {
    let mut missed = Vec::new();
    for row in DIFFERENCES {
        let changes = upgrade(row).changes(|| ()).unwrap();
        let causes = changes
            .iter()
            .flat_map(|(_, changes)| changes)
            .flat_map(|change| &change.causes);
        let causes: BTreeSet<String> = causes
            .map(|cause| match cause {
                Cause::Row(row) => format!("{:?}", row.difference),
                Cause::Language(version) => format!("language of {version}"),
                Cause::Kinds(version) => format!("kinds of {version}"),
            })
            .collect();
        let name = format!("{:?}", row.difference);
        let expected = match UNSEEN.contains(&row.difference) {
            true => BTreeSet::new(),
            false => BTreeSet::from([name.clone()]),
        };
        if causes != expected {
            missed.push(format!("{name}: {causes:?}: {changes:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn functions_that_one_version_lacks_are_of_its_language() {
    let mut way_back = Upgrade::new("1.37".parse().unwrap(), "1.36".parse().unwrap());
    way_back.add(&policy("[1].includes(1)")).unwrap();
    let changes = way_back.changes(|| ()).unwrap();
    let causes: Vec<_> = changes[0].1.iter().map(|change| &change.causes).collect();
    let language = vec![Cause::Language("1.37".parse().unwrap())];
    assert!(!causes.is_empty());
    assert!(
        causes.iter().all(|causes| **causes == language),
        "{changes:?}"
    );
}

#[test]
fn fields_that_one_version_lacks_are_of_its_kinds() {
    let later: KubeVersion = "1.37".parse().unwrap();
    let mut upgrade = Upgrade::new(later.previous().into(), later.into());
    let validating = policy("has(object.spec.evictionResponders)");
    let mut mutating = policy("true");
    mutating["kind"] = json!("MutatingAdmissionPolicy");
    let spec = mutating["spec"].as_object_mut().unwrap();
    spec.remove("validations");
    spec.insert("reinvocationPolicy".to_owned(), json!("Never"));
    let volume =
        "Object.spec.volumes{name: 'v', emptyDir: Object.spec.volumes.emptyDir{mode: 511}}";
    let configuration = format!("Object{{spec: Object.spec{{volumes: [{volume}]}}}}");
    spec.insert("mutations".to_owned(), json!([
        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": configuration}},
    ]));
    let mut bound = binding();
    bound["kind"] = json!("MutatingAdmissionPolicyBinding");
    bound["spec"] = json!({"policyName": "demo"});
    for object in [validating, mutating, bound] {
        upgrade.add(&object).unwrap();
    }
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}});
    upgrade.add_request(creation("pods", &pod)).unwrap();
    let changes = upgrade.changes(|| ()).unwrap();
    let changes: Vec<_> = changes.iter().flat_map(|(_, changes)| changes).collect();
    let topics: Vec<_> = changes.iter().map(|change| change.topic).collect();
    assert_eq!(
        topics,
        [Topic::TypeChecking, Topic::Mutation],
        "{changes:?}"
    );
    for change in changes {
        assert_eq!(change.causes, [Cause::Kinds(later)], "{change:?}");
    }
}

#[test]
fn nothing_changes_without_an_upgrade() {
    for row in DIFFERENCES {
        let mut upgrade = Upgrade::new(row.since.into(), row.since.into());
        upgrade
            .add(&policy("object.metadata.name.startsWith('a')"))
            .unwrap();
        assert_eq!(upgrade.changes(|| ()).unwrap(), []);
    }
}

#[test]
fn malformed_objects_are_rejected() {
    let mut upgrade = Upgrade::new("1.36".parse().unwrap(), "1.37".parse().unwrap());
    let mut broken = policy("true");
    broken["spec"]["validations"] = json!("none");
    assert!(upgrade.add(&broken).is_err());
    assert!(upgrade.add_request(json!("none")).is_err());
}

#[test]
fn policies_about_kinds_of_kubernetes_have_types() {
    let mut upgrade = Upgrade::new("1.36".parse().unwrap(), "1.37".parse().unwrap());
    let expression = "object.spec.containers.all(c, c.image.startsWith('a'))";
    upgrade.add(&policy(expression)).unwrap();
    let changes = upgrade.changes(|| ()).unwrap();
    let about: Vec<_> = changes
        .iter()
        .flat_map(|(_, changes)| changes)
        .map(|change| (change.about.as_str(), change.field.as_str()))
        .collect();
    assert_eq!(about, [("v1 Pod", "spec.validations[0].expression")]);
}
