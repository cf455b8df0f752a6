//! Checks that no evaluation of a real policy costs more than Gavel's estimated maximum. The recordings in the sibling folder `../shared`
//! contain the costs that Kubernetes counted for real objects. The estimates use the schemas of Kubernetes, with the sizes in these objects
//! as bounds. Without the recordings, the test is skipped.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use gavel_policy::GroupVersionKind;
use gavel_policy::api::{Registration, ValidatingAdmissionPolicy};
use gavel_policy::typecheck::{Estimate, TypeChecker};
use gavel_schema::{JsonSchema, openapi};
use serde_json::Value as Json;

fn shared(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared")
        .join(path)
}

/// The schema of one of Kubernetes' own kinds, from the OpenAPI documents of Kubernetes; `None` for other kinds.
fn schema(kind: &GroupVersionKind) -> Option<JsonSchema> {
    let folder = match kind.group.as_str() {
        "" => "api".to_owned(),
        group => format!("apis/{group}"),
    };
    let path = shared(&format!(
        "corpus/openapi/1.35/{folder}/{}.json",
        kind.version
    ));
    let document: Json = serde_json::from_reader(BufReader::new(File::open(path).ok()?)).unwrap();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let is_kind = |known: &Json| GroupVersionKind::read(known.into()) == *kind;
    let schema = schemas.values().find(|schema| {
        let kinds = schema["x-kubernetes-group-version-kind"].as_array();
        kinds.is_some_and(|kinds| kinds.iter().any(is_kind))
    });
    Some(openapi::resolve(schema?, &|name| schemas.get(name)).unwrap())
}

/// Sets the size limits of a schema, and of all schemas below it, to the largest sizes that occur in the values.
fn tighten(schema: &mut JsonSchema, values: &[&Json]) {
    let most = |size: fn(&Json) -> Option<usize>| {
        let sizes = values.iter().filter_map(|value| size(value));
        Some(i64::try_from(sizes.max().unwrap_or(0)).unwrap())
    };
    schema.bounds.max_length = most(|value| Some(value.as_str()?.chars().count()));
    schema.bounds.max_items = most(|value| Some(value.as_array()?.len()));
    schema.bounds.max_properties = most(|value| Some(value.as_object()?.len()));
    let objects: Vec<_> = values
        .iter()
        .filter_map(|value| value.as_object())
        .collect();
    if let Some(item) = schema.item_mut() {
        let items = values.iter().filter_map(|value| value.as_array()).flatten();
        tighten(item, &items.collect::<Vec<_>>());
    }
    if let Some(value) = schema.value_mut() {
        let entries = objects.iter().flat_map(|object| object.values());
        tighten(value, &entries.collect::<Vec<_>>());
    }
    for name in schema.properties.keys().cloned().collect::<Vec<_>>() {
        let entries = objects
            .iter()
            .filter_map(|object| object.get(name.as_str()));
        tighten(
            schema.properties.get_mut(&name).unwrap(),
            &entries.collect::<Vec<_>>(),
        );
    }
}

/// The estimated maximum cost of each expression of a policy for objects of a kind. The keys are the texts of the expressions.
/// Expressions without a maximum are omitted.
fn most(policy: &Json, kind: &GroupVersionKind, checker: &TypeChecker) -> BTreeMap<String, u64> {
    let analysis = checker.analyze(&ValidatingAdmissionPolicy::from_json(policy).unwrap());
    let costs = analysis
        .costs
        .into_iter()
        .filter(|costs| costs.kind == *kind);
    let bounded = costs
        .flat_map(|costs| costs.expressions)
        .filter_map(|each| {
            let pointer = each.field.replace(['.', '['], "/").replace(']', "");
            let text = policy.pointer(&format!("/{pointer}"))?.as_str()?;
            match each.cost {
                Estimate::Bounded(cost) => Some((text.to_owned(), cost.max)),
                _ => None,
            }
        });
    bounded.collect()
}

#[test]
fn no_real_evaluation_costs_more_than_estimated() {
    let Ok(recordings) = File::open(shared("golden/real-policies.ndjson.gz")) else {
        return eprintln!("skipped: no recordings");
    };
    let mut kinds = HashMap::new();
    let mut seen = HashSet::new();
    let (mut compared, mut exceeding) = (0_usize, Vec::new());
    for line in BufReader::new(GzDecoder::new(recordings)).lines() {
        let recording: Json = serde_json::from_str(&line.unwrap()).unwrap();
        let (request, response) = (&recording["request"], &recording["response"]);
        let policy = &request["policy"];
        let Some(results) = response["results"].as_array() else {
            continue;
        };
        // Only one object is used for each policy.
        if !seen.insert(policy.to_string()) {
            continue;
        }
        let kind = GroupVersionKind::read((&response["policyMatch"]["kind"]).into());
        let known = kinds.entry(kind.clone()).or_insert_with(|| {
            let checker = TypeChecker::new("1.36".parse().unwrap()).unwrap();
            schema(&kind).map(|schema| (schema, checker))
        });
        let Some((schema, checker)) = known else {
            continue;
        };
        let mut schema = schema.clone();
        let request = &request["request"];
        tighten(&mut schema, &[&request["object"], &request["oldObject"]]);
        checker.add_kind(kind.clone(), &schema);
        let most = most(policy, &kind, checker);
        let traces = results
            .iter()
            .filter_map(|result| result["trace"].as_array());
        for ran in traces.flatten() {
            let text = ran["expression"].as_str().unwrap();
            let cost = ran["cost"].as_u64().unwrap();
            if let Some(most) = most.get(text) {
                compared = compared.saturating_add(1);
                if cost > *most {
                    exceeding.push(format!(
                        "{}: {text} costs {cost}, not {most} at most",
                        recording["request"]["id"]
                    ));
                }
            }
        }
    }
    assert!(exceeding.is_empty(), "{exceeding:#?}");
    assert!(compared > 400, "only {compared} were compared");
    println!("{compared} evaluations");
}
