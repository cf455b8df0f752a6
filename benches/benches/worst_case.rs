//! Measures the time of a cost unit in expressions that do as much work as possible for their cost. The cost limit bounds the time of an
//! evaluation only if no cost unit takes long. Prints a table, the slowest expression first.
//!
//! Some functions stay above the target, because Kubernetes charges a constant cost for texts and lists of any size: `sort`, `in` and `==`
//! of lists of long texts, `charAt`, `format`, and regular expressions that are compiled at run time. Their time is bounded by the size of
//! a request (3 MiB) and the deadline.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark panics if an input is invalid, and prints its table"
)]

use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gavel_engine::program::{Activation, EvalOptions, Program};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json};
use gavel_libraries::{EnvSet, Server};
use serde_json::json;

/// The cost limit of an evaluation, as in an API server.
const LIMIT: u64 = 1_000_000;

/// The target time of a cost unit, in nanoseconds.
const AIM: f64 = 100.0;

/// Expressions over the variable `v` (see [`document`]). Each expression repeats one kind of work.
const ATTACKS: &[(&str, &str)] = &[
    ("loop", "v.numbers.all(x, v.numbers.all(y, x + y >= 0))"),
    ("regex, nested repetition", "v.ascii.matches('(a*)*b')"),
    ("regex, alternatives", "v.ascii.matches('(a|aa|aaa)+$b')"),
    ("regex, counted", "v.ascii.matches('(a{1,50}){1,10}b')"),
    ("regex, classes", "v.wide.matches('(\\\\pL\\\\pM*)+[0-9]$')"),
    (
        "regex, compiled at run time",
        "v.patterns.all(p, !'a'.matches(p))",
    ),
    ("regex, find", "v.ascii.find('a*b') == ''"),
    ("regex, findAll", "v.ascii.findAll('a').size() > 0"),
    ("text, contains", "!v.ascii.contains(v.needle)"),
    ("text, contains, wide", "!v.wide.contains('z')"),
    ("text, size", "v.numbers.all(x, v.wide.size() > 0)"),
    (
        "text, charAt",
        "v.numbers.all(x, v.wide.charAt(9999) == 'é')",
    ),
    (
        "text, substring",
        "v.numbers.all(x, v.wide.substring(9999) != '')",
    ),
    ("text, indexOf", "v.wide.indexOf('z') < 0"),
    ("text, lastIndexOf", "v.ascii.lastIndexOf(v.needle) < 0"),
    ("text, replace", "v.ascii.replace('a', 'bb') != ''"),
    ("text, split", "v.ascii.split('') != []"),
    ("text, lowerAscii", "v.ascii.lowerAscii() != ''"),
    ("text, join", "v.texts.join(',') != ''"),
    ("text, format", "'%s'.format([v.numbers]) != ''"),
    (
        "text, concatenation",
        "(v.ascii + v.ascii + v.ascii + v.ascii) != ''",
    ),
    ("text, equality", "v.ascii == v.ascii_too"),
    ("text, to bytes", "bytes(v.wide) != b''"),
    ("list, equality", "v.texts == v.texts_too"),
    ("list, membership", "!('z' in v.texts)"),
    ("list, distinct", "v.numbers.distinct().size() > 0"),
    ("list, sort", "v.numbers.sort().size() > 0"),
    ("list, flatten, deep", "v.deep.flatten(100).size() >= 0"),
    ("list, flatten, wide", "v.rows.flatten().size() >= 0"),
    ("list, isSorted", "v.texts.isSorted()"),
    ("list, sum", "v.numbers.sum() > 0"),
    (
        "list, sets.intersects",
        "!sets.intersects(v.numbers, [-1, -2, -3])",
    ),
    (
        "list, slice",
        "v.numbers.all(x, v.numbers.slice(0, 1000).size() > 0)",
    ),
    (
        "map, transformMap",
        "v.numbers.transformMap(i, x, x + 1).size() > 0",
    ),
    ("quantity, reading", "v.digits.all(q, isQuantity(q))"),
    (
        "quantity, add",
        "v.digits.all(q, quantity(q).add(quantity(q)).isGreaterThan(quantity('1')))",
    ),
    (
        "quantity, compareTo",
        "v.digits.all(q, quantity(q).compareTo(quantity('-1')) == 1)",
    ),
    (
        "quantity, exponents",
        "v.numbers.all(x, quantity('1e900').compareTo(quantity('1e-900')) == 1)",
    ),
    (
        "quantity, asApproximateFloat",
        "v.digits.all(q, quantity(q).asApproximateFloat() > 1.0)",
    ),
    ("semver", "v.versions.all(s, isSemver(s) || true)"),
    ("url", "v.urls.all(u, url(u).getQuery().size() > 0)"),
    (
        "ip",
        "v.numbers.all(x, ip('2001:db8::ffff:1').isGlobalUnicast())",
    ),
    (
        "cidr",
        "v.numbers.all(x, cidr('2001:db8::/32').containsIP('2001:db8::1'))",
    ),
    (
        "format",
        "v.numbers.all(x, !format.dns1123Subdomain().validate('a.b.c').hasValue())",
    ),
    (
        "time, reading",
        "v.numbers.all(x, timestamp(v.time) > timestamp('1970-01-01T00:00:00Z'))",
    ),
    (
        "time, zone",
        "v.numbers.all(x, timestamp(v.time).getHours('America/New_York') >= 0)",
    ),
    (
        "number to text",
        "v.numbers.all(x, string(1.0 / double(x + 3)) != '')",
    ),
];

