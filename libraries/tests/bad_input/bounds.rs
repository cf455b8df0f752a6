//! Tests that interrupts and the memory limit stop every evaluation, and that `||`, `&&` and macros do not absorb these errors.

use std::sync::atomic::{AtomicU32, Ordering};

use gavel_engine::env::Env;
use gavel_engine::error::{EvalError, EvalErrorKind};
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::value::{Arena, Json, MEMORY_LIMIT};
use serde_json::json;

use super::ENVIRONMENTS;

/// The error of an evaluation, and the bytes that its arena has allocated. The variable `d` is bound to `document`.
fn failure(
    text: &str,
    document: &Json,
    arena: &Arena,
    options: &EvalOptions<'_>,
) -> (EvalError, usize) {
    let compile = |env: &Env| Some(env.plan(&env.compile(text).ok()?).unwrap());
    let program = ENVIRONMENTS.iter().find_map(compile).expect(text);
    let mut activation = Activation::new();
    activation.bind("d", document);
    let evaluation = program.eval(&activation, arena, options);
    match evaluation.result {
        Err(error) => (error, arena.allocated_bytes()),
        Ok(_) => panic!("{text} ends in time"),
    }
}

/// A document that is large enough for the expressions below to take long.
fn document() -> Json {
    let texts: Vec<_> = (0..20_000).map(|n| format!("element {n}")).collect();
    let numbers: Vec<_> = (0_i32..20_000)
        .map(|n| n.wrapping_mul(7919).rem_euclid(10_007))
        .collect();
    // Lists are not hashed, so the functions compare them one by one.
    let lists = |from: i32| {
        (from..)
            .take(1_000)
            .map(|n| json!([n, "x"]))
            .collect::<Vec<_>>()
    };
    json!({
        "s": "ab \"c".repeat(100_000),
        "p": "[ab]*a[ab]{300}c",
        "texts": texts, "same": texts, "numbers": numbers, "ones": vec![1; 20_000],
        "lists": lists(0), "others": lists(1_000),
        "map": texts.iter().map(|text| (text.clone(), json!(1))).collect::<serde_json::Map<_, _>>(),
    })
}

#[test]
fn each_call_that_takes_long_is_interrupted() {
    let document = document();
    for text in [
        "d.s.matches('[ab]*a[ab]{300}c')",
        "d.s.matches(d.p)",
        "d.s.replace('a', 'bb').size() > 0",
        "d.s.replace('', 'b').size() > 0",
        "d.s.split('').size() > 0",
        "d.s.split('a').size() > 0",
        "d.s.reverse() == ''",
        "d.s.upperAscii() == ''",
        "strings.quote(d.s) == ''",
        "d.texts.join(',') == ''",
        "'%s'.format([d.texts]) == ''",
        "'%s'.format([d.map]) == ''",
        "'%x'.format([d.s]) == ''",
        "d.texts == d.same",
        "d.texts != d.same",
        "d.map != d.map",
        "'z' in d.texts",
        "-1 in d.numbers",
        "sets.contains(d.lists, d.others)",
        "sets.contains(d.lists, d.lists)",
        "sets.equivalent(d.texts, d.same)",
        "sets.intersects(d.lists, d.others)",
        "d.lists.distinct() == []",
        "d.texts.distinct() == []",
        "d.numbers.sort() == []",
        "d.texts.sort() == []",
        "d.numbers.sortBy(x, -x) == []",
        "d.texts.reverse() == []",
        "[d.texts, d.texts].flatten() == []",
        "math.greatest(d.numbers) > 1000000",
        "d.numbers.all(x, x >= 0)",
        "d.numbers.exists_one(x, false)",
        "d.numbers.map(x, x).size() > 0",
        "d.texts.transformMap(i, v, v).size() > 0",
        "d.texts.transformMapEntry(i, v, {v: i}).size() > 0",
    ] {
        let checks = AtomicU32::new(0);
        let interrupt = || checks.fetch_add(1, Ordering::Relaxed) >= 1;
        let options = EvalOptions {
            interrupt: Some(&interrupt),
            ..EvalOptions::default()
        };
        for text in [
            text.to_owned(),
            format!("{text} || true"),
            format!("[1].exists(x, {text})"),
        ] {
            checks.store(0, Ordering::Relaxed);
            let (error, _) = failure(&text, &document, &Arena::new(), &options);
            assert_eq!(error.kind(), EvalErrorKind::Interrupted, "{text}: {error}");
        }
    }
}

#[test]
fn long_work_checks_the_interrupt_often() {
    let document = document();
    for (text, asks) in [
        ("d.s.matches('[ab]*a[ab]{300}c')", 200),
        ("d.s.findAll('a.*z|a').size() < 0", 200),
        ("d.s.replace('', 'b').size() > 0", 20),
        ("d.texts == d.same", 5),
        ("sets.intersects(d.lists, d.others)", 100),
        ("d.numbers.sort() == []", 50),
        ("d.numbers.all(x, x >= 0)", 30),
    ] {
        let checks = AtomicU32::new(0);
        let interrupt = || checks.fetch_add(1, Ordering::Relaxed) >= asks;
        let options = EvalOptions {
            interrupt: Some(&interrupt),
            ..EvalOptions::default()
        };
        let (error, _) = failure(text, &document, &Arena::new(), &options);
        assert_eq!(error.kind(), EvalErrorKind::Interrupted, "{text}: {error}");
    }
}

#[test]
fn memory_is_bounded_and_nothing_absorbs_the_error() {
    let document = json!({
        "s": "a".repeat(10_000),
        "t": "b".repeat(200),
        "items": vec![json!({"spec": vec!["x".repeat(1_000); 300]}); 200],
        "texts": vec!["a text"; 1_000],
    });
    let check = |text: &str, arena: &Arena, limit: usize| {
        let (error, held) = failure(text, &document, arena, &EvalOptions::default());
        assert_eq!(error.kind(), EvalErrorKind::MemoryLimit, "{text}: {error}");
        assert!(held <= limit + (1 << 20), "{text}: {held}");
    };
    for text in [
        "lists.range(100).map(i, d.s.replace('a', d.t)).size() > 0",
        "lists.range(100).exists(i, d.s.replace('a', d.t + string(i)) == '')",
        "d.items.all(item, 'item %s'.format([item.spec]) != '')",
        "lists.range(100).all(i, d.texts.map(t, [t, t, t, t]).size() > 0)",
        "lists.range(100000).map(i, [i]).size() > 0",
        "lists.range(100000).transformMap(i, v, v).size() > 0",
        "lists.range(100000).map(i, i).distinct().size() > 0",
        "lists.range(100).map(i, lists.range(10000).reverse()).size() > 0",
        "lists.range(100).map(i, d.s.split('')).size() > 0",
        "d.s.replace('a', d.s.replace('a', d.t)).size() > 0",
        "lists.range(1000).map(i, d.s).join('').size() > 0",
    ] {
        for text in [
            text.to_owned(),
            format!("{text} || true"),
            format!("!({text} && false)"),
            format!("[1, 2].exists(x, x == 2 || {text})"),
        ] {
            let arena = Arena::new();
            arena.set_limit(4 << 20);
            check(&text, &arena, 4 << 20);
        }
    }
    check(
        "lists.range(100).map(i, d.s.replace('a', d.t)).size() > 0",
        &Arena::new(),
        MEMORY_LIMIT,
    );
}
