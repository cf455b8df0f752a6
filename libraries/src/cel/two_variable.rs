//! What comprehensions with two variables expand to (cel-go `ext/comprehensions.go`); the macros are the parser's.

use gavel_engine::cost::Cost;
use gavel_engine::decl::{CallContext, Implementation, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::{MapBuilder, Value};

/// The functions.
pub const TWO_VARIABLE: &[Overload] = &[
    Overload {
        function: "cel.@mapInsert",
        id: "@mapInsert_map_key_value",
        signature: "(map(K, V), K, V) -> map(K, V)",
        implementation: Implementation::Typed(insert_entry),
        cost: Cost::ONE,
        example: "['a', 'b'].transformMap(i, v, v) == {0: 'a', 1: 'b'}",
    },
    Overload {
        function: "cel.@mapInsert",
        id: "@mapInsert_map_map",
        signature: "(map(K, V), map(K, V)) -> map(K, V)",
        implementation: Implementation::Typed(insert_map),
        cost: Cost::ONE,
        example: "{'a': 'x'}.transformMapEntry(k, v, {v: k}) == {'x': 'a'}",
    },
];

fn insert_entry<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [map, key, value] => insert(call, map, std::iter::once(Ok((key, value)))),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn insert_map<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [map, update] => {
            let update = update.as_map().ok_or_else(EvalError::no_such_overload)?;
            insert(call, map, update.iter())
        }
        _ => Err(EvalError::no_such_overload()),
    }
}

/// A map with more entries.
fn insert<'a>(
    call: &CallContext<'a>,
    map: Value<'a>,
    entries: impl Iterator<Item = Result<(Value<'a>, Value<'a>), EvalError>>,
) -> Result<Value<'a>, EvalError> {
    let map = map.as_map().ok_or_else(EvalError::no_such_overload)?;
    let mut inserted = MapBuilder::new();
    for entry in map.iter() {
        let (key, value) = entry?;
        inserted.insert(key, value);
    }
    for entry in entries {
        let (key, value) = entry?;
        inserted.insert_new(key, value)?;
    }
    Ok(inserted.build(call.arena))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use gavel_engine::value::Arena;

    #[test]
    fn inserts_keys_that_no_lookup_finds() {
        let arena = Arena::new();
        let map = |key, value| {
            let mut map = MapBuilder::new();
            map.insert(key, value);
            map.build(&arena)
        };
        let one = map(Value::Int(1), Value::String("a"));
        let entry = |key, expected| {
            let arguments = [one, key, Value::String("b")];
            check(
                TWO_VARIABLE,
                "@mapInsert_map_key_value",
                &arguments,
                expected,
            );
            let arguments = [one, map(key, Value::String("b"))];
            check(TWO_VARIABLE, "@mapInsert_map_map", &arguments, expected);
        };
        entry(Value::Int(2), Ok("{1: a, 2: b}"));
        entry(Value::String("1"), Ok("{1: a, 1: b}"));
        entry(Value::Int(1), Err("insert failed: key 1 already exists"));
        entry(Value::Uint(1), Err("insert failed: key 1 already exists"));
        entry(
            Value::Double(1.0),
            Err("insert failed: key 1 already exists"),
        );
    }
}
