//! Sets and removes parts of an object by their path.

use gavel_engine::value::Json;
use gavel_manifest::nearest_within;

/// A step of a path.
enum PathStep {
    Field(String),
    Item(usize),
}

/// Sets the value at a path (`spec.containers[0].image`, `metadata.labels["app.kubernetes.io/name"]`); missing objects and lists on the way
/// are created. The index after the last item appends an item.
pub(super) fn set(object: &mut Json, path: &str, value: Json) -> Result<(), String> {
    let mut part = object;
    for step in steps(path)? {
        if part.is_null() {
            *part = match step {
                PathStep::Field(_) => Json::Object(serde_json::Map::new()),
                PathStep::Item(_) => Json::Array(Vec::new()),
            };
        }
        part = match (part, step) {
            (Json::Object(fields), PathStep::Field(name)) => {
                fields.entry(name).or_insert(Json::Null)
            }
            (Json::Array(items), PathStep::Item(n)) => {
                let length = items.len();
                if length == n {
                    items.push(Json::Null);
                }
                let item = items.get_mut(n);
                item.ok_or_else(|| format!("set: {path}: the index {n} must be at most {length}"))?
            }
            _ => {
                return Err(format!(
                    "set: {path}: a field must be in an object, and an index in a list"
                ));
            }
        };
    }
    *part = value;
    Ok(())
}

/// Removes the value at a path, if there is one.
pub(super) fn remove(object: &mut Json, path: &str) -> Result<(), String> {
    let mut steps = steps(path)?;
    let Some(last) = steps.pop() else {
        return Ok(());
    };
    let mut part = object;
    for step in steps {
        let found = match step {
            PathStep::Field(name) => part.get_mut(name.as_str()),
            PathStep::Item(n) => part.get_mut(n),
        };
        match found {
            Some(found) => part = found,
            None => return Ok(()),
        }
    }
    match (part, last) {
        (Json::Object(fields), PathStep::Field(name)) => {
            fields.remove(&name);
        }
        (Json::Array(items), PathStep::Item(n)) if n < items.len() => {
            items.remove(n);
        }
        _ => {}
    }
    Ok(())
}

/// A field on a path that its object does not have although it has a field whose name differs by one letter: the paths of both. `None` if
/// there is no such field, or if the path is not valid.
pub(super) fn misspelled(object: &Json, path: &str) -> Option<(String, String)> {
    /// Shorter names are often similar by chance.
    const LEAST: usize = 4;
    /// Names with more differences are often two fields of the same kind, such as `minReplicas` and `maxReplicas`.
    const MOST: usize = 1;
    let (mut part, mut above) = (object, String::new());
    for step in steps(path).ok()? {
        part = match step {
            PathStep::Item(n) => {
                above.push_str(&format!("[{n}]"));
                part.get(n)?
            }
            PathStep::Field(name) => {
                let dot = if above.is_empty() { "" } else { "." };
                let Some(value) = part.get(&name) else {
                    let names = part.as_object()?.keys().map(String::as_str);
                    let long = name.chars().count() >= LEAST;
                    let near = nearest_within(MOST, &name, names).filter(|_| long)?;
                    return Some((format!("{above}{dot}{name}"), format!("{above}{dot}{near}")));
                };
                above.push_str(&format!("{dot}{name}"));
                value
            }
        };
    }
    None
}

fn steps(path: &str) -> Result<Vec<PathStep>, String> {
    let unclear = || format!("{path:?} must be a path such as spec.containers[0].image");
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let quoted = inside.strip_prefix('"');
            let (step, after) = match quoted {
                Some(quoted) => {
                    let (name, after) = quoted.split_once("\"]").ok_or_else(unclear)?;
                    (PathStep::Field(name.to_owned()), after)
                }
                None => {
                    let (n, after) = inside.split_once(']').ok_or_else(unclear)?;
                    (PathStep::Item(n.parse().map_err(|_| unclear())?), after)
                }
            };
            steps.push(step);
            rest = after.strip_prefix('.').unwrap_or(after);
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if name.is_empty() {
                return Err(unclear());
            }
            steps.push(PathStep::Field(name.to_owned()));
            rest = after.strip_prefix('.').unwrap_or(after);
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_set_and_taken_away() {
        let mut object = json!({"spec": {"containers": [{"image": "a"}]}});
        set(&mut object, "spec.containers[0].image", json!("b")).unwrap();
        set(&mut object, "spec.containers[1].image", json!("c")).unwrap();
        set(&mut object, "metadata.labels[\"a.b/c\"]", json!("d")).unwrap();
        let expected = json!({
            "metadata": {"labels": {"a.b/c": "d"}},
            "spec": {"containers": [{"image": "b"}, {"image": "c"}]},
        });
        assert_eq!(object, expected);
        remove(&mut object, "metadata.labels").unwrap();
        remove(&mut object, "spec.containers[0]").unwrap();
        remove(&mut object, "status.phase").unwrap();
        let expected = json!({"metadata": {}, "spec": {"containers": [{"image": "c"}]}});
        assert_eq!(object, expected);
        for (path, error) in [
            (
                "spec.containers.image",
                "a field must be in an object, and an index in a list",
            ),
            (
                "spec[0]",
                "a field must be in an object, and an index in a list",
            ),
            ("spec.containers[2]", "the index 2 must be at most 1"),
        ] {
            let expected = Err(format!("set: {path}: {error}"));
            assert_eq!(set(&mut object, path, json!(1)), expected);
        }
        assert!(set(&mut object, "spec..image", json!(1)).is_err());
    }
}
