//! `gavel eval`: evaluates one expression.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Map;

use gavel_apimachinery::json;
use gavel_engine::env::Env;
use gavel_engine::estimate::SizeTable;
use gavel_engine::issues::{Issue, Issues};
use gavel_engine::program::EvalOptions;
use gavel_engine::source::Source;
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json, Value};
use gavel_libraries::kubernetes::authorizer::AuthorizerValue;
use gavel_manifest::{Document, Format};
use gavel_protocol::{
    AUTHORIZER, Answer, Compiled, EnvironmentSpec, Environments, EvalRequest, Failure, Language,
    line,
};

use super::check::write_parts;
use crate::args::{Binding, Environment, EvalArgs, Output};
use crate::exit_code::Exit;
use crate::{input, newer, rbac, report};

/// The name of the variable that `--rbac` binds.
const VARIABLE: &str = "authorizer";

/// Evaluates the expression that the arguments give, and prints the outcome.
pub(crate) fn run(args: EvalArgs) -> io::Result<Exit> {
    let (output, cost, timeout) = (args.output, args.cost, args.timeout);
    let is_explained = args.explain;
    let exit_status = args.exit_status;
    let arena = Arena::new();
    let authorizer = match authorizer(&args) {
        Ok(authorizer) => authorizer,
        Err(message) => return unusable(&message, output),
    };
    let request = match request(args) {
        Ok(request) => request,
        Err(message) => return unusable(&message, output),
    };
    let env = match Environments::default().environment(&request.environment) {
        Ok(env) => env,
        Err(message) => return unusable(&message, output),
    };
    let compiled = Compiled::new(&env, &request);
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let is_late = move || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let mut bound = match request.bind(&arena) {
        Ok(bound) => bound,
        Err((name, error)) => return unusable(&error.within(&format!("--bind {name}")), output),
    };
    if let Some(authorizer) = authorizer {
        bound.activation.bind(VARIABLE, arena.opaque(authorizer));
    }
    let options = EvalOptions {
        cost_limit: Some(request.cost_limit),
        interrupt: Some(&is_late),
    };
    let mut outcome = compiled.run(&bound.activation, &arena, &options);
    let mut out = io::stdout().lock();
    match output {
        Output::Json => {
            let answer = Answer {
                authorizer_calls: bound.authorizer_calls(),
                ..outcome.answer()
            };
            print(&answer, &mut out)?;
        }
        Output::Text => {
            let notes = match &outcome.result {
                Err(Failure::Issues(issues)) => notes(issues, &request, &env),
                Err(Failure::Eval(error)) => near_key(&error.to_string(), &request, &env),
                _ => Vec::new(),
            };
            let is_evaluated = matches!(&outcome.result, Ok(_) | Err(Failure::Eval(_)));
            if let Err(failure) = &mut outcome.result
                && let Some(issues) = compiled.locate(failure)
            {
                *failure = Failure::Issues(issues);
            }
            report::outcome(&outcome, cost, &mut out)?;
            if is_explained && is_evaluated {
                let evaluate = |part: &str| {
                    let checked = env.compile(part).map_err(|issues| issues.to_string())?;
                    let program = env.plan(&checked).map_err(|error| error.to_string())?;
                    let result = program.eval(&bound.activation, &arena, &options).result;
                    result
                        .map(report::written)
                        .map_err(|error| error.to_string())
                };
                // The first part is the whole expression.
                let seen = gavel_check::explain(&request.expr, evaluate);
                write_parts(&mut out, "", seen.get(1..).unwrap_or_default())?;
            }
            report::notes(&notes);
        }
    }
    out.flush()?;
    let is_false = |value: &Value<'_>| value.is_null() || value.as_bool() == Some(false);
    Ok(match outcome.result {
        Ok(Some(value)) if exit_status && is_false(&value) => Exit::Rejected,
        Ok(_) => Exit::Success,
        Err(_) => Exit::Rejected,
    })
}

/// Hints for correcting an expression that does not compile.
fn notes(issues: &Issues, request: &EvalRequest, env: &Env) -> Vec<String> {
    if request.expr.trim().is_empty() {
        return vec!["the expression is empty".to_owned()];
    }
    let mut notes = newer::notes(request);
    for issue in issues.sorted() {
        let help = gavel_lint::help(&issue.message, &request.expr, env);
        notes.extend(help.filter(|help| !notes.contains(help)));
    }
    let source = issues.source();
    let names = issues.sorted().into_iter();
    let names: Option<BTreeSet<_>> = names
        .map(|issue| undeclared_variable(issue, source))
        .collect();
    let names = names.filter(|_| notes.is_empty());
    notes.extend(names.into_iter().flatten().map(|name| {
        format!("--bind {name}=JSON or {name}=@FILE sets a variable, --var {name}=TYPE declares its type")
    }));
    notes
}

/// The name in an issue about an undeclared variable; `None` for all other issues.
fn undeclared_variable<'i>(issue: &'i Issue, source: &Source) -> Option<&'i str> {
    let name = issue.message.strip_prefix("undeclared reference to '")?;
    let (name, _) = name.split_once('\'')?;
    let line = source.line(issue.location.line)?;
    let column = usize::try_from(issue.location.column).ok()?;
    // The position of an undeclared function is that of its opening parenthesis.
    let written = line.chars().skip(column).take(name.len());
    written.eq(name.chars()).then_some(name)
}

