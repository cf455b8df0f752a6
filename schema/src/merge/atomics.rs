//! Finds the values in a patch that would replace whole lists or maps (apiserver `pkg/admission/plugin/policy/mutating/patch/smd.go`,
//! `findAtomics`).

use super::types::{MergeType, Relationship};
use super::value::{Data, MergedKind};

/// The paths of all atomic lists, maps and structs in a value. Values of maps are not searched.
pub(super) fn find(value: &impl Data, ty: MergeType<'_>) -> Vec<String> {
    let mut found = Vec::new();
    find_within(value, ty, &mut String::new(), &mut found);
    found
}

fn find_within<D: Data>(value: &D, ty: MergeType<'_>, path: &mut String, found: &mut Vec<String>) {
    let atom = ty.atom();
    let mut note = |relationship, path: &String| {
        if relationship == Relationship::Atomic {
            found.push(path.clone());
        }
    };
    let length = path.len();
    match (value.kind(), atom.map, atom.list) {
        (MergedKind::Map, Some(map), _) => {
            note(map.relationship, path);
            for (name, value) in value.fields() {
                if let Some(ty) = map.field(name) {
                    path.push('.');
                    path.push_str(name);
                    find_within(value, ty, path, found);
                    path.truncate(length);
                }
            }
        }
        (MergedKind::List, _, Some(list)) => {
            note(list.relationship, path);
            for (n, item) in value.items().iter().enumerate() {
                path.push_str(&format!("[{n}]"));
                find_within(item, list.element, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}
