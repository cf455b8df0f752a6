//! Equality and membership (the `Equal` and `Contains` methods of cel-go's `common/types`).
//!
//! As in upstream's methods, the left operand decides how values are compared. If the comparison of two elements fails, for example of a
//! quantity with an int, upstream's lists and maps treat the elements as equal, and `in` skips the element.

use std::cmp::Ordering;

use super::list::ListRepr;
use super::map::MapRepr;
use super::number::{compare_int_double, compare_int_uint, compare_uint_double};
use super::{Arena, Host, Json, List, Map, Reach, Repr, Value, same_text};
use crate::error::EvalError;

impl Value<'_> {
    /// Whether `self == other`. Numbers of all types are compared by value, lists and maps by their elements. Otherwise, values of
    /// different types are never equal.
    ///
    /// # Errors
    ///
    /// A library's value or a host's list or map cannot be compared with `other`, JSON cannot be converted through its shape, or the values
    /// are too large or nested too deeply.
    pub fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        equals_within(self, other, &mut Reach::default())
    }

    /// Like [`equals`](Self::equals), but counts its work, so that the host can interrupt a long comparison, and compares the host's values by
    /// their types.
    ///
    /// # Errors
    ///
    /// The errors of `equals`, and an interrupt by the host.
    pub fn equals_with(&self, other: &Value<'_>, host: &Host<'_>) -> Result<bool, EvalError> {
        equals_within(self, other, &mut host.reach())
    }

    /// Like `equals_with`, as a part of a larger walk. `reach` is the remaining budget of the larger walk.
    ///
    /// # Errors
    ///
    /// The errors of `equals_with`, and an error if the walk visits too many elements.
    pub fn equals_within(
        &self,
        other: &Value<'_>,
        reach: &mut Reach<'_>,
    ) -> Result<bool, EvalError> {
        equals_within(self, other, reach)
    }

    /// Whether `self != other`. Values that cannot be compared count as different.
    ///
    /// # Errors
    ///
    /// The host interrupts the evaluation, or the values are too large to compare.
    pub fn differs_from(&self, other: &Value<'_>, host: &Host<'_>) -> Result<bool, EvalError> {
        holds(self.equals_with(other, host)).map(|equal| !equal)
    }
}

