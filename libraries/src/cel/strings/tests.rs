use gavel_engine::cost::{CallSite, Cost, Formula, SizeEstimate};
use gavel_engine::decl::CallContext;
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, List, Value};

use super::*;
use crate::testing::check;
use crate::testing::{int, string};

#[test]
fn positions_count_code_points() {
    let check = |id, args: &[Value<'_>], expected| check(STRINGS, id, args, expected);
    check("string_char_at_int", &[string("aéb"), int(1)], Ok("é"));
    check("string_char_at_int", &[string("aéb"), int(3)], Ok(""));
    check(
        "string_char_at_int",
        &[string("aéb"), int(4)],
        Err("index out of range: 4"),
    );
    check(
        "string_char_at_int",
        &[string("a"), int(-1)],
        Err("index out of range: -1"),
    );

    check("string_substring_int", &[string("ééab"), int(2)], Ok("ab"));
    check("string_substring_int", &[string("abc"), int(3)], Ok(""));
    check(
        "string_substring_int",
        &[string("abc"), int(4)],
        Err("index out of range: 4"),
    );
    let range = |start, end, expected| {
        check(
            "string_substring_int_int",
            &[string("éabc"), int(start), int(end)],
            expected,
        );
    };
    range(0, 2, Ok("éa"));
    range(4, 4, Ok(""));
    range(2, 1, Err("invalid substring range. start: 2, end: 1"));
    range(
        5,
        i64::MIN,
        Err("invalid substring range. start: 5, end: -9223372036854775808"),
    );
    range(i64::MIN, 5, Err("index out of range: -9223372036854775808"));
    range(-5, -4, Err("index out of range: -5"));
    range(1, 5, Err("index out of range: 5"));
}

#[test]
fn searches_forwards() {
    let index = |text, part, expected| {
        check(
            STRINGS,
            "string_index_of_string",
            &[string(text), string(part)],
            Ok(expected),
        );
    };
    index("ééaé", "a", "2");
    index("abc", "d", "-1");
    index("abc", "", "0");
    index("", "a", "-1");
    let from = |text, part, from, expected| {
        check(
            STRINGS_INDEX_FROM,
            "string_index_of_string_int",
            &[string(text), string(part), int(from)],
            expected,
        );
    };
    from("hello mellow", "ello", 2, Ok("7"));
    from("éaéa", "a", 2, Ok("3"));
    from("abc", "a", 99, Ok("-1"));
    from("abc", "", 99, Ok("99"));
    from("abc", "", -5, Ok("-5"));
    from("abc", "a", -5, Err("index out of range: -5"));
}

#[test]
fn searches_backwards() {
    let index = |text, part, expected| {
        check(
            STRINGS,
            "string_last_index_of_string",
            &[string(text), string(part)],
            Ok(expected),
        );
    };
    index("ééaé", "é", "3");
    index("aaaa", "aa", "2");
    index("abc", "", "3");
    index("", "a", "-1");
    index("a", "é", "-1");
    let from = |text, part, from, expected| {
        check(
            STRINGS_INDEX_FROM,
            "string_last_index_of_string_int",
            &[string(text), string(part), int(from)],
            expected,
        );
    };
    from("hello mellow", "ello", 6, Ok("1"));
    from("ééaé", "é", 2, Ok("1"));
    from("ééaé", "é", 3, Ok("3"));
    from("aéb", "é", 1, Ok("1"));
    from("abc", "c", 2, Ok("2"));
    from("abc", "c", 3, Ok("-1"));
    from("abc", "abcd", 2, Ok("-1"));
    from("abc", "", -1, Ok("-1"));
    from("abc", "c", -1, Err("index out of range: -1"));
}

#[test]
fn specified_searches_start_within_the_text() {
    for (id, text, part, from, expected) in [
        ("string_index_of_string_int", "tacocat", "a", 6, Ok("-1")),
        (
            "string_index_of_string_int",
            "tacocat",
            "a",
            7,
            Err("index out of range: 7"),
        ),
        ("string_index_of_string_int", "tacocat", "", 7, Ok("7")),
        (
            "string_last_index_of_string_int",
            "tacocat",
            "a",
            6,
            Ok("5"),
        ),
        (
            "string_last_index_of_string_int",
            "tacocat",
            "a",
            30,
            Err("index out of range: 30"),
        ),
        (
            "string_last_index_of_string_int",
            "tacocat",
            "a",
            -1,
            Err("index out of range: -1"),
        ),
    ] {
        check(
            STRINGS_INDEX_FROM_SPECIFIED,
            id,
            &[string(text), string(part), int(from)],
            expected,
        );
    }
}

#[test]
fn changes_ascii_letters_only() {
    check(
        STRINGS,
        "string_lower_ascii",
        &[string("TacoCÆt")],
        Ok("tacocÆt"),
    );
    check(
        STRINGS,
        "string_upper_ascii",
        &[string("TacoCæt")],
        Ok("TACOCæT"),
    );
    check(STRINGS, "string_upper_ascii", &[string("ÆA1")], Ok("ÆA1"));
}

#[test]
fn trims_unicode_white_space() {
    let text = " \u{85}\u{a0}\u{3000}\u{180e}a\u{200b}\u{2028} ";
    check(
        STRINGS,
        "string_trim",
        &[string(text)],
        Ok("\u{180e}a\u{200b}"),
    );
}

#[test]
fn replaces() {
    let all = |text, old, new, expected| {
        check(
            STRINGS,
            "string_replace_string_string",
            &[string(text), string(old), string(new)],
            Ok(expected),
        );
    };
    all("hello hello", "he", "we", "wello wello");
    all("aébc", "", "-", "-a-é-b-c-");
    all("", "", "-", "-");
    all("abc", "b", "", "ac");
    all("abc", "d", "e", "abc");
    let some = |text, old, new, count, expected| {
        let args = [string(text), string(old), string(new), int(count)];
        check(
            STRINGS,
            "string_replace_string_string_int",
            &args,
            Ok(expected),
        );
    };
    some("abc", "", "-", 2, "-a-bc");
    some("aaa", "a", "b", -1, "bbb");
    some("aaa", "a", "b", 0, "aaa");
}

#[test]
fn splits() {
    let all = |text, separator, expected| {
        check(
            STRINGS,
            "string_split_string",
            &[string(text), string(separator)],
            Ok(expected),
        );
    };
    all("a,b,,c", ",", "[a, b, , c]");
    all("", ",", "[]");
    all("aéb", "", "[a, é, b]");
    let some = |text, separator, count, expected| {
        check(
            STRINGS,
            "string_split_string_int",
            &[string(text), string(separator), int(count)],
            Ok(expected),
        );
    };
    some("a,b,c", ",", 0, "[]");
    some("a,b,c", ",", 1, "[a,b,c]");
    some("a,b,c", ",", 2, "[a, b,c]");
    some("a,b,c", ",", -1, "[a, b, c]");
    some("abc", "", 2, "[a, bc]");
    some("abc", "", 1, "[abc]");
}

#[test]
fn an_empty_text_splits_into_itself_or_nothing() {
    let arena = Arena::new();
    let split = |separator, limit| {
        edit::parts(&CallContext::new(&arena), "", separator, limit)
            .unwrap()
            .len()
    };
    assert_eq!(
        (split(",", usize::MAX), split("", usize::MAX), split("", 1)),
        (1, 0, 0)
    );
}

#[test]
fn joins() {
    let list = [string("a"), string("b"), string("")];
    check(
        STRINGS_SINCE_2,
        "list_join",
        &[Value::from(&list)],
        Ok("ab"),
    );
    check(
        STRINGS_SINCE_2,
        "list_join_string",
        &[Value::from(&list), string("--")],
        Ok("a--b--"),
    );
    check(
        STRINGS_SINCE_2,
        "list_join",
        &[Value::from(List::EMPTY)],
        Ok(""),
    );
}

#[test]
fn join_names_what_it_cannot_join() {
    let arena = Arena::new();
    let held = int(1);
    for (element, expected, before_2) in [
        (
            int(1),
            "1",
            "unsupported type conversion from 'int' to string",
        ),
        (
            Value::from(1e6),
            "1e+06",
            "type conversion error from Double to 'string'",
        ),
        (
            Value::NULL,
            "0",
            "type conversion error from 'null_type' to 'string'",
        ),
        (
            Value::from(true),
            "true",
            "type conversion error from bool to 'string'",
        ),
        (
            Value::from(b"ab"),
            "[97 98]",
            "type conversion error from Bytes to 'string'",
        ),
        (
            Value::from(List::EMPTY),
            "[]",
            "type conversion error from list to 'string'",
        ),
        (
            Value::type_named("int"),
            "int",
            "type conversion not supported for 'type'",
        ),
        (
            arena.some(held),
            "optional(1)",
            "unsupported type conversion from 'int' to string",
        ),
        (
            Value::NONE,
            "optional.none()",
            "optional.none() dereference",
        ),
    ] {
        let list = [string("a"), element];
        let expected = format!("join: invalid input: {expected}");
        check(
            STRINGS_SINCE_2,
            "list_join",
            &[Value::from(&list)],
            Err(&expected),
        );
        check(
            STRINGS_BEFORE_2,
            "list_join",
            &[Value::from(&list)],
            Err(before_2),
        );
    }
    let held = string("b");
    let list = [string("a"), arena.some(held)];
    check(
        STRINGS_BEFORE_2,
        "list_join",
        &[Value::from(&list)],
        Ok("ab"),
    );
}

#[test]
fn results_are_bounded() {
    let long = "a".repeat(20_000);
    check(
        STRINGS,
        "string_replace_string_string",
        &[string(&long), string(""), string(&long)],
        Err("operation cancelled: memory limit exceeded"),
    );
}

#[test]
fn quotes_and_reverses() {
    let quote = |text, expected| {
        check(
            STRINGS_SINCE_1,
            "strings_quote",
            &[string(text)],
            Ok(expected),
        )
    };
    quote("a \"b\"\\", r#""a \"b\"\\""#);
    quote("\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#);
    quote("\0é\u{200b}'", "\"\0é\u{200b}'\"");
    check(
        STRINGS_SINCE_3,
        "string_reverse",
        &[string("aéb")],
        Ok("béa"),
    );
}

/// A call whose arguments have known sizes.
struct Sizes<'s>(&'s [(u64, u64)], Option<i64>, Type);

impl CallSite for Sizes<'_> {
    fn arguments(&self) -> usize {
        self.0.len()
    }

    fn has_target(&self) -> bool {
        true
    }

    fn known_size(&self, argument: usize) -> Option<SizeEstimate> {
        self.0.get(argument).map(|(min, max)| SizeEstimate {
            min: *min,
            max: *max,
        })
    }

    fn argument_type(&self, _argument: usize) -> &Type {
        &self.2
    }

    fn element_size(&self, _argument: usize) -> Option<SizeEstimate> {
        Some(SizeEstimate { min: 0, max: 20 })
    }

    fn int_literal(&self, _argument: usize) -> Option<i64> {
        self.1
    }
}

#[test]
fn estimates() {
    #[track_caller]
    fn check(cost: Cost, call: Sizes<'_>, expected: (u64, u64), size: Option<(u64, u64)>) {
        let estimate = match cost.formula {
            Formula::Sizes(formula) => {
                let sizes: Vec<_> = (0..call.arguments()).map(|n| call.size(n)).collect();
                formula(&sizes)
            }
            Formula::Traversal { estimate, .. } | Formula::Split { estimate, .. } => {
                estimate(&call)
            }
            Formula::Fixed(_) => panic!("nothing to estimate"),
        };
        assert!(cost.by_name);
        assert_eq!((estimate.cost.min, estimate.cost.max), expected);
        assert_eq!(estimate.result_size.map(|size| (size.min, size.max)), size);
    }
    let of = |sizes| Sizes(sizes, None, Type::String);
    check(cost::COPY, of(&[(1, 15)]), (1, 2), Some((1, 15)));
    check(
        cost::REPLACE,
        of(&[(3, 15), (0, 0), (1, 2)]),
        (1, 3),
        Some((7, 47)),
    );
    check(
        cost::REPLACE,
        of(&[(3, 15), (2, 2), (1, 3)]),
        (1, 3),
        Some((2, 24)),
    );
    check(
        cost::REPLACE,
        of(&[(3, 15), (2, 2), (2, 2)]),
        (1, 3),
        Some((3, 15)),
    );
    check(cost::SPLIT, of(&[(3, 15), (1, 1)]), (1, 3), Some((0, 15)));
    let limited = Sizes(&[(3, 15), (1, 1), (1, 1)], Some(-1), Type::String);
    check(cost::SPLIT, limited, (1, 3), Some((0, u64::MAX)));
    let strings = |sizes| Sizes(sizes, None, Type::list(Type::String));
    check(cost::JOIN, strings(&[(0, 5)]), (0, 10), Some((0, 100)));
    check(
        cost::JOIN,
        strings(&[(2, 5), (3, 3)]),
        (1, 12),
        Some((3, 112)),
    );
    check(
        cost::JOIN,
        Sizes(&[(2, 5), (3, 3)], None, Type::Dyn),
        (1, 2),
        Some((3, 12)),
    );
    check(TRAVERSAL, of(&[(3, 15)]), (1, 2), None);
    check(TRAVERSAL, strings(&[(3, 15)]), (3, 45), None);
    check(
        TRAVERSAL,
        Sizes(&[(3, 15)], None, Type::list(Type::Int)),
        (3, 15),
        None,
    );
}

#[test]
fn tracked_costs() {
    #[track_caller]
    fn check(cost: Cost, arguments: &[Option<Value<'_>>], result: Option<Value<'_>>, units: u64) {
        let arguments: Vec<_> = arguments.iter().map(Option::as_ref).collect();
        assert_eq!(cost.track(&arguments, result.as_ref()).unwrap(), units);
    }
    let long = Some(string("ééééééééééa"));
    check(cost::COPY, &[long], long, 2);
    check(cost::COPY, &[None], None, 1);
    check(cost::REPLACE, &[long, None, None], None, 3);
    check(cost::SPLIT, &[long], None, 3);
    check(cost::JOIN, &[None], long, 3);
    check(cost::JOIN, &[None], None, 1);
    // A traversal costs one unit for every ten bytes; the remaining bytes are free.
    check(TRAVERSAL, &[long], None, 2);
    check(TRAVERSAL, &[Some(string("aaaaaaaaa"))], None, 0);
    check(TRAVERSAL, &[None], None, 1);
    let list = [int(1), string("aaaaaaaaa"), Value::NULL, string("ééééé")];
    check(TRAVERSAL, &[Some(Value::from(&list))], None, 3);
}
