//! Tests with values that are deeply nested, shared many times, or large.

use std::sync::atomic::{AtomicU32, Ordering};

use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::value::{Arena, Json, OwnedValue, Value};

use super::{ENVIRONMENTS, run, run_with};

/// A document that is nested `levels` deep. It is leaked, because dropping it would overflow the stack.
fn deep(levels: usize) -> &'static Json {
    let document = (0..levels).fold(Json::Null, |inner, level| match level.is_multiple_of(2) {
        true => Json::Array(vec![inner]),
        false => Json::Object([("k".to_owned(), inner)].into_iter().collect()),
    });
    Box::leak(Box::new(document))
}

#[test]
fn deep_documents_are_read_compared_printed_and_copied() {
    let env = &ENVIRONMENTS[1];
    for levels in [399, 1_000, 10_000] {
        let document = deep(levels);
        for text in [
            "d",
            "d == d",
            "d != d",
            "d in [d]",
            "[d] + [d]",
            "{'a': d} == {'a': d}",
            "d in {'a': d}",
            "'%s'.format([d])",
            "'%d'.format([d])",
            "[d, d].distinct()",
            "[d].flatten(20000)",
            "[d].flatten()",
            "[d, 1].sort()",
            "lists.range(3).map(i, d)",
            "sets.contains([d], [d])",
            "sets.intersects([d], [1])",
            "optional.of(d) == optional.of(d)",
            "optional.ofNonZeroValue(d).value()",
            "d.a",
            "d[0]",
            "d['k']",
            "string(d)",
            "type(d)",
            "size(d)",
            "d.all(x, x == d)",
            "dyn(d) + 1",
            "int(d)",
            "{d: 1}",
            "[d, d].join()",
            "d == 1 ? 1 : optional.of(d).orValue(2)",
            "cel.bind(x, d, x == d)",
            "math.greatest([d])",
            "d.k.k.k.k",
        ] {
            drop(run_with(env, text, document));
        }
        assert_eq!(
            OwnedValue::copy_of(&Value::from(document)).is_ok(),
            levels < 400,
            "{levels}"
        );
    }
}

/// An expression whose innermost loop sees a list `x` with 2^`levels` leaves: at each level, both elements of a list are the same
/// list. Upstream would need years to visit every leaf.
fn doubled(levels: usize, then: &str) -> String {
    format!("[1]{}.map(x, {then})", ".map(x, [x, x])".repeat(levels))
}

/// An expression that evaluates `then` for a list `x` of 2^`times` elements: it concatenates a list with itself `times` times.
fn joined(times: usize, then: &str) -> String {
    format!("[[1]]{}.map(x, {then})", ".map(x, x + x)".repeat(times))
}

#[test]
fn lists_that_are_joined_with_themselves_take_bounded_memory() {
    let env = &ENVIRONMENTS[1];
    for then in ["x.size() == 4194304", "4194304 - 1 < x.size()"] {
        assert!(run(env, &joined(22, then)).is_ok(), "{then}");
    }
    let check = |text: &str| {
        let message = run(env, text).unwrap_err();
        assert!(message.contains("values are too large"), "{message:.200}");
    };
    check(&joined(23, "x.size()"));
    check(&joined(60, "x"));
    // The elements of a list taken out of an optional are separate values, so comparing two such lists visits every element.
    let nested = format!("[[1]]{}[0]", ".map(x, [x] + [x])".repeat(60));
    let size = format!("[optional.of({nested})].map(o, o.value().size())[0] == 2");
    assert!(run(env, &size).is_ok());
    check(&format!(
        "[optional.of({nested})].map(o, o.value() == o.value())"
    ));
}

#[test]
fn values_that_are_shared_many_times_over_take_bounded_time() {
    let check = |then: &str, expected: &str| {
        let message = run(&ENVIRONMENTS[1], &doubled(60, then)).unwrap_err();
        assert!(message.contains(expected), "{then}: {message:.200}");
    };
    check("x == x", "values are too large");
    check(
        "{'a': optional.of(x)} != {'a': optional.of(x)}",
        "values are too large",
    );
    check("[x].flatten(100)", "memory limit exceeded");
    check("'%s'.format([x])", "memory limit exceeded");
    let printed = run(&ENVIRONMENTS[1], &doubled(60, "x"));
    assert!(printed.unwrap().ends_with("..."));
}

#[test]
fn the_host_may_interrupt() {
    let env = &ENVIRONMENTS[1];
    for text in [
        "lists.range(1000000).all(x, x >= 0)",
        "lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))",
        "lists.range(1000000).map(x, x)",
        "lists.range(1000000).transformMap(k, v, v)",
        "lists.range(1000000).sortBy(x, -x)",
    ] {
        let checked = env.compile(text).unwrap();
        let program = env.plan(&checked).unwrap();
        let checks = AtomicU32::new(0);
        let interrupt = || checks.fetch_add(1, Ordering::Relaxed) >= 3;
        let options = EvalOptions {
            interrupt: Some(&interrupt),
            ..EvalOptions::default()
        };
        let (arena, activation) = (Arena::new(), Activation::new());
        let evaluation = program.eval(&activation, &arena, &options);
        assert_eq!(
            evaluation.result.unwrap_err().message(),
            "operation interrupted",
            "{text}"
        );
        assert_eq!(checks.load(Ordering::Relaxed), 4, "{text}");
    }
}

#[test]
fn the_cost_limit_bounds_time_and_memory() {
    for text in [
        "lists.range(9223372036854775807)",
        "lists.range(10000000)",
        "lists.range(-1)",
        "lists.range(10000).map(x, lists.range(10000))",
        "lists.range(10000).map(x, lists.range(10000).map(y, lists.range(10000)))",
        "'a'.replace('', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
        "lists.range(30).map(x, 'aaaaaaaaaa').join('aaaaaaaaaaaaaaa').replace('', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
        "'%1000000d'.format([1])",
        "'%.1000000f'.format([1.5])",
        "'%.999999999999f'.format([1.5])",
        "'%e'.format([1e300])",
        "'%.2000000000e'.format([1e300])",
        "'%b'.format([9223372036854775807])",
        "'%s%s'.format([l, [l, l]])",
        "math.bitShiftLeft(1, 9223372036854775807)",
        "duration('99999999999999999999999h')",
        "timestamp(9223372036854775807)",
        "int('99999999999999999999999999')",
        "double('1e99999999999999')",
        "double('1' + '0')",
        "uint(-1)",
        "'a'.substring(9223372036854775807)",
        "'abc'.charAt(-9223372036854775807 - 1)",
        "'a'.split('', 9223372036854775807)",
        "l.slice(-9223372036854775807, 9223372036854775807)",
        "[[l]].flatten(9223372036854775807)",
        "[1][9223372036854775807]",
        "-9223372036854775807 - 1 - 1",
        "(-9223372036854775807 - 1) / -1",
        "(-9223372036854775807 - 1) % -1",
        "timestamp('9999-12-31T23:59:59Z') + duration('1h')",
        "timestamp('0001-01-01T00:00:00Z') - duration('1h')",
        "'a'.lastIndexOf('b', 9223372036854775807)",
        "'a'.indexOf('b', -1)",
        "'x'.format([])",
        "'%'.format([])",
        "timestamp('2020-01-01T00:00:00Z').getHours('+99:99')",
        "timestamp(0).getHours('-99999999999:00')",
    ] {
        let outcome = run(&ENVIRONMENTS[1], text);
        let length = outcome.unwrap_or_else(|message| message).len();
        assert!((1..70_000).contains(&length), "{text}: {length}");
    }
}
