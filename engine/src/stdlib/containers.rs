//! `in`, indexing and `size`.

use super::missing_operator;
use crate::ast::operators::{IN, INDEX};
use crate::body;
use crate::cost::formulas::IN_LIST;
use crate::decl::{CallContext, Form, Overload, Yield, planned, row};
use crate::error::EvalError;
use crate::value::{Value, ValueKind, list_contains, map_contains};
use gavel_golang::utf8;

const SIZE: &str = "size";

#[rustfmt::skip] // One row per line.
pub(super) const ROWS: &[Overload] = &[
    planned(INDEX, "index_list", "(list(A), int) -> A", Form::Index, "[1, 2, 3][1] == 2").yields(Yield::Items),
    planned(INDEX, "index_map", "(map(A, B), A) -> B", Form::Index, "{'a': 1}['a'] == 1").yields(Yield::Values),
    row(IN, "in_list", "(A, list(A)) -> bool", body!(contains), "2 in [1, 2, 3]").form(Form::Membership).shared().cost(IN_LIST),
    row(IN, "in_map", "(A, map(A, B)) -> bool", body!(contains), "'a' in {'a': 1}").shared(),
    row(SIZE, "size_bytes", "(bytes) -> int", size, "size(b'ä') == 2").shared(),
    row(SIZE, "bytes_size", "bytes.() -> int", size, "b'abc'.size() == 3").shared(),
    row(SIZE, "size_list", "(list(A)) -> int", size, "size([1, 2, 3]) == 3").shared(),
    row(SIZE, "list_size", "list(A).() -> int", size, "[].size() == 0").shared(),
    row(SIZE, "size_map", "(map(A, B)) -> int", size, "size({'a': 1}) == 1").shared(),
    row(SIZE, "map_size", "map(A, B).() -> int", size, "{'a': 1}.size() == 1").shared(),
    row(SIZE, "size_string", "(string) -> int", size, "size('ä') == 1").shared(),
    row(SIZE, "string_size", "string.() -> int", size, "'abc'.size() == 3").shared(),
];

fn contains<'a>(
    call: &CallContext<'a>,
    value: Value<'a>,
    container: Value<'a>,
) -> Result<bool, EvalError> {
    match container.kind() {
        ValueKind::List(list) => list_contains(list, &value, call.host()),
        ValueKind::Map(map) => map_contains(map, &value, call.host()),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn size<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [value] = args else {
        return Err(missing_operator(SIZE, args));
    };
    let size = match value.kind() {
        ValueKind::String(text) => utf8::rune_count(text),
        ValueKind::Bytes(bytes) => bytes.len(),
        ValueKind::List(list) => list.len(),
        ValueKind::Map(map) if !map.is_lazy() => map.len(),
        _ => return Err(missing_operator(SIZE, args)),
    };
    Ok(Value::from(i64::try_from(size).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use crate::stdlib::tests::{check, fails};
    use crate::value::{Arena, Json, MapBuilder, Value};

    #[test]
    fn membership_crosses_number_types() {
        let arena = Arena::new();
        let list = arena.list(&[Value::from(1), Value::from("a"), Value::NULL]);
        let mut map = MapBuilder::new();
        map.insert(Value::from(1), Value::NULL);
        let map = map.build(&arena);
        for (value, container, expected) in [
            (Value::from(1), list, true),
            (Value::from(1.0), list, true),
            (Value::NULL, list, true),
            (Value::from(2_u64), list, false),
            (Value::from(1.0), map, true),
            (Value::from(1_u64), map, true),
            (Value::from("1"), map, false),
        ] {
            check("@in", &[value, container], Value::from(expected));
        }
        fails(
            "@in",
            &[Value::from("a"), Value::from("abc")],
            "no such overload",
        );
        fails("@in", &[Value::from("a"), Value::NULL], "no such overload");
    }

    #[test]
    fn bytes_are_no_key_of_a_computed_map() {
        let arena = Arena::new();
        let json = Json::Object(serde_json::Map::from_iter([("a".to_owned(), Json::Null)]));
        let mut map = MapBuilder::new();
        map.insert(Value::from("a"), Value::NULL);
        let key = Value::from(b"a");
        check("@in", &[key, Value::from(&json)], Value::from(false));
        fails(
            "@in",
            &[key, map.build(&arena)],
            "internal error: runtime error: hash of unhashable type types.Bytes",
        );
    }

    #[test]
    fn texts_are_measured_in_code_points_and_bytes_in_bytes() {
        let arena = Arena::new();
        check("size", &[Value::from("aä😀")], Value::from(3));
        check("size", &[Value::from("ä".as_bytes())], Value::from(2));
        check("size", &[arena.list(&[Value::NULL])], Value::from(1));
        check("size", &[MapBuilder::new().build(&arena)], Value::from(0));
        fails("size", &[Value::from(1)], "no such overload: size");
    }
}
