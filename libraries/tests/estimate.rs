//! Tests of cost estimates. A line of `estimate/*.txt` has the lowest and highest cost of an expression without sizes from the host, then
//! with [`SIZES`]. The costs are upstream's. If the size of an argument is unknown, upstream uses the receiver's path and size instead; the
//! first lines of `functions.txt` test this.
#![expect(clippy::unwrap_used, reason = "a test")]

use gavel_engine::cost::{CostEstimate, SizeEstimate};
use gavel_engine::env::{Env, EnvBuilder};
use gavel_engine::estimate::{NoSizes, SizeTable, estimate};
use gavel_engine::stdlib;
use gavel_engine::syntax::{Macros, STANDARD, TWO_VARIABLE};
use gavel_libraries::{EnvSet, KubeVersion};

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
    ("q", "map(string, list(map(string, list(string))))"),
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
    ("p.x", 0, 3),
    ("p.x.@keys", 0, 80),
    ("p.x.y", 0, 8),
    ("p.x.y.@items", 0, 5),
    ("p.x.y.@items.@keys", 0, 60),
    ("p.x.y.@items.@values", 0, 90),
    ("q.a", 0, 3),
    ("q.a.@items.@values", 0, 9),
    ("d", 0, 12),
    ("d.@keys", 0, 33),
    ("d.@values", 1, 44),
];

/// Further sizes for `language.txt`: of a variable, a type, and the elements of lists and maps without a path.
const LANGUAGE_SIZES: &[(&str, u64, u64)] = &[
    ("int", 0, 0),
    ("i", 0, 0),
    ("@items", 0, 17),
    ("@keys", 0, 19),
];

/// Reads `1..20` or `1..MAX`.
fn range(text: &str) -> CostEstimate {
    let (min, max) = text.split_once("..").unwrap();
    let [min, max] = [min, max].map(|cost| match cost {
        "MAX" => u64::MAX,
        cost => cost.parse().unwrap(),
    });
    CostEstimate { min, max }
}

fn check(env: EnvBuilder, sizes: &[&[(&str, u64, u64)]], lines: &str) {
    let declared = VARIABLES.iter().fold(env, |env, (name, ty)| {
        env.variable(*name, ty.parse().unwrap())
    });
    let env = declared.build().unwrap();
    let sizes = sizes.iter().copied().flatten();
    let sizes = sizes.map(|&(path, min, max)| (path.into(), SizeEstimate { min, max }));
    let sizes: SizeTable = sizes.collect();
    for line in lines.lines() {
        let (without_sizes, rest) = line.split_once(' ').unwrap();
        let (with_sizes, text) = rest.trim_start().split_once(' ').unwrap();
        let text = text.trim_start();
        let checked = env.compile(text).unwrap();
        assert_eq!(estimate(&checked, &NoSizes), range(without_sizes), "{text}");
        assert_eq!(estimate(&checked, &sizes), range(with_sizes), "{text}");
    }
}

#[test]
fn the_language() {
    let env = Env::builder().macros(Macros::new(&[STANDARD, TWO_VARIABLE]));
    let tables = stdlib::TABLES.iter();
    let env = tables.fold(env, |env, rows| env.overloads(rows));
    let sizes = [SIZES, LANGUAGE_SIZES];
    check(env, &sizes, include_str!("estimate/language.txt"));
}

#[test]
fn functions_of_libraries() {
    let envs = EnvSet::new(KubeVersion::NEWEST.into()).unwrap();
    let env = envs.new_expressions().extend();
    check(env, &[SIZES], include_str!("estimate/functions.txt"));
}
