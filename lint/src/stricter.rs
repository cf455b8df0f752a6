//! Finds constraints of a definition that the older definition did not have.

use std::fmt::Display;

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
        self.report_with(&field, message, help);
    }

    fn report_with(&mut self, field: &str, message: String, help: &str) {
        let found = problem(self.document, &BREAKS_STORED_OBJECTS, field, message);
        self.problems.push(found.with_help(help));
    }

    /// Compares two nodes. The recursion is as deep as the schemas; the reader of schemas limits this depth.
    fn node(&mut self, new: &JsonSchema, old: &JsonSchema, path: &str, ratcheting: Ratcheting) {
        let (kind, before) = (type_of(new), type_of(old));
        if !admits(kind, before) {
            let message = match before {
                "" => format!("the type {kind} is new"),
                _ => format!("the type was {before}, and is {kind}"),
            };
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
                    self.report_with(
                        &format!("{path}.properties"),
                        message,
                        "keep the field as long as stored objects may have it",
                    );
                }
            }
        }
        let keeps_unknown = new.preserves_unknown_fields() || new.value().is_some();
        if old.preserves_unknown_fields() && !keeps_unknown {
            self.report_with(
                &format!("{path}.x-kubernetes-preserve-unknown-fields"),
                "unknown fields are no longer preserved: those that are stored are dropped when the object is next written".to_owned(),
                "add every field that stored objects may have to the properties",
            );
        }
        if let (Some(new), Some(old)) = (new.value(), old.value()) {
            self.node(
                new,
                old,
                &format!("{path}.additionalProperties"),
                ratcheting,
            );
        }
        let list_type = new.topology.list_type.as_deref();
        let is_other = list_type != old.topology.list_type.as_deref();
        if let Some(unique @ ("set" | "map")) = list_type.filter(|_| is_other) {
            let message = format!("the list type {unique} is new, and allows no duplicates");
            self.report_with(
                &format!("{path}.x-kubernetes-list-type"),
                message,
                "an update passes if one of the object's lists already had duplicates; server-side apply may still fail",
            );
        }
        if let (Some(item), Some(before)) = (new.item(), old.item()) {
            let is_map = list_type == Some("map");
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
        let at = (path, ratcheting);
        for (key, new, old) in upper {
            self.bound(at, key, new, old, i64::lt);
        }
        for (key, new, old) in lower {
            if let Some(new) = new.filter(|new| *new > old.unwrap_or(0)) {
                self.report(path, key, changed(key, new, old), ratcheting);
            }
        }
        self.bound(at, "maximum", new.maximum, old.maximum, f64::lt);
        self.bound(at, "minimum", new.minimum, old.minimum, f64::gt);
        let exclusive = [
            (
                "exclusiveMaximum",
                new.exclusive_maximum && !old.exclusive_maximum,
                new.maximum.is_some() && new.maximum == old.maximum,
            ),
            (
                "exclusiveMinimum",
                new.exclusive_minimum && !old.exclusive_minimum,
                new.minimum.is_some() && new.minimum == old.minimum,
            ),
        ];
        for (key, is_new, is_same_bound) in exclusive {
            if is_new && is_same_bound {
                self.report(path, key, format!("{key} is new"), ratcheting);
            }
        }
        let is_no_factor = |new: &f64, old: &f64| old % new != 0.0;
        self.bound(
            at,
            "multipleOf",
            new.multiple_of,
            old.multiple_of,
            is_no_factor,
        );
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

    /// Reports a bound that is new or stricter than before.
    fn bound<T: Display>(
        &mut self,
        (path, ratcheting): (&str, Ratcheting),
        key: &str,
        new: Option<T>,
        old: Option<T>,
        is_stricter: impl Fn(&T, &T) -> bool,
    ) {
        let is_new = |new: &T| old.as_ref().is_none_or(|old| is_stricter(new, old));
        if let Some(new) = new.filter(is_new) {
            self.report(path, key, changed(key, new, old), ratcheting);
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
                    self.report_with(
                        &format!("{path}.rule"),
                        message,
                        "transition rules are not ratcheted",
                    );
                }
                false => self.report(&path, "rule", "the rule is new".to_owned(), ratcheting),
            }
        }
    }
}

