//! Finds fields that a type does not declare (sigs.k8s.io/json, strict decoding).

use gavel_engine::value::Json;

use super::types::MergeType;

/// The maximum number of unknown fields that are reported, as in upstream.
const MAX_FIELDS: usize = 100;

/// A field that the type of an object does not declare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownField<'s> {
    /// The path of the field, such as `spec.containers[0].imag`.
    pub path: String,
    /// The name of the field: the last step of the path.
    pub name: String,
    /// The names that the type declares in place of this one.
    pub declared: Vec<&'s str>,
}

/// The paths of the fields of an object that its type does not declare, such as `spec.containers[0].imag`, sorted by name.
pub fn unknown_fields(object: &Json, ty: MergeType<'_>) -> Vec<String> {
    let found = undeclared_fields(object, ty).into_iter();
    found.map(|field| field.path).collect()
}

/// Like [`unknown_fields`], with the names that the type declares instead.
pub fn undeclared_fields<'s>(object: &Json, ty: MergeType<'s>) -> Vec<UnknownField<'s>> {
    let mut found = Vec::new();
    find(object, ty, &mut String::new(), &mut found);
    found
}

// Documents are at most 127 levels deep, which bounds this recursion.
fn find<'s>(value: &Json, ty: MergeType<'s>, path: &mut String, found: &mut Vec<UnknownField<'s>>) {
    let atom = ty.atom();
    let length = path.len();
    match value {
        Json::Object(fields) => {
            for (name, value) in fields {
                if found.len() >= MAX_FIELDS {
                    return;
                }
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
                match (atom.map, atom.map.and_then(|map| map.decoded_field(name))) {
                    (_, Some(ty)) => find(value, ty, path, found),
                    (Some(map), None) => found.push(UnknownField {
                        path: path.clone(),
                        name: name.clone(),
                        declared: map.declared().collect(),
                    }),
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
