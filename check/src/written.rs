//! The object as the user wrote it, with the changes of policies, but without the defaults that an API server sets before policies run.

use gavel_engine::value::Json;

/// Removes from a mutated object the defaults that were set before the mutation.
// Documents are at most 127 levels deep, and so is this recursion.
pub(crate) fn without_defaults(written: &Json, completed: &Json, changed: Json) -> Json {
    if *completed == changed {
        return written.clone();
    }
    match (written, completed, changed) {
        (Json::Object(written), Json::Object(completed), Json::Object(mut changed)) => {
            changed.retain(|name, value| {
                let before = completed.get(name);
                written.contains_key(name) || before != Some(value)
            });
            for (name, value) in &mut changed {
                if let (Some(written), Some(completed)) = (written.get(name), completed.get(name)) {
                    *value = without_defaults(written, completed, value.take());
                }
            }
            // Fields that setting defaults removed: null and empty ones.
            for (name, value) in written {
                if !completed.contains_key(name) && !changed.contains_key(name) {
                    changed.insert(name.clone(), value.clone());
                }
            }
            Json::Object(changed)
        }
        (Json::Array(written), Json::Array(completed), Json::Array(changed))
            if written.len() == completed.len() && written.len() <= changed.len() =>
        {
            let mut before = written.iter().zip(completed);
            let changed = changed.into_iter().map(|value| match before.next() {
                Some((written, completed)) => without_defaults(written, completed, value),
                None => value,
            });
            Json::Array(changed.collect())
        }
        (_, _, changed) => changed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_show_and_defaults_do_not() {
        let written = json!({"a": [{"name": "x", "cpu": "0.5"}], "n": null, "kept": {}, "gone": 1});
        let completed = json!({"a": [{"name": "x", "cpu": "500m", "policy": "Always"}], "gone": 1, "default": {"b": 1, "c": 2}});
        let changed = json!({"a": [{"name": "x", "cpu": "500m", "policy": "Never"}, {"name": "y"}], "default": {"b": 1, "c": 3}});
        let expected = json!({"a": [{"name": "x", "cpu": "0.5", "policy": "Never"}, {"name": "y"}], "n": null, "kept": {}, "default": {"b": 1, "c": 3}});
        assert_eq!(without_defaults(&written, &completed, changed), expected);
        let same = completed.clone();
        assert_eq!(without_defaults(&written, &completed, same), written);
    }
}
