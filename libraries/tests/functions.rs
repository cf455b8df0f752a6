//! Every row's example is true in each environment that has the row, and `docs/functions.md` says what the rows say.
//!
//! `UPDATE_GOLDEN=1 cargo test -p gavel-libraries --test functions` writes the document anew.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use gavel_engine::check::is_mixed_comparison;
use gavel_engine::cost::Formula;
use gavel_engine::decl::{Implementation, Overload};
use gavel_engine::env::Env;
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::syntax::{Macro, Receiver};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Value};
use gavel_libraries::authorizer::{
    Authorizer, AuthorizerAttributes, Decision, ResourceAttributes, Verdict,
};
use gavel_libraries::kubernetes::authorizer::{AuthorizerValue, ResourceCheck};
use gavel_libraries::{CEL_FEATURES, EnvSet, FEATURES, Feature, Gated, KubeVersion, cel_env};

#[test]
fn examples_are_true_in_the_versions_that_have_them() {
    for minor in 23..=KubeVersion::NEWEST.minor {
        let version = KubeVersion::v1(minor);
        let envs = EnvSet::new(version).unwrap();
        let env = envs.new_expressions();
        let mixed = env.options().cross_type_numeric_comparisons;
        // Without the gate that opens them early, whose examples need what is not there yet.
        let is_there = |gated: &&Gated| gated.is_in(version) && gated.introduced <= version;
        for gated in FEATURES.iter().filter(is_there) {
            for row in rows(&gated.feature).filter(|row| mixed || !is_mixed_comparison(row.id)) {
                let outcome = example_cost(env, row);
                assert!(outcome.is_ok(), "{version}: {}: {outcome:?}", row.id);
            }
        }
    }
}

#[test]
fn examples_are_true_in_the_language_of_the_specification() {
    let env = cel_env().unwrap();
    // Of rows with one id, the first is the environment's.
    let mut seen = HashSet::new();
    for row in CEL_FEATURES.iter().flat_map(rows).filter(|row| seen.insert(row.id)) {
        let outcome = example_cost(&env, row);
        assert!(outcome.is_ok(), "{}: {outcome:?}", row.id);
    }
}

#[test]
fn the_document_says_what_the_rows_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/functions.md");
    let document = document().unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &document).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == document,
        "docs/functions.md is stale; run with UPDATE_GOLDEN=1"
    );
}

fn rows(feature: &Feature) -> impl Iterator<Item = &'static Overload> {
    let tables = match *feature {
        Feature::Functions(_, tables) => tables,
        _ => &[],
    };
    tables.iter().copied().flatten()
}

#[derive(Debug)]
struct AllowAll;

impl Authorizer for AllowAll {
    fn authorize(&self, _: &AuthorizerAttributes) -> Decision {
        Decision {
            verdict: Verdict::Allow,
            ..Decision::default()
        }
    }
}

/// The cost of evaluating a row's example, or why it is not true.
fn example_cost(env: &Env, row: &Overload) -> Result<u64, String> {
    // The authorizer of the examples allows everything.
    let (authorizer, request) = ("authorizer", "authorizer.requestResource");
    let of_type = |name: &str| Type::Struct(format!("kubernetes.authorization.{name}").into());
    let env = env
        .extend()
        .variable(authorizer, of_type("Authorizer"))
        .variable(request, of_type("ResourceCheck"))
        .build()
        .map_err(|error| error.to_string())?;
    let checked = env
        .compile(row.example)
        .map_err(|issues| issues.to_string())?;
    let program = env.plan(&checked).map_err(|error| error.to_string())?;
    let arena = Arena::new();
    let value = AuthorizerValue::new(Arc::default(), Arc::new(AllowAll));
    let check = ResourceCheck::new(value.clone(), ResourceAttributes::default());
    let mut activation = Activation::new();
    activation.bind(authorizer, arena.opaque(value));
    activation.bind(request, arena.opaque(check));
    let evaluation = program.eval(&activation, &arena, &EvalOptions::default());
    match evaluation.result {
        Ok(Value::Bool(true)) => Ok(evaluation.cost),
        other => Err(format!("{} gives {other:?}", row.example)),
    }
}

const INTRODUCTION: &str = "\
# Functions

Made from the rows of the functions; a test fails where it is stale, `UPDATE_GOLDEN=1 cargo test -p gavel-libraries --test
functions` writes it anew. Examples are true.

- *Since*: the first Kubernetes version whose new expressions may use it. Stored expressions may use everything.
- *Cost*: of the call alone, in cost units; *by size* where it grows with the arguments. `–` where it is no step of
  its own: `&&`, `||`, `?:`, `or` and `orValue` cost what they evaluate, a selection or an index 1. In brackets what the
  whole example costs.
