//! Finds fields that a type does not declare (sigs.k8s.io/json, strict decoding).

use gavel_engine::value::Json;

use super::types::MergeType;

/// The maximum number of unknown fields that are reported, as in upstream.
const MAX_FIELDS: usize = 100;

/// The paths of the fields of an object that its type does not declare, such as `spec.containers[0].imag`, sorted by name.
pub fn unknown_fields(object: &Json, ty: MergeType<'_>) -> Vec<String> {
    let mut found = Vec::new();
    find(object, ty, &mut String::new(), &mut found);
    found.truncate(MAX_FIELDS);
    found
}

// Documents are at most 127 levels deep, which bounds this recursion.
fn find(value: &Json, ty: MergeType<'_>, path: &mut String, found: &mut Vec<String>) {
    let atom = ty.atom();
    let length = path.len();
    match value {
        Json::Object(fields) => {
            for (name, value) in fields {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
                match (atom.map, atom.map.and_then(|map| map.any_field(name))) {
                    (_, Some(ty)) => find(value, ty, path, found),
                    (Some(_), None) => found.push(path.clone()),
                    (None, None) => {}
                }
                path.truncate(length);
            }
        }
        Json::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                if let Some(list) = atom.list {
                    path.push_str(&format!("[{n}]"));
                    find(item, list.element, path, found);
                    path.truncate(length);
                }
            }
        }
        _ => {}
    }
}
