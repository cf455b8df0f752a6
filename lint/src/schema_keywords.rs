//! Rules whose conditions a schema could express.

use std::fmt::Display;

use gavel_crd::definition::RuleReport;
use gavel_engine::ast::{Constant, Expr, ExprKind, operators};
use gavel_engine::check::CheckedAst;
use gavel_engine::types::Type;
use gavel_manifest::Problem;
use gavel_schema::{Bounds, JsonSchema};

use crate::expressions::Subject;
use crate::expressions::path::{FieldPath, field_name, text};
use crate::rules::SCHEMA_CAN_SAY;

/// The largest integer up to which doubles represent all integers.
const EXACT: u64 = 1 << 53;

/// Reports a rule whose conditions a schema could express.
pub(crate) fn check(subject: &Subject<'_>, report: &RuleReport<'_>, problems: &mut Vec<Problem>) {
    let root = subject.checked.ast().root();
    let mut conditions = Vec::new();
    conjuncts(root, &mut conditions);
    let keywords: Option<Vec<Keyword>> = conditions
        .iter()
        .map(|condition| keyword_for(subject, report.schema, *condition))
        .collect();
    let Some(keywords) = keywords.and_then(joined) else {
        return;
    };
    let keywords = keywords.join(" and ");
    let message = format!("the schema can express the same constraint with {keywords}");
    let found = subject.problem(&SCHEMA_CAN_SAY, root, message);
    problems.push(match report.rule.message.is_empty() {
        true => found,
        false => found.with_help("keep the rule if its message matters"),
    });
}

/// A schema keyword for a condition: its name, and its text for messages. The text of `required` is the name of the field.
type Keyword = (&'static str, String);

/// The texts of keywords, with one `required` for all fields. `None` if a schema would need a keyword twice, with different values.
fn joined(keywords: Vec<Keyword>) -> Option<Vec<String>> {
    let mut joined: Vec<Keyword> = Vec::new();
    let mut required: Vec<String> = Vec::new();
    for (name, text) in keywords {
        let known = joined.iter().find(|(known, _)| *known == name);
        match known {
            _ if name == "required" => required.push(text),
            Some((_, known)) if *known != text => return None,
            Some(_) => {}
            None => joined.push((name, text)),
        }
    }
    required.dedup();
    let fields = (!required.is_empty()).then(|| format!("`required: [{}]`", required.join(", ")));
    let texts = joined.into_iter().map(|(_, text)| text);
    Some(fields.into_iter().chain(texts).collect())
}

fn conjuncts<'e>(expr: Expr<'e>, conditions: &mut Vec<Expr<'e>>) {
    match expr.kind() {
        ExprKind::Call(call) if call.function == operators::LOGICAL_AND => {
            call.args
                .iter()
                .for_each(|each| conjuncts(each, conditions));
        }
        _ => conditions.push(expr),
    }
}

/// The fields whose absence makes a rule fail: the fields of the `has()` tests in a rule such as `has(self.a) && has(self.b) && …`.
pub(crate) fn required(rule: &CheckedAst) -> Vec<FieldPath> {
    let mut conditions = Vec::new();
    conjuncts(rule.ast().root(), &mut conditions);
    let tested = conditions.into_iter().filter_map(|each| match each.kind() {
        ExprKind::Select(select) if select.test_only => chain(each),
        _ => None,
    });
    tested.collect()
}

/// The path of selections that begin at a variable, such as `self.spec.name`; `None` for any other expression.
fn chain(expr: Expr<'_>) -> Option<FieldPath> {
    match expr.kind() {
        ExprKind::Ident(name) => Some(vec![name.into()]),
        ExprKind::Select(select) => {
            let mut path = chain(select.operand)?;
            path.push(field_name(select.field));
            Some(path)
        }
        _ => None,
    }
}

/// The schema keyword that expresses a condition; `None` if no keyword does, or if the schema has the keyword with a value that it would need
/// beside the new one.
fn keyword_for(subject: &Subject<'_>, schema: &JsonSchema, condition: Expr<'_>) -> Option<Keyword> {
    let call = match condition.kind() {
        ExprKind::Call(call) => call,
        ExprKind::Select(select) if select.test_only && is_self(select.operand) => {
            return Some(("required", field_name(select.field).into()));
        }
        _ => return None,
    };
    let args = call.args.to_vec();
    let bounds = &schema.bounds;
    let enumeration = || {
        let keyword = ("enum", "`enum`".to_owned());
        bounds.enumeration.is_empty().then_some(keyword)
    };
    match (call.function, call.target, args.as_slice()) {
        ("matches", Some(target), &[pattern]) | ("matches", None, &[target, pattern])
            if is_self(target) && bounds.pattern.is_empty() =>
        {
            let pattern = text(pattern)?.replace('\'', "''");
            Some(("pattern", format!("`pattern: '{pattern}'`")))
        }
        (operators::IN, None, &[value, list]) if is_self(value) && is_scalar(subject, value) => {
            matches!(list.kind(), ExprKind::List(list) if list.elements.iter().all(is_constant))
                .then(enumeration)?
        }
        (operators::LOGICAL_OR, None, _) => is_enumeration(subject, condition).then(enumeration)?,
        (_, None, &[left, right]) => compared(subject, bounds, call.function, left, right),
        _ => None,
    }
}

