//! Suggestions: the function or field that was probably meant.

use gavel_engine::env::Env;
use gavel_engine::syntax::Receiver;
use gavel_engine::types::Signature;
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::{Document, Problem};
use gavel_policy::cel::POLICY_VARIABLES;
use gavel_schema::JsonSchema;
use gavel_schema::built_in::Kubernetes;

use crate::dialects::{self, quoted};
use crate::unclosed::unclosed_in;
use gavel_manifest::nearest;

/// Adds help to a problem that reports an error of an expression. The message contains the expression.
pub(crate) fn expression(problem: Problem, env: &Env) -> Problem {
    let message = &problem.message;
    // An excerpt of the expression follows the error.
    let excerpt = message.split("\n | ").nth(1).unwrap_or_default();
    let excerpt = excerpt.lines().next().unwrap_or_default();
    let help = suggestion(message, message, excerpt, env);
    helped(problem, help)
}

/// Adds help to a problem that names an unknown variable or field in an expression of a policy or webhook.
pub(crate) fn in_policy(problem: Problem, document: &Document) -> Problem {
    let help = meant_in_policy(&problem.message, document);
    helped(problem, help)
}

fn meant_in_policy(message: &str, document: &Document) -> Option<String> {
    let declared = document.value().pointer("/spec/variables");
    let declared = declared.and_then(Json::as_array).into_iter().flatten();
    let declared = declared.filter_map(|variable| variable.get("name")?.as_str());
    let declared: Vec<&str> = declared.collect();
    let meant = if let Some(field) = quoted(message, "undefined field '") {
        match message.contains(&format!("variables.{field}")) {
            true => nearest(field, declared),
            false if POLICY_VARIABLES.contains(&field) => Some(field),
            false => nearest(field, REQUEST_FIELDS),
        }
    } else {
        match quoted(message, "undeclared reference to '")? {
            "self" | "this" | "input" => Some("object"),
            name if declared.contains(&name) => {
                return Some(did_you_mean(&format!("variables.{name}")));
            }
            name => nearest(name, POLICY_VARIABLES),
        }
    };
    meant.map(did_you_mean)
}

/// Adds help to a problem that names an unknown variable or field in a rule of a definition with this schema.
pub(crate) fn in_definition(problem: Problem, schema: Option<&JsonSchema>) -> Problem {
    let meant = match quoted(&problem.message, "undeclared reference to '") {
        Some("object" | "this" | "obj") => Some("self"),
        Some(name) => nearest(name, ["self", "oldSelf"]),
        None => None,
    };
    let problem = helped(problem, meant.map(did_you_mean));
    match schema {
        Some(schema) => field_of(problem, schema),
        None => problem,
    }
}

/// Adds help to a problem that has none.
fn helped(problem: Problem, help: Option<String>) -> Problem {
    match help {
        Some(help) if problem.help().is_empty() => problem.with_help(help),
        _ => problem,
    }
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// The fields of `request` and of `request.userInfo`.
const REQUEST_FIELDS: [&str; 15] = [
    "kind",
    "resource",
    "subResource",
    "requestKind",
    "requestResource",
    "requestSubResource",
    "name",
    "namespace",
    "operation",
    "userInfo",
    "dryRun",
    "options",
    "username",
    "groups",
    "extra",
];

/// Adds the name that was probably meant to a problem, if it is known.
pub(crate) fn name(problem: Problem, meant: Option<&str>) -> Problem {
    match meant {
        Some(name) => problem.with_help(did_you_mean(name)),
        None => problem,
    }
}

/// Help for the message about an expression that does not compile: the unclosed bracket or quote, what CEL has instead of a part of another
/// language, the function that was probably meant, or the signatures of the called function. `None` if there is nothing to suggest.
pub fn help(message: &str, expression: &str, env: &Env) -> Option<String> {
    if message.contains("Syntax error: ")
        && let Some((opener, place)) = unclosed_in(expression)
    {
        return Some(format!("the {opener} at {place} is not closed"));
    }
    suggestion(message, expression, expression, env)
}

/// Help for the message about an expression that does not compile. `text` contains the expression, and `line` is the line of the error.
fn suggestion(message: &str, text: &str, line: &str, env: &Env) -> Option<String> {
    if message.contains("invalid matches argument") {
        return dialects::invalid_pattern(line, env);
    }
    dialects::help(message, text).or_else(|| meant_function(message, text, env))
}

/// The function that was probably meant, or the signatures of the called function. `text` contains the expression.
fn meant_function(message: &str, text: &str, env: &Env) -> Option<String> {
    let Some(called) = quoted(message, "undeclared reference to '") else {
        return overloads(message, env);
    };
    let path = called_names(text).find(|path| path.split('.').any(|part| part == called))?;
    let known = callable(env);
    let names = |is_member: bool| {
        let names = known.iter().filter(move |(_, member)| *member == is_member);
        names.map(|(name, _)| name.as_str())
    };
    let mut qualified = names(false).filter(|name| name.contains('.'));
    let qualified = match path == called {
        true => qualified.find(|name| name.rsplit('.').next() == Some(called)),
        false => nearest(path, qualified),
    };
    // In `math.f(x)`, the message about `math` is not about a function. A name that is known is called in the wrong way.
    let is_function = path.rsplit('.').next() == Some(called);
    let name = match qualified {
        None if is_function && !known.iter().any(|(name, _)| name == called) => {
            nearest(called, names(path.contains('.')))
        }
        found => found,
    };
    name.map(did_you_mean)
}

/// The names of the functions and macros that expressions can call, each with whether it is called on a receiver.
fn callable(env: &Env) -> Vec<(String, bool)> {
    let functions = env.declarations().functions().into_iter();
    let is_named = |name: &str| !name.contains('@') && (!name.contains('_') || name.contains('.'));
    let functions = functions.filter(|function| is_named(&function.name));
    let functions = functions.flat_map(|function| {
        let overloads = function.overloads.iter();
        overloads.map(|overload| (function.name.to_string(), overload.signature.member))
    });
    let macros = env.macros().map(|known| match known.receiver {
        Receiver::None => (known.name.to_owned(), false),
        Receiver::Any => (known.name.to_owned(), true),
        Receiver::Namespace(qualifier) => (format!("{qualifier}.{}", known.name), false),
    });
    functions.chain(macros).collect()
}

/// The names in front of opening parentheses, with their qualifiers: `lists.range` in `1 in lists.range(3)`, and `.size` in `[1].size()`.
fn called_names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    text.match_indices('(').filter_map(move |(at, _)| {
        let before = text.get(..at)?;
        before.rsplit(|c| !is_part(c)).next()
    })
}

