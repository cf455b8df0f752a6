//! The functions in the expansions of comprehensions with two variables (cel-go `ext/comprehensions.go`); the macros belong to
//! the parser.

use gavel_engine::ast::operators::MAP_INSERT;
use gavel_engine::body;
use gavel_engine::decl::{CallContext, Overload, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Map, MapBuilder, Value};

/// The functions that expansions of two-variable macros call.
#[rustfmt::skip] // One row per line.
pub const TWO_VARIABLE: &[Overload] = &[
    row(MAP_INSERT, "@mapInsert_map_key_value", "(map(K, V), K, V) -> map(K, V)", body!(insert_entry), "['a', 'b'].transformMap(i, v, v) == {0: 'a', 1: 'b'}"),
    row(MAP_INSERT, "@mapInsert_map_map", "(map(K, V), map(K, V)) -> map(K, V)", body!(insert_map), "{'a': 'x'}.transformMapEntry(k, v, {v: k}) == {'x': 'a'}"),
];

fn insert_entry<'a>(
    call: &CallContext<'a>,
    map: Map<'a>,
    key: Value<'a>,
    value: Value<'a>,
) -> Result<Value<'a>, EvalError> {
    insert(call, map, std::iter::once(Ok((key, value))))
}

fn insert_map<'a>(
    call: &CallContext<'a>,
    map: Map<'a>,
    update: Map<'a>,
) -> Result<Value<'a>, EvalError> {
    insert(call, map, update.iter())
}

/// Counts the memory and work of one more entry.
fn grow<'a>(
    call: &CallContext<'a>,
    inserted: &MapBuilder<'a>,
    key: &Value<'a>,
) -> Result<(), EvalError> {
    call.arena.reserve(inserted.held_bytes())?;
    call.look(key)
}

/// A copy of `map` with `entries` added.
fn insert<'a>(
    call: &CallContext<'a>,
    map: Map<'a>,
    entries: impl Iterator<Item = Result<(Value<'a>, Value<'a>), EvalError>>,
) -> Result<Value<'a>, EvalError> {
    let mut inserted = MapBuilder::new();
    for entry in map.iter() {
        let (key, value) = entry?;
        grow(call, &inserted, &key)?;
        inserted.insert(key, value);
    }
    for entry in entries {
        let (key, value) = entry?;
        grow(call, &inserted, &key)?;
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
        let one = map(Value::from(1), Value::from("a"));
        let entry = |key, expected| {
            let arguments = [one, key, Value::from("b")];
            check(
                TWO_VARIABLE,
                "@mapInsert_map_key_value",
                &arguments,
                expected,
            );
            let arguments = [one, map(key, Value::from("b"))];
            check(TWO_VARIABLE, "@mapInsert_map_map", &arguments, expected);
        };
        entry(Value::from(2), Ok("{1: a, 2: b}"));
        entry(Value::from("1"), Ok("{1: a, 1: b}"));
        entry(Value::from(1), Err("insert failed: key 1 already exists"));
        entry(
            Value::from(1_u64),
            Err("insert failed: key 1 already exists"),
        );
        entry(Value::from(1.0), Err("insert failed: key 1 already exists"));
    }
}