/// Whether an expression compares one value with constants, as `self == 'a' || self == 'b'` does.
fn is_enumeration(subject: &Subject<'_>, expr: Expr<'_>) -> bool {
    let ExprKind::Call(call) = expr.kind() else {
        return false;
    };
    match (call.function, call.args.array()) {
        (operators::LOGICAL_OR, _) => {
            let mut alternatives = call.args.iter();
            alternatives.all(|each| is_enumeration(subject, each))
        }
        (operators::EQUALS, Some([left, right])) => {
            is_self(left) && is_scalar(subject, left) && is_constant(right)
        }
        _ => false,
    }
}

fn compared(
    subject: &Subject<'_>,
    bounds: &Bounds,
    function: &str,
    left: Expr<'_>,
    right: Expr<'_>,
) -> Option<Keyword> {
    use operators::{GREATER, GREATER_EQUALS, LESS, LESS_EQUALS};
    let (value, bound, is_upper) = match (function, left.as_constant(), right.as_constant()) {
        (LESS | LESS_EQUALS, None, Some(bound)) => (left, bound, true),
        (GREATER | GREATER_EQUALS, None, Some(bound)) => (left, bound, false),
        (LESS | LESS_EQUALS, Some(bound), None) => (right, bound, false),
        (GREATER | GREATER_EQUALS, Some(bound), None) => (right, bound, true),
        _ => return None,
    };
    let is_exclusive = matches!(function, LESS | GREATER);
    // The last integer that satisfies the condition.
    let whole = match bound {
        Constant::Int(bound) if !is_exclusive => Some(bound),
        Constant::Int(bound) if is_upper => bound.checked_sub(1),
        Constant::Int(bound) => bound.checked_add(1),
        _ => None,
    };
    // The bounds of a schema are doubles, which represent larger integers inexactly.
    let whole = whole.filter(|whole| whole.unsigned_abs() <= EXACT);
    // Whether a bound is stricter than that of the schema, if the schema has one.
    let tightens = |known: Option<f64>, bound: f64| {
        known.is_none_or(|known| match is_upper {
            true => bound < known,
            false => bound > known,
        })
    };
    if is_self(value) {
        let (name, exclusive) = match is_upper {
            true => ("maximum", "exclusiveMaximum"),
            false => ("minimum", "exclusiveMinimum"),
        };
        let known = if is_upper {
            bounds.maximum
        } else {
            bounds.minimum
        };
        let new = match bound {
            Constant::Double(bound) => bound,
            _ => whole? as f64,
        };
        if !tightens(known, new) {
            return None;
        }
        let text = match (subject.checked.type_of(value.id), bound) {
            (Type::Int, Constant::Int(_)) => format!("`{name}: {}`", whole?),
            (Type::Double, Constant::Int(bound)) => shown(name, bound, exclusive, is_exclusive),
            (Type::Int | Type::Double, Constant::Double(bound)) => {
                shown(name, bound, exclusive, is_exclusive)
            }
            _ => return None,
        };
        return Some((name, text));
    }
    let sized = sized(value).filter(|sized| is_self(*sized))?;
    let (name, known) = match (subject.checked.type_of(sized.id), is_upper) {
        (Type::List(_), true) => ("maxItems", bounds.max_items),
        (Type::List(_), false) => ("minItems", bounds.min_items),
        (Type::Map(_), true) => ("maxProperties", bounds.max_properties),
        (Type::Map(_), false) => ("minProperties", bounds.min_properties),
        (Type::String, true) => ("maxLength", bounds.max_length),
        (Type::String, false) => ("minLength", bounds.min_length),
        _ => return None,
    };
    let size = whole.filter(|size| *size >= 0)?;
    if !tightens(known.map(|known| known as f64), size as f64) {
        return None;
    }
    Some((name, format!("`{name}: {size}`")))
}

