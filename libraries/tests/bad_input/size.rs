//! Tests that large expressions are rejected or evaluated within their limits.

use super::{ENVIRONMENTS, run, survives};

/// Expressions of a million code points are rejected. Expressions just below the size limit are evaluated or fail.
#[test]
fn large_expressions_are_refused_or_answered() {
    for (start, part, end) in [
        ("'", "a", "'"),
        ("b'", "\\377", "'"),
        ("'''", "\\n\n", "'''"),
        ("[1", ", 1", "]"),
        ("{0: 1", ", 0: 1", "}"),
        ("b", " && b", ""),
        ("b", " || !b", ""),
        ("i", " // a", "\n"),
        ("//", "x", "\ni"),
        ("", " ", "i"),
        ("", "\n", "i"),
        ("a", "a", ""),
        ("1", "0", ""),
        ("0x", "f", ""),
        ("1.", "0", "1"),
        ("1e", "9", ""),
        ("s.format([s", ", s", "])"),
        ("[i", ", i]+[i", "]"),
        ("[l", ".size(), l", "]"),
        ("[l", ".map(x, x), l", "]"),
        ("[b", " ? i : i, b", "]"),
        ("s.matches('", "(a*)*", "')"),
        ("i", " $ ", ""),
        ("i", " i ", ""),
        ("'", "\u{10ffff}", "'"),
        ("math.greatest(1", ", 1", ")"),
    ] {
        let text = |size: usize| {
            let parts = (size - start.len() - end.len()) / part.chars().count();
            format!("{start}{}{end}", part.repeat(parts))
        };
        for env in ENVIRONMENTS.iter() {
            let message = run(env, &text(1_000_000)).unwrap_err();
            assert!(
                message.contains("expression code point size exceeds limit"),
                "{start}{part}{end}: {message}"
            );
        }
        drop(run(&ENVIRONMENTS[1], &text(99_990)));
    }
}

#[test]
fn expansions_of_macros_are_bounded() {
    for link in [
        ".optMap(x, x)",
        ".optFlatMap(x, x)",
        ".optMap(x, [x, x])",
        ".map(x, x)",
        ".sortBy(x, x)",
    ] {
        for start in ["optional.of(1)", "d", "[1]"] {
            for links in [12, 60, 240] {
                drop(run(
                    &ENVIRONMENTS[1],
                    &(start.to_owned() + &link.repeat(links)),
                ));
            }
        }
    }
}

#[test]
fn patterns_are_bounded() {
    let long = "a".repeat(1_000);
    for pattern in [
        "(a{0,1000}){0,1000}",
        "((a{1000}){1000}){1000}",
        "(a*)*b",
        "(a|a)*b",
        "((((((((((a+)+)+)+)+)+)+)+)+)+)b",
        "(x+x+)+y",
        "\\\\pL{1000}",
        "(?i)\\\\p{L}{900}",
        "[\\\\x{0}-\\\\x{10ffff}]{1000}",
        "(((a{100}){100}){100})",
        "(?:a?){1000}a{1000}",
        "(((((((((((",
        "[[[[[[[",
        "a**",
        "(?P<n>a)(?P<n>b)",
        "\\\\8",
        "(?i",
        "a{1001}",
        "[z-a]",
        "\\\\",
    ] {
        drop(run(
            &ENVIRONMENTS[1],
            &format!("'{long}'.matches('{pattern}' + s.substring(4))"),
        ));
    }
    for open in ["(", "(?:", "[", "a|", "(a|", "a*", "(?i:", "\\\\Q"] {
        survives(&format!("s.matches('{}')", open.repeat(10_000)));
        survives(&format!(
            "s.matches('{}a{}')",
            open.repeat(990),
            ")".repeat(990)
        ));
        survives(&format!(
            "s.matches('{}a{}')",
            open.repeat(10_000),
            ")".repeat(10_000)
        ));
    }
}
