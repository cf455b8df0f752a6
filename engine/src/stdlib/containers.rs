//! `in`, indexing and `size`.

use super::{missing_operator, planned, shared};
use crate::ast::operators::{IN, INDEX};
use crate::cost::Cost;
use crate::cost::formulas::IN_LIST;
use crate::decl::{CallContext, Overload};
use crate::error::EvalError;
use crate::value::{Value, list_contains, map_contains};

const SIZE: &str = "size";

pub(super) const ROWS: &[Overload] = &[
    planned(
        INDEX,
        "index_list",
        "(list(A), int) -> A",
        "[1, 2, 3][1] == 2",
    ),
    planned(
        INDEX,
        "index_map",
        "(map(A, B), A) -> B",
        "{'a': 1}['a'] == 1",
    ),
    shared(
        IN,
        "in_list",
        "(A, list(A)) -> bool",
        contains,
        IN_LIST,
        "2 in [1, 2, 3]",
    ),
    shared(
        IN,
        "in_map",
        "(A, map(A, B)) -> bool",
        contains,
        Cost::ONE,
        "'a' in {'a': 1}",
    ),
    shared(
        SIZE,
        "size_bytes",
        "(bytes) -> int",
        size,
        Cost::ONE,
        "size(b'ä') == 2",
    ),
    shared(
        SIZE,
        "bytes_size",
        "bytes.() -> int",
        size,
        Cost::ONE,
        "b'abc'.size() == 3",
    ),
    shared(
        SIZE,
        "size_list",
        "(list(A)) -> int",
        size,
        Cost::ONE,
        "size([1, 2, 3]) == 3",
    ),
    shared(
        SIZE,
        "list_size",
        "list(A).() -> int",
        size,
        Cost::ONE,
        "[].size() == 0",
    ),
    shared(
        SIZE,
        "size_map",
        "(map(A, B)) -> int",
        size,
        Cost::ONE,
        "size({'a': 1}) == 1",
    ),
    shared(
        SIZE,
        "map_size",
        "map(A, B).() -> int",
        size,
        Cost::ONE,
        "{'a': 1}.size() == 1",
    ),
    shared(
        SIZE,
        "size_string",
        "(string) -> int",
        size,
        Cost::ONE,
        "size('ä') == 1",
    ),
    shared(
        SIZE,
        "string_size",
        "string.() -> int",
        size,
        Cost::ONE,
        "'abc'.size() == 3",
    ),
];

fn contains<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [value, container] = args else {
        return Err(EvalError::no_such_overload());
    };
    match (container.as_list(), container.as_map()) {
        (Some(list), _) => list_contains(list, value).map(Value::Bool),
        (_, Some(map)) => map_contains(map, value).map(Value::Bool),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn size<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let size = match args {
        [Value::String(text)] => text.chars().count(),
        [Value::Bytes(bytes)] => bytes.len(),
        [value] => match (value.as_list(), value.as_map()) {
            (Some(list), _) => list.len(),
            (_, Some(map)) => map.len(),
            _ => return Err(missing_operator(SIZE, args)),
        },
        _ => return Err(missing_operator(SIZE, args)),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use crate::stdlib::tests::{check, fails};
    use crate::value::{Arena, Json, MapBuilder, Value};

    #[test]
    fn membership_crosses_number_types() {
        let arena = Arena::new();
        let list = arena.list(&[Value::Int(1), Value::String("a"), Value::Null]);
        let mut map = MapBuilder::new();
        map.insert(Value::Int(1), Value::Null);
        let map = map.build(&arena);
        for (value, container, expected) in [
            (Value::Int(1), list, true),
            (Value::Double(1.0), list, true),
            (Value::Null, list, true),
            (Value::Uint(2), list, false),
            (Value::Double(1.0), map, true),
            (Value::Uint(1), map, true),
            (Value::String("1"), map, false),
        ] {
            check("@in", &[value, container], Value::Bool(expected));
        }
        fails(
            "@in",
            &[Value::String("a"), Value::String("abc")],
            "no such overload",
        );
        fails(
            "@in",
            &[Value::String("a"), Value::Null],
            "no such overload",
        );
    }

    #[test]
    fn bytes_are_no_key_of_a_computed_map() {
        let arena = Arena::new();
        let json = Json::Object(serde_json::Map::from_iter([("a".to_owned(), Json::Null)]));
        let mut map = MapBuilder::new();
        map.insert(Value::String("a"), Value::Null);
        let key = Value::Bytes(b"a");
        check("@in", &[key, Value::from(&json)], Value::Bool(false));
        fails(
            "@in",
            &[key, map.build(&arena)],
            "internal error: runtime error: hash of unhashable type types.Bytes",
        );
    }

    #[test]
    fn texts_are_measured_in_code_points_and_bytes_in_bytes() {
        let arena = Arena::new();
        check("size", &[Value::String("aä😀")], Value::Int(3));
        check("size", &[Value::Bytes("ä".as_bytes())], Value::Int(2));
        check("size", &[arena.list(&[Value::Null])], Value::Int(1));
        check("size", &[MapBuilder::new().build(&arena)], Value::Int(0));
        fails("size", &[Value::Int(1)], "no such overload: size");
    }
}
