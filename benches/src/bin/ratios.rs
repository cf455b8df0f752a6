//! Prints the table of ratios from the last measurements of `cargo bench -p gavel-benches` (`target/criterion`). The optional argument is a
//! file with the times of Kubernetes' own code, which become a column of the table. `.ci/bench` writes this file.
//!
//! `cargo run -p gavel-benches --bin ratios [KUBERNETES.ndjson]`
#![expect(
    clippy::indexing_slicing,
    reason = "indexing JSON does not panic: an absent value is null"
)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use gavel_engine::value::Json;

/// The time of each rule in each evaluator, in nanoseconds: by rule, then by evaluator.
type Times = BTreeMap<String, BTreeMap<String, f64>>;

fn main() -> std::io::Result<()> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let mut times = Times::new();
    for group in folders(&target.join("criterion")) {
        let Some(rule) = name_of(&group).strip_prefix("eval_").map(str::to_owned) else {
            continue;
        };
        for run in folders(&group) {
            if let Some(time) = median(&run.join("new/estimates.json")) {
                times
                    .entry(rule.clone())
                    .or_default()
                    .insert(name_of(&run), time);
            }
        }
    }
    if let Some(path) = std::env::args().nth(1) {
        for line in std::fs::read_to_string(path)?.lines() {
            let Ok(answer) = serde_json::from_str::<Json>(line) else {
                continue;
            };
            let (Some(rule), Some(time)) = (answer["id"].as_str(), answer["eval_ns"].as_f64())
            else {
                continue;
            };
            if let Some(row) = times.get_mut(rule) {
                row.insert("kubernetes".to_owned(), time);
            }
        }
    }
    print(&times)
}

fn print(times: &Times) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "| rule | gavel | cel / gavel | Kubernetes / gavel | gavel / closure |\n|---|---|---|---|---|"
    )?;
    let mut products: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (rule, row) in times {
        let Some(ours) = row.get("gavel") else {
            continue;
        };
        let mut ratio = |column: &'static str, who: &str, inverse: bool| {
            let Some(theirs) = row.get(who) else {
                return "–".to_owned();
            };
            let ratio = if inverse {
                ours / theirs
            } else {
                theirs / ours
            };
            products.entry(column).or_default().push(ratio);
            format!("{ratio:.1}")
        };
        let (cel, kubernetes) = (
            ratio("cel", "cel", false),
            ratio("kubernetes", "kubernetes", false),
        );
        let closure = ratio("closure", "closure", true);
        writeln!(
            out,
            "| {rule} | {ours:.0} ns | {cel} | {kubernetes} | {closure} |"
        )?;
    }
    let mean = |column: &str| match products.get(column) {
        Some(ratios) => {
            let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
            format!("{:.1}", (logs / ratios.len() as f64).exp())
        }
        None => "–".to_owned(),
    };
    writeln!(
        out,
        "| geometric mean | | {} | {} | {} |",
        mean("cel"),
        mean("kubernetes"),
        mean("closure")
    )
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn median(path: &Path) -> Option<f64> {
    let estimates: Json = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}
