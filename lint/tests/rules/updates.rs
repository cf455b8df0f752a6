//! Changes of a definition that make stored objects invalid, or drop their fields.

use gavel_lint::{Linter, Options};
use gavel_manifest::{Format, read};

/// A definition whose version v1 has this schema.
fn definition(schema: &str, other_version: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: things.example.com}}
spec:
  group: example.com
  names: {{kind: Thing, plural: things}}
  scope: Namespaced
  versions:
  - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, {schema}}}}}}}
{other_version}"
    )
}

#[test]
fn each_stricter_constraint_is_reported() {
    let old = "properties: {
      a: {type: string, nullable: true},
      b: {type: string},
      c: {type: string, pattern: a, enum: [k, l, m]},
      d: {type: object, additionalProperties: {type: string}},
      e: {type: array, items: {type: object, properties: {k: {type: string}, v: {type: integer}}, required: [k]}},
      f: {type: integer, maximum: 5, multipleOf: 4},
      g: {type: integer},
      h: {type: object, x-kubernetes-preserve-unknown-fields: true},
      i: {type: string}}";
    let new = "required: [b, g],
      x-kubernetes-validations: [{rule: self == oldSelf, message: a}, {rule: self.a == 'a', message: a}],
      properties: {
      a: {type: string, minLength: 1},
      b: {type: string, format: date, pattern: b, enum: [k]},
      c: {type: string, pattern: b, enum: [k]},
      d: {type: object, additionalProperties: {type: string, maxLength: 5}, maxProperties: 3},
      e: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: string}}, required: [k]}},
      f: {type: integer, maximum: 5, exclusiveMaximum: true, multipleOf: 3},
      g: {x-kubernetes-int-or-string: true, default: 1},
      h: {type: object}}";
    let other_version =
        "  - {name: v0, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n";
    let [old, new] = [definition(old, other_version), definition(new, "")]
        .map(|text| read(&text, Format::Yaml).all().unwrap());
    let linter = Linter::new(&Options::default(), &new).unwrap();
    let found = linter.update(&new[0], &old[0]).into_iter();
    let found = found.filter(|problem| problem.rule == "breaks-stored-objects");
    let found: Vec<String> = found
        .map(|problem| {
            let field = problem
                .field
                .replace("spec.versions[0].schema.openAPIV3Schema.", "");
            format!("{field}: {}", problem.message)
        })
        .collect();
    let expected = [
        "x-kubernetes-validations[0].rule: the rule is new; it is about changes, and holds for every update",
        "x-kubernetes-validations[1].rule: the rule is new",
        "required: b is now required",
        "properties[a].nullable: null is no longer allowed",
        "properties[a].minLength: minLength 1 is new",
        "properties[b].format: the format date is new",
        "properties[b].pattern: the pattern `b` is new",
        "properties[b].enum: only the values of the new enum are allowed",
        "properties[c].pattern: the pattern was `a`, and is `b`",
        "properties[c].enum: \"l\", \"m\" is no longer allowed",
        "properties[d].maxProperties: maxProperties 3 is new",
        "properties[d].additionalProperties.maxLength: maxLength 5 is new",
        "properties[e].x-kubernetes-list-type: the list type map is new, and allows no duplicates",
        "properties[e].items.properties[v].type: the type was integer, and is string",
        "properties[f].exclusiveMaximum: exclusiveMaximum is new",
        "properties[f].multipleOf: multipleOf was 4, and is 3",
        "properties[h].x-kubernetes-preserve-unknown-fields: unknown fields are no longer preserved: those that are stored are dropped when the object is next written",
        "properties: the field i is gone: what is stored in it is dropped when the object is next written",
        "spec.versions: the version v0 is gone, and clients may still use it",
    ];
    assert_eq!(found, expected);
}
