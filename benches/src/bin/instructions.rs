//! Counts the instructions of representative code paths with `valgrind --tool=callgrind`, and compares the counts with
//! `benches/instructions.txt`. Unlike times, the counts do not depend on the load of the machine.
//!
//! - `instructions` counts, prints a table, and fails if a count exceeds the recorded count by more than 2 %;
//! - `instructions --accept` records the counts;
//! - `instructions --rules` prints the counts of the rules of `../shared/bench/eval.ndjson`;
//! - `instructions PATH` runs one code path. The other commands run this command under callgrind.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark panics if an input is invalid, and prints its results"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use gavel_benches::definition::{Sections, definition, object, schema};
use gavel_benches::policies::{bound, bound_with_params, one_by_one, pod, request};
use gavel_benches::{OPTIONS, Rule, check, environment, plan, rules};
use gavel_crd::CompiledCrd;
use gavel_crd::definition::Definition;
use gavel_crd::resource::COST_BUDGET;
use gavel_engine::program::Activation;
use gavel_engine::value::{Arena, Json};
use gavel_policy::{Options, Snapshot, dispatch};
use gavel_schema::read_value;
use serde_json::json;

/// The tolerated difference from the recorded count, as a fraction of the recorded count.
const TOLERANCE: f64 = 0.02;

/// The number of runs of a code path while its instructions are counted.
const RUNS: u64 = 8;

/// The code paths whose counts are recorded.
const PATHS: [&str; 14] = [
    "compile a rule",
    "decide a request by 1,024 bindings",
    "decide a request by 16 policies",
    "decide a request by one policy",
    "evaluate a comparison",
    "evaluate a comparison of a schema's integers",
    "evaluate a loop over 1,000 integers",
    "evaluate a loop over containers",
    "evaluate a pattern",
    "evaluate a sum of sums",
    "evaluate a text that is put together",
    "evaluate quantities",
    "read a pod",
    "validate a custom resource",
];

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    match argument.as_deref() {
        None => held(),
        Some("--accept") => accept(),
        Some("--rules") => of_rules(),
        Some(path) => {
            run(path);
            ExitCode::SUCCESS
        }
    }
}

