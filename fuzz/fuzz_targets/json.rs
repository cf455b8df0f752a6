//! Fuzzes JSON parsing. Any bytes are read into an arena and as a document. Both must have the same value or the same error message.
#![no_main]

use gavel_apimachinery::json;
use gavel_engine::value::Arena;
use gavel_schema::read_value;
use libfuzzer_sys::fuzz_target;
use serde_json::Value as Json;

fuzz_target!(|text: &[u8]| {
    let arena = Arena::new();
    match (json::read::<Json>(text), read_value(text, &arena)) {
        (Ok(document), Ok(value)) => assert_eq!(value.to_json(), Some(rounded(document))),
        (Err(of_document), Err(of_value)) => {
            assert_eq!(of_document.to_string(), of_value.to_string());
        }
        one_is_read => panic!("{one_is_read:?}"),
    }
});

/// Converts integers that do not fit into an `i64` to doubles, as expressions read them.
fn rounded(document: Json) -> Json {
    match document {
        Json::Number(number) if number.is_u64() && !number.is_i64() => Json::from(number.as_f64()),
        Json::Array(items) => items.into_iter().map(rounded).collect(),
        Json::Object(fields) => {
            let fields = fields.into_iter();
            Json::Object(fields.map(|(name, value)| (name, rounded(value))).collect())
        }
        other => other,
    }
}
