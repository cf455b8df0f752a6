use gavel_engine::cost::{CallSite, Cost, Formula, SizeEstimate};
use gavel_engine::types::Type;
use gavel_engine::value::{Duration, Json};
use gavel_engine::value::{List, Value};

use super::*;
use crate::testing::check as check_row;
use crate::testing::{double, int, string, uint};

#[track_caller]
fn check(id: &str, arguments: &[Value<'_>], expected: Result<&str, &str>) {
    check_row(LISTS, id, arguments, expected);
}

fn unsorted() -> [Value<'static>; 3] {
    [int(3), int(1), int(2)]
}

#[test]
fn slices() {
    let slice = |start, end, expected| {
        check(
            "list_slice",
            &[Value::from(&unsorted()), int(start), int(end)],
            expected,
        )
    };
    slice(1, 3, Ok("[1, 2]"));
    slice(3, 3, Ok("[]"));
    slice(
        2,
        1,
        Err("cannot slice(2, 1), start index must be less than or equal to end index"),
    );
    slice(
        -1,
        1,
        Err("cannot slice(-1, 1), negative indexes not supported"),
    );
    slice(
        1,
        -1,
        Err("cannot slice(1, -1), negative indexes not supported"),
    );
    slice(1, 4, Err("cannot slice(1, 4), list is length 3"));
    let json = [Json::from("a"), Json::from(1)];
    check(
        "list_slice",
        &[Value::from(json.as_slice()), int(1), int(2)],
        Ok("[1]"),
    );
}

#[test]
fn slices_of_ranges() {
    let arena = gavel_engine::value::Arena::new();
    let call = gavel_engine::decl::CallContext::new(&arena);
    let range = bodies::range(&call, 1 << 40);
    check("list_slice", &[range, int(7), int(9)], Ok("[7, 8]"));
    let expected = format!(
        "cannot slice(0, {}), list is length {}",
        i64::MAX,
        1_i64 << 40
    );
    check(
        "list_slice",
        &[range, int(0), int(i64::MAX)],
        Err(&expected),
    );
}

#[test]
fn flattens() {
    let (one, two) = ([int(1)], [int(2), int(3)]);
    let nested = [Value::from(&one), Value::from(&two)];
    let list = [Value::from(&nested), int(4), Value::from(List::EMPTY)];
    let list = Value::from(&list);
    check("list_flatten", &[list], Ok("[[1], [2, 3], 4]"));
    check(
        "list_flatten_int",
        &[list, int(0)],
        Ok("[[[1], [2, 3]], 4, []]"),
    );
    check("list_flatten_int", &[list, int(2)], Ok("[1, 2, 3, 4]"));
    check(
        "list_flatten_int",
        &[list, int(i64::MAX)],
        Ok("[1, 2, 3, 4]"),
    );
    check(
        "list_flatten_int",
        &[list, int(-1)],
        Err("level must be non-negative"),
    );
    check("list_flatten", &[Value::from(&unsorted())], Ok("[3, 1, 2]"));
    check(
        "list_flatten",
        &[int(1)],
        Err("no such overload: int.flatten()"),
    );
    check(
        "list_flatten_int",
        &[int(1), int(1)],
        Err("no such overload: int.flatten(int)"),
    );
    check(
        "list_flatten_int",
        &[Value::from(&unsorted()), string("a")],
        Err("no such overload: list(dyn).flatten(string)"),
    );
}

#[test]
fn makes_ranges() {
    check("lists_range", &[int(3)], Ok("[0, 1, 2]"));
    check("lists_range", &[int(-3)], Ok("[]"));
}

#[test]
fn reverses() {
    check("list_reverse", &[Value::from(&unsorted())], Ok("[2, 1, 3]"));
    check("list_reverse", &[Value::from(List::EMPTY)], Ok("[]"));
}

#[test]
fn keeps_the_first_of_equal_elements() {
    let list = [
        int(1),
        double(1.0),
        uint(1),
        string("a"),
        double(2.5),
        string("a"),
        double(2.5),
        int(2),
        double(f64::NAN),
        double(f64::NAN),
    ];
    check(
        "list_distinct",
        &[Value::from(&list)],
        Ok("[1, a, 2.5, 2, NaN, NaN]"),
    );
}

#[test]
fn sorts() {
    let sort = |list: &[_], expected| check("list_int_sort", &[Value::from(list)], expected);
    sort(&[], Ok("[]"));
    sort(&[int(3), int(-1), int(2)], Ok("[-1, 2, 3]"));
    sort(&[string("b"), string("aé"), string("a")], Ok("[a, aé, b]"));
    sort(
        &[Value::from(true), Value::from(false)],
        Ok("[false, true]"),
    );
    sort(
        &[Value::from(Duration(2)), Value::from(Duration(1))],
        Ok("[1ns, 2ns]"),
    );
    sort(
        &[double(f64::NAN), double(1.0), double(0.5)],
        Ok("[NaN, 0.5, 1]"),
    );
    sort(
        &[int(1), uint(1)],
        Err("list elements must have the same type"),
    );
    sort(&[Value::NULL], Err("list elements must be comparable"));
    sort(
        &[Value::from(List::EMPTY)],
        Err("list elements must be comparable"),
    );
    check("list_int_sort", &[int(1)], Err("no such overload: sort"));
    check("list_int_sort", &[string("a")], Err("no such overload"));
}

#[test]
fn sorts_by_keys() {
    let sort = |keys: &[_], expected| {
        check(
            "list_int_sortByAssociatedKeys",
            &[Value::from(&unsorted()), Value::from(keys)],
            expected,
        );
    };
    sort(&[string("c"), string("b"), string("a")], Ok("[2, 1, 3]"));
    sort(&[int(1), int(1), int(0)], Ok("[2, 3, 1]"));
    sort(
        &[int(1)],
        Err(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got 3 and 1 \
             elements respectively",
        ),
    );
}

/// A call with known int literals as arguments and a receiver of known size.
struct Call<'s>(&'s [Option<i64>], SizeEstimate);

