//! The preparation of objects before their validation (apiextensions
//! `pkg/registry/customresource/{strategy,status_strategy}.go`).

use gavel_engine::value::Json;
use serde_json::Map;

use super::compile::{CompiledCrd, UnknownVersion};

impl CompiledCrd {
    /// Prepares an object for validation, after admission: resets the fields that the client cannot set. In a request to the subresource
    /// `status` (`is_status`), the client can set only the status and the managed fields. In any other request, the client cannot set the
    /// status if it is a subresource. The generation becomes 1 on creation, and is incremented if anything except the metadata changes.
    ///
    /// # Errors
    ///
    /// The definition does not have this version.
    pub fn prepare(
        &self,
        version: &str,
        object: &mut Json,
        old: Option<&Json>,
        is_status: bool,
    ) -> Result<(), UnknownVersion> {
        let has_status = self.version(version)?.has_status;
        let old = old.map(Json::as_object);
        match (object.as_object_mut(), old) {
            (Some(object), None) => for_create(object, has_status),
            (Some(object), Some(Some(old))) if is_status => for_status_update(object, old),
            (Some(object), Some(Some(old))) => for_update(object, old, has_status),
            _ => {}
        }
        Ok(())
    }
}

/// Prepares an object for creation: drops the status if it is a subresource, and sets the generation to 1.
fn for_create(object: &mut Map<String, Json>, has_status: bool) {
    if has_status {
        object.remove("status");
    }
    set_generation(object, 1);
}

/// Prepares an object for an update: restores the old status if the status is a subresource, and increments the generation if any field
/// except the metadata changed.
fn for_update(object: &mut Map<String, Json>, old: &Map<String, Json>, has_status: bool) {
    if has_status {
        match old.get("status") {
            Some(status) => object.insert("status".to_owned(), status.clone()),
            None => object.remove("status"),
        };
    }
    if !is_same_but_metadata(object, old) {
        set_generation(object, generation(old).wrapping_add(1));
    }
}

/// Prepares an object for an update of its status: resets all fields except the status and the managed fields to their old values.
fn for_status_update(object: &mut Map<String, Json>, old: &Map<String, Json>) {
    let new = std::mem::replace(object, old.clone());
    match managed_fields(&new).cloned() {
        Some(managed) => set_metadata(object, "managedFields", managed),
        None => drop_metadata(object, "managedFields"),
    }
    match new.get("status") {
        Some(status) => object.insert("status".to_owned(), status.clone()),
        None => object.remove("status"),
    };
}

fn managed_fields(object: &Map<String, Json>) -> Option<&Json> {
    let managed = object.get("metadata")?.get("managedFields")?;
    managed.is_array().then_some(managed)
}

fn generation(object: &Map<String, Json>) -> i64 {
    let generation = object.get("metadata").and_then(|m| m.get("generation"));
    generation.and_then(Json::as_i64).unwrap_or(0)
}

/// Sets the generation; 0 removes it.
fn set_generation(object: &mut Map<String, Json>, generation: i64) {
    match generation {
        0 => drop_metadata(object, "generation"),
        generation => set_metadata(object, "generation", generation.into()),
    }
}

fn drop_metadata(object: &mut Map<String, Json>, key: &str) {
    if let Some(Json::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove(key);
    }
}

/// Sets a field of the metadata, unless `metadata` is not an object.
fn set_metadata(object: &mut Map<String, Json>, key: &str, value: Json) {
    let metadata = object
        .entry("metadata")
        .or_insert_with(|| Json::Object(Map::new()));
    if let Json::Object(metadata) = metadata {
        metadata.insert(key.to_owned(), value);
    }
}

fn is_same_but_metadata(new: &Map<String, Json>, old: &Map<String, Json>) -> bool {
    let fields = |object| Map::iter(object).filter(|(key, _)| *key != "metadata");
    // Both maps are sorted by key.
    fields(new).eq(fields(old))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(json: Json) -> Map<String, Json> {
        json.as_object().cloned().unwrap()
    }

    #[test]
    fn a_new_object_has_no_status_of_its_own() {
        let check = |has_status, expected: Json| {
            let mut new = object(json!({"spec": 1, "status": 2}));
            for_create(&mut new, has_status);
            assert_eq!(Json::Object(new), expected);
        };
        check(true, json!({"spec": 1, "metadata": {"generation": 1}}));
        check(
            false,
            json!({"spec": 1, "status": 2, "metadata": {"generation": 1}}),
        );
    }

    #[test]
    fn an_update_keeps_the_status_and_counts_changes() {
        let check = |new: Json, old: Json, has_status, expected: Json| {
            let (mut new, old) = (object(new), object(old));
            for_update(&mut new, &old, has_status);
            assert_eq!(Json::Object(new), expected);
        };
        let old = || json!({"spec": 1, "status": 2, "metadata": {"generation": 4, "name": "a"}});
        check(
            json!({"spec": 1, "status": 3, "metadata": {"name": "b"}}),
            old(),
            true,
            json!({"spec": 1, "status": 2, "metadata": {"name": "b"}}),
        );
        check(
            json!({"spec": 1, "status": 3}),
            old(),
            false,
            json!({"spec": 1, "status": 3, "metadata": {"generation": 5}}),
        );
        check(
            json!({"spec": 1.0, "status": 3}),
            json!({"spec": 1}),
            true,
            json!({"spec": 1.0, "metadata": {"generation": 1}}),
        );
    }

    #[test]
    fn generations_go_round() {
        let check = |before: i64, expected: Json| {
            let mut new = object(json!({"spec": 1, "metadata": {"generation": 7}}));
            let old = object(json!({"metadata": {"generation": before}}));
            for_update(&mut new, &old, false);
            assert_eq!(new["metadata"], expected);
        };
        check(1, json!({"generation": 2}));
        check(-1, json!({}));
        check(i64::MAX, json!({"generation": i64::MIN}));
    }

    #[test]
    fn an_update_of_the_status_changes_nothing_else() {
        let check = |new: Json, expected: Json| {
            let old = object(json!({"spec": 1, "status": 2, "metadata": {"managedFields": [1]}}));
            let mut new = object(new);
            for_status_update(&mut new, &old);
            assert_eq!(Json::Object(new), expected);
        };
        check(
            json!({"spec": 7, "status": 3, "metadata": {"managedFields": [2], "name": "b"}}),
            json!({"spec": 1, "status": 3, "metadata": {"managedFields": [2]}}),
        );
        check(json!({"spec": 7}), json!({"spec": 1, "metadata": {}}));
    }
}
