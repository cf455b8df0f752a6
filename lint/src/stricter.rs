//! Finds constraints of a definition that the older definition did not have.

use gavel_crd::definition::Definition;
use gavel_manifest::{Document, Problem};
use gavel_schema::JsonSchema;

use crate::expressions::problem;
use crate::rules::BREAKS_STORED_OBJECTS;

/// The condition under which an update is accepted although the object violates a new constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ratcheting {
    /// The update does not change the value.
    OfValue,
    /// The update does not change the list that contains the value. This applies if the elements have no keys by which Kubernetes could
    /// match them.
    OfList,
}

/// Compares the schemas of the versions that both definitions have.
pub(crate) fn check(
    document: &Document,
    definition: &Definition,
    old: &Definition,
    problems: &mut Vec<Problem>,
) {
    for (n, version) in definition.spec.versions.iter().enumerate() {
        let schemas = definition
            .schema(&version.name)
            .zip(old.schema(&version.name));
        let Some((schema, before)) = schemas else {
            continue;
        };
        let mut comparison = Comparison { document, problems };
        let path = format!("spec.versions[{n}].schema.openAPIV3Schema");
        comparison.node(schema, before, &path, Ratcheting::OfValue);
    }
    for version in &old.spec.versions {
        let is_gone = !definition
            .spec
            .versions
            .iter()
            .any(|known| known.name == version.name);
        if is_gone && version.served {
            let message = format!(
                "the version {} is gone, and clients may still use it",
                version.name
            );
            problems.push(problem(
                document,
                &BREAKS_STORED_OBJECTS,
                "spec.versions",
                message,
            ));
        }
    }
}

struct Comparison<'c> {
    document: &'c Document,
    problems: &'c mut Vec<Problem>,
}