- A signature with a dot is receiver style: `string.(int) -> string` is called `text.charAt(0)`.
- Names with `@` cannot be written: macros expand to them. Names with `_` are operators.
";

fn document() -> Result<String, Box<dyn std::error::Error>> {
    let mut out = String::from(INTRODUCTION);
    let newest = EnvSet::new(KubeVersion::NEWEST)?;
    let mut seen = HashSet::new();
    let mut library = "";
    for gated in FEATURES {
        let Feature::Functions(name, _) = gated.feature else {
            continue;
        };
        // What a later version replaced is left out.
        if !gated.is_in(KubeVersion::NEWEST) {
            continue;
        }
        if name != library {
            library = name;
            heading(&mut out, name, true)?;
        }
        for row in rows(&gated.feature).filter(|row| seen.insert(row.id)) {
            let since = if is_mixed_comparison(row.id) {
                KubeVersion::v1(28)
            } else {
                gated.introduced
            };
            let cost = example_cost(newest.new_expressions(), row)?;
            write_row(&mut out, row, Some(since), cost)?;
        }
    }
    out.push_str("\n# Functions of the specification's environment alone\n");
    let env = cel_env()?;
    for feature in CEL_FEATURES {
        let Feature::Functions(name, _) = feature else {
            continue;
        };
        let rows: Vec<_> = rows(feature).filter(|row| seen.insert(row.id)).collect();
        if !rows.is_empty() {
            heading(&mut out, name, false)?;
        }
        for row in rows {
            write_row(&mut out, row, None, example_cost(&env, row)?)?;
        }
    }
    write_macros(&mut out)?;
    Ok(out)
}

fn heading(out: &mut String, library: &str, gated: bool) -> std::fmt::Result {
    let (since, line) = if gated {
        (" Since |", " --- |")
    } else {
        ("", "")
    };
    write!(
        out,
        "\n## {library}\n\n| Function | Signature |{since} Cost | Example |\n| --- | --- |{line} --- | --- |\n"
    )
}

fn write_row(
    out: &mut String,
    row: &Overload,
    since: Option<KubeVersion>,
    example_cost: u64,
) -> std::fmt::Result {
    write!(
        out,
        "| {} | {} |",
        code(row.function),
        code(&signature(row))
    )?;
    if let Some(since) = since {
        write!(out, " {} |", version(since))?;
    }
    let cost = match (row.implementation, row.cost.formula) {
        (Implementation::Planned, _) => "–".to_owned(),
        (_, Formula::Fixed(units)) => units.to_string(),
        (_, Formula::Sizes(_) | Formula::Split { .. }) => "by size".to_owned(),
    };
    writeln!(out, " {cost} | {} ({example_cost}) |", code(row.example))
}

/// A row's signature without the empty parameters of types, by which opaque types are told from those with fields.
fn signature(row: &Overload) -> String {
    let mut parts = row.signature.split("()").peekable();
    let mut signature = String::new();
    while let Some(part) = parts.next() {
        signature.push_str(part);
        if parts.peek().is_some() && !part.ends_with(char::is_alphanumeric) {
            signature.push_str("()");
        }
    }
    signature
}

fn write_macros(out: &mut String) -> std::fmt::Result {
    out.push_str("\n# Macros\n\n| Macro | Arguments | Since |\n| --- | --- | --- |\n");
    let mut seen = HashSet::new();
    let kubernetes = FEATURES
        .iter()
        .map(|gated: &Gated| (gated.feature, Some(gated.introduced)));
    for (feature, since) in kubernetes.chain(CEL_FEATURES.iter().map(|feature| (*feature, None))) {
        let Feature::Macros(table) = feature else {
            continue;
        };
        for row in table
            .iter()
            .filter(|row| seen.insert((macro_name(row), row.arguments)))
        {
            let arguments = row
                .arguments
                .map_or("any".to_owned(), |count| count.to_string());
            let since = since.map_or("not in Kubernetes".to_owned(), version);
            writeln!(
                out,
                "| {} | {arguments} | {since} |",
                code(&macro_name(row))
            )?;
        }
    }
    Ok(())
}

fn macro_name(row: &Macro) -> String {
    match row.receiver {
        Receiver::None => row.name.to_owned(),
        Receiver::Any => format!("x.{}", row.name),
        Receiver::Namespace(namespace) => format!("{namespace}.{}", row.name),
    }
}

fn version(since: KubeVersion) -> String {
    if since.minor == 0 {
        "always".to_owned()
    } else {
        since.to_string()
    }
}

/// Code in a cell of a table.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('\n', " ");
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}
