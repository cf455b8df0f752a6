//! Compares estimates with recorded estimates of Kubernetes, and checks that recorded costs do not exceed Gavel's bounds. Skips
//! expressions that need a schema, and missing recordings.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "a test"
)]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use gavel_engine::check::CheckedAst;
use gavel_engine::cost::{CostEstimate, SizeEstimate};
use gavel_engine::estimate::{NoSizes, SizeSource, SizeTable, bound, estimate};
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::types::Type;
use gavel_engine::value::Arena;
use gavel_libraries::{EnvSet, Server};
use serde_json::Value as Json;

/// Compares the estimates of a file. Skips expressions that do not compile; other tests cover them.
#[track_caller]
fn compare(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/golden")
        .join(file);
    let Ok(recordings) = File::open(path) else {
        println!("no recordings: skipped");
        return;
    };
    let (mut compared, mut skipped) = (0_u32, 0_u32);
    let (mut different, mut bounded) = (Vec::new(), 0_u32);
    for line in BufReader::new(GzDecoder::new(recordings)).lines() {
        // A few recordings are nested too deeply for serde_json.
        let Ok(recording) = serde_json::from_str::<Json>(&line.unwrap()) else {
            continue;
        };
        let Some(expected) = recording.pointer("/response/estimate") else {
            continue;
        };
        let Some(checked) = checked(&recording["request"]) else {
            skipped += 1;
            continue;
        };
        let actual = estimate(&checked, &sizes(&recording["request"]));
        compared += 1;
        let cost = recording.pointer("/response/cost").and_then(Json::as_u64);
        if let (Some(cost), Some(bound)) = (
            cost,
            bound(&checked, &Bindings(&recording["request"]["bindings"])).cost,
        ) {
            bounded += 1;
            if cost > bound.max {
                different.push(format!(
                    "{}: costs {cost}, and not {} at most: {}",
                    recording["request"]["id"], bound.max, recording["request"]["expr"]
                ));
            }
        }
        let expected = CostEstimate {
            min: expected["min"].as_u64().unwrap(),
            max: expected["max"].as_u64().unwrap(),
        };
        if actual != expected {
            different.push(format!(
                "{}: {actual:?}, not {expected:?}: {}",
                recording["request"]["id"], recording["request"]["expr"]
            ));
        }
    }
    println!("{file}: {compared} compared, {bounded} with a bound, {skipped} skipped");
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Compiles the expression of a request. `None` if a variable needs a schema or the expression does not compile.
fn checked(request: &Json) -> Option<CheckedAst> {
    let server: Server = request["k8sVersion"].as_str()?.parse().ok()?;
    let envs = EnvSet::new(server).unwrap();
    let env = match request["mode"].as_str() {
        Some("stored") => envs.stored_expressions(),
        _ => envs.new_expressions(),
    };
    let mut builder = env.extend();
    for (name, ty) in request["vars"].as_object().into_iter().flatten() {
        let ty: Type = ty.as_str()?.parse().ok()?;
        builder = builder.variable(name.as_str(), ty);
    }
    let env = builder.build().unwrap();
    env.compile(request["expr"].as_str()?).ok()
}

/// The sizes of the values that a request binds to variables.
#[derive(Debug)]
struct Bindings<'r>(&'r Json);

impl SizeSource for Bindings<'_> {
    fn size(&self, path: &[&str], _: &Type) -> Option<SizeEstimate> {
        let (variable, steps) = path.split_first()?;
        let mut values = vec![self.0.get(*variable)?.clone()];
        for step in steps {
            let next = |value: Json| match (*step, value) {
                ("@items" | "@keys" | "@values", Json::Array(items)) => items,
                ("@keys", Json::Object(fields)) => fields.keys().cloned().map(Json::from).collect(),
                ("@values", Json::Object(fields)) => fields.values().cloned().collect(),
                (field, value) => value.get(field).cloned().into_iter().collect(),
            };
            values = values.into_iter().flat_map(next).collect();
        }
        let size = |value: &Json| match value {
            Json::String(text) => text.len(),
            Json::Array(items) => items.len(),
            Json::Object(fields) => fields.len(),
            _ => 1,
        };
        let most = values.iter().map(size).max().unwrap_or(1).max(1);
        Some(SizeEstimate {
            min: 0,
            max: u64::try_from(most).unwrap(),
        })
    }
}

/// The sizes in a request.
fn sizes(request: &Json) -> SizeTable {
    let sizes = request["sizes"].as_object().into_iter().flatten();
    let sizes = sizes.map(|(path, size)| {
        let min = size["min"].as_u64().unwrap_or(0);
        let max = size["max"].as_u64().unwrap_or(u64::MAX);
        (path.as_str().into(), SizeEstimate { min, max })
    });
    sizes.collect()
}

#[test]
fn traversals_of_maps_cost_at_most_the_bound() {
    costs_at_most_the_bound("{1: lists.range(100)}.includes(1)");
}

#[test]
fn checks_of_formats_cost_at_most_the_bound() {
    for format in [
        "dns1123Label",
        "qualifiedName",
        "uri",
        "uuid",
        "byte",
        "datetime",
    ] {
        costs_at_most_the_bound(&format!(
            "format.{format}().validate('https://example.com/a')"
        ));
    }
}

#[track_caller]
fn costs_at_most_the_bound(text: &str) {
    let envs = EnvSet::new(Server::default()).unwrap();
    let env = envs.new_expressions();
    let checked = env.compile(text).unwrap();
    let program = env.plan(&checked).unwrap();
    let arena = Arena::new();
    let cost = program
        .eval(&Activation::new(), &arena, &EvalOptions::default())
        .cost;
    let most = bound(&checked, &NoSizes).cost.map(|cost| cost.max);
    assert!(
        most.is_none_or(|most| cost <= most),
        "{text} costs {cost}, and not {most:?} at most"
    );
}

#[test]
fn language() {
    compare("language.ndjson.gz");
}

#[test]
fn conformance() {
    compare("conformance.ndjson.gz");
}

#[test]
fn traps() {
    compare("traps-language.ndjson.gz");
}

#[test]
fn libraries() {
    compare("libraries.ndjson.gz");
}

#[test]
fn versions() {
    compare("versions.ndjson.gz");
}
