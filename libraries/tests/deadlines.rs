//! Tests that long calls check the interrupt as they work, and stop.
//!
//! If `GAVEL_DEADLINE_MS` is set, a test also measures how long after its deadline each call ends. It fails if a call ends more than this
//! number of milliseconds late. Run it in release mode on a quiet machine.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a test"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gavel_engine::env::Env;
use gavel_engine::error::EvalErrorKind;
use gavel_engine::program::{Activation, EvalOptions, Program};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json};
use gavel_libraries::{EnvSet, Server, cel_env};
use serde_json::json;

/// The number of interrupt checks after which a test stops an evaluation.
const QUESTIONS: usize = 8;

/// Single calls of Kubernetes' functions that take long.
const KUBERNETES: &[&str] = &[
    // Regular expressions.
    r"s.matches('[ab]*a\\pL{900}c')",
    "s.find('(b*a)*c') == ''",
    "s.findAll('a.*b|a').size() > 0",
    "s.findAll('[a-z]').size() > 0",
    // Texts.
    "s.replace('a', 'bb').size() > 0",
    "s.replace('', 'b').size() > 0",
    "s.split('a').size() > 0",
    "s.split('').size() > 0",
    "'%s'.format([o]) == t",
    "'%s %s'.format([s, ls]) == t",
    "ls.all(x, ls.exists(y, x == y + 'z'))",
    "ls.map(x, s + x).size() > 0",
    // Lists.
    "l.sort().size() > 0",
    "ls.sort().size() > 0",
    "l.sortBy(x, -x).size() > 0",
    "ls.distinct().size() > 0",
    "l.isSorted()",
    "l.sum() == 0",
    "l.max() == 0",
    "l.min() == 1",
    "l.indexOf(-1) < 0",
    "l.lastIndexOf(-1) < 0",
    "l.reverse().size() > 0",
    "[l, l].flatten().size() > 0",
    "-1 in l",
    "sets.contains(ls, ls)",
    "sets.equivalent(ls, ls)",
    "sets.intersects(ls, l.map(x, string(x)))",
    // Comparisons of large documents.
    "l == l2",
    "o == o2",
    "[o] == [o2]",
    "{'a': o} == {'a': o2}",
    "o in [o2, o2]",
    // A duration can have any number of terms.
    "duration(d) == duration('1s')",
    // Short loops of calls whose cost does not grow with their arguments.
    "r.all(x, size(s) > 0)",
    "r.all(x, s.charAt(1) == 'b')",
    "r.all(x, !isURL(s))",
    "r.exists(x, double(s) == 0.0) || true",
    "r.exists(x, timestamp(0).getHours(s) == 0) || true",
    "[quantity(n)].all(q, r.all(x, q == q))",
    "[quantity(n)].all(q, r.all(x, q.asApproximateFloat() > 0.0))",
    "[semver('1.0.0-' + s)].all(v, r.all(x, v.compareTo(v) == 0))",
    "[url('http://' + s)].all(u, r.all(x, u.getHost() != ''))",
    "t in r.map(x, s)",
];

/// Calls that read each byte of a large text only once or twice. They are too short for several interrupt checks.
const LINEAR: &[&str] = &[
    "s.lowerAscii() == t",
    "s.upperAscii() == t",
    "s.indexOf(a + 'c') < 0",
    "s.lastIndexOf(a + 'c') < 0",
    "s.contains(a + 'c')",
    "s.substring(1, 2999999) == t",
    "s.charAt(2999999) == 'a'",
    "string(bytes(s)) == t",
    "l.slice(1, 1999999).size() > 0",
    "isQuantity(n)",
    "isSemver(n + '.0.0')",
    "isURL('http://a/' + s)",
    "isIP(n)",
    "isCIDR(n + '/8')",
    "int(n) == 0",
    "double(n) == 0.0",
    "timestamp(n) == timestamp(0)",
    "format.dns1123Subdomain().validate(s).hasValue()",
    "format.labelValue().validate(s).hasValue()",
    "format.uri().validate('http://a/' + s).hasValue()",
    "format.byte().validate(s).hasValue()",
    "format.uuid().validate(s).hasValue()",
    "format.date().validate(s).hasValue()",
    "s + s + s + s + s + s + s + s == t",
];

/// Long calls of functions that only cel-go's own libraries have.
const CEL: &[&str] = &[
    "s.reverse() == t",
    "strings.quote(s) == t",
    "l.map(x, math.greatest(x, 1)).size() > 0",
];

