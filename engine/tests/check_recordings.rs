//! Compares the checker's results with recorded answers, if the directory `../shared` is beside the repository.
//!
//! The declarations come from the recorded list of functions, so this test needs no library. It skips the messages about `format` calls,
//! because the strings library defines their validator.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stderr,
    reason = "a test"
)]

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::thread;

use flate2::read::GzDecoder;
use gavel_engine::check::validators;
use gavel_engine::decl::{LiteralRule, OverloadDecl};
use gavel_engine::env::{Env, EnvBuilder};
use gavel_engine::issues::Issues;
use gavel_engine::stdlib;
use gavel_engine::syntax::{Macros, OPTIONALS, SORT_BY, STANDARD, TWO_VARIABLE};
use gavel_engine::types::{Signature, Type};
use serde_json::Value;

#[test]
fn types_and_problems_are_those_recorded() {
    // Without optimization, checking the deepest expressions needs more stack than a test thread has.
    let thread = thread::Builder::new()
        .stack_size(16 << 20)
        .spawn(compare_all)
        .unwrap();
    thread.join().unwrap();
}

fn compare_all() {
    let Some(functions) = shared("reference/environment-functions.txt") else {
        eprintln!("skipped: ../shared is not here");
        return;
    };
    let base = environment(&fs::read_to_string(functions).unwrap());
    let mut seen = 0;
    let mut differences = Vec::new();
    for name in ["language", "conformance", "traps-language", "libraries"] {
        for line in recording(name).lines() {
            let case = read(line);
            let Some((got, expected)) = compare(&base, &case["request"], &case["response"]) else {
                continue;
            };
            seen += 1;
            if got != expected {
                let id = &case["request"]["id"];
                let expr = &case["request"]["expr"];
                differences.push(format!(
                    "{name} {id}: {expr}\n  got      {got}\n  expected {expected}"
                ));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {seen} differ\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(seen > 5000, "only {seen} cases were read");
}

/// The checker's answer and the recorded answer; `None` for requests that this test skips.
fn compare(base: &Env, request: &Value, response: &Value) -> Option<(String, String)> {
    if request["k8sVersion"] != "1.36" || request["op"] != "eval" {
        return None;
    }
    let mut builder = base.extend();
    for (name, ty) in request["vars"].as_object().into_iter().flatten() {
        builder = builder.variable(name.as_str(), type_of(ty)?);
    }
    let env = builder.build().unwrap();
    let expected = match (&response["type"], &response["error"]["phase"]) {
        (Value::String(ty), _) => {
            let formatted = response["typeFormatted"].as_str().unwrap_or(ty);
            format!("{ty} {formatted}")
        }
        (_, Value::String(phase)) if phase == "check" => {
            response["error"]["message"].as_str()?.to_owned()
        }
        _ => return None,
    };
    let of_format = [
        "error during formatting",
        "formatting clause",
        "out of range",
        "string.format",
        "end of string",
    ];
    if of_format.iter().any(|text| expected.contains(text)) {
        return None;
    }
    Some((answer(&env, request["expr"].as_str()?), expected))
}

fn answer(env: &Env, expression: &str) -> String {
    let checked = || -> Result<String, Issues> {
        let checked = env.compile(expression)?;
        let ty = checked.output_type();
        Ok(format!("{ty} {}", ty.in_message()))
    };
    checked().unwrap_or_else(|issues| issues.to_string())
}

fn type_of(ty: &Value) -> Option<Type> {
    Some(match ty.as_str()? {
        "authorizer" => Type::Struct("kubernetes.authorization.Authorizer".into()),
        "resourceCheck" => Type::Struct("kubernetes.authorization.ResourceCheck".into()),
        "admissionRequest" | "namespaceObject" => return None,
        text => text.parse().unwrap(),
    })
}

/// Builds an environment from the recorded list, whose lines are `name: id[parameter …]->result .id[receiver …]->result`.
fn environment(list: &str) -> Env {
    let (_, newest) = list.split_once("===== 1.35").unwrap();
    let mut builder = Env::builder()
        .macros(Macros::new(&[STANDARD, OPTIONALS, TWO_VARIABLE, SORT_BY]))
        .validator(validators::homogeneous_literals)
        .validator(validators::duration_literals)
        .validator(validators::timestamp_literals)
        .validator(validators::regex_literals);
    for name in ["net.IP", "net.CIDR", "optional_type"] {
        builder = builder.variable(name, Type::type_of(Type::opaque(name, Vec::new())));
    }
    for line in newest.lines().skip(1) {
        let Some((name, overloads)) = line.split_once(": ") else {
            break;
        };
        let overloads = split(overloads);
        builder = overloads.iter().fold(builder, |builder, overload| {
            declare(builder, name, overload)
        });
    }
    builder.build().unwrap()
}

fn declare(builder: EnvBuilder, function: &str, text: &str) -> EnvBuilder {
    let (id, rest) = text.split_once('[').unwrap();
    let (parameters, result) = rest.rsplit_once("]->").unwrap();
    let parameters = split(parameters)
        .iter()
        .map(|text| declared_type(text))
        .collect();
    let signature = Signature::new(id.starts_with('.'), parameters, declared_type(result));
    let id = id.trim_start_matches('.');
    let standard = stdlib::rows().find(|row| row.id == id);
    let mut overload = OverloadDecl::declared(id.into(), signature);
    if function == "format" {
        overload.calls.literals = Some(LiteralRule::Mixed);
    }
    if let Some(row) = standard {
        overload.calls.implementation = row.calls.implementation;
        overload.calls.literals = row.calls.literals;
    }
    builder.overload(function, overload)
}

fn declared_type(text: &str) -> Type {
    let text = text.replace(['<', '>'], "");
    match text.as_str() {
        "net.IP" | "net.CIDR" => Type::opaque(text, Vec::new()),
        _ => text.parse().unwrap(),
    }
}

/// Splits a text at spaces outside of parentheses and brackets.
fn split(text: &str) -> Vec<String> {
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for c in text.chars() {
        depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        if c == ' ' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(c);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Parses JSON of any nesting depth.
fn read(line: &str) -> Value {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    deserializer.disable_recursion_limit();
    deserializer.into_iter().next().unwrap().unwrap()
}

fn recording(name: &str) -> String {
    let path = shared(&format!("golden/{name}.ndjson.gz")).unwrap();
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared")
        .join(path);
    path.exists().then_some(path)
}
