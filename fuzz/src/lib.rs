//! Code that the fuzz targets share: mutates JSON inputs as trees, because mutated bytes are rarely valid JSON.

use libfuzzer_sys::fuzzer_mutate;
use oorandom::Rand32;
use serde_json::{Map, Value as Json};

/// Keys and texts with a meaning in schemas, definitions, policies and reviews. Mutations also use keys and texts of the input.
const WORDS: &[&str] = &[
    "additionalProperties",
    "allOf",
    "anyOf",
    "apiVersion",
    "apiextensions.k8s.io/v1",
    "array",
    "boolean",
    "byte",
    "CREATE",
    "creationTimestamp",
    "date-time",
    "default",
    "DELETE",
    "duration",
    "enum",
    "Equivalent",
    "Exact",
    "Exists",
    "Fail",
    "fieldPath",
    "format",
    "has(self.a) && self.a == oldSelf.a",
    "Ignore",
    "In",
    "int-or-string",
    "integer",
    "items",
    "kind",
    "list",
    "map",
    "matchConditions",
    "maximum",
    "maxItems",
    "maxLength",
    "messageExpression",
    "metadata",
    "minProperties",
    "name",
    "namespace",
    "NotIn",
    "not",
    "nullable",
    "number",
    "object",
    "oneOf",
    "optionalOldSelf",
    "params.data.exists(k, k == object.metadata.name)",
    "pattern",
    "properties",
    "reason",
    "required",
    "self.all(x, self.exists_one(y, x == y))",
    "set",
    "spec",
    "status",
    "string",
    "uniqueItems",
    "UPDATE",
    "variables",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
    "v1",
    "*",
    "",
    "-1",
    "1e400",
    "2024-02-30T00:00:00Z",
    "\u{1F600}",
];

const NUMBERS: [f64; 8] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    1e300,
    -1e-300,
    9_223_372_036_854_775_808.0,
    4_294_967_296.0,
];

/// The body of a `fuzz_mutator!`. Changes values of a JSON document, or bytes if the input is not JSON.
pub fn mutate_json(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Rand32::new(seed.into());
    let parsed = data
        .get(..size)
        .and_then(|text| serde_json::from_slice(text).ok());
    let Some(mut json) = parsed.filter(|_| random.rand_range(0..16) > 0) else {
        return fuzzer_mutate(data, size, max_size);
    };
    for _ in 0..=random.rand_range(0..4) {
        change(&mut json, &mut random);
    }
    match serde_json::to_vec(&json) {
        Ok(text) if text.len() <= max_size => {
            data[..text.len()].copy_from_slice(&text);
            text.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
}

/// The body of a `fuzz_crossover!`. Replaces a value in the first document by a value of the second document.
pub fn cross_json(first: &[u8], second: &[u8], out: &mut [u8], seed: u32) -> usize {
    let mut random = Rand32::new(seed.into());
    let (Ok(mut json), Ok(mut other)) = (
        serde_json::from_slice(first),
        serde_json::from_slice(second),
    ) else {
        return 0;
    };
    let part = pick(&mut other, &mut random).take();
    *pick(&mut json, &mut random) = part;
    match serde_json::to_vec(&json) {
        Ok(text) if text.len() <= out.len() => {
            out[..text.len()].copy_from_slice(&text);
            text.len()
        }
        _ => 0,
    }
}

fn change(root: &mut Json, random: &mut Rand32) {
    let copy = pick(root, random).clone();
    let word = word(root, random);
    let part = pick(root, random);
    match (random.rand_range(0..10), &mut *part) {
        (0, _) => *part = copy,
        (1, _) => *part = scalar(word, random),
        (2, _) => *part = Json::Array(vec![part.take(), copy]),
        (3, _) => *part = Json::Object(Map::from_iter([(word, part.take())])),
        (4 | 5, Json::Object(fields)) => {
            fields.insert(word, copy);
        }
        (4 | 5, Json::Array(items)) => items.push(copy),
        (6, Json::Object(fields)) => {
            if let Some(key) = any_key(fields, random) {
                fields.remove(&key);
            }
        }
        (6, Json::Array(items)) if !items.is_empty() => {
            items.swap_remove(below(items.len(), random));
        }
        (7, Json::Object(fields)) => {
            if let Some(key) = any_key(fields, random)
                && let Some(value) = fields.remove(&key)
            {
                fields.insert(word, value);
            }
        }
        (_, Json::String(text)) => *text = changed_text(text, &word, random),
        (_, part) => *part = scalar(word, random),
    }
}

/// Inserts `word` into a text, or changes some of the text's bytes.
fn changed_text(text: &str, word: &str, random: &mut Rand32) -> String {
    if random.rand_range(0..2) == 0 {
        let mut at = below(text.len() + 1, random);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        return format!("{}{word}{}", &text[..at], &text[at..]);
    }
    let mut bytes = text.as_bytes().to_vec();
    let size = bytes.len();
    bytes.resize(size + 32, 0);
    let size = fuzzer_mutate(&mut bytes, size, size + 32);
    String::from_utf8_lossy(&bytes[..size]).into_owned()
}

fn scalar(word: String, random: &mut Rand32) -> Json {
    match random.rand_range(0..8) {
        0 => Json::Null,
        1 => true.into(),
        2 => false.into(),
        3 => NUMBERS[below(NUMBERS.len(), random)].into(),
        4 => [0, 1, -1, i64::MAX, i64::MIN][below(5, random)].into(),
        5 => Json::Array(Vec::new()),
        6 => Json::Object(Map::new()),
        _ => word.into(),
    }
}

/// Picks one of [`WORDS`], or a key or text of the document.
fn word(root: &mut Json, random: &mut Rand32) -> String {
    if random.rand_range(0..2) == 0 {
        return WORDS[below(WORDS.len(), random)].to_owned();
    }
    match pick(root, random) {
        Json::String(text) => text.clone(),
        Json::Object(fields) => any_key(fields, random).unwrap_or_default(),
        _ => String::new(),
    }
}

fn any_key(fields: &Map<String, Json>, random: &mut Rand32) -> Option<String> {
    fields.keys().nth(below(fields.len(), random)).cloned()
}

/// Picks any value in a document, or the whole document.
fn pick<'j>(root: &'j mut Json, random: &mut Rand32) -> &'j mut Json {
    let wanted = below(count(root), random);
    let mut open = vec![root];
    for _ in 0..wanted {
        match open.pop() {
            Some(Json::Array(items)) => open.extend(items.iter_mut().rev()),
            Some(Json::Object(fields)) => open.extend(fields.values_mut().rev()),
            _ => {}
        }
    }
    open.pop().expect("as many parts as were counted")
}

fn count(json: &Json) -> usize {
    let mut open = vec![json];
    let mut parts = 0;
    while let Some(part) = open.pop() {
        parts += 1;
        match part {
            Json::Array(items) => open.extend(items),
            Json::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    parts
}

/// A random number below `end`, or 0 if `end` is 0.
fn below(end: usize, random: &mut Rand32) -> usize {
    let end = u32::try_from(end).unwrap_or(u32::MAX);
    random.rand_range(0..end.max(1)) as usize
}