impl CallSite for Call<'_> {
    fn arguments(&self) -> usize {
        self.0.len()
    }

    fn has_target(&self) -> bool {
        true
    }

    fn known_size(&self, _argument: usize) -> Option<SizeEstimate> {
        Some(self.1)
    }

    fn argument_type(&self, _argument: usize) -> &Type {
        &Type::Dyn
    }

    fn element_size(&self, _argument: usize) -> Option<SizeEstimate> {
        None
    }

    fn int_literal(&self, argument: usize) -> Option<i64> {
        self.0.get(argument).copied().flatten()
    }
}

#[test]
fn estimates() {
    #[track_caller]
    fn check(cost: Cost, arguments: &[Option<i64>], expected: (u64, u64), size: (u64, u64)) {
        let Formula::Split { estimate, .. } = cost.formula else {
            panic!("lists are tracked by other formulas than they are estimated");
        };
        let estimate = estimate(&Call(arguments, SizeEstimate { min: 1, max: 4 }));
        assert_eq!((estimate.cost.min, estimate.cost.max), expected);
        let actual = estimate.result_size.unwrap();
        assert_eq!((actual.min, actual.max), size);
    }
    check(cost::SLICE, &[None, Some(1), Some(3)], (13, 13), (2, 2));
    check(cost::SLICE, &[None, None, None], (15, 15), (4, 4));
    check(
        cost::SLICE,
        &[None, Some(2), Some(1)],
        (u64::MAX, u64::MAX),
        (u64::MAX, u64::MAX),
    );
    check(cost::SLICE, &[None, Some(-2), Some(1)], (12, 12), (1, 1));
    check(cost::RANGE, &[Some(3)], (14, 14), (3, 3));
    check(
        cost::RANGE,
        &[None],
        (u64::MAX, u64::MAX),
        (u64::MAX, u64::MAX),
    );
    check(cost::FLATTEN, &[None], (12, 15), (1, 4));
    check(cost::FLATTEN, &[None, Some(2)], (13, 19), (1, 4));
    check(cost::FLATTEN, &[None, Some(0)], (11, 11), (1, 4));
    check(cost::FLATTEN, &[None, None], (u64::MAX, u64::MAX), (1, 4));
    check(cost::REVERSE, &[None], (12, 15), (1, 4));
    check(cost::DISTINCT, &[None], (13, 43), (1, 16));
    check(cost::SORT_TEXTS, &[None], (14, 45), (1, 16));
    check(cost::SORT_TEXTS_BY, &[None, None], (14, 45), (1, 16));
}

#[test]
fn tracked_costs() {
    #[track_caller]
    fn check(cost: Cost, arguments: &[Option<Value<'_>>], expected: Result<u64, &str>) {
        let arguments: Vec<_> = arguments.iter().map(Option::as_ref).collect();
        let units = cost.track(&arguments, Some(&Value::from(&unsorted())));
        assert_eq!(
            units.as_ref().copied().map_err(|error| error.message()),
            expected
        );
    }
    let list = unsorted();
    let list = Some(Value::from(&list));
    check(cost::SLICE, &[None], Ok(14));
    check(cost::REVERSE, &[None], Ok(14));
    check(cost::FLATTEN, &[list], Ok(14));
    check(cost::FLATTEN, &[None], Ok(12));
    check(cost::FLATTEN, &[list, Some(int(2))], Ok(17));
    check(cost::FLATTEN, &[list, Some(int(-1))], Ok(8));
    check(
        cost::FLATTEN,
        &[list, Some(int(i64::MAX))],
        Ok((1 << 63) + 11),
    );
    check(
        cost::FLATTEN,
        &[list, Some(int(1 << 62))],
        Ok(13_835_058_055_282_163_723),
    );
    check(
        cost::FLATTEN,
        &[list, Some(string("a"))],
        Err("internal error: interface conversion: ref.Val is types.String, not types.Int"),
    );
    check(
        cost::FLATTEN,
        &[list, None],
        Err("internal error: interface conversion: ref.Val is *types.Err, not types.Int"),
    );
    let texts = [string("a"), string("b"), string("c")];
    let texts = Some(Value::from(&texts));
    check(cost::DISTINCT, &[list], Ok(29));
    check(cost::DISTINCT, &[texts], Ok(29));
    check(cost::SORT, &[Some(Value::from(List::EMPTY))], Ok(11));
    check(cost::SORT_BY, &[list, texts], Ok(29));
    for (value, expected) in [
        (None, "*types.Err is not traits.Lister: missing method Add"),
        (
            Some(Value::NULL),
            "types.Null is not traits.Lister: missing method Add",
        ),
        (
            Some(int(1)),
            "types.Int is not traits.Lister: missing method Contains",
        ),
    ] {
        let expected = format!("internal error: interface conversion: {expected}");
        check(cost::DISTINCT, &[value], Err(&expected));
        check(cost::SORT_TEXTS_BY, &[list, value], Err(&expected));
    }
}