/// The key that was probably meant, if the expression reads a key that does not exist.
fn near_key(error: &str, request: &EvalRequest, env: &Env) -> Vec<String> {
    let checked = env.compile(&request.expr).ok();
    let value = |name: &str| request.bindings.get(name);
    let found = checked.and_then(|checked| gavel_lint::near_key(&checked, error, &value));
    found.into_iter().collect()
}

/// Reports that the request cannot be evaluated. For JSON, also prints the answer of `gavel batch` to such a request.
fn unusable(message: &impl Display, output: Output) -> io::Result<Exit> {
    report::complain(message);
    if output == Output::Json {
        print(&Answer::invalid(message), &mut io::stdout().lock())?;
    }
    Ok(Exit::Usage)
}

/// Prints an answer as JSON.
pub(crate) fn print(answer: &Answer<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    line::write(answer, &mut line).map_err(io::Error::other)?;
    out.write_all(&line)?;
    out.flush()
}

/// The authorizer of `--rbac`; `None` without `--rbac`.
fn authorizer(args: &EvalArgs) -> Result<Option<AuthorizerValue>, String> {
    match &args.user {
        Some(user) if !args.rbac.is_empty() => {
            rbac::authorizer(&args.rbac, user, &args.groups).map(Some)
        }
        _ => Ok(None),
    }
}

/// The request that the arguments describe.
fn request(args: EvalArgs) -> Result<EvalRequest, String> {
    let expr_file = match &args.expr {
        Some(expr) if expr == "-" => Some(PathBuf::from("-")),
        _ => args.file,
    };
    let bound_files = args.bind.iter().filter_map(|(_, binding)| match binding {
        Binding::File(path) => Some(path),
        Binding::Json(_) => None,
    });
    if expr_file
        .iter()
        .chain(bound_files)
        .filter(|path| is_stdin(path))
        .count()
        > 1
    {
        return Err(
            "standard input must be read once: as the expression or for one binding".to_owned(),
        );
    }
    let mut variables = declared(args.var)?;
    if !args.rbac.is_empty() {
        if args.bind.iter().any(|(name, _)| name == VARIABLE) {
            return Err(format!("--bind {VARIABLE} must not be given with --rbac"));
        }
        let ty = Type::Struct(AUTHORIZER.into());
        if variables.insert(VARIABLE.to_owned(), ty).is_some() {
            return Err(format!("--var {VARIABLE} must not be given with --rbac"));
        }
    }
    let bindings = bound(args.bind, &mut variables)?;
    let expr = match (expr_file, args.expr) {
        (Some(path), _) => input::text(&path).map_err(|error| error.to_string())?,
        (None, expr) => expr.unwrap_or_default(),
    };
    let language = match (args.env, args.container) {
        (Environment::Cel, container) => Language::Cel {
            container: container.unwrap_or_default(),
            macros: true,
            functions: Vec::new(),
        },
        (Environment::Kubernetes, None) => Language::Kubernetes {
            server: args.kubernetes_version.into(),
            stored: args.stored,
        },
        (Environment::Kubernetes, Some(_)) => {
            return Err("--container must not be given without --env cel".to_owned());
        }
    };
    Ok(EvalRequest {
        expr,
        environment: EnvironmentSpec {
            language,
            variables,
            schemas: Vec::new(),
        },
        declared: BTreeMap::new(),
        bindings,
        sizes: SizeTable::default(),
        cost_limit: args.cost_limit,
        check_only: false,
        disable_check: false,
    })
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn declared(vars: Vec<(String, Type)>) -> Result<BTreeMap<String, Type>, String> {
    let mut variables = BTreeMap::new();
    for (name, ty) in vars {
        if variables.insert(name.clone(), ty).is_some() {
            return Err(format!("--var {name} must be given once"));
        }
    }
    Ok(variables)
}

/// Parses the JSON value of the variable `name`.
fn json_of(name: &str, text: &str) -> Result<Json, String> {
    let value = json::read(text.as_bytes()).map_err(|error| {
        format!("the value is not valid JSON: {error}; a string is written '{name}=\"text\"', a file {name}=@FILE")
    })?;
    let documents = gavel_manifest::read(text, Format::Json).documents;
    let twice = documents.iter().flat_map(Document::duplicate_keys).next();
    match twice {
        Some(twice) => Err(format!("the value has a duplicate key: {twice}")),
        None => Ok(value),
    }
}

/// Reads the values of all `--bind` flags. Declares variables without `--var` as `dyn`. Fails if a file cannot be read or a variable is
/// bound twice.
fn bound(
    binds: Vec<(String, Binding)>,
    variables: &mut BTreeMap<String, Type>,
) -> Result<Map<String, Json>, String> {
    let mut bindings = Map::new();
    for (name, binding) in binds {
        let json = match binding {
            Binding::Json(text) => {
                json_of(&name, &text).map_err(|message| format!("--bind {name}: {message}"))?
            }
            Binding::File(path) => {
                input::document(&path).map_err(|problems| input::lines(&problems))?
            }
        };
        variables.entry(name.clone()).or_insert(Type::Dyn);
        if bindings.insert(name.clone(), json).is_some() {
            return Err(format!("--bind {name} must be given once"));
        }
    }
    Ok(bindings)
}