/// A bound of a number in words: "`minimum: 0` and `exclusiveMinimum: true`".
fn shown(name: &str, bound: impl Display, exclusive: &str, is_exclusive: bool) -> String {
    match is_exclusive {
        true => format!("`{name}: {bound}` and `{exclusive}: true`"),
        false => format!("`{name}: {bound}`"),
    }
}

/// The argument of `size()`; `None` for other expressions.
fn sized(expr: Expr<'_>) -> Option<Expr<'_>> {
    match expr.kind() {
        ExprKind::Call(call) if call.function == "size" => call.target.or_else(|| call.args.get(0)),
        _ => None,
    }
}

fn is_self(expr: Expr<'_>) -> bool {
    expr.as_ident() == Some("self")
}

fn is_scalar(subject: &Subject<'_>, expr: Expr<'_>) -> bool {
    matches!(
        subject.checked.type_of(expr.id),
        Type::String | Type::Int | Type::Double | Type::Bool
    )
}

fn is_constant(expr: Expr<'_>) -> bool {
    expr.as_constant().is_some()
}

#[cfg(test)]
mod tests {
    use gavel_manifest::{Format, read};

    use crate::rules::Frame;
    use crate::{Linter, Options};

    #[test]
    fn keywords_have_values_that_a_schema_accepts() {
        let check = |ty: &str, rule: &str, keywords: &str| {
            let schema = format!(
                "type: object\nproperties:\n  a:\n    {ty}\n    x-kubernetes-validations: [{{rule: \"{rule}\", message: m}}]\n"
            );
            let text = Frame::Schema.manifest(&schema);
            let documents = read(&text, Format::Yaml).all().unwrap();
            let linter = Linter::new(&Options::default(), &documents).unwrap();
            let found = linter.document(&documents[0]);
            let found = found.iter().filter(|each| each.rule == "schema-can-say");
            let found: Vec<_> = found.map(|each| each.message.as_str()).collect();
            let message = format!("the schema can express the same constraint with {keywords}");
            let expected = (!keywords.is_empty()).then_some(&*message);
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{rule}");
        };
        let object = "type: object\n    properties: {a: {type: string}, b: {type: string}}";
        check(object, "has(self.a) && has(self.b)", "`required: [a, b]`");
        check(
            "type: integer",
            "self > 0 && self < 9",
            "`minimum: 1` and `maximum: 8`",
        );
        check("type: integer", "-1 <= self", "`minimum: -1`");
        check("type: integer", "self > 3 && self > 5", "");
        check(
            "type: number",
            "self > 0.0",
            "`minimum: 0` and `exclusiveMinimum: true`",
        );
        check("type: number", "self <= 1.5", "`maximum: 1.5`");
        let text = "type: string\n    maxLength: 20";
        check(text, "self.size() < 0", "");
        check(
            text,
            "self.size() > 0 && size(self) <= 9",
            "`minLength: 1` and `maxLength: 9`",
        );
        check(
            text,
            "self.matches('^a$') && self.size() >= 1",
            "`pattern: '^a$'` and `minLength: 1`",
        );
        check(text, "self.matches('^a') && self.matches('b$')", "");
        check(text, "matches(self, '^a$')", "`pattern: '^a$'`");
        for (rule, keywords) in [
            ("self in ['a', 'b']", "`enum`"),
            ("self in ['a', self]", ""),
            ("self == 'a' || self == 'b' || self == 'c'", "`enum`"),
            ("self == 'a' || self.startsWith('b')", ""),
        ] {
            check(text, rule, keywords);
        }
        check("type: integer", "9 > self", "`maximum: 8`");
        check("type: integer", "self < 9223372036854775807", "");
        let bounded = "type: integer\n    minimum: 3";
        check(bounded, "self > 1", "");
        check(bounded, "self > 3", "`minimum: 4`");
        check("type: string\n    pattern: ^x", "self.matches('y$')", "");
        check("type: string\n    enum: [a, b]", "self in ['b', 'c']", "");
        check(text, "self.size() < 30", "");
        check(
            "type: number",
            "self < 2",
            "`maximum: 2` and `exclusiveMaximum: true`",
        );
        check(
            "type: array\n    maxItems: 9\n    items: {type: boolean}",
            "size(self) >= 1 && self.size() < 5",
            "`minItems: 1` and `maxItems: 4`",
        );
        check(
            "type: object\n    maxProperties: 9\n    additionalProperties: {type: boolean}",
            "self.size() > 1 && self.size() <= 5",
            "`minProperties: 2` and `maxProperties: 5`",
        );
    }
}
