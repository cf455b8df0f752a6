//! Tests the cost estimates of library functions, with and without sizes from the host. The expected costs are upstream's.
#![expect(clippy::unwrap_used, clippy::type_complexity, reason = "a test")]

use gavel_engine::cost::{CostEstimate, SizeEstimate};
use gavel_engine::env::Env;
use gavel_engine::estimate::{NoSizes, SizeSource, SizeTable, estimate};
use gavel_libraries::{EnvSet, KubeVersion};

const VARIABLES: &[(&str, &str)] = &[
    ("s", "string"),
    ("t", "string"),
    ("l", "list(int)"),
    ("ls", "list(string)"),
    ("m", "map(string, string)"),
    ("o", "map(string, list(map(string, string)))"),
    ("d", "dyn"),
    ("q", "map(string, list(map(string, list(string))))"),
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
    ("o.a", 0, 6),
    ("o.a.@items", 0, 9),
    ("o.a.@items.k", 0, 40),
    ("o.a.@items.j", 0, 400),
    ("o.a.@items.@values", 0, 70),
    ("o.a.@items.@keys", 0, 30),
    ("d", 0, 12),
    ("d.@keys", 0, 33),
    ("d.@values", 1, 44),
    ("q.a", 0, 3),
    ("q.a.@items.@values", 0, 9),
];

const MAX: u64 = u64::MAX;

/// Expressions, each with its least and greatest cost: first without sizes, then with [`SIZES`]. If the size of an argument is unknown,
/// upstream uses the receiver's path and size instead; the expressions at the top of the list test this.
const CASES: &[(&str, (u64, u64), (u64, u64))] = &[
    (
        "o.a.all(x, x['k'].replace(x.zz, 'bb').contains('01234567890'))",
        (3, MAX),
        (3, 393),
    ),
    (
        "q.a.all(x, sets.contains(x.zz, x['k']))",
        (3, MAX),
        (3, 270),
    ),
    (
        "o.a.all(x, x['k'].lowerAscii().contains(x.zz))",
        (3, MAX),
        (3, MAX),
    ),
    (
        "q.a.all(x, x['k'].join(x.zz[0]) == '')",
        (3, MAX),
        (3, 5534023222112865819),
    ),
    (
        "s.replace(t, 'abc').contains('01234567890')",
        (2, 7378697629483821058),
        (2, 13),
    ),
    (
        "s.replace('', t).contains('01234567890')",
        (2, 7378697629483821058),
        (4, 71),
    ),
    (
        "s.replace('ab', t).contains('01234567890')",
        (2, 7378697629483821058),
        (2, 37),
    ),
    (
        "s.replace(t, '').contains('01234567890')",
        (2, 7378697629483821058),
        (2, 13),
    ),
    (
        "s.split(',').all(x, x.contains('01234567890'))",
        (2, MAX),
        (2, MAX),
    ),
    (
        "s.split(',', 2).all(x, x == t)",
        (2, 7378697629483821068),
        (2, 21),
    ),
    (
        "s.split(',', -1).size() > 0",
        (3, 3689348814741910531),
        (3, 8),
    ),
    (
        "ls.join(t).contains('01234567890')",
        (2, 5534023222112865794),
        (2, 167),
    ),
    ("ls.join() == s", (3, 3689348814741910530), (3, 55)),
    (
        "['a', 'b'].join(',')",
        (11, 1844674407370955274),
        (11, 1844674407370955274),
    ),
    (
        "s.trim().upperAscii().substring(1) == t",
        (3, 7378697629483821058),
        (3, 13),
    ),
    (
        "s.indexOf(t) > s.lastIndexOf(t)",
        (5, 3689348814741910533),
        (5, 11),
    ),
    ("s.charAt(0) == t", (4, 1844674407370955267), (4, 5)),
    (
        "strings.quote(s).contains(t)",
        (2, 1844674407370955266),
        (3, 17),
    ),
    (
        "strings.quote(d).contains(t)",
        (2, 1844674407370955266),
        (3, 10),
    ),
    ("sets.contains(l, [1, 2])", (12, MAX), (12, 26)),
    ("sets.intersects(l, l)", (3, MAX), (3, 52)),
    ("sets.equivalent(l, l)", (3, MAX), (3, 101)),
    ("l.slice(1, 3).all(x, x > 0)", (21, 25), (21, 25)),
    ("l.slice(2, 1)", (MAX, MAX), (MAX, MAX)),
    ("[l, l].flatten(2).all(x, dyn(x) == 1)", (34, 40), (34, 40)),
    ("lists.range(5).map(x, x * 2)", (97, 97), (97, 97)),
    ("lists.range(size(l))", (MAX, MAX), (MAX, MAX)),
    ("l.reverse().all(x, x > 0)", (13, MAX), (13, 55)),
    ("ls.distinct().all(x, x == s)", (13, MAX), (18, 263)),
    ("l.sort() == l", (14, MAX), (14, 112)),
    ("ls.sort().all(x, x == s)", (13, MAX), (19, 266)),
    ("ls.sortBy(x, x.size())", (35, MAX), (51, 155)),
    ("l.sortBy(x, -x).all(y, y > 0)", (36, MAX), (36, 477)),
    ("d.sort()", (12, MAX), (12, 315)),
    ("l.first().orValue(1) == l.last().value()", (7, 7), (7, 7)),
    (
        "m.transformMap(k, v, v + k).all(k, v, k == v)",
        (33, MAX),
        (33, 7378697629483821257),
    ),
    ("m.transformMapEntry(k, v, {v: k})", (32, MAX), (32, 168)),
    ("optional.of(1).optMap(v, v + 1)", (3, 17), (3, 17)),
    (
        "m.?foo.optMap(v, v + 'a').orValue('b').contains('01234567890')",
        (5, 5534023222112865811),
        (5, 5534023222112865811),
    ),
    (
        "m[?'foo'].orValue(s).contains('01234567890')",
        (4, 3689348814741910532),
        (4, 3689348814741910532),
    ),
    ("d.?x.y.orValue('b') == s", (5, 1844674407370955268), (5, 7)),
    (
        "[?m.?foo, s].all(x, x == 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
        (20, 30),
        (20, 30),
    ),
    ("{?'a': m.?foo}.a == s", (35, 1844674407370955298), (35, 37)),
    ("optional.none().hasValue()", (2, 2), (2, 2)),
];

fn environment() -> Env {
    let envs = EnvSet::new(KubeVersion::NEWEST.into()).unwrap();
    let builder = envs.new_expressions().extend();
    let builder = VARIABLES.iter().fold(builder, |builder, (name, ty)| {
        builder.variable(*name, ty.parse().unwrap())
    });
    builder.build().unwrap()
}

#[track_caller]
fn check(env: &Env, text: &str, sizes: &dyn SizeSource, (min, max): (u64, u64)) {
    let checked = env.compile(text).unwrap();
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
