//! Tests of estimates, with and without sizes from the host. The expected costs come from upstream.
#![expect(clippy::unwrap_used, clippy::type_complexity, reason = "a test")]

use gavel_engine::cost::{CostEstimate, SizeEstimate};
use gavel_engine::env::Env;
use gavel_engine::estimate::{NoSizes, SizeSource, SizeTable, estimate};
use gavel_engine::stdlib;
use gavel_engine::syntax::{Macros, STANDARD, TWO_VARIABLE};

const VARIABLES: &[(&str, &str)] = &[
    ("s", "string"),
    ("t", "string"),
    ("by", "bytes"),
    ("b", "bool"),
    ("i", "int"),
    ("d", "dyn"),
    ("l", "list(int)"),
    ("ls", "list(string)"),
    ("m", "map(string, string)"),
    ("o", "map(string, list(map(string, string)))"),
    (
        "p",
        "map(string, map(string, list(map(string, list(int)))))",
    ),
    ("w", "map(string, list(map(string, list(int))))"),
];

const SIZES: &[(&str, u64, u64)] = &[
    ("s", 0, 25),
    ("t", 3, 11),
    ("ls", 1, 5),
    ("ls.@items", 0, 100),
    ("l", 0, 7),
    ("m", 0, 4),
    ("m.@keys", 1, 20),
    ("m.@values", 0, 300),
    ("m.foo", 2, 2000),
    ("w.items", 0, 10),
    ("w.items.@items.list", 0, 50),
    ("w.items.@items.mx", 0, 3),
    ("w.items.@items", 0, 2),
    ("o.a", 0, 6),
    ("o.a.@items", 0, 9),
    ("o.a.@items.k", 0, 40),
    ("o.a.@items.j", 0, 400),
    ("o.a.@items.@values", 0, 70),
    ("o.a.@items.@keys", 0, 30),
    ("int", 0, 0),
    ("i", 0, 0),
    ("@items", 0, 17),
    ("@keys", 0, 19),
    ("p.x", 0, 3),
    ("p.x.@keys", 0, 80),
    ("p.x.y", 0, 8),
    ("p.x.y.@items", 0, 5),
    ("p.x.y.@items.@keys", 0, 60),
    ("p.x.y.@items.@values", 0, 90),
    ("d", 0, 12),
    ("d.@keys", 0, 33),
    ("d.@values", 1, 44),
];

const MAX: u64 = u64::MAX;

