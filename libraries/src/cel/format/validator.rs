//! The validator for calls of `format` whose template and list of values are literals.

use gavel_engine::ast::{Call, Expr, ExprId, ExprKind, Exprs};
use gavel_engine::check::CheckedAst;
use gavel_engine::decl::LiteralRule;
use gavel_engine::issues::Issues;
use gavel_engine::types::{Primitive, Type};

use super::problem::Problem;
use super::template::{Piece, Template, TemplateError, Verb, missing_value};

/// Reports calls that `format` rejects in versions 1 to 3 of the strings library, and values that no clause uses.
pub fn format_calls_before_4(checked: &CheckedAst, issues: &mut Issues) {
    validate(checked, issues, takes_before_4);
}

/// Reports calls that `format` rejects in version 4 of the strings library and later, and values that no clause uses.
pub fn format_calls_since_4(checked: &CheckedAst, issues: &mut Issues) {
    validate(checked, issues, takes_since_4);
}

/// Whether a clause other than `%s` accepts values of a type.
type Takes = fn(Verb, &Type) -> bool;

fn takes_before_4(verb: Verb, ty: &Type) -> bool {
    match verb {
        // A string may be `NaN`, `Infinity` or `-Infinity`.
        Verb::Fixed | Verb::Scientific => matches!(ty, Type::Double | Type::String),
        _ => takes(verb, ty),
    }
}

fn takes_since_4(verb: Verb, ty: &Type) -> bool {
    match verb {
        Verb::Decimal | Verb::Fixed | Verb::Scientific => {
            matches!(ty, Type::Int | Type::Uint | Type::Double)
        }
        _ => takes(verb, ty),
    }
}

fn takes(verb: Verb, ty: &Type) -> bool {
    match ty {
        Type::Int | Type::Uint => true,
        Type::Bool => verb == Verb::Binary,
        Type::String | Type::Bytes => matches!(verb, Verb::Hex | Verb::UpperHex),
        _ => false,
    }
}

fn validate(checked: &CheckedAst, issues: &mut Issues, takes: Takes) {
    for (expr, call) in checked.calls_with(LiteralRule::Mixed) {
        let known = || checked.overload(expr.id);
        if let Some((template, values)) = literals(&call)
            && known().is_none_or(|overload| overload.id == super::FORMAT.id)
            && let Err((id, message)) = check_call(checked, expr.id, template, values, takes)
        {
            let ast = checked.ast();
            issues.report(ast.source().location(ast.offset(id)), message);
        }
    }
}

/// The template and the values of `'…'.format([…])`; `None` unless both are literals.
fn literals<'c>(call: &Call<'c>) -> Option<(&'c str, Exprs<'c>)> {
    let template = call.target?.as_text()?;
    let [argument] = call.args.array()?;
    match argument.kind() {
        ExprKind::List(list) => Some((template, list.elements)),
        _ => None,
    }
}

/// The error in a call, and the node at which it is reported.
fn check_call(
    checked: &CheckedAst,
    call: ExprId,
    template: &str,
    values: Exprs<'_>,
    takes: Takes,
) -> Result<(), (ExprId, String)> {
    let mut taken = 0_usize;
    for piece in Template::new(template) {
        let clause = match piece {
            Piece::Text(_) => continue,
            Piece::Clause(Err(TemplateError::UnexpectedEnd)) => {
                return Err((call, TemplateError::UnexpectedEnd.to_string()));
            }
            Piece::Clause(clause) => clause,
        };
        let value = values.get(taken).ok_or((call, missing_value(taken)))?;
        let clause = clause.map_err(|error| (call, error.to_string()))?;
        let misfit = match clause.verb {
            Verb::String => find_unwritable(checked, value),
            verb => {
                let ty = kind_of(checked.type_of(value.id));
                (ty != Type::Dyn && !takes(verb, &ty)).then_some(value.id)
            }
        };
        if let Some(id) = misfit {
            let problem = Problem::misfit(clause.verb, &checked.type_of(id).declared_name());
            return Err((id, problem.to_string()));
        }
        taken = taken.saturating_add(1);
    }
    match values.len() {
        given if given > taken => Err((
            call,
            format!("too many arguments supplied to string.format (expected {taken}, got {given})"),
        )),
        _ => Ok(()),
    }
}

