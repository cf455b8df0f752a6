//! Estimates against recorded answers of Kubernetes. Passes over what needs a schema, and all of it where the recordings
//! are not there.
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
use gavel_engine::check::check;
use gavel_engine::cost::{CostEstimate, SizeEstimate};
use gavel_engine::estimate::{SizeTable, estimate};
use gavel_engine::types::Type;
use gavel_libraries::{EnvSet, KubeVersion};
use serde_json::Value as Json;

/// Compares the estimates of a file. What does not check here is the business of other tests.
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
    let mut different = Vec::new();
    for line in BufReader::new(GzDecoder::new(recordings)).lines() {
        // A few answers are nested too deeply to be read.
        let Ok(recording) = serde_json::from_str::<Json>(&line.unwrap()) else {
            continue;
        };
        let Some(expected) = recording.pointer("/response/estimate") else {
            continue;
        };
        let Some(actual) = estimate_of(&recording["request"]) else {
            skipped += 1;
            continue;
        };
        compared += 1;
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
    println!("{file}: {compared} compared, {skipped} skipped");
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The estimate of a request, if its variables need no schema and it checks.
fn estimate_of(request: &Json) -> Option<CostEstimate> {
    let version: KubeVersion = request["k8sVersion"].as_str()?.parse().ok()?;
    let envs = EnvSet::new(version).unwrap();
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
    let sizes: SizeTable = request["sizes"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(path, size)| {
            let min = size["min"].as_u64().unwrap_or(0);
            let max = size["max"].as_u64().unwrap_or(u64::MAX);
            (path.as_str().into(), SizeEstimate { min, max })
        })
        .collect();
    let ast = env.parse(request["expr"].as_str()?).ok()?;
    let checked = check(ast, &env).ok()?;
    Some(estimate(&checked, &sizes))
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
