//! Reads of optional fields without a test.

use std::collections::{BTreeSet, HashSet};

use gavel_engine::ast::Expr;
use gavel_schema::JsonSchema;

use super::path::{ELEMENT, FieldPath, Reads, VALUE};

/// The first read of each optional field whose presence no expression tests. Each read is a node and the path of its field. `tested` has the fields
/// that related expressions test, such as the other rules of the same schema node. `root` returns the schema of a variable. `is_set` says
/// whether a field is always set although its schema does not require it.
pub(crate) fn optional_fields<'r, 'e>(
    reads: &'r Reads<'e>,
    tested: &BTreeSet<FieldPath>,
    root: &dyn Fn(&str) -> Option<&'r JsonSchema>,
    is_set: &dyn Fn(&[smol_str::SmolStr]) -> bool,
) -> Vec<(Expr<'e>, &'r FieldPath)> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    for (expr, path) in &reads.fields {
        let is_tested = tested.contains(path) || reads.tested.contains(path);
        if !is_tested && is_optional(path, root) && !is_set(path) && known.insert(path) {
            found.push((*expr, path));
        }
    }
    found
}

/// Whether the schema allows the last field of a path to be absent while the others are present.
fn is_optional<'r>(path: &FieldPath, root: &dyn Fn(&str) -> Option<&'r JsonSchema>) -> bool {
    let [variable, steps @ .., last] = path.as_slice() else {
        return false;
    };
    let Some(mut schema) = root(variable) else {
        return false;
    };
    for step in steps {
        let next = match step.as_str() {
            ELEMENT => schema.item(),
            VALUE => schema.value(),
            name => schema.properties.get(name),
        };
        let Some(next) = next else { return false };
        schema = next;
    }
    let Some(field) = schema.properties.get(last) else {
        return false;
    };
    let is_required = schema.required.iter().any(|name| name == last);
    !is_required && field.default_value().is_none()
}

/// A path in the notation of expressions.
pub(crate) fn shown(path: &FieldPath) -> String {
    let mut shown = String::new();
    for step in path {
        match step.as_str() {
            ELEMENT | VALUE => shown.push_str("[…]"),
            name => {
                if !shown.is_empty() {
                    shown.push('.');
                }
                shown.push_str(name);
            }
        }
    }
    shown
}