/// Finds the first node that `%s` does not accept: the value itself, or an element of a list or map literal in it. `None` if `%s` accepts
/// all of them. The parser limits the depth of the recursion.
fn find_unwritable(checked: &CheckedAst, value: Expr<'_>) -> Option<ExprId> {
    let written = matches!(
        kind_of(checked.type_of(value.id)),
        Type::Dyn
            | Type::Null
            | Type::Bool
            | Type::Int
            | Type::Uint
            | Type::Double
            | Type::String
            | Type::Bytes
            | Type::Duration
            | Type::Timestamp
            | Type::List(_)
            | Type::Map(_)
            | Type::Type(_)
    );
    if !written {
        return Some(value.id);
    }
    let find = |value| find_unwritable(checked, value);
    match value.kind() {
        ExprKind::List(list) => list.elements.iter().find_map(find),
        ExprKind::Map(map) => map
            .iter()
            .find_map(|entry| find(entry.key).or_else(|| find(entry.value))),
        _ => None,
    }
}

/// Returns the primitive type of a wrapper type, and any other type unchanged.
fn kind_of(ty: &Type) -> Type {
    match ty {
        Type::Wrapper(primitive) => Primitive::as_type(*primitive),
        ty => ty.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{EnvSet, KubeVersion, cel_env};
    use gavel_engine::env::Env;

    /// The issues of an expression: `column: message`, columns from 1.
    fn issues(env: &Env, expression: &str) -> Vec<String> {
        let Err(issues) = env.compile(expression) else {
            return Vec::new();
        };
        issues
            .sorted()
            .into_iter()
            .map(|issue| (issue.location.column.saturating_add(1), &issue.message))
            .map(|(column, message)| format!("{column}: {message}"))
            .collect()
    }

    #[track_caller]
    fn check(expression: &str, expected: &[&str]) {
        let set = EnvSet::new(KubeVersion::v1(36).into()).unwrap();
        assert_eq!(
            issues(set.new_expressions(), expression),
            expected,
            "{expression}"
        );
    }

    #[test]
    fn accepts_what_can_be_formatted() {
        for expression in [
            "'%s %d %f %e %b %x %o %%'.format([1, 1u, 1.0, 'NaN', true, b'a', 1])",
            "'%d %s'.format([dyn(1.5), dyn(1)])",
            "'%s'.format([[1, {'a': null}]])",
            "'%s'.format([type(1)])",
            "'%d'.format(dyn(['a']))",
            "'%z'.format(dyn([]))",
            "'%s'.format(['a'].map(x, optional.of(x)))",
        ] {
            check(expression, &[]);
        }
    }

    #[test]
    fn blames_the_call_for_its_template() {
        let clause = "12: could not parse formatting clause: unrecognized formatting clause";
        check("'%z'.format([1])", &[&format!("{clause} \"z\"")]);
        check("'%é'.format([1])", &[&format!("{clause} \"Ã\"")]);
        check("'%'.format([])", &["11: unexpected end of string"]);
        check("'%s%'.format([1])", &["13: unexpected end of string"]);
        check("'%s %z'.format([1])", &["15: index 1 out of range"]);
        check(
            "'%s'.format([1, 2])",
            &["12: too many arguments supplied to string.format (expected 1, got 2)"],
        );
        check(
            "'%.3'.format([1.0])",
            &[
                "13: could not parse formatting clause: error while parsing precision: could not find end of precision \
               specifier",
            ],
        );
    }

    #[test]
    fn blames_values_for_their_types() {
        check(
            "'%d'.format(['a'])",
            &[
                "14: error during formatting: decimal clause can only be used on integers, was given string",
            ],
        );
        check(
            "'%f'.format([1]) + '%x'.format([1.5])",
            &[
                "14: error during formatting: fixed-point clause can only be used on doubles, was given int",
                "33: error during formatting: only integers, byte buffers, and strings can be formatted as hex, was \
                 given double",
            ],
        );
        let string = "error during formatting: string clause can only be used on strings, bools, bytes, ints, \
                      doubles, maps, lists, types, durations, and timestamps, was given optional_type";
        check("'%s'.format([optional.of(1)])", &[&format!("25: {string}")]);
        check(
            "'%s'.format([[1, [optional.of(1)]]])",
            &[&format!("30: {string}")],
        );
        check(
            "'%s'.format([{'a': optional.of(1)}])",
            &[&format!("31: {string}")],
        );
    }

    #[test]
    fn all_numbers_are_accepted_since_version_4() {
        let env = cel_env().unwrap();
        let check = |expression, expected: &[&str]| {
            assert_eq!(issues(&env, expression), expected, "{expression}");
        };
        check("'%d %f %e'.format([1.5, 1, 1u])", &[]);
        check(
            "'%f'.format(['NaN'])",
            &[
                "14: error during formatting: fixed-point clause can only be used on doubles, was given string",
            ],
        );
    }
}