/// The signatures of a function that was called with arguments that fit none of them; `None` for other messages.
fn overloads(message: &str, env: &Env) -> Option<String> {
    let called = quoted(message, "found no matching overload for '")?;
    let function = env.declarations().function(called);
    let function = function.filter(|function| !function.name.contains(['_', '@']))?;
    let signatures = function.overloads.iter().take(4);
    let signatures: Vec<_> = signatures
        .map(|overload| format!("`{}`", written(&function.name, &overload.signature)))
        .collect();
    Some(format!("it is called as {}", signatures.join(" or ")))
}

/// A signature in the form of a call: `string.charAt(int)`.
fn written(name: &str, signature: &Signature) -> String {
    let mut parameters = signature.parameters.iter().map(ToString::to_string);
    let receiver = signature.member.then(|| parameters.next()).flatten();
    let arguments: Vec<_> = parameters.collect();
    let arguments = arguments.join(", ");
    match receiver {
        Some(receiver) => format!("{receiver}.{name}({arguments})"),
        None => format!("{name}({arguments})"),
    }
}

/// Adds the field that was probably meant, if the type checker reports an unknown field. The search considers the fields of all objects in
/// the schema.
pub(crate) fn field_of(problem: Problem, schema: &JsonSchema) -> Problem {
    let Some(field) = quoted(&problem.message, "undefined field '") else {
        return problem;
    };
    let mut best: Option<&str> = None;
    let mut open = vec![(schema, 0_usize)];
    let mut seen = std::collections::HashSet::new();
    while let Some((schema, depth)) = open.pop() {
        if depth > 24 || !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        let names = schema.properties.keys().map(smol_str::SmolStr::as_str);
        let names = names.chain(best);
        best = nearest(field, names.collect::<Vec<_>>());
        let below = depth.saturating_add(1);
        open.extend(schema.properties.values().map(|each| (&**each, below)));
        open.extend(schema.item().map(|each| (&**each, below)));
        open.extend(schema.value().map(|each| (&**each, below)));
    }
    name(problem, best)
}

/// Adds `did you mean …?` to a problem that reports an unknown field of a built-in kind, if the type has a field with a similar name.
/// Otherwise returns the problem unchanged.
pub(crate) fn unknown_field(
    problem: Problem,
    api_version: &str,
    kind: &str,
    server: Server,
) -> Problem {
    let path = problem.field.clone();
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", &path));
    let kubernetes = Kubernetes::of(server);
    let names = kubernetes.field_names(api_version, kind, parent);
    let other = match name {
        "rule" => "expression",
        "expression" => "rule",
        _ => "",
    };
    let other = names.iter().copied().find(|name| *name == other);
    self::name(
        problem,
        other.or_else(|| nearest(name, names.iter().copied())),
    )
}

#[cfg(test)]
mod tests {
    use gavel_policy::cel::{REQUEST, provider};

    use super::*;

    #[test]
    fn the_fields_of_requests_are_those_of_their_types() {
        let provider = provider();
        let user = provider
            .field_type(REQUEST, "userInfo")
            .unwrap()
            .to_string();
        for field in REQUEST_FIELDS {
            let ty = provider.field_type(REQUEST, field);
            let ty = ty.or_else(|| provider.field_type(&user, field));
            assert!(ty.is_some(), "{field}");
        }
    }
}
