//! Tests with random texts and truncated expressions.

use proptest::prelude::*;

use super::survives;

const EXPRESSIONS: [&str; 12] = [
    "d.a.b.all(x, x > 1 && x in [1, 2.5, 3u]) || has(d.a.c) ? 'a' + \"b\" : r'\\d' + '''c'''",
    "d.?a.?b[?0].optMap(v, v + 1).orValue(-1) == {'k': [1, ?optional.none()], ?'o': optional.of(2)}.k[0]",
    "l.map(x, x % 2 == 0, x * 2).exists_one(y, y == 4) && !l.filter(z, z < 3).exists(w, w != -1)",
    "'%s has %d, %.1f%%, %x'.format([s, i, 2.5, b'\\xff\\101']).split(' ').join(',').upperAscii()",
    "m.transformMap(k, v, v > 0, string(v) + k).exists(k, v, k == 'k' && v.startsWith('1'))",
    "timestamp('2024-02-29T12:00:00Z').getDayOfYear('America/New_York') + int(duration('1h30m').getMinutes())",
    "s.matches('^(?i)[[:alpha:]]+$') && s.replace('t', 'T', 1).substring(0, 2).charAt(1).indexOf('e', 0) >= 0",
    "cel.bind(x, [[1, 2], [3]], x.flatten().sort().reverse().slice(0, 2).distinct() == [3, 2])",
    "math.greatest([1, 2.5]) > math.least(1u, 2) ? base64.encode(b'abc') : string(type(dyn(i)) == int)",
    "sets.contains([1, 2], [2]) && [{'n': 2}, {'n': 1}].sortBy(e, e.n)[0].n == 1",
    "google.protobuf.Duration{seconds: 90} == duration('90s') // a comment",
    "1 + 2 * 3 / 4 - 5 % 6 == 0x1F || 1e3 < .5 || -9223372036854775808 <= 18446744073709551615u",
];

/// The approximate boundaries of tokens in a text: the positions at which the kind of character changes.
fn cuts(text: &str) -> Vec<usize> {
    let kind = |c: char| if c.is_alphanumeric() { '_' } else { c };
    let pairs = text.char_indices().zip(text.chars().skip(1));
    let inner = pairs
        .filter(|((_, c), next)| kind(*c) != kind(*next))
        .map(|((at, c), _)| at.saturating_add(c.len_utf8()));
    std::iter::once(0)
        .chain(inner)
        .chain([text.len()])
        .collect()
}

#[test]
fn whole_expressions_have_a_value() {
    for expression in EXPRESSIONS {
        let value = super::run(&super::ENVIRONMENTS[1], expression);
        assert!(value.is_ok(), "{value:?}");
    }
}

#[test]
fn every_prefix_and_suffix_of_an_expression_is_answered() {
    for expression in EXPRESSIONS {
        for at in 0..expression.len() {
            let (prefix, suffix) = expression.split_at(at);
            survives(prefix);
            survives(suffix);
        }
    }
}

#[test]
fn expressions_without_a_token_or_with_one_twice_are_answered() {
    for expression in EXPRESSIONS {
        for token in cuts(expression).windows(2) {
            let [start, end] = *token else { continue };
            let ((before, from), (until, after)) =
                (expression.split_at(start), expression.split_at(end));
            survives(&format!("{before}{after}"));
            survives(&format!("{until}{from}"));
        }
    }
}

/// Random sequences of tokens from `EXPRESSIONS`.
fn tokens() -> impl Strategy<Value = String> {
    let mut pieces = Vec::new();
    for text in EXPRESSIONS {
        for token in cuts(text).windows(2) {
            let [start, end] = *token else { continue };
            pieces.extend(text.get(start..end));
        }
    }
    let pieces = prop::sample::select(pieces);
    prop::collection::vec(pieces, 1..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_tokens_are_answered(text in tokens()) {
        survives(&text);
    }

    #[test]
    fn any_operands_are_answered(left in any::<i64>(), right in any::<i64>(), double in any::<f64>(), text in any::<String>()) {
        let text = format!("r'''{}'''", text.replace('\'', ""));
        for operator in ["+", "-", "*", "/", "%", "<", "==", "in"] {
            survives(&format!("[{left} {operator} {right}]"));
            survives(&format!("[{double:?} {operator} {double:?}, dyn({left}) {operator} {double:?}]"));
            survives(&format!("{text} {operator} {text}"));
        }
        for call in ["int", "uint", "double", "string", "bytes", "timestamp", "duration", "bool", "type", "size"] {
            for argument in [format!("{left}"), format!("{double:?}"), text.clone()] {
                survives(&format!("{call}({argument})"));
                survives(&format!("{call}(dyn({argument}))"));
            }
        }
        for call in ["substring", "charAt", "indexOf", "split", "replace", "matches", "format", "lastIndexOf", "trim"] {
            survives(&format!("{text}.{call}({text}, {left})"));
            survives(&format!("{text}.{call}({left}, {right})"));
            survives(&format!("{text}.{call}({text})"));
            survives(&format!("{text}.{call}({left})"));
        }
    }
}