/// The value of `v`: long texts, large lists, deep lists, numbers of many digits.
fn document() -> Json {
    let numbers: Vec<_> = (0..1_000).collect();
    let texts: Vec<_> = (0..1_000).map(|_| "a".repeat(1_000)).collect();
    let deep = (0..100).fold(json!([1]), |inner, _| json!([inner]));
    let row = vec![1; 100];
    json!({
        "ascii": "a".repeat(100_000),
        "ascii_too": "a".repeat(100_000),
        "wide": "é".repeat(10_000),
        "needle": format!("{}b", "a".repeat(300)),
        "numbers": numbers,
        "texts": texts,
        "texts_too": texts,
        "deep": deep,
        "rows": vec![row; 100],
        "patterns": vec!["((a{1,20}){1,20}[b-z]*)+$"; 100],
        "digits": vec!["9".repeat(5_000); 20],
        "versions": vec![format!("1.2.3-{}", vec!["a"; 500].join(".")); 20],
        "urls": vec![format!("https://example.com/?{}", vec!["a=b"; 500].join("&")); 20],
        "time": "2024-02-29T12:00:00.123456789+05:30",
    })
}

/// Evaluates the program once. Returns whether it succeeded, and its cost.
fn evaluate(program: &Program, document: &Json) -> (bool, u64) {
    let arena = Arena::new();
    let mut activation = Activation::new();
    activation.bind("v", document);
    let limits = EvalOptions {
        cost_limit: Some(LIMIT),
        ..EvalOptions::default()
    };
    let evaluation = program.eval(&activation, &arena, &limits);
    (evaluation.result.is_ok(), evaluation.cost)
}

fn worst_case(criterion: &mut Criterion) {
    let server: Server = "1.36".parse().expect("a version");
    let set = EnvSet::new(server).expect("an environment");
    let env = set
        .new_expressions()
        .extend()
        .variable("v", Type::Dyn)
        .build();
    let env = env.expect("an environment");
    let document = document();
    let mut group = criterion.benchmark_group("worst_case");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300));
    let mut rows = Vec::new();
    for (name, expression) in ATTACKS {
        let checked = env.compile(expression).expect(name);
        let program = env
            .plan(&checked)
            .expect("an expression that can be planned");
        let (succeeded, cost) = evaluate(&program, &document);
        let fastest = Cell::new(Duration::MAX);
        group.throughput(Throughput::Elements(cost));
        group.bench_function(*name, |bencher| {
            bencher.iter_custom(|iterations| {
                (0..iterations)
                    .map(|_| {
                        let start = Instant::now();
                        black_box(evaluate(&program, &document));
                        let time = start.elapsed();
                        fastest.set(fastest.get().min(time));
                        time
                    })
                    .sum()
            });
        });
        // A filter on the command line skipped this expression.
        if fastest.get() == Duration::MAX {
            continue;
        }
        rows.push((
            fastest.get().as_secs_f64() * 1e9 / cost as f64,
            *name,
            cost,
            succeeded,
        ));
    }
    group.finish();
    rows.sort_by(|left, right| right.0.total_cmp(&left.0));
    println!("{:<34} {:>10} {:>12}", "attack", "cost", "ns per unit");
    for (time, name, cost, succeeded) in rows {
        let limit = if succeeded {
            ""
        } else {
            " (stopped by the limit)"
        };
        let over = if time > AIM { " above the aim" } else { "" };
        println!("{name:<34} {cost:>10} {time:>12.1}{limit}{over}");
    }
}

criterion_group!(benches, worst_case);
criterion_main!(benches);
