//! Fuzzes `gavel batch`. Any bytes are read as one request line. The answer must be one line with a JSON object that has a boolean `ok`.
#![no_main]

use gavel_protocol::Session;
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use serde_json::{Deserializer, Value};

fuzz_target!(|line: &[u8]| {
    let mut out = Vec::new();
    Session::new().answer(line, &mut out);
    let answer = out.strip_suffix(b"\n").expect("a line feed at the end");
    assert!(!answer.contains(&b'\n'), "one line");
    let mut json = Deserializer::from_slice(answer);
    // The id of a request and the value in an answer may be deeply nested.
    json.disable_recursion_limit();
    let answer = Value::deserialize(&mut json).expect("JSON");
    assert!(answer["ok"].is_boolean(), "{answer}");
});