/// Whether `value in list`. Announces its work to the host.
///
/// # Errors
///
/// The host interrupts the evaluation, an element is too large to compare, or the host's own comparison fails.
pub fn list_contains(
    list: List<'_>,
    value: &Value<'_>,
    host: &Host<'_>,
) -> Result<bool, EvalError> {
    match (list, value) {
        // The most frequent case in rules. A text can only equal a text.
        (List(ListRepr::Json(items)), Value(Repr::String(text))) => {
            return json_contains(items, text, host);
        }
        (List(ListRepr::Values(values)), Value(Repr::String(text))) => {
            return values_contain(values, text, host);
        }
        (List(ListRepr::Shaped(items, shape)), _) => {
            return shape.list_contains(items, value, host);
        }
        (List(ListRepr::View(view)), _) => {
            if let Some(contains) = view.contains(value, host) {
                return contains;
            }
        }
        _ => {}
    }
    for element in list {
        let mut reach = host.reach();
        reach.step(value)?;
        if holds(equals_within(value, &element, &mut reach))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The units of work of the elements that are compared before the work is announced.
const PIECE: usize = 1 << 18;

/// The number of elements that are compared with a value before the work is announced.
fn piece(value: &Value<'_>) -> usize {
    PIECE.checked_div(value.work()).unwrap_or(1).max(1)
}

/// Whether a text is among the values.
fn values_contain(values: &[Value<'_>], text: &str, host: &Host<'_>) -> Result<bool, EvalError> {
    let value = Value(Repr::String(text));
    for piece in values.chunks(piece(&value)) {
        for element in piece {
            let found = match element.as_str() {
                Some(element) => same_text(element, text),
                None => holds(equals_within(&value, element, &mut host.reach()))?,
            };
            if found {
                return Ok(true);
            }
        }
        host.spend(piece.len().saturating_mul(value.work()))?;
    }
    Ok(false)
}

fn json_contains(items: &[Json], text: &str, host: &Host<'_>) -> Result<bool, EvalError> {
    let value = Value(Repr::String(text));
    for piece in items.chunks(piece(&value)) {
        let is_text = |item: &Json| item.as_str().is_some_and(|known| same_text(known, text));
        if piece.iter().any(is_text) {
            return Ok(true);
        }
        host.spend(piece.len().saturating_mul(value.work()))?;
    }
    Ok(false)
}

/// Whether `key in map`.
///
/// # Errors
///
/// `key` has a type that cannot be a key, the map is a [lazy map](super::MapView::is_lazy), the host's map fails, or the entry's JSON
/// cannot be converted through its shape.
pub fn map_contains(map: Map<'_>, key: &Value<'_>, host: &Host<'_>) -> Result<bool, EvalError> {
    if map.is_lazy() {
        return Err(EvalError::no_such_overload());
    }
    host.check_key(&map.into(), key)?;
    match map.get(key)? {
        Some(Value(Repr::Unread(json, shape))) => shape.look(json, |value| value.map(|_| true)),
        found => Ok(found.is_some()),
    }
}

fn equals_within(
    left: &Value<'_>,
    right: &Value<'_>,
    reach: &mut Reach<'_>,
) -> Result<bool, EvalError> {
    let equal = match (left, right) {
        (Value(Repr::Null), Value(Repr::Null)) => true,
        (Value(Repr::Null), _) | (_, Value(Repr::Null)) => false,
        (Value(Repr::String(l)), Value(Repr::String(r))) => l == r,
        (Value(Repr::Int(l)), Value(Repr::Int(r))) => l == r,
        (Value(Repr::Bool(l)), Value(Repr::Bool(r))) => l == r,
        (Value(Repr::Int(l)), Value(Repr::Uint(r))) => compare_int_uint(*l, *r) == Ordering::Equal,
        (Value(Repr::Int(l)), Value(Repr::Double(r))) => {
            compare_int_double(*l, *r) == Some(Ordering::Equal)
        }
        (Value(Repr::Uint(l)), Value(Repr::Uint(r))) => l == r,
        (Value(Repr::Uint(l)), Value(Repr::Int(r))) => compare_int_uint(*r, *l) == Ordering::Equal,
        (Value(Repr::Uint(l)), Value(Repr::Double(r))) => {
            compare_uint_double(*l, *r) == Some(Ordering::Equal)
        }
        (Value(Repr::Double(l)), Value(Repr::Double(r))) => l == r,
        (Value(Repr::Double(l)), Value(Repr::Int(r))) => {
            compare_int_double(*r, *l) == Some(Ordering::Equal)
        }
        (Value(Repr::Double(l)), Value(Repr::Uint(r))) => {
            compare_uint_double(*r, *l) == Some(Ordering::Equal)
        }
        (Value(Repr::Bytes(l)), Value(Repr::Bytes(r))) => l == r,
        (Value(Repr::Duration(l)), Value(Repr::Duration(r))) => l == r,
        (Value(Repr::Timestamp(l)), Value(Repr::Timestamp(r))) => l == r,
        (Value(Repr::Type(l)), Value(Repr::Type(r))) => l == r,
        (Value(Repr::Optional(l)), Value(Repr::Optional(r))) => match (l, r) {
            (None, None) => true,
            // Upstream calls the comparison method of the left value before it checks for null.
            (Some(Value(Repr::Opaque(l))), Some(r @ Value(Repr::Null))) => l.equals(r)?,
            (Some(l), Some(r)) => reach.within(1, |reach| equals_within(l, r, reach))?,
            _ => false,
        },
        (Value(Repr::Unread(..)), _) | (_, Value(Repr::Unread(..))) => {
            equals_read(*left, *right, reach)?
        }
        (Value(Repr::Object(l)), Value(Repr::Object(r))) => l.equals(r, reach)?,
        (Value(Repr::Opaque(l)), r) => {
            if let Value(Repr::Opaque(r)) = r
                && let Some(error) = r.held_error()
            {
                return Err(error.clone());
            }
            reach.step(left)?;
            l.equals(r)?
        }
        (Value(Repr::ShapedMap(l, shape)), r) => shape.map_equals(l, r, reach)?,
        (Value(Repr::ShapedList(l, shape)), r) => shape.list_equals(l, r, reach)?,
        (Value(Repr::ListView(l)), r) => match (l.equals(r, reach), r.as_list()) {
            (Some(equal), _) => equal?,
            (None, Some(r)) => lists_equal(List(ListRepr::View(*l)), r, reach)?,
            (None, None) => false,
        },
        (Value(Repr::MapView(l)), r) if l.is_lazy() => match r {
            Value(Repr::MapView(r)) if r.is_lazy() => std::ptr::addr_eq(*l, *r),
            _ => return Err(EvalError::no_such_overload()),
        },
        (Value(Repr::Items(_) | Repr::Fields(_) | Repr::JsonList(_) | Repr::JsonMap(_)), _)
            if let Some(equal) = reach.equals_by_type(left, right) =>
        {
            equal?
        }
        _ => match (left.as_list(), right.as_list()) {
            (Some(l), Some(r)) => lists_equal(l, r, reach)?,
            (None, None) => match (left.as_map(), right.as_map()) {
                (Some(l), Some(r)) => maps_equal(l, r, reach)?,
                _ => false,
            },
            _ => false,
        },
    };
    Ok(equal)
}

/// Compares values whose JSON must first be converted. If the left value cannot be converted, the comparison fails. If the right value
/// cannot be converted, the values are not equal, with one exception: the comparison fails if the left value is opaque or viewed through a
/// shape, because its own comparison converts the right value.
#[cold]
fn equals_read(
    left: Value<'_>,
    right: Value<'_>,
    reach: &mut Reach<'_>,
) -> Result<bool, EvalError> {
    reach.step(&left)?;
    reach.step(&right)?;
    let arena = Arena::new();
    let left = left.read(&arena)?;
    match (right.read(&arena), left) {
        (Ok(right), _) => equals_within(&left, &right, reach),
        (
            Err(error),
            Value(Repr::Opaque(_)) | Value(Repr::ShapedList(..)) | Value(Repr::ShapedMap(..)),
        ) => Err(error),
        (Err(_), _) => Ok(false),
    }
}

fn lists_equal(left: List<'_>, right: List<'_>, reach: &mut Reach<'_>) -> Result<bool, EvalError> {
    differs(lists_equal_strictly(left, right, reach)).map(|differ| !differ)
}

/// Whether two lists have equal elements. If a comparison of two elements fails, returns its error, unless two other elements differ. A
/// fatal error is returned at once.
pub(super) fn lists_equal_strictly(
    left: List<'_>,
    right: List<'_>,
    reach: &mut Reach<'_>,
) -> Result<bool, EvalError> {
    if left.len() != right.len() {
        return Ok(false);
    }
    reach.within(left.len(), |reach| {
        let mut equal = Ok(true);
        for (l, r) in left.iter().zip(right.iter()) {
            reach.step(&l)?;
            match equals_within(&l, &r, reach) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) if error.is_fatal() => return Err(error),
                failed => equal = equal.and(failed),
            }
        }
        equal
    })
}

fn maps_equal(left: Map<'_>, right: Map<'_>, reach: &mut Reach<'_>) -> Result<bool, EvalError> {
    if left.len() != right.len() {
        return Ok(false);
    }
    reach.within(left.len(), |reach| {
        for entry in left.iter() {
            let (key, l) = entry?;
            reach.step(&l)?;
            let r = match (right.get(&key), right) {
                (Ok(Some(r)), _) => r,
                // For a key that is not a text, upstream's map with a schema returns an error value as the entry. An error value equals
                // nothing.
                (Ok(None), _) | (Err(_), Map(MapRepr::Shaped(..))) => return Ok(false),
                (Err(error), _) => return Err(error),
            };
            if differs(equals_within(&l, &r, reach))? {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// Whether two elements are equal. A failed comparison counts as not equal, unless the error is fatal.
fn holds(equal: Result<bool, EvalError>) -> Result<bool, EvalError> {
    match equal {
        Err(error) if !error.is_fatal() => Ok(false),
        known => known,
    }
}

/// Whether two elements differ. A failed comparison counts as equal, unless the error is fatal.
fn differs(equal: Result<bool, EvalError>) -> Result<bool, EvalError> {
    match equal {
        Err(error) if !error.is_fatal() => Ok(false),
        known => known.map(|equal| !equal),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::value::{Arena, Json, MapBuilder};

    #[derive(Debug, Clone)]
    struct Incomparable;

    impl crate::value::Opaque for Incomparable {
        fn type_name(&self) -> &'static str {
            "incomparable"
        }

        fn equals(&self, _: &Value<'_>) -> Result<bool, EvalError> {
            Err(EvalError::no_such_overload())
        }

        fn to_text(&self) -> Cow<'_, str> {
            Cow::Borrowed("incomparable")
        }
    }

    fn check(left: Value<'_>, right: Value<'_>, expected: bool) {
        let actual = left.equals(&right).expect("comparable");
        assert_eq!(actual, expected, "{left:?} and {right:?}");
    }

    fn map<'a>(arena: &'a Arena, entries: &[(Value<'a>, Value<'a>)]) -> Value<'a> {
        let mut map = MapBuilder::new();
        for (key, value) in entries {
            map.insert(*key, *value);
        }
        map.build(arena)
    }

    #[test]
    fn numbers_are_equal_across_types() {
        check(Value::from(1), Value::from(1.0), true);
        check(Value::from(1_u64), Value::from(1), true);
        check(Value::from(-1), Value::from(u64::MAX), false);
        check(
            Value::from(9_007_199_254_740_993_i64),
            Value::from(9_007_199_254_740_992.0),
            true,
        );
        check(Value::from(f64::NAN), Value::from(f64::NAN), false);
    }

    #[test]
    fn other_types_are_never_equal() {
        check(Value::NULL, Value::NULL, true);
        check(Value::NULL, Value::from(0), false);
        check(Value::from("a"), Value::from(b"a"), false);
        check(Value::from(true), Value::from(1), false);
        check(Value::NONE, Value::NULL, false);
        check(Value::NONE, Value::NONE, true);
    }

    #[test]
    fn lists_and_maps_are_compared_by_elements_wherever_they_live() {
        let arena = Arena::new();
        let json: Json = serde_json::json!([1, {"a": null}]);
        let inner = map(&arena, &[(Value::from("a"), Value::NULL)]);
        let list = arena.list(&[Value::from(1.0), inner]);
        check(Value::from(&json), list, true);
        check(list, Value::from(&json), true);
        check(list, arena.list(&[inner]), false);
        check(list, inner, false);
    }

    #[test]
    fn keys_of_the_left_map_are_looked_up_in_the_right_one() {
        let arena = Arena::new();
        let double = map(&arena, &[(Value::from(1.0), Value::NULL)]);
        let int = map(&arena, &[(Value::from(1), Value::NULL)]);
        check(double, int, true);
        check(int, double, false);
    }

    #[test]
    fn incomparable_elements_of_containers_are_skipped() {
        let arena = Arena::new();
        let opaque = arena.opaque(Incomparable);
        let list = arena.list(&[opaque]);
        assert!(opaque.equals(&Value::from(1)).is_err());
        assert!(
            opaque
                .differs_from(&Value::from(1), &Host::default())
                .expect("an answer")
        );
        check(Value::from(1), opaque, false);
        check(opaque, Value::NULL, false);
        check(list, arena.list(&[Value::from(1)]), true);
        let found = list_contains(List::from(&[Value::from(1)]), &opaque, &Host::default());
        assert!(!found.expect("an answer"));
    }

    #[test]
    fn texts_are_found_among_values_as_in_json() {
        let arena = Arena::new();
        let json = serde_json::json!([1, "a", null, "b", ["c"], true]);
        let incomparable = arena.opaque(Incomparable);
        let computed: Vec<_> = Value::from(&json).as_list().unwrap().iter().collect();
        let computed = [&[incomparable], &*computed].concat();
        for text in ["a", "b", "c", ""] {
            let contains = |list| list_contains(list, &Value::from(text), &Host::default());
            let found = contains(List::from(&computed)).unwrap();
            let expected = contains(Value::from(&json).as_list().unwrap()).unwrap();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn long_walks_are_interrupted() {
        let arena = Arena::new();
        let ints: Vec<_> = (0_i64..100_000).map(Value::from).collect();
        let (left, right) = (arena.list(&ints), arena.list(&ints));
        let json = Json::from(vec!["a"; 100_000]);
        let texts = Value::from(&json).as_list().unwrap();
        for walk in [
            &(|work: &Host<'_>| left.equals_with(&right, work)) as &dyn Fn(&Host<'_>) -> _,
            &|work| left.differs_from(&right, work),
            &|work| list_contains(left.as_list().unwrap(), &Value::from(-1), work),
            &|work| list_contains(texts, &Value::from("b"), work),
            &|work| list_contains(left.as_list().unwrap(), &Value::from("b"), work),
        ] {
            assert!(walk(&Host::default()).is_ok());
            let error = walk(&Host::new(Some(&|| true), None)).unwrap_err();
            assert_eq!(error.message(), "operation interrupted");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let arena = Arena::new();
        let deep = (0..100_000).fold(Value::NULL, |value, _| arena.list(&[value]));
        assert!(deep.equals(&deep).expect_err("too deep").is_fatal());
    }
}