fn document() -> Json {
    let leaf = |n: usize| json!({"name": format!("item-{n}"), "values": [n, n + 1], "on": true});
    let items: Vec<Json> = (0..60_000).map(leaf).collect();
    let numbers: Vec<usize> = (0..2_000_000).collect();
    json!({
        "a": "ab".repeat(2_000), "s": "ab".repeat(1_500_000), "t": "ab".repeat(1_499_999) + "ac", "n": "1".repeat(3_000_000),
        "d": "1h".repeat(1_500_000), "r": (0..20).collect::<Vec<_>>(), "l": numbers, "l2": numbers,
        "ls": (0..200_000).map(|n| format!("text-{}", n * 7919 % 200_000)).collect::<Vec<_>>(),
        "o": {"items": items}, "o2": {"items": items},
    })
}

fn env(base: &Env) -> Env {
    let variables = [
        ("a", "string"),
        ("s", "string"),
        ("t", "string"),
        ("n", "string"),
        ("d", "string"),
        ("r", "list(int)"),
        ("l", "list(int)"),
        ("l2", "list(int)"),
        ("ls", "list(string)"),
        ("o", "dyn"),
        ("o2", "dyn"),
    ];
    let builder = variables.iter().fold(base.extend(), |builder, (name, ty)| {
        builder.variable(*name, ty.parse::<Type>().unwrap())
    });
    builder.build().unwrap()
}

fn plan(env: &Env, expression: &str) -> Program {
    let checked = env.compile(expression);
    let checked = checked.unwrap_or_else(|issues| panic!("{expression}: {issues}"));
    env.plan(&checked).unwrap()
}

/// The kind of error with which an evaluation ends; `None` if it succeeds. The evaluation is interrupted once `stop` returns true.
fn kind(
    program: &Program,
    document: &Json,
    stop: &(dyn Fn() -> bool + Sync),
) -> Option<EvalErrorKind> {
    let arena = Arena::new();
    let mut activation = Activation::new();
    for (name, value) in document.as_object().unwrap() {
        activation.bind(name, value);
    }
    let options = EvalOptions {
        interrupt: Some(stop),
        ..EvalOptions::default()
    };
    let result = program.eval(&activation, &arena, &options).result;
    result.err().map(|error| error.kind())
}

/// The expressions that check the interrupt too rarely, or do not stop.
fn uninterrupted(env: &Env, expressions: &[&'static str], document: &Json) -> Vec<String> {
    let mut uninterrupted = Vec::new();
    for expression in expressions {
        let program = plan(env, expression);
        let checks = AtomicUsize::new(0);
        let stop = || checks.fetch_add(1, Ordering::Relaxed) + 1 >= QUESTIONS;
        let kind = kind(&program, document, &stop);
        let checks = checks.into_inner();
        if (kind, checks) != (Some(EvalErrorKind::Interrupted), QUESTIONS) {
            uninterrupted.push(format!("{expression}: asked {checks} times, {kind:?}"));
        }
    }
    uninterrupted
}

#[test]
fn long_calls_check_the_interrupt_by_work_done() {
    let document = document();
    let kubernetes = EnvSet::new(Server::default()).unwrap();
    let mut found = uninterrupted(&env(kubernetes.new_expressions()), KUBERNETES, &document);
    found.extend(uninterrupted(&env(&cel_env().unwrap()), CEL, &document));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn an_evaluation_ends_soon_after_its_deadline() {
    let Ok(most) = std::env::var("GAVEL_DEADLINE_MS") else {
        println!("skipped: GAVEL_DEADLINE_MS is not set");
        return;
    };
    let most = Duration::from_millis(most.parse().unwrap());
    let document = document();
    let kubernetes = env(EnvSet::new(Server::default()).unwrap().new_expressions());
    let cel = env(&cel_env().unwrap());
    let mut late = Vec::new();
    for (env, expression) in (KUBERNETES
        .iter()
        .chain(LINEAR)
        .map(|each| (&kubernetes, each)))
    .chain(CEL.iter().map(|each| (&cel, each)))
    {
        let program = plan(env, expression);
        let mut longest = Duration::ZERO;
        // Early and late deadlines, so that they fall into different phases of the call.
        for milliseconds in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144] {
            let deadline = Instant::now() + Duration::from_millis(milliseconds);
            let _ = kind(&program, &document, &|| Instant::now() >= deadline);
            longest = longest.max(Instant::now().saturating_duration_since(deadline));
        }
        println!("{longest:>12.3?} after the deadline at most: {expression}");
        if longest > most {
            late.push(format!("{expression}: {longest:?}"));
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}