/// Reads the recorded count of each code path. A line of the file is a count and a path.
fn recorded() -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(record()).unwrap_or_default();
    let line = |line: &str| {
        let (count, path) = line.split_once(' ')?;
        Some((path.to_owned(), count.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn record() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("instructions.txt")
}

fn held() -> ExitCode {
    let recorded = recorded();
    let (mut held, mut fewer) = (true, false);
    println!("| path | recorded | counted | ratio |\n|---|--:|--:|--:|");
    for path in PATHS {
        let Some(counted) = count(path) else {
            return ExitCode::SUCCESS;
        };
        let Some(known) = recorded.get(path) else {
            held = false;
            println!("| {path} | – | {counted} | – |");
            continue;
        };
        let ratio = counted as f64 / *known as f64;
        held &= ratio <= 1.0 + TOLERANCE;
        fewer |= ratio < 1.0 - TOLERANCE;
        println!("| {path} | {known} | {counted} | {ratio:.3} |");
    }
    if fewer {
        eprintln!("fewer instructions than recorded: record them with --accept, so that they stay");
    }
    if !held {
        eprintln!(
            "a path has over {} % more instructions than recorded, or is not recorded: find out why, or record it with --accept",
            TOLERANCE * 100.0
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn accept() -> ExitCode {
    let mut text = String::new();
    for path in PATHS {
        let Some(counted) = count(path) else {
            return ExitCode::FAILURE;
        };
        text.push_str(&format!("{counted} {path}\n"));
    }
    std::fs::write(record(), text).expect("a file that can be written");
    ExitCode::SUCCESS
}

fn of_rules() -> ExitCode {
    println!("| rule | on a review | on a document | compiled |\n|---|--:|--:|--:|");
    for rule in rules() {
        let mut row = format!("| {} |", rule.id);
        for how in ["read", "bound", "compiled"] {
            let Some(counted) = count(&format!("{how}/{}", rule.id)) else {
                return ExitCode::FAILURE;
            };
            row.push_str(&format!(" {counted} |"));
        }
        println!("{row}");
    }
    ExitCode::SUCCESS
}

/// Returns the number of instructions of one run of a code path. If valgrind is not installed, prints a message to standard error and
/// returns `None`.
fn count(path: &str) -> Option<u64> {
    let own = std::env::current_exe().expect("a program has a path");
    let counted = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--collect-atstart=no",
            "--toggle-collect=*instructions::measured*",
        ])
        .arg(own)
        .arg(path)
        .stdout(Stdio::null())
        .output();
    let Ok(counted) = counted else {
        eprintln!("skipped: valgrind is not installed");
        return None;
    };
    let said = String::from_utf8_lossy(&counted.stderr);
    let collected = said.lines().find_map(|line| {
        let (_, count) = line.split_once("Collected : ")?;
        count.trim().parse::<u64>().ok()
    });
    let Some(collected) = collected.filter(|_| counted.status.success()) else {
        eprintln!("{path}: {said}");
        std::process::exit(1);
    };
    Some(collected / RUNS)
}

/// The function in which callgrind counts instructions. It runs the code path [`RUNS`] times.
#[inline(never)]
fn measured(path: &mut dyn FnMut()) {
    for _ in 0..RUNS {
        path();
    }
}

/// Runs a code path once uncounted, so that everything that a process initializes only once is initialized. Then runs it [`RUNS`] times,
/// counted.
fn counted(mut path: impl FnMut()) {
    path();
    measured(&mut path);
}

fn run(path: &str) {
    let pod = pod();
    match path {
        "compile a rule" => {
            let env = environment();
            let rule = "object.spec.containers.all(c, has(c.image) && c.image.startsWith('registry.example.com/'))";
            counted(|| drop(black_box(plan(&env, black_box(rule)))));
        }
        "decide a request by 1,024 bindings" => decide(&bound_with_params(1_024)),
        "decide a request by 16 policies" => decide(&one_by_one()),
        "decide a request by one policy" => {
            decide(&bound(&[(
                "p",
                &["!has(object.spec.hostNetwork) || !object.spec.hostNetwork"],
            )]));
        }
        "evaluate a comparison" => evaluate(
            &of_pod("object.spec.terminationGracePeriodSeconds <= 60", pod),
            true,
        ),
        "evaluate a loop over containers" => {
            let rule = "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)";
            evaluate(&of_pod(rule, pod), true);
        }
        "evaluate a pattern" => {
            let rule = "has(object.metadata.labels) && 'team' in object.metadata.labels && object.metadata.labels['team'].matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')";
            evaluate(&of_pod(rule, pod), true);
        }
        "evaluate a comparison of a schema's integers" => {
            evaluate(
                &of_schema("self.least <= self.number && self.number <= self.most"),
                true,
            );
        }
        "evaluate a loop over 1,000 integers" => {
            evaluate(&of_schema("self.numbers.all(x, x >= 0)"), true)
        }
        "evaluate a sum of sums" => evaluate(
            &of_schema("self.matrix.map(r, r.sum()).sum() == 14400"),
            true,
        ),
        "evaluate a text that is put together" => {
            evaluate(
                &of_schema("self.name.split('-').map(x, x.upperAscii()).join('_').size() < 64"),
                true,
            );
        }
        "evaluate quantities" => {
            let rule = "quantity(self.memory).isLessThan(quantity('1Gi')) && quantity(self.memory).compareTo(quantity('64Mi')) >= 0";
            evaluate(&of_schema(rule), true);
        }
        "read a pod" => {
            let text = pod.to_string();
            let mut arena = Arena::new();
            counted(|| {
                arena.reset();
                assert!(black_box(read_value(black_box(text.as_bytes()), &arena)).is_ok());
            });
        }
        "validate a custom resource" => {
            let definition = definition(&schema(Sections::Alike));
            let definition = Definition::read(&definition).expect("a definition");
            let crd = CompiledCrd::compile(&definition).expect("a definition that compiles");
            let object = object(1, 2);
            counted(|| {
                let outcome = crd.validate("v1", black_box(&object), None, COST_BUDGET);
                assert!(outcome.expect("a version of the definition").is_valid());
            });
        }
        path => run_rule(path),
    }
}

/// Decides a request that all policies allow.
fn decide(snapshot: &Snapshot) {
    let arena = Arena::new();
    let request = request(&arena);
    let options = Options::default();
    counted(|| {
        let decision = dispatch(snapshot, black_box(&request), &options);
        assert_eq!(decision.denials, []);
    });
}

/// Runs a rule of the benchmark inputs. The path is `read/ID`, `bound/ID` or `compiled/ID`, where `ID` names the rule.
fn run_rule(path: &str) {
    let (how, id) = path.split_once('/').expect("the name of a path");
    let rules = rules();
    let rule = rules.iter().find(|rule| rule.id == id);
    let rule = rule.expect("the name of a rule");
    if how == "compiled" {
        let env = rule.environment();
        return counted(|| {
            let checked = check(&env, black_box(&rule.expression));
            drop(black_box(env.plan(&checked)));
        });
    }
    evaluate(rule, how == "read");
}

/// Evaluates a rule, which must be true. If `read` is true, a variable without a schema is bound to a value in an arena, parsed in advance
/// as reviews are parsed. Otherwise, the variable is bound from JSON.
fn evaluate(rule: &Rule, read: bool) {
    let program = plan(&rule.environment(), &rule.expression);
    let kept = Arena::new();
    let object = rule.read_into(&kept);
    let mut arena = Arena::new();
    counted(|| {
        arena.reset();
        let mut activation = Activation::new();
        match read && rule.schema.is_none() {
            true => activation.bind(&rule.variable, object),
            false => activation.bind(&rule.variable, rule.bind(&arena)),
        };
        let evaluation = program.eval(&activation, &arena, &OPTIONS);
        let value = evaluation.result.expect("a value");
        assert_eq!(value.as_bool(), Some(true), "{}", rule.id);
    });
}

fn of_pod(expression: &str, mut pod: Json) -> Rule {
    if let Some(spec) = pod.get_mut("spec").and_then(Json::as_object_mut) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), json!(30));
    }
    Rule::over_object(expression, expression, pod)
}

fn of_schema(expression: &str) -> Rule {
    let integer = json!({"type": "integer"});
    let integers = json!({"type": "array", "maxItems": 1000, "items": integer});
    let schema = json!({
        "type": "object",
        "properties": {
            "least": integer, "number": integer, "most": integer, "numbers": integers,
            "matrix": {"type": "array", "maxItems": 32, "items": integers},
            "name": {"type": "string", "maxLength": 63},
            "memory": {"x-kubernetes-int-or-string": true},
        },
    });
    let row = |n: u64| Vec::from_iter((0..16).map(|m: u64| n.saturating_mul(m)));
    let object = json!({
        "least": 1, "number": 3, "most": 10, "numbers": Vec::from_iter(0..1_000),
        "matrix": Vec::from_iter((0..16).map(row)),
        "name": "checkout-api-v2-eu-west-1", "memory": "512Mi",
    });
    Rule::over_schema(expression, expression, &schema, object)
}
