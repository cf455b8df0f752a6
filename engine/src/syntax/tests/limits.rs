//! Tests of the limits of size and depth. The limits protect the thread's stack.

use super::*;

fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    open.repeat(levels) + inner + &close.repeat(levels)
}

#[test]
fn expressions_are_limited_in_length() {
    assert!(parse_expr(&format!("'{}'", "\u{e9}".repeat(99_998))).is_ok());
    let longer = format!("'{}'", "\u{e9}".repeat(99_999));
    assert_eq!(
        issues(&longer),
        ["-1:0 expression code point size exceeds limit: size: 100001, limit 100000"]
    );
}

#[test]
fn rules_are_limited_in_depth() {
    let too_deep = ["-1:0 expression recursion limit exceeded: 250"];
    for (open, inner, close, most) in [
        ("(", "1", ")", 249),
        ("[", "1", "]", 249),
        ("{1: ", "1", "}", 249),
        ("M{a: ", "1", "}", 249),
        ("f(", "1", ")", 249),
        ("-(", "1", ")", 249),
        ("a ? b : ", "c", "", 249),
        ("1 + (", "1", ")", 124),
        ("1 < (", "1", ")", 124),
        ("1 + 2 * (", "1", ")", 83),
        ("l.map(x, ", "x", ")", 249),
    ] {
        assert_eq!(issues(&nested(open, inner, close, most)), [""; 0], "{open}");
        assert_eq!(
            issues(&nested(open, inner, close, most + 1)),
            too_deep,
            "{open}"
        );
    }
    assert_eq!(issues(&"[".repeat(10_000)), too_deep);
}

#[test]
fn trees_are_limited_in_height() {
    let too_high = ["-1:0 max recursion depth exceeded"];
    for (first, more) in [
        ("1", " + 1"),
        ("a", ".b"),
        ("a", "[0]"),
        ("a", ".f()"),
        ("a", " < b"),
    ] {
        assert_eq!(
            issues(&(first.to_owned() + &more.repeat(250))),
            [""; 0],
            "{more}"
        );
        assert_eq!(
            issues(&(first.to_owned() + &more.repeat(251))),
            too_high,
            "{more}"
        );
    }
    assert!(parse_expr(&("a".to_owned() + &" || a".repeat(5000))).is_ok());
    assert!(parse_expr(&("!".repeat(5000) + "a")).is_ok());
}

#[test]
fn recovery_is_limited() {
    assert_eq!(
        issues(&") ".repeat(400)),
        [
            "-1:0 error recovery token lookahead limit exceeded: 256",
            &issues(")")[0]
        ],
    );
    let recoveries = issues(&"[)".repeat(40));
    assert_eq!(
        recoveries.last().unwrap(),
        "1:81 Syntax error: error recovery attempt limit exceeded: 30"
    );
    let many = parse_expr(&"$".repeat(150)).unwrap_err();
    assert_eq!(many.len(), 100);
    assert!(many.to_string().ends_with("\n1 more errors were truncated"));
}

#[test]
fn expansions_are_limited_in_size() {
    let expr = "a".to_owned() + &".optMap(x, x)".repeat(10);
    assert!(parse_expr(&expr).is_ok());
    let expr = "a".to_owned() + &".optMap(x, x)".repeat(100);
    let [issue] = &issues(&expr)[..] else {
        panic!("one issue")
    };
    assert!(
        issue.ends_with("macros expand the expression to more than 250000 nodes"),
        "{issue}"
    );
}

/// The stack of a test thread has 2 MiB. Code that is not optimized needs the most stack.
#[test]
fn the_deepest_trees_fit_the_stack() {
    for (open, inner, close, levels) in [
        ("[", "", "]", 249),
        ("M{a: ", "1", "}", 249),
        ("f(", "for", ")", 249),
        ("l.map(x, x, ", "x", ")", 249),
        ("m.transformMap(k, v, true, ", "x", ")", 249),
        ("o.optMap(x, ", "x", ")", 249),
        ("a || a && a || !{a: [a.f(", "for", ")]}", 83),
        ("a || a && a || !{a: [a.f(", "b", ")]}", 83),
    ] {
        let parsed = parse_expr(&nested(open, inner, close, levels));
        assert_eq!(parsed.clone().is_ok(), inner != "for", "{open}");
    }
    let copied = nested("l.map(x, x, ", "x", ")", 249) + ".optMap(x, x)";
    assert!(parse_expr(&copied).is_ok());
}
