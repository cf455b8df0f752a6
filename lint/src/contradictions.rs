//! Finds parts of a schema that contradict each other: an API server accepts the schema, and then rejects values that it seems to allow. Also
//! reports the API server's own warnings about a schema.

use gavel_apimachinery::field::Path;
use gavel_crd::definition::{Definition, set_of_objects, unknown_format};
use gavel_libraries::Server;
use gavel_manifest::{Document, Problem};
use gavel_schema::validate::Validator;
use gavel_schema::{JsonSchema, OptionalList};

use crate::expressions::problem;
use crate::rules::{CONTRADICTORY_SCHEMA, SERVER_WARNING};

/// The fields that every object has, so that its schema need not declare them.
const OF_OBJECTS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Reports the contradictions in the schemas of a definition.
pub(crate) fn check(
    document: &Document,
    definition: &Definition,
    server: Server,
    problems: &mut Vec<Problem>,
) {
    let versions = definition.spec.versions.iter().enumerate();
    for (n, version) in versions {
        if let Some(schema) = definition.schema(&version.name) {
            let mut search = Search {
                document,
                server,
                problems,
            };
            let path = format!("spec.versions[{n}].schema.openAPIV3Schema");
            search.node(schema, &path, true);
        }
    }
}

struct Search<'s> {
    document: &'s Document,
    server: Server,
    problems: &'s mut Vec<Problem>,
}

