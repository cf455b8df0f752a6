//! Tests that deeply nested expressions fail without a stack overflow.

use super::{ENVIRONMENTS, run};

fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    open.repeat(levels) + inner + &close.repeat(levels)
}

/// Checks that the deepest expression that the parser accepts has a value, and that deeper expressions are rejected.
fn check(open: &str, inner: &str, close: &str) {
    let env = &ENVIRONMENTS[1];
    let text = |levels| nested(open, inner, close, levels);
    let (mut accepted, mut refused) = (1_usize, 10_000);
    while accepted.saturating_add(1) < refused {
        let middle = accepted.midpoint(refused);
        match env.parse(&text(middle)) {
            Ok(_) => accepted = middle,
            Err(_) => refused = middle,
        }
    }
    assert!(
        (40..=250).contains(&accepted),
        "{open}{inner}{close}: {accepted} levels"
    );
    if let Err(message) = run(env, &text(accepted)) {
        panic!("{open}{inner}{close}, {accepted} times: {message:.200}");
    }
    for levels in [refused, 10_000] {
        let message = env.parse(&text(levels)).unwrap_err().to_string();
        let limited = ["recursion", "exceeds limit"]
            .iter()
            .any(|limit| message.contains(limit));
        assert!(limited, "{open}{inner}{close}, {levels} times: {message}");
    }
}

#[test]
fn the_deepest_expressions_fit_the_stack() {
    for (open, inner, close) in [
        ("(", "i", ")"),
        ("-(", "i", ")"),
        ("!(", "b", ")"),
        ("[", "i", "]"),
        ("[", "i", "][0]"),
        ("{1: ", "i", "}"),
        ("{'k': ", "i", "}.k"),
        ("dyn(", "i", ")"),
        ("int(", "i", ")"),
        ("size([", "i", "])"),
        ("math.greatest(", "i", ", 1)"),
        ("sets.contains([", "b", "], [true])"),
        ("s.replace(", "s", ", 'a')"),
        ("s.format([", "s", "])"),
        ("b ? i : ", "i", ""),
        ("b ? (", "i", ") : 0"),
        ("i == 1 || (", "b", ")"),
        ("i == 7 && (", "b", ")"),
        ("1 + (", "i", ")"),
        ("i < 1 ? 2 : 1 + (", "i", ")"),
        ("d == {'a': (", "d", ")}"),
        ("(", "i", " in l ? 7 : 0)"),
        ("[0][", "0", "]"),
        ("[1].all(x, ", "x > 0", ")"),
        ("[1].exists_one(x, ", "x > 2", ")"),
        ("l.map(x, x > 2, ", "x", ")"),
        ("m.transformMap(k, v, ", "v", ")"),
        ("m.transformList(k, v, true, ", "v", ")"),
        ("cel.bind(x, i, ", "x", ")"),
        ("optional.of(", "i", ")"),
        ("optional.of(i).or(", "optional.of(i)", ")"),
        ("optional.none().orValue(", "i", ")"),
        ("optional.of(", "i", ").value()"),
        ("optional.of(i).optMap(x, ", "x", ")"),
        ("optional.of(i).optFlatMap(x, ", "optional.of(x)", ")"),
    ] {
        check(open, inner, close);
    }
}

#[test]
fn types_are_limited_in_depth() {
    let env = &ENVIRONMENTS[1];
    let deep = |name: &str| nested("[", name, "]", 240);
    let map = format!(".map(a, {})", deep("a"));
    let bind = format!("cel.bind(a, {}, {})", deep("0"), deep("a"));
    assert_eq!(run(env, &format!("l{map}{map}.size()")).as_deref(), Ok("3"));
    assert_eq!(run(env, &format!("{bind}.size()")).as_deref(), Ok("1"));
    for start in ["l", bind.as_str()] {
        for times in [3, 190] {
            let message = run(env, &format!("{start}{}.size()", map.repeat(times))).unwrap_err();
            assert!(
                message.contains("the types of the expression are too large"),
                "{start}, {times}: {message:.200}"
            );
        }
    }
}

#[test]
fn the_longest_chains_fit_the_stack() {
    for (start, link, longest) in [
        ("i", " + 1", 250),
        ("s", " + s", 250),
        ("d.a", ".b", 249),
        ("d.a", ".?b", 249),
        ("d", "[0]", 250),
        ("d", "[?0]", 250),
        ("s", ".trim()", 250),
        ("l", ".map(x, x)", 250),
        ("l", ".sortBy(x, -x)", 250),
        ("b", " == true", 250),
    ] {
        let run = |links| run(&ENVIRONMENTS[1], &(start.to_owned() + &link.repeat(links)));
        let message = run(longest).err().unwrap_or_default();
        assert!(
            !message.contains("max recursion depth exceeded"),
            "{start}{link}: {message}"
        );
        for links in [longest + 1, 5_000] {
            let message = run(links).unwrap_err();
            assert!(
                message.contains("max recursion depth exceeded"),
                "{start}{link} {links} times: {message}"
            );
        }
    }
    for (start, link) in [
        ("b", " || b"),
        ("!b", " && b"),
        ("b", " ? b : b"),
        ("!b", ""),
    ] {
        super::survives(&(start.to_owned() + &link.repeat(10_000)));
    }
}

#[test]
fn ten_thousand_brackets_are_an_error() {
    for open in [
        "(", "[", "{", "f(", "a.f(", "a[", "{1:", "M{a:", "-(", "!(", "a ? ", "a.", "l.map(x,",
        "[(", "{[(",
    ] {
        for close in ["", "1", ")", "]", "}"] {
            let text = nested(open, "1", close, 10_000);
            for env in ENVIRONMENTS.iter() {
                assert!(run(env, &text).is_err(), "{open}{close}");
            }
        }
    }
    for open in [
        "!", "-", "!-", "'", "\"\"\"", "`", "//", ")", "]", "}", ".", ",", ":", "?", "\\", "$",
    ] {
        super::survives(&nested(open, "1", "", 10_000));
    }
}