/// Expressions with two estimates, each with its lowest and highest cost: first without sizes, then with [`SIZES`].
const CASES: &[(&str, (u64, u64), (u64, u64))] = &[
    ("1", (0, 0), (0, 0)),
    ("s", (1, 1), (1, 1)),
    ("s == t", (3, 1844674407370955266), (3, 4)),
    ("s == 's'", (2, 2), (2, 2)),
    ("i == 1", (2, 2), (1, 1)),
    ("i > 1", (2, 2), (2, 2)),
    ("int == type(i)", (4, 1844674407370955267), (3, 3)),
    ("type(i) == int", (4, 1844674407370955267), (3, 3)),
    ("s + t + 'abc'", (3, 3689348814741910530), (4, 10)),
    (
        "(s + t).contains('0123456789a')",
        (2, 5534023222112865794),
        (5, 14),
    ),
    ("s.startsWith(t)", (2, 1844674407370955266), (3, 4)),
    ("t.startsWith(s)", (2, 1844674407370955266), (2, 5)),
    ("s.matches(t)", (2, MAX), (3, 11)),
    ("matches(s, t)", (3, 3), (3, 3)),
    ("s.endsWith('0123456789012345678901')", (4, 4), (4, 4)),
    ("bytes(s)", (1, 1844674407370955265), (1, 4)),
    (
        "string(by)",
        (1, 1844674407370955265),
        (1, 1844674407370955265),
    ),
    ("string(bytes(s)) == t", (3, 5534023222112865794), (3, 17)),
    ("s in ls", (2, MAX), (3, 7)),
    ("s in ['a', t]", (14, 14), (14, 14)),
    ("s in m", (3, 3), (3, 3)),
    ("l + [1, 2]", (12, 12), (12, 12)),
    ("(l + [1, 2]).all(x, x > 0)", (19, MAX), (19, 58)),
    ("[1, 2, 3].all(x, x > 0)", (20, 26), (20, 26)),
    (
        "['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'].all(x, x.contains('bbbbbbbbbbbbbbbbbbbbbb'))",
        (14, 24),
        (14, 21),
    ),
    (
        "ls.all(x, x.contains('bbbbbbbbbbbbbbbbbbbbbb'))",
        (2, MAX),
        (5, 172),
    ),
    (
        "ls.map(x, x + 'a').all(y, y.contains('bbbbbbbbbbb'))",
        (13, MAX),
        (30, 173),
    ),
    (
        "ls.filter(x, x != '').exists(y, y == s)",
        (13, MAX),
        (19, 123),
    ),
    ("ls.exists_one(x, x == s)", (3, MAX), (7, 38)),
    ("m.all(k, m[k].contains(k))", (2, MAX), (2, 270)),
    ("m.all(k, v, v.contains(k))", (2, MAX), (2, 262)),
    (
        "m.foo.contains('0123456789a')",
        (2, 3689348814741910530),
        (4, 402),
    ),
    (
        "m['foo'].contains('0123456789a')",
        (2, 3689348814741910530),
        (2, 62),
    ),
    ("ls[0].contains(ls[1])", (4, MAX), (4, 104)),
    ("b ? s : t", (2, 2), (2, 2)),
    (
        "(b ? s : t).contains('0123456789a')",
        (2, 3689348814741910530),
        (2, 8),
    ),
    ("(b ? [s] : [t, t]).all(x, x == 'a')", (16, 24), (16, 24)),
    ("b && s == t || i > 0", (1, 1844674407370955269), (1, 7)),
    ("dyn(s) == dyn(t)", (5, 1844674407370955268), (5, 6)),
    (
        "dyn(s).contains('0123456789a')",
        (2, 3689348814741910530),
        (2, 8),
    ),
    (
        "dyn(ls).all(x, x.contains('bbbbbbbbbbb'))",
        (3, MAX),
        (6, 43),
    ),
    ("d + d", (2, 1844674407370955266), (2, 5)),
    ("d < d", (3, 1844674407370955266), (3, 4)),
    ("d.x.y.z == 1", (2, 2), (2, 2)),
    (
        "d[0].contains('0123456789a')",
        (2, 3689348814741910530),
        (4, 12),
    ),
    (
        "d.all(x, x == 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
        (2, MAX),
        (2, 98),
    ),
    (
        "d.all(k, v, v == 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
        (2, MAX),
        (2, 98),
    ),
    ("has(m.foo) && m.foo != ''", (1, 3), (1, 3)),
    ("{'a': s, t: 'b'}", (32, 32), (32, 32)),
    (
        "{'a': s, t: 'b'}.all(k, v, k == v)",
        (39, 3689348814741910571),
        (39, 47),
    ),
    ("[s, t].map(x, x)", (49, 49), (49, 49)),
    (
        "[[s], [t]].all(x, x.all(y, y == 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'))",
        (39, 59),
        (39, 315),
    ),
    ("[].all(x, x == 1)", (11, 11), (11, 11)),
    ("{}.all(x, x == 1)", (31, 31), (31, 31)),
    ("[].map(x, x)", (21, 21), (21, 21)),
    (
        "w.items.all(x, x.list.all(y, y > x.mx[0]))",
        (3, MAX),
        (3, 303),
    ),
    ("w.items.all(x, x.list.all(y, y > 0))", (3, MAX), (3, 2563)),
    (
        "w.items.all(x, x.list.size() > 0 && x.list.all(y, y > x.mx[0]))",
        (3, MAX),
        (3, 343),
    ),
    (
        "w.items.all(x, size(x.list) > 0 && x.list == x.mx)",
        (3, MAX),
        (3, 123),
    ),
    ("o.a.all(x, x.k.contains(x.j))", (3, MAX), (3, 1005)),
    ("o.a.all(x, x['k'].contains(x.j))", (3, MAX), (3, 1725)),
    ("o.a.all(x, x.zz.contains(x['k']))", (3, MAX), (3, MAX)),
    ("o.a.all(x, x['k'].contains(x.zz))", (3, MAX), (3, MAX)),
    ("o.a.all(x, x.zz == x.k)", (3, MAX), (3, 69)),
    ("o.a.all(x, x.k == x.zz)", (3, MAX), (3, 69)),
    (
        "o.a.all(x, x.all(k, v, k.contains(v)))",
        (3, MAX),
        (3, 2949),
    ),
    (
        "o.a.all(x, x.all(k, k.contains('0123456789a')))",
        (3, MAX),
        (3, 573),
    ),
    (
        "o.a.all(x, x.all(k, v, k.contains('0123456789a')))",
        (3, MAX),
        (3, 1005),
    ),
    ("o.a.all(x, x.exists(k, v, v == x.j))", (3, MAX), (3, 789)),
    (
        "o.a[0].all(k, v, k.contains('0123456789a'))",
        (4, MAX),
        (4, 166),
    ),
    (
        "p.x.all(k, v, k.contains('0123456789a'))",
        (3, MAX),
        (3, 63),
    ),
    (
        "p.x.y.all(z, z.all(k, v, k.contains('01234567890')))",
        (4, MAX),
        (4, 684),
    ),
    ("p.x.y.all(z, z.all(k, z.foo == z[k]))", (4, MAX), (4, 724)),
    ("p.x.y[0].all(k, v, size(v) > k.size())", (5, MAX), (5, 45)),
    (
        "l.map(x, x * 2).filter(y, y > 1).map(z, string(z))",
        (34, MAX),
        (34, 335),
    ),
    ("l.transformList(j, v, v + j)", (12, MAX), (12, 117)),
    ("[1, 2].exists(j, v, v > j)", (19, 25), (19, 25)),
    ("l.existsOne(j, v, v == j)", (3, MAX), (3, 38)),
    (
        "ls.all(x, ls.all(y, x == y || ls.all(z, z == x + y)))",
        (2, MAX),
        (5, 4952),
    ),
    (
        "ls.map(x, [x, x]).all(y, y.all(z, z.contains('01234567890')))",
        (13, MAX),
        (40, MAX),
    ),
    (
        "ls.map(x, {'k': x}).all(y, y.k.contains('01234567890'))",
        (13, MAX),
        (59, MAX),
    ),
    ("ls.map(s, s.contains(t)).all(b, b)", (13, MAX), (30, 203)),
    (
        "m.map(s, s).all(t, t.contains('01234567890'))",
        (13, MAX),
        (13, 97),
    ),
    ("[ls, ls + ls].all(x, x.size() > 0)", (21, 27), (21, 27)),
    ("(ls + ls).all(x, x == s)", (4, MAX), (10, 74)),
    (
        "(ls + [s, t]).all(x, x.contains('01234567890'))",
        (21, MAX),
        (24, 71),
    ),
    (
        "([s] + [t]).all(x, x.contains('01234567890'))",
        (30, 7378697629483821088),
        (30, 40),
    ),
    (
        "b ? ls.all(x, x == s) : ls.exists(x, x == t)",
        (3, MAX),
        (6, 43),
    ),
    (
        "google.protobuf.Int64Value{value: i} == 1",
        (42, 42),
        (42, 42),
    ),
    ("duration('1h') < duration('2h')", (3, 3), (3, 3)),
    ("timestamp(s).getFullYear() == 2020", (4, 4), (4, 4)),
    ("d.getHours() == 1", (3, 3), (3, 3)),
    ("string(d) == s", (3, 3689348814741910530), (3, 6)),
    ("int(d) + int(s)", (5, 5), (5, 5)),
    ("size(s) + size(ls) + s.size()", (8, 8), (8, 8)),
    ("-i + 1", (3, 3), (3, 3)),
    ("!b", (2, 2), (2, 2)),
    ("b'abc' == by", (2, 2), (2, 2)),
    ("b'abcdefghijklmn' < by", (2, 3), (2, 3)),
    ("s < t", (3, 1844674407370955266), (3, 4)),
    ("s <= 'abcdefghijklmnopqrstuvw'", (2, 4), (2, 4)),
    ("l == [1, 2, 3]", (12, 12), (12, 12)),
    ("m == {'a': 'b'}", (32, 32), (32, 32)),
    ("[s] == [t]", (23, 23), (23, 23)),
    ("null == d", (2, 2), (2, 2)),
    ("1.5 < 2.5", (1, 1), (1, 1)),
    ("1 < 2.5", (1, 1), (1, 1)),
    (
        "type(s) == string",
        (4, 1844674407370955267),
        (4, 1844674407370955267),
    ),
    (
        "s.contains('日本語日本語日本語日本語')",
        (1, 3689348814741910529),
        (1, 7),
    ),
    (
        "[s][0].contains('01234567890')",
        (12, 3689348814741910540),
        (12, 18),
    ),
    (
        "{'a': s}.a.contains('01234567890')",
        (32, 3689348814741910560),
        (32, 3689348814741910560),
    ),
    (
        "{'a': s}['a'].contains('01234567890')",
        (32, 3689348814741910560),
        (32, 38),
    ),
    (
        "[m, m][0].foo.contains('01234567890')",
        (14, 3689348814741910542),
        (14, 3689348814741910542),
    ),
    (
        "(b ? m : m).foo.contains('01234567890')",
        (3, 3689348814741910531),
        (3, 3689348814741910531),
    ),
    (
        "(b ? m : m)['foo'].contains('01234567890')",
        (3, 3689348814741910531),
        (3, 3689348814741910531),
    ),
    (
        "dyn(m).foo.contains('01234567890')",
        (2, 3689348814741910530),
        (2, 3689348814741910530),
    ),
    (
        "dyn(m)['foo'].contains('01234567890')",
        (3, 3689348814741910531),
        (3, 3689348814741910531),
    ),
];