impl Search<'_> {
    fn report(&mut self, field: &str, message: String) {
        let found = problem(self.document, &CONTRADICTORY_SCHEMA, field, message);
        self.problems.push(found);
    }

    /// Searches a node and the nodes below it. The recursion is as deep as the schema; the reader of schemas limits this depth.
    fn node(&mut self, schema: &JsonSchema, path: &str, is_root: bool) {
        let is_object = is_root || schema.embedded_resource;
        self.required(schema, path, is_object);
        self.bounds(schema, path);
        self.enumeration(schema, path);
        self.warnings(schema, path);
        for (name, property) in &schema.properties {
            // The metadata keeps all of its fields, whatever the schema declares.
            if !(is_object && name == "metadata") {
                self.node(property, &format!("{path}.properties[{name}]"), false);
            }
        }
        if let Some(item) = schema.item() {
            self.node(item, &format!("{path}.items"), false);
        }
        if let Some(value) = schema.value() {
            self.node(value, &format!("{path}.additionalProperties"), false);
        }
    }

    /// Reports the API server's warnings about a node.
    fn warnings(&mut self, schema: &JsonSchema, path: &str) {
        for (key, warning) in [
            ("format", unknown_format(schema, self.server)),
            (
                "x-kubernetes-list-type",
                set_of_objects(schema, self.server),
            ),
        ] {
            let field = format!("{path}.{key}");
            let found =
                warning.map(|warning| problem(self.document, &SERVER_WARNING, &field, warning));
            self.problems.extend(found);
        }
    }

    /// Reports required fields that objects cannot have, because fields that a schema does not declare are dropped before validation.
    fn required(&mut self, schema: &JsonSchema, path: &str, is_object: bool) {
        let keeps_others =
            schema.preserves_unknown_fields() || schema.additional_properties.is_some();
        if schema.kind != "object" || keeps_others {
            return;
        }
        for (n, name) in schema.required.iter().enumerate() {
            let is_implied = is_object && OF_OBJECTS.contains(&name.as_str());
            if !is_implied && !schema.properties.contains_key(name) {
                let message = format!(
                    "no object is valid: {name} is required, but is not in the properties, so the API server drops it"
                );
                self.report(&format!("{path}.required[{n}]"), message);
            }
        }
    }

    fn bounds(&mut self, schema: &JsonSchema, path: &str) {
        let bounds = &schema.bounds;
        let (values, [least, most], limits) = match schema.kind.as_str() {
            "string" => (
                "string",
                ["minLength", "maxLength"],
                [bounds.min_length, bounds.max_length],
            ),
            "array" => (
                "list",
                ["minItems", "maxItems"],
                [bounds.min_items, bounds.max_items],
            ),
            "object" => (
                "object",
                ["minProperties", "maxProperties"],
                [bounds.min_properties, bounds.max_properties],
            ),
            "integer" | "number" => return self.numbers(schema, path),
            _ => return,
        };
        if let [Some(min), Some(max)] = limits
            && min > max
        {
            let message = format!("no {values} is valid: {least} {min} exceeds {most} {max}");
            self.report(&format!("{path}.{least}"), message);
        }
    }

    fn numbers(&mut self, schema: &JsonSchema, path: &str) {
        let bounds = &schema.bounds;
        let (Some(min), Some(max)) = (bounds.minimum, bounds.maximum) else {
            return;
        };
        let is_exclusive = bounds.exclusive_minimum || bounds.exclusive_maximum;
        let relation = match min == max {
            true if is_exclusive => "equals",
            false if min > max => "exceeds",
            _ => return,
        };
        let [least, most] = [
            ("minimum", bounds.exclusive_minimum),
            ("maximum", bounds.exclusive_maximum),
        ]
        .map(|(key, is_exclusive)| match is_exclusive {
            true => format!("the exclusive {key}"),
            false => format!("the {key}"),
        });
        let message = format!("no number is valid: {least} {min} {relation} {most} {max}");
        self.report(&format!("{path}.minimum"), message);
    }

    /// Reports values of an `enum` that the rest of the schema does not allow.
    fn enumeration(&mut self, schema: &JsonSchema, path: &str) {
        if schema.bounds.enumeration.is_empty() {
            return;
        }
        let mut rest = schema.clone();
        rest.bounds.enumeration = OptionalList::default();
        let validator = Validator::new(&rest, self.server);
        for (n, value) in schema.bounds.enumeration.iter().enumerate() {
            if let Some(error) = validator.validate(&Path::root(), value).first() {
                // The detail names the part of the value that is at fault, which is empty for the value itself.
                let detail = error.detail.replacen(" in body", "", 1);
                let message = format!("the value {value} is never valid: {}", detail.trim());
                self.report(&format!("{path}.enum[{n}]"), message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gavel_manifest::{Format, read};

    use crate::rules::Frame;
    use crate::{Linter, Options};

    /// Lints a schema with one property `a`, and expects these findings about it: the key at fault, and the message.
    fn check(property: &str, expected: &[(&str, &str)]) {
        let schema = format!("type: object\nproperties: {{a: {property}}}\n");
        let text = Frame::Schema.manifest(&schema);
        let documents = read(&text, Format::Yaml).all().unwrap();
        let linter = Linter::new(&Options::default(), &documents).unwrap();
        let found = linter.document(&documents[0]);
        let found = found
            .iter()
            .filter(|each| each.rule == "contradictory-schema");
        let found: Vec<_> = found
            .map(|each| {
                let (_, key) = each.field.rsplit_once("properties[a].").unwrap();
                (key, &*each.message)
            })
            .collect();
        assert_eq!(found, expected, "{property}");
    }

    #[test]
    fn bounds_that_no_value_keeps_are_found() {
        check("{type: string, minLength: 3, maxLength: 3}", &[]);
        check(
            "{type: string, minLength: 4, maxLength: 3}",
            &[(
                "minLength",
                "no string is valid: minLength 4 exceeds maxLength 3",
            )],
        );
        check(
            "{type: array, minItems: 2, maxItems: 1, items: {type: string}}",
            &[(
                "minItems",
                "no list is valid: minItems 2 exceeds maxItems 1",
            )],
        );
        check(
            "{type: object, minProperties: 2, maxProperties: 1, additionalProperties: {type: string}}",
            &[(
                "minProperties",
                "no object is valid: minProperties 2 exceeds maxProperties 1",
            )],
        );
        check("{type: number, minimum: 1, maximum: 1}", &[]);
        check(
            "{type: number, minimum: 1, maximum: 1, exclusiveMaximum: true}",
            &[(
                "minimum",
                "no number is valid: the minimum 1 equals the exclusive maximum 1",
            )],
        );
        check(
            "{type: integer, minimum: 2, maximum: 1, exclusiveMinimum: true}",
            &[(
                "minimum",
                "no number is valid: the exclusive minimum 2 exceeds the maximum 1",
            )],
        );
    }

    #[test]
    fn required_fields_that_are_dropped_are_found() {
        let dropped = "no object is valid: b is required, but is not in the properties, so the API server drops it";
        let inner = "properties: {c: {type: string}}, required: [c, b]";
        check(
            &format!("{{type: object, {inner}}}"),
            &[("required[1]", dropped)],
        );
        for keeps in [
            "x-kubernetes-preserve-unknown-fields: true, properties: {c: {type: string}}",
            "additionalProperties: {type: string}",
        ] {
            check(&format!("{{type: object, {keeps}, required: [b]}}"), &[]);
        }
        check(
            "{type: object, x-kubernetes-embedded-resource: true, required: [kind, b], properties: {c: {type: string}}}",
            &[("required[1]", dropped)],
        );
        check(
            "{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, required: [labels]}}}",
            &[],
        );
    }

    #[test]
    fn values_of_an_enum_that_are_never_valid_are_found() {
        check("{type: string, enum: [a, b], maxLength: 1}", &[]);
        check(
            "{type: string, nullable: true, enum: [a, null], maxLength: 1}",
            &[],
        );
        check(
            "{type: integer, enum: [1, 9], maximum: 5}",
            &[(
                "enum[1]",
                "the value 9 is never valid: should be less than or equal to 5",
            )],
        );
    }
}
