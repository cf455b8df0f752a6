use super::*;

crate::api_types! {
    /// The fields of metadata that the tests need.
    struct ObjectMeta("v1.ObjectMeta") {
        /// A string.
        "name" omit "" name: String;
        /// A string of a named type.
        "uid" omit "types.UID" uid: String;
        /// A number.
        "generation" omit "" generation: i64;
        /// A time.
        "creationTimestamp" omit "" creation_timestamp: Time;
        /// A time that may be absent.
        "deletionTimestamp" omit "" deletion_timestamp: Option<Time>;
        /// A map.
        "labels" omit "" labels: std::collections::BTreeMap<String, String>;
        /// A list of structs.
        "ownerReferences" omit "" owner_references: Vec<OwnerReference>;
        /// A list of texts.
        "finalizers" omit "" finalizers: Vec<String>;
        /// Any JSON.
        "fieldsV1" omit "" fields: Option<RawJson>;
    }

    /// An owner.
    struct OwnerReference("v1.OwnerReference") {
        /// A text that is always written.
        "name" keep "" name: String;
        /// A bool that may be absent.
        "controller" omit "" controller: Option<bool>;
    }
}

#[test]
fn invalid_json_is_rejected_with_gos_messages() {
    let check = |text: &str, expected: &str| {
        assert_eq!(scan::check(text), Err(expected.to_owned()), "{text}");
    };
    let end = "unexpected end of JSON input";
    for text in [
        "",
        " ",
        "{",
        "[",
        "[1",
        "{\"a\"",
        "{\"a\":",
        "\"abc",
        "[1,",
        "{\"a\":1,",
    ] {
        check(text, end);
    }
    check("-", "invalid character ' ' in numeric literal");
    check(
        "tru",
        "invalid character ' ' in literal true (expecting 'e')",
    );
    check(
        "nil",
        "invalid character 'i' in literal null (expecting 'u')",
    );
    check("01", "invalid character '1' after top-level value");
    check("[1 2]", "invalid character '2' after array element");
    check(
        "[1,]",
        "invalid character ']' looking for beginning of value",
    );
    check(
        "{,}",
        "invalid character ',' looking for beginning of object key string",
    );
    check("{\"a\" 1}", "invalid character '1' after object key");
    check(
        "{\"a\":1 \"b\"}",
        "invalid character '\"' after object key:value pair",
    );
    check(
        "'a'",
        "invalid character '\\'' looking for beginning of value",
    );
    check("é", "invalid character 'Ã' looking for beginning of value");
    check("\"\n\"", "invalid character '\\n' in string literal");
    check("\"\\x\"", "invalid character 'x' in string escape code");
    check(
        "\"\\u12g4\"",
        "invalid character 'g' in \\u hexadecimal character escape",
    );
    check(
        "1.",
        "invalid character ' ' after decimal point in numeric literal",
    );
    check(
        "1e+x",
        "invalid character 'x' in exponent of numeric literal",
    );
    check(
        &"[".repeat(10_001),
        "invalid character '[' exceeded max depth",
    );
    check(&"[".repeat(10_000), end);
    for text in [
        "0",
        "-0.5e-7",
        " [ ] ",
        "{\"a\":{\"b\":[null,true,false]}}",
        "\"\\ud83d\\u00e9\"",
    ] {
        assert_eq!(scan::check(text), Ok(()), "{text}");
    }
}

fn read(text: &str) -> Result<Decoded<ObjectMeta>, DecodeError> {
    decode(text, "v1")
}

fn written(text: &str) -> String {
    let mut out = String::new();
    read(text).unwrap().object.encode(&mut out);
    out
}

#[test]
fn values_are_written_as_go_does() {
    let check = |text: &str, expected: &str| assert_eq!(written(text), expected, "{text}");
    check("null", "{}");
    check(
        r#"{"name":null,"labels":{},"finalizers":[],"generation":0}"#,
        "{}",
    );
    check(
        r#"{"name":"\u00e9<\ud83d\ude00\ud800x\/"}"#,
        "{\"name\":\"é\\u003c😀\u{fffd}x/\"}",
    );
    check(
        r#"{"creationTimestamp":"2024-01-01T01:00:00.5+01:00"}"#,
        r#"{"creationTimestamp":"2024-01-01T00:00:00Z"}"#,
    );
    check(
        r#"{"creationTimestamp":"0001-01-01T00:00:00Z","deletionTimestamp":"0001-01-01T00:00:00Z"}"#,
        r#"{"deletionTimestamp":null}"#,
    );
    check(
        r#"{"ownerReferences":[{"controller":false}]}"#,
        r#"{"ownerReferences":[{"name":"","controller":false}]}"#,
    );
    check(
        r#"{"fieldsV1": { "a<\" " : [ 1.50 ] } }"#,
        r#"{"fieldsV1":{"a\u003c\" ":[1.50]}}"#,
    );
    // The second value of a duplicate field is decoded into the first value.
    check(
        r#"{"labels":{"a":"1"},"labels":{"b":"2","a":null}}"#,
        r#"{"labels":{"a":"","b":"2"}}"#,
    );
    check(
        r#"{"finalizers":["a","b"],"finalizers":["c"]}"#,
        r#"{"finalizers":["c"]}"#,
    );
}