fn environment() -> Env {
    let builder = Env::builder().macros(Macros::new(&[STANDARD, TWO_VARIABLE]));
    let builder = stdlib::TABLES
        .iter()
        .fold(builder, |builder, rows| builder.overloads(rows));
    let builder = VARIABLES.iter().fold(builder, |builder, (name, ty)| {
        builder.variable(*name, ty.parse().unwrap())
    });
    builder.build().unwrap()
}

#[track_caller]
fn check(env: &Env, text: &str, sizes: &dyn SizeSource, (min, max): (u64, u64)) {
    let ast = env.parse(text).unwrap();
    let checked = env.check(ast).unwrap();
    assert_eq!(
        estimate(&checked, sizes),
        CostEstimate { min, max },
        "{text}"
    );
}

#[test]
fn estimates_without_sizes() {
    let env = environment();
    for (text, unsized_cost, _) in CASES {
        check(&env, text, &NoSizes, *unsized_cost);
    }
}

#[test]
fn estimates_with_sizes() {
    let env = environment();
    let sizes = SIZES.iter().map(|(path, min, max)| {
        (
            (*path).into(),
            SizeEstimate {
                min: *min,
                max: *max,
            },
        )
    });
    let sizes: SizeTable = sizes.collect();
    for (text, _, sized_cost) in CASES {
        check(&env, text, &sizes, *sized_cost);
    }
}
