//! Tests of the trees of valid expressions.

use super::*;
use crate::ast::unparse;

#[track_caller]
fn check(expr: &str, expected: &str) {
    assert_eq!(show(tree(expr).root()), expected, "{expr}");
}

#[test]
fn literals_have_their_values() {
    for (expr, expected) in [
        ("010", "10"),
        ("0x1F", "31"),
        ("-0x8000000000000000", "-9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("- 1", "-1"),
        ("0xFU", "15u"),
        ("18446744073709551615u", "18446744073709551615u"),
        (".5", "0.5"),
        ("1e3", "1000.0"),
        ("-1.5E-2", "-0.015"),
        ("1e-999", "0.0"),
        ("null", "null"),
        (
            r"'a\n\x41\101\u00e9\U0001F600\?\`'",
            "\"a\\nAA\u{e9}\u{1f600}?`\"",
        ),
        (r"'\377'", "\"\u{ff}\""),
        (r"r'\'", r#""\\""#),
        ("'''a'\r\nb'''", r#""a'\nb""#),
        ("\"\"\"\"\"\"", "\"\""),
        (r"b'\xff\377\u00e9'.x", ""),
        ("b'\u{e9}\\001'", "b[195, 169, 1]"),
        (r"bR'\'", "b[92]"),
    ] {
        if expected.is_empty() {
            assert_eq!(issues(expr), ["1:1 unable to unescape string"]);
        } else {
            check(expr, expected);
        }
    }
}

#[test]
fn operators_bind_as_in_the_grammar() {
    for (expr, expected) in [
        ("a ? b : c ? d : e", "_?_:_(a, b, _?_:_(c, d, e))"),
        ("a + b * c - d", "_-_(_+_(a, _*_(b, c)), d)"),
        ("a < b == c in d", "@in(_==_(_<_(a, b), c), d)"),
        ("a || b && c", "_||_(a, _&&_(b, c))"),
        ("a || b || c", "_||_(_||_(a, b), c)"),
        ("a || b || c || d", "_||_(_||_(a, b), _||_(c, d))"),
        (
            "a || b || c || d || e || f",
            "_||_(_||_(_||_(a, b), c), _||_(_||_(d, e), f))",
        ),
        ("a || (b || c)", "_||_(a, _||_(b, c))"),
        ("!a.b", "!_(a.b)"),
        ("!!a", "a"),
        ("!!!a", "!_(a)"),
        ("--1", "1"),
        ("---1", "-_(1)"),
        ("-(1)", "-_(1)"),
        ("-1u", "-_(1u)"),
        ("!-1", "!_(-1)"),
        ("4--4", "_-_(4, -4)"),
        ("x -1", "_-_(x, 1)"),
        ("-1.size()", "-1.size()"),
        ("1.e5", "1.e5"),
    ] {
        check(expr, expected);
    }
}

#[test]
fn members_calls_and_aggregates() {
    for (expr, expected) in [
        ("a.b.c(d)[e]", "_[_](a.b.c(d), e)"),
        ("a.?b[?c].d", "_[?_](_?._(a, \"b\"), c).d"),
        (".a.b(.c)", ".a.b(.c)"),
        (".f(x)", ".f(x)"),
        ("a.for.package()", "a.for.package()"),
        ("[,]", "[]"),
        ("[?a, b, ?c,]", "[?a, b, ?c]"),
        ("{,}", "{}"),
        ("{?a: b, c ? d : e: f,}", "{?a: b, _?_:_(c, d, e): f}"),
        (".a.b{}", ".a.b{}"),
        (
            "a . b // field by field\n{for: 1, ?c: 2,}",
            "a.b{for: 1, ?c: 2}",
        ),
        ("M{,}.x", "M{}.x"),
    ] {
        check(expr, expected);
    }
}

#[test]
fn macros_expand() {
    let cases = "\
has(a.b.c) => has(a.b.c)
has(has(a.b)) => has(a.b)
l.all(x, p) => fold(l, x, @result = true, @not_strictly_false(@result), _&&_(@result, p), @result)
l.exists(x, p) => fold(l, x, @result = false, @not_strictly_false(!_(@result)), _||_(@result, p), @result)
l.exists_one(x, p) => fold(l, x, @result = 0, true, _?_:_(p, _+_(@result, 1), @result), _==_(@result, 1))
l.map(x, t) => fold(l, x, @result = [], true, _+_(@result, [t]), @result)
l.map(x, p, t) => fold(l, x, @result = [], true, _?_:_(p, _+_(@result, [t]), @result), @result)
l.filter(x, p) => fold(l, x, @result = [], true, _?_:_(p, _+_(@result, [x]), @result), @result)
m.all(k, v, p) => fold(m, k v, @result = true, @not_strictly_false(@result), _&&_(@result, p), @result)
m.existsOne(k, v, p) => fold(m, k v, @result = 0, true, _?_:_(p, _+_(@result, 1), @result), _==_(@result, 1))
m.transformList(k, v, t) => fold(m, k v, @result = [], true, _+_(@result, [t]), @result)
m.transformMap(k, v, p, t) => fold(m, k v, @result = {}, true, _?_:_(p, cel.@mapInsert(@result, k, t), @result), @result)
m.transformMapEntry(k, v, e) => fold(m, k v, @result = {}, true, cel.@mapInsert(@result, e), @result)
o.optMap(v, t) => _?_:_(o.hasValue(), optional.of(fold([], #unused, v = o.value(), false, v, t)), optional.none())
o.optFlatMap(v, t) => _?_:_(o.hasValue(), fold([], #unused, v = o.value(), false, v, t), optional.none())
l.sortBy(x, k) => fold([], #unused, @__sortBy_input__ = l, false, @__sortBy_input__, @__sortBy_input__.@sortByAssociatedKeys(fold(@__sortBy_input__, x, @result = [], true, _+_(@result, [k]), @result)))
cel.bind(x, 1, x) => fold([], #unused, x = 1, false, x, x)
cel.block([1], cel.index(0)) => cel.@block([1], @index0)
l.map(cel.iterVar(0, 1), cel.accuVar(2, 3)) => fold(l, @it:0:1, @result = [], true, _+_(@result, [@ac:2:3]), @result)
";
    for case in cases.lines() {
        let (expr, expected) = case.split_once(" => ").unwrap();
        check(expr, expected);
    }
}

#[test]
fn other_calls_of_macros_names_are_calls() {
    for expr in [
        "has(a.b, c)",
        ".has(a.b)",
        "has()",
        "l.all(x)",
        "all(l, x, p)",
        "l.has(a.b)",
        "x.bind(a, b, c)",
        "a.cel.bind(a, b, c)",
    ] {
        check(expr, expr);
    }
}

#[test]
fn later_tables_replace_the_rows_of_earlier_ones() {
    fn zero(context: &mut MacroContext<'_>, _: MacroCall) -> Expansion {
        Ok(context.constant(Constant::Int(0)))
    }
    let any = Macro {
        name: "f",
        arguments: None,
        receiver: Receiver::None,
        expand: zero,
    };
    let has = Macro {
        name: "has",
        arguments: Some(1),
        receiver: Receiver::None,
        expand: zero,
    };
    let macros = Macros::new(&[STANDARD, &[any, has]]);
    let show_with = |expr| {
        show(
            parse(Source::new(expr), &ParserOptions::default(), &macros)
                .unwrap()
                .root(),
        )
    };
    assert_eq!(
        show_with("[f(), f(1, 2), has(a.b), a.f()]"),
        "[0, 0, 0, a.f()]"
    );
}

#[test]
fn nodes_are_placed_at_their_tokens() {
    let offset = |expr: &str| tree(expr).offset(tree(expr).root().id);
    for (expr, expected) in [
        (" 1", 1),
        ("  - 1", 2),
        (" .x", 2),
        ("'\u{1f600}' + a", 4),
        ("a . b", 2),
        ("a.?b", 1),
        ("a[?b]", 1),
        ("a ? b : c", 2),
        ("ab(c)", 2),
        ("a.bc(d)", 4),
        ("(a || b || c)", 8),
        ("!!!a", 0),
        ("l.all(x, p)", 5),
        ("a.b {}", 4),
    ] {
        assert_eq!(offset(expr), expected, "{expr}");
    }
    let map = tree("{'a'\n: 1}");
    let ExprKind::Map(entries) = map.root().kind() else {
        panic!("a map")
    };
    assert_eq!(map.offset(entries.iter().next().unwrap().id), 5);
    assert_eq!(map.source().location(5), Location { line: 2, column: 0 });
}

#[test]
fn ids_are_dense_and_unique() {
    let ast = tree("l.optMap(v, {v: [1, 'a'].map(x, x + T{a: b}.c)}).filter(x, has(x.y))");
    let mut ids: Vec<usize> = ast.walk().map(|expr| expr.id.index()).collect();
    let nodes = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), nodes);
    assert!(ids.iter().all(|id| (1..ast.id_bound()).contains(id)));
    // The ids that are not nodes: the unused id 0, map entries, fields, and the calls and names of macros.
    assert!(
        ast.id_bound() - nodes < 12,
        "{} ids for {nodes} nodes",
        ast.id_bound()
    );
}

#[test]
fn both_parsers_make_the_same_tree() {
    for expr in [
        "a ? b : c ? d : e",
        "a < b + c * -d - -1 || !e && --f && !!g",
        "a.b.?c[d][?e].f(g, h) == .i(j) + .k",
        "[a, ?b, {c: d, ?e: f,},].map(x, x in y, M.N{a: 1, ?b: 2u}.c)",
        "has(a.b) ? o.optMap(v, v.transformMap(k, w, {k: w})) : l.sortBy(x, -x)",
        "[1, 2.5, 'a', b'b', true, false, null, (1)]",
    ] {
        let source = Source::new(expr);
        let (options, macros) = (ParserOptions::default(), macros());
        let placed = |ast: Ast| {
            let offsets: Vec<_> = ast.walk().map(|expr| ast.offset(expr.id)).collect();
            format!("{:?} {offsets:?}", ast.root())
        };
        let first = parser::parse(source.clone(), &options, &macros).unwrap();
        let second = explain(&source, &options, &macros).unwrap();
        assert_eq!(placed(second), placed(first), "{expr}");
    }
}

#[test]
fn unparsing_needs_few_parentheses() {
    for (expr, expected) in [
        ("((a + b)) * (c)", "(a + b) * c"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a - b) - c", "a - b - c"),
        ("(a || b) || c", "a || b || c"),
        ("a || (b || c)", "a || (b || c)"),
        ("a && (b || c)", "a && (b || c)"),
        (
            "(a ? b : c) ? (d ? e : f) : (g ? h : i)",
            "(a ? b : c) ? (d ? e : f) : g ? h : i",
        ),
        ("-(1)", "-(1)"),
        ("-(-a)", "-(-a)"),
        ("-(1.b)", "-(1.b)"),
        ("-(-1[0])", "-(-1[0])"),
        ("!(a.b)", "!a.b"),
        ("(-a).b", "(-a).b"),
        ("-1.b", "-1.b"),
        ("(a + b).c(d)[e ? f : g]", "(a + b).c(d)[e ? f : g]"),
        ("a.?b[?c]", "a.?b[?c]"),
        ("{?a: [?b], 'c': M{?d: 1u}}", "{?a: [?b], \"c\": M{?d: 1u}}"),
        (
            "'\\'\"\\\\\\n\\u0001\u{e9}'",
            "\"'\\\"\\\\\\n\\u0001\u{e9}\"",
        ),
        ("b'\\xff\"a'", "b\"\\xff\\\"a\""),
        ("1e300 + 1.0", "1e300 + 1.0"),
        ("has(a.b)", "has(a.b)"),
    ] {
        assert_eq!(
            unparse(tree(expr).root()).as_deref(),
            Some(expected),
            "{expr}"
        );
        assert_eq!(
            show(tree(expected).root()),
            show(tree(expr).root()),
            "{expr}"
        );
    }
    assert_eq!(unparse(tree("l.all(x, p)").root()), None);
}

#[test]
fn escaped_identifiers_are_fields_where_allowed() {
    let options = ParserOptions {
        escaped_identifiers: true,
        ..ParserOptions::default()
    };
    let parse_with = |expr| parse(Source::new(expr), &options, &Macros::default());
    let ast = parse_with("a.`b-c`.?`in` == M{`d/e`: 1}").unwrap();
    assert_eq!(show(ast.root()), "_==_(_?._(a.b-c, \"in\"), M{d/e: 1})");
    assert_eq!(
        unparse(ast.root()).as_deref(),
        Some("a.`b-c`.?`in` == M{`d/e`: 1}")
    );
    assert!(parse_with("`a`").is_err());
    assert_eq!(issues("a.`b`"), ["1:3 unsupported syntax: '`'"]);
}