impl Comparison<'_> {
    fn report(&mut self, path: &str, key: &str, message: String, ratcheting: Ratcheting) {
        let field = match key {
            "" => path.to_owned(),
            key => format!("{path}.{key}"),
        };
        let help = match ratcheting {
            Ratcheting::OfValue => {
                "an update passes as long as it leaves the value as it is (Kubernetes 1.30 and later)"
            }
            Ratcheting::OfList => {
                "an update passes only if it leaves the whole list as it is: its elements have no keys by which Kubernetes could tell which ones changed"
            }
        };
        let found = problem(self.document, &BREAKS_STORED_OBJECTS, &field, message);
        self.problems.push(found.with_help(help));
    }

    /// Compares two nodes. The recursion is as deep as the schemas; the reader of schemas limits this depth.
    fn node(&mut self, new: &JsonSchema, old: &JsonSchema, path: &str, ratcheting: Ratcheting) {
        if !old.kind.is_empty() && new.kind != old.kind {
            let message = format!("the type was {}, and is {}", old.kind, new.kind);
            self.report(path, "type", message, ratcheting);
            return;
        }
        if old.nullable && !new.nullable {
            self.report(
                path,
                "nullable",
                "null is no longer allowed".to_owned(),
                ratcheting,
            );
        }
        if !new.format.is_empty() && new.format != old.format {
            let message = format!("the format {} is new", new.format);
            self.report(path, "format", message, ratcheting);
        }
        self.bounds(new, old, path, ratcheting);
        self.rules(new, old, path, ratcheting);
        for name in &new.required {
            let is_new = !old.required.contains(name);
            let property = new.properties.get(name);
            let has_default = property.is_some_and(|each| each.default_value().is_some());
            if is_new && !has_default {
                let message = format!("{name} is now required");
                self.report(path, "required", message, ratcheting);
            }
        }
        for (name, before) in &old.properties {
            let below = format!("{path}.properties[{name}]");
            match new.properties.get(name) {
                Some(property) => self.node(property, before, &below, ratcheting),
                None if new.preserves_unknown_fields() || new.value().is_some() => {}
                None => {
                    let message = format!(
                        "the field {name} is gone: what is stored in it is dropped when the object is next written"
                    );
                    self.report(path, "properties", message, ratcheting);
                }
            }
        }
        if let (Some(new), Some(old)) = (new.value(), old.value()) {
            self.node(
                new,
                old,
                &format!("{path}.additionalProperties"),
                ratcheting,
            );
        }
        if let (Some(item), Some(before)) = (new.item(), old.item()) {
            let is_map = new.topology.list_type.as_deref() == Some("map");
            let ratcheting = if is_map {
                ratcheting
            } else {
                Ratcheting::OfList
            };
            self.node(item, before, &format!("{path}.items"), ratcheting);
        }
    }

    fn bounds(&mut self, new: &JsonSchema, old: &JsonSchema, path: &str, ratcheting: Ratcheting) {
        let (new, old) = (&new.bounds, &old.bounds);
        let upper = [
            ("maxLength", new.max_length, old.max_length),
            ("maxItems", new.max_items, old.max_items),
            ("maxProperties", new.max_properties, old.max_properties),
        ];
        let lower = [
            ("minLength", new.min_length, old.min_length),
            ("minItems", new.min_items, old.min_items),
            ("minProperties", new.min_properties, old.min_properties),
        ];
        for (key, new, old) in upper {
            if let Some(new) = new.filter(|new| old.is_none_or(|old| *new < old)) {
                self.report(path, key, changed(key, new, old), ratcheting);
            }
        }
        for (key, new, old) in lower {
            if let Some(new) = new.filter(|new| *new > old.unwrap_or(0)) {
                self.report(path, key, changed(key, new, old), ratcheting);
            }
        }
        if let Some(most) = new
            .maximum
            .filter(|new| old.maximum.is_none_or(|old| *new < old))
        {
            self.report(
                path,
                "maximum",
                changed("maximum", most, old.maximum),
                ratcheting,
            );
        }
        if let Some(least) = new
            .minimum
            .filter(|new| old.minimum.is_none_or(|old| *new > old))
        {
            self.report(
                path,
                "minimum",
                changed("minimum", least, old.minimum),
                ratcheting,
            );
        }
        if !new.pattern.is_empty() && new.pattern != old.pattern {
            let message = match old.pattern.as_str() {
                "" => format!("the pattern `{}` is new", new.pattern),
                before => format!("the pattern was `{before}`, and is `{}`", new.pattern),
            };
            self.report(path, "pattern", message, ratcheting);
        }
        if new.enumeration.is_empty() {
            return;
        }
        if old.enumeration.is_empty() {
            let message = "only the values of the new enum are allowed".to_owned();
            self.report(path, "enum", message, ratcheting);
            return;
        }
        let gone = old
            .enumeration
            .iter()
            .filter(|value| !new.enumeration.contains(value));
        let gone: Vec<_> = gone.map(ToString::to_string).collect();
        if !gone.is_empty() {
            let message = format!("{} is no longer allowed", gone.join(", "));
            self.report(path, "enum", message, ratcheting);
        }
    }

    fn rules(&mut self, new: &JsonSchema, old: &JsonSchema, path: &str, ratcheting: Ratcheting) {
        for (n, rule) in new.validations.iter().enumerate() {
            if old.validations.iter().any(|known| known.rule == rule.rule) {
                continue;
            }
            let path = format!("{path}.x-kubernetes-validations[{n}]");
            match rule.rule.contains("oldSelf") {
                true => {
                    let message =
                        "the rule is new; it is about changes, and holds for every update"
                            .to_owned();
                    let found = problem(
                        self.document,
                        &BREAKS_STORED_OBJECTS,
                        &format!("{path}.rule"),
                        message,
                    );
                    self.problems
                        .push(found.with_help("transition rules are not ratcheted"));
                }
                false => self.report(&path, "rule", "the rule is new".to_owned(), ratcheting),
            }
        }
    }
}

fn changed(key: &str, new: impl std::fmt::Display, old: Option<impl std::fmt::Display>) -> String {
    match old {
        Some(old) => format!("{key} was {old}, and is {new}"),
        None => format!("{key} {new} is new"),
    }
}
