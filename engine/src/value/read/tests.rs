//! Tests of the JSON parser.

use serde_json::json;

use super::*;
use crate::value::Json;

/// Checks that parsing a text into an arena gives the same value as the document that `serde_json` parses.
#[track_caller]
fn check(text: &str) {
    let arena = Arena::new();
    let value = read_json(text, &arena).unwrap();
    let json: Json = serde_json::from_str(text).unwrap();
    assert!(value.equals(&Value::from(&json)).unwrap(), "{text}");
    assert!(Value::from(&json).equals(&value).unwrap(), "{text}");
    assert_eq!(value.to_json(), Some(json), "{text}");
}

const TEXTS: &[&str] = &[
    "null",
    "true",
    "[false]",
    "-1",
    "1.5e+3",
    "-0.0",
    "123456789",
    r#""a""#,
    r#""\u00e9\n\"\\ \ud83d\ude00""#,
    r#""é, and then a text that is longer than most are \\ with an \" in it""#,
    "[]",
    " {\t\r\n} ",
    r#"[1, [2, {"a": null}], "x"]"#,
    r#"{"b": 1, "a": {"d": [], "c": "\t"}, "\u0042": 2}"#,
    r#"{"namespace-22": 1, "namespace": 2, "namespace-4444": 3, "": 4, "name": -5}"#,
];

#[test]
fn a_text_is_read_as_a_document_is_viewed() {
    TEXTS.iter().copied().for_each(check);
    let many: serde_json::Map<_, _> = (0..100).map(|n| (n.to_string(), json!(n))).collect();
    check(&Json::from(many).to_string());
}

#[test]
fn what_is_no_json_is_not_read() {
    let is_json = |text: &str| serde_json::from_str::<Json>(text).is_ok();
    for text in TEXTS {
        for (at, _) in text.char_indices() {
            let (before, behind) = text.split_at(at);
            let rest = behind.chars().skip(1).collect::<String>();
            let broken = "\" \\,:{}[]0-.eu\u{0}\u{1f}\u{7f}é".chars();
            let broken = broken.map(|other| format!("{before}{other}{rest}"));
            let broken = broken.chain([before.to_owned(), format!("{before}{rest}")]);
            // `read_json` parses `-0` as an integer, but `serde_json` does not.
            for text in broken.filter(|text| !text.contains("-0")) {
                match is_json(&text) {
                    true => check(&text),
                    false => assert!(read_json(&text, &Arena::new()).is_none(), "{text}"),
                }
            }
        }
    }
}

#[test]
fn of_fields_of_one_name_the_last_counts() {
    for text in [
        r#"{"a": 1, "b": 2, "a": 3}"#,
        r#"{"a": 1, "\u0061": 2}"#,
        r#"{"a": {"b": 1, "b": 2}, "c": 0, "a": {"b": 3, "b": 4}, "c": 5, "c": 6}"#,
        r#"[{"a": [1], "a": []}, {"a": null, "a": null}]"#,
    ] {
        check(text);
    }
    let many = |n: usize| format!(r#""f{}": {n}"#, n * 7919 % 50);
    let fields: Vec<_> = (0..400).map(many).collect();
    check(&format!("{{{}}}", fields.join(", ")));
}

#[test]
fn many_elements_take_little_more_memory_than_they_need() {
    let arena = Arena::new();
    let text = ["[", &"1,".repeat(500_000), "1]"].concat();
    let mut reader = Reader {
        text: &text,
        at: 1,
        arena: &arena,
        fields: Vec::new(),
        items: Vec::new(),
    };
    assert!(reader.value(b'[', 0).is_some());
    let pending = reader.items.capacity() * size_of::<Value<'_>>();
    assert!(pending <= 12 * text.len() + 64, "{pending}");
    assert!(arena.allocated_bytes() <= 13 * text.len());
}

#[test]
fn names_have_the_order_of_their_bytes() {
    let names: Vec<String> = [
        "",
        "a",
        "ab",
        "abcdefg",
        "abcdefgh",
        "abcdefghi",
        "b\0",
        "é",
        "\u{10ffff}",
    ]
    .iter()
    .flat_map(|name| (0..=name.len()).filter_map(|end| name.get(..end)))
    .flat_map(|name| [name.to_owned(), format!("{name}\0"), format!("{name}z")])
    .collect();
    for one in &names {
        for other in &names {
            assert_eq!(
                compare_names(one, other),
                one.cmp(other),
                "{one:?} {other:?}"
            );
        }
    }
}

#[test]
fn nesting_is_bounded() {
    for (levels, is_read) in [(127, true), (128, false)] {
        let text = ["[".repeat(levels), "]".repeat(levels)].concat();
        assert_eq!(read_json(&text, &Arena::new()).is_some(), is_read);
    }
}

#[test]
fn integers_that_do_not_fit_are_doubles() {
    let arena = Arena::new();
    let text = "[9223372036854775807, 9223372036854775808, -0]";
    let value = read_json(text, &arena).unwrap();
    let Value(Repr::Items(
        [
            Value(Repr::Int(i64::MAX)),
            Value(Repr::Double(double)),
            Value(Repr::Int(0)),
        ],
    )) = value
    else {
        panic!("{value:?}");
    };
    assert_eq!(double.to_bits(), 9_223_372_036_854_775_808_f64.to_bits());
}

#[test]
fn numbers_are_read_as_the_nearest_doubles() {
    let mut texts = vec!["1.0000000000004e+63".to_owned(), "5e-324".to_owned()];
    texts.extend((0..2_000_u64).map(|n| {
        let digits = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("1.{digits}e{}", i64::try_from(n % 600).unwrap() - 300)
    }));
    for text in texts {
        let nearest: f64 = text.parse().unwrap();
        let arena = Arena::new();
        let read = read_json(&text, &arena).unwrap().as_double();
        assert_eq!(read.map(f64::to_bits), Some(nearest.to_bits()), "{text}");
        let document: Json = serde_json::from_str(&text).unwrap();
        let read = Value::from(&document).as_double();
        assert_eq!(read.map(f64::to_bits), Some(nearest.to_bits()), "{text}");
    }
}

#[test]
fn fields_are_found_by_name_however_many_there_are() {
    let arena = Arena::new();
    for count in [0_usize, 1, 16, 17, 1_000] {
        let fields: serde_json::Map<_, _> =
            (0..count).map(|n| (format!("f{n}"), json!(n))).collect();
        let text = Json::from(fields).to_string();
        let text = arena.bump().alloc_str(&text);
        let value = read_json(text, &arena).unwrap();
        let map = value.as_map().unwrap();
        assert_eq!(map.len(), count);
        for n in 0..count {
            let found = map.get_str(&format!("f{n}")).unwrap();
            assert!(matches!(found, Some(Value(Repr::Int(int))) if usize::try_from(int) == Ok(n)));
        }
        assert!(map.get_str("f").unwrap().is_none());
        assert!(map.get(&Value::from(0)).unwrap().is_none());
    }
}