#[test]
fn values_of_other_types_are_refused_in_gos_words() {
    let check = |text: &str, field: &str, message: &str| {
        assert_eq!(read(text), Err(DecodeError::new(field, message)), "{text}");
    };
    check(
        "[]",
        "",
        "json: cannot unmarshal array into Go value of type v1.ObjectMeta",
    );
    check(
        r#"{"name":1}"#,
        "name",
        "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
    );
    check(
        r#"{"uid":{}}"#,
        "uid",
        "json: cannot unmarshal object into Go struct field ObjectMeta.uid of type types.UID",
    );
    check(
        r#"{"generation":1.0}"#,
        "generation",
        "json: cannot unmarshal number 1.0 into Go struct field ObjectMeta.generation of type int64",
    );
    check(
        r#"{"labels":{"a":true}}"#,
        "labels.a",
        "json: cannot unmarshal bool into Go struct field ObjectMeta.labels of type string",
    );
    check(
        r#"{"labels":[]}"#,
        "labels",
        "json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string",
    );
    check(
        r#"{"ownerReferences":[{"name":[]}]}"#,
        "ownerReferences[0].name",
        "json: cannot unmarshal array into Go struct field OwnerReference.ownerReferences.name of type string",
    );
    check(
        r#"{"ownerReferences":{}}"#,
        "ownerReferences",
        "json: cannot unmarshal object into Go struct field ObjectMeta.ownerReferences of type []v1.OwnerReference",
    );
    check(
        r#"{"name":1,"creationTimestamp":5}"#,
        "creationTimestamp",
        "json: cannot unmarshal number into Go struct field ObjectMeta.creationTimestamp of type string",
    );
    check(
        r#"{"deletionTimestamp":"x"}"#,
        "deletionTimestamp",
        r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#,
    );
}

#[test]
fn strict_faults_come_in_the_order_of_the_text() {
    let check = |text: &str, expected: &[&str]| {
        let found: Vec<String> = read(text)
            .unwrap()
            .strict
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, expected, "{text}");
    };
    check(
        r#"{"x":{"x":1},"name":"a","Name":"b","name":null,"x":1}"#,
        &[
            "unknown field \"x\"",
            "unknown field \"Name\"",
            "duplicate field \"name\"",
        ],
    );
    check(
        r#"{"labels":{"a":"1","a":"2"},"ownerReferences":[{},{"x.y":1}]}"#,
        &[
            "duplicate field \"labels.a\"",
            "unknown field \"ownerReferences[1].x.y\"",
        ],
    );
    let many: Vec<String> = (0..200).map(|n| format!("\"x{n}\":1")).collect();
    assert_eq!(
        read(&format!("{{{}}}", many.join(",")))
            .unwrap()
            .strict
            .len(),
        100
    );
}

#[test]
fn parsed_json_is_read_like_text() {
    for text in [
        "null",
        "[]",
        r#"{"name":"\u00e9<\ud83d\ude00x\/","generation":7,"labels":{"a":"1","b":null}}"#,
        r#"{"creationTimestamp":"2024-01-01T01:00:00.5+01:00","deletionTimestamp":null}"#,
        r#"{"ownerReferences":[{"controller":false,"kind":"A"},{"x.y":1}],"y":{"z":[]}}"#,
        r#"{"fieldsV1":{"a\" ":[1.5,-7,{"b":true}]}}"#,
        r#"{"generation":1.5}"#,
        r#"{"labels":[]}"#,
        r#"{"ownerReferences":{}}"#,
        r#"{"creationTimestamp":true}"#,
        r#"{"creationTimestamp":"x"}"#,
    ] {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(decode::<ObjectMeta>(&value, "v1"), read(text), "{text}");
    }
}

#[test]
fn the_kind_is_found_whatever_its_case() {
    let check = |text: &str, expected: Result<(&str, &str), &str>| {
        let found = version_and_kind(text);
        let found = found
            .as_ref()
            .map(|(version, kind)| (version.as_str(), kind.as_str()));
        assert_eq!(
            found.map_err(|error| error.message.as_str()),
            expected,
            "{text}"
        );
    };
    check(r#"{"apiVersion":"v1","kind":"A"}"#, Ok(("v1", "A")));
    check(
        "{\"APIVERſION\":\"v1\",\"kind\":\"A\",\"\u{212a}IND\":\"B\"}",
        Ok(("v1", "B")),
    );
    check("null", Ok(("", "")));
    check(
        r#"{"kind":1}"#,
        Err(
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
        ),
    );
    check(
        "1",
        Err(
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
        ),
    );
}

#[test]
fn bytes_are_base64() {
    let check = |text: &str, expected: Result<&[u8], &str>| {
        let read = decode::<Bytes>(&format!("{text:?}"), "v1");
        let read = read.as_ref().map(|read| read.object.0.as_slice());
        assert_eq!(
            read.map_err(|error| error.message.as_str()),
            expected,
            "{text}"
        );
    };
    check("", Ok(b""));
    check("aGk=", Ok(b"hi"));
    check("a\nGk=\n", Ok(b"hi"));
    check("aA==", Ok(b"h"));
    check("aGlq", Ok(b"hij"));
    check("a b", Err("illegal base64 data at input byte 1"));
    check("aGk", Err("illegal base64 data at input byte 0"));
    check("aA=x", Err("illegal base64 data at input byte 2"));
    check("aA=", Err("illegal base64 data at input byte 3"));
    check("aGk=x", Err("illegal base64 data at input byte 4"));
    check("=", Err("illegal base64 data at input byte 0"));
}