/// The type of a schema's values; empty if the schema allows values of every type.
fn type_of(schema: &JsonSchema) -> &str {
    match schema.int_or_string {
        true => "int-or-string",
        false => &schema.kind,
    }
}

/// Whether every value of the type `before` has the type `kind`.
fn admits(kind: &str, before: &str) -> bool {
    match kind {
        "" => true,
        "int-or-string" => matches!(before, "int-or-string" | "integer" | "string"),
        "number" => matches!(before, "number" | "integer"),
        kind => kind == before,
    }
}

fn changed(key: &str, new: impl Display, old: Option<impl Display>) -> String {
    match old {
        Some(old) => format!("{key} was {old}, and is {new}"),
        None => format!("{key} {new} is new"),
    }
}

#[cfg(test)]
mod tests {
    use gavel_manifest::{Format, read};

    use crate::rules::Frame;
    use crate::{Linter, Options};

    /// Compares the schemas of a field, and expects one finding with this message and this beginning of the help; none if the message is
    /// empty.
    fn check(old: &str, new: &str, message: &str, help: &str) {
        let manifest = |field: &str| {
            let schema = format!("type: object\nproperties: {{a: {field}}}\n");
            let text = Frame::Schema.manifest(&schema);
            read(&text, Format::Yaml).all().unwrap().remove(0)
        };
        let (old, new) = (manifest(old), manifest(new));
        let linter = Linter::new(&Options::default(), &[]).unwrap();
        let found = linter.update(&new, &old);
        let found: Vec<_> = found
            .iter()
            .map(|each| (&*each.message, each.help()))
            .collect();
        match (message, found.as_slice()) {
            ("", []) => {}
            (_, [(only, advice)]) if *only == message && advice.starts_with(help) => {}
            _ => panic!("{found:?}"),
        }
    }

    #[test]
    fn stricter_schemas_are_found() {
        let int_or_string = "{x-kubernetes-int-or-string: true}";
        let passes = "an update passes as long as it leaves the value as it is";
        for (old, new, message) in [
            (
                int_or_string,
                "{type: integer}",
                "the type was int-or-string, and is integer",
            ),
            (
                "{type: string}",
                "{type: integer}",
                "the type was string, and is integer",
            ),
            ("{type: integer}", int_or_string, ""),
            ("{type: integer}", "{type: number}", ""),
            (
                "{type: string}",
                "{x-kubernetes-preserve-unknown-fields: true}",
                "",
            ),
            (
                "{x-kubernetes-preserve-unknown-fields: true}",
                "{type: string}",
                "the type string is new",
            ),
            (
                "{type: integer}",
                "{type: integer, multipleOf: 3}",
                "multipleOf 3 is new",
            ),
            (
                "{type: integer, multipleOf: 3}",
                "{type: integer, multipleOf: 6}",
                "multipleOf was 3, and is 6",
            ),
            (
                "{type: integer, multipleOf: 6}",
                "{type: integer, multipleOf: 3}",
                "",
            ),
            (
                "{type: integer, minimum: 0}",
                "{type: integer, minimum: 0, exclusiveMinimum: true}",
                "exclusiveMinimum is new",
            ),
        ] {
            check(old, new, message, passes);
        }
        let list = "type: array, items: {type: string, maxLength: 9}";
        check(
            &format!("{{{list}}}"),
            &format!("{{{list}, x-kubernetes-list-type: set}}"),
            "the list type set is new, and allows no duplicates",
            "an update passes if one of",
        );
    }

    #[test]
    fn dropped_values_are_found() {
        check(
            "{type: object, x-kubernetes-preserve-unknown-fields: true}",
            "{type: object}",
            "unknown fields are no longer preserved: those that are stored are dropped when the object is next written",
            "add every field",
        );
        check(
            "{type: object, properties: {b: {type: string}}}",
            "{type: object}",
            "the field b is gone: what is stored in it is dropped when the object is next written",
            "keep the field",
        );
    }
}
