//! The validation of the defaults in a schema (`defaulting/validation.go`).

use std::ops::ControlFlow;

use gavel_apimachinery::field::{self, Error, Errors, Path};
use gavel_apimachinery::server::Server;
use gavel_engine::value::Json;

use super::pruned::{Step, surround};
use crate::{JsonSchema, embedded, prune};

/// A default with valid metadata, the schema that declares the default, and the path of the default.
#[derive(Debug, Clone, Copy)]
pub struct DefaultOf<'d> {
    /// The schema that has the default.
    pub schema: &'d JsonSchema,
    /// Whether the schema is that of a whole object: the root, or an embedded resource.
    pub resource: bool,
    /// The default, with the metadata of embedded objects as an API server writes it.
    pub value: &'d Json,
    /// The path of the default in the definition.
    pub path: &'d Path<'d>,
}

/// Validates the defaults in the schema of an object; `path` is the path of this schema. Returns the errors of malformed `apiVersion`,
/// `kind` and `metadata` and, with `require_pruned`, of unknown fields.
///
/// Well-formed defaults are passed to `check`, which validates them against their schema and its rules, and appends errors. If `check`
/// returns `Break`, because its budget is exceeded, the validation ends. Defaults of map values are not validated, because they are not
/// allowed.
pub fn validate_defaults<C>(
    schema: &JsonSchema,
    path: &Path<'_>,
    require_pruned: bool,
    server: Server,
    check: &mut C,
) -> Vec<Error>
where
    C: FnMut(DefaultOf<'_>, &mut Errors) -> ControlFlow<()>,
{
    let mut walk = Walk {
        require_pruned,
        server,
        check,
        errors: Errors::default(),
    };
    let mut surroundings = Surroundings {
        root: schema,
        steps: Vec::new(),
    };
    // `Break` only ends the walk early; the errors are in `walk`.
    let _ = walk.node(schema, true, &mut surroundings, false, path);
    walk.errors.into_vec()
}

/// The position of a schema: the schema of the innermost enclosing object with metadata, and the steps from there.
struct Surroundings<'s> {
    root: &'s JsonSchema,
    steps: Vec<Step>,
}

struct Walk<'c, C> {
    require_pruned: bool,
    server: Server,
    check: &'c mut C,
    errors: Errors,
}

impl<C> Walk<'_, C>
where
    C: FnMut(DefaultOf<'_>, &mut Errors) -> ControlFlow<()>,
{
    /// Validates the defaults of a node. `in_metadata` says whether the node is the `apiVersion`, `kind` or `metadata` of an object, or is
    /// below one of these fields.
    fn node<'s>(
        &mut self,
        schema: &'s JsonSchema,
        resource: bool,
        surroundings: &mut Surroundings<'s>,
        in_metadata: bool,
        path: &Path<'_>,
    ) -> ControlFlow<()> {
        if schema.embedded_resource && !resource {
            let mut own = Surroundings {
                root: schema,
                steps: Vec::new(),
            };
            return self.node(schema, true, &mut own, false, path);
        }
        if let Some(default) = schema.default_value() {
            let path = path.child("default");
            let value = match in_metadata {
                true => self.in_metadata(default, surroundings, &path),
                false => self.anywhere(schema, resource, default, &path),
            };
            if let Some(value) = &value {
                let default = DefaultOf {
                    schema,
                    resource,
                    value,
                    path: &path,
                };
                (self.check)(default, &mut self.errors)?;
            }
            if self.errors.is_full() {
                return ControlFlow::Break(());
            }
        }
        if let Some(item) = schema.item() {
            surroundings.steps.push(Step::Item);
            self.node(item, false, surroundings, in_metadata, &path.child("items"))?;
            surroundings.steps.pop();
        }
        let properties = path.child("properties");
        for (name, property) in &schema.properties {
            let in_metadata =
                in_metadata || (resource && prune::META_FIELDS.contains(&name.as_str()));
            let path = properties.key(name);
            surroundings.steps.push(Step::Property(name.to_string()));
            self.node(property, false, surroundings, in_metadata, &path)?;
            surroundings.steps.pop();
        }
        ControlFlow::Continue(())
    }

    /// Validates a default of the `apiVersion`, `kind` or `metadata` of an object, or of a field within its metadata. `None` if the default
    /// is malformed.
    fn in_metadata(
        &mut self,
        default: &Json,
        surroundings: &Surroundings<'_>,
        path: &Path<'_>,
    ) -> Option<Json> {
        let mut object = surround(default.clone(), &surroundings.steps);
        for (name, value) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
            if let Json::Object(fields) = &mut object {
                fields.entry(name).or_insert_with(|| value.into());
            }
        }
        let (root, nowhere) = (Some(surroundings.root), Path::root());
        let fault = match embedded::coerce(&mut object, root, true, &nowhere) {
            Err(error) => Some(error.to_string()),
            Ok(_) => field::aggregate(&embedded::validate(
                &object,
                root,
                true,
                &nowhere,
                self.server,
            )),
        };
        match fault {
            None => Some(default.clone()),
            Some(fault) => {
                let detail = format!("must result in valid metadata: {fault}");
                self.errors.push(Error::invalid(path, default, detail));
                None
            }
        }
    }

    /// Validates a default outside of `apiVersion`, `kind` and `metadata`. `None` if the default is malformed.
    fn anywhere(
        &mut self,
        schema: &JsonSchema,
        resource: bool,
        default: &Json,
        path: &Path<'_>,
    ) -> Option<Json> {
        let is_pruned = !self.require_pruned || {
            let mut pruned = default.clone();
            prune::prune(&mut pruned, Some(schema), resource);
            pruned == *default
        };
        let mut value = default.clone();
        let coerced = embedded::coerce(&mut value, Some(schema), resource, path);
        if !is_pruned {
            let detail = "must not have unknown fields";
            self.errors.push(Error::invalid(path, &value, detail));
        }
        let errors = match coerced {
            Err(error) => vec![error],
            Ok(_) => embedded::validate(&value, Some(schema), resource, path, self.server),
        };
        let is_well_formed = errors.is_empty();
        self.errors.extend(errors);
        is_well_formed.then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Json, expected: &[&str]) {
        let schema: JsonSchema = serde_json::from_value(schema).unwrap();
        let mut report = |default: DefaultOf<'_>, errors: &mut Errors| {
            let detail = format!("resource {}", default.resource);
            errors.push(Error::invalid(default.path, default.value, detail));
            ControlFlow::Continue(())
        };
        let errors = validate_defaults(
            &schema,
            &Path::new("s"),
            true,
            Server::default(),
            &mut report,
        );
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors, expected);
    }

    #[test]
    fn well_formed_defaults_are_checked_wherever_they_are() {
        let one = json!({"default": 1});
        check(
            json!({"default": {"a": 1, "apiVersion": "v1", "kind": "A"}, "properties": {"a": one, "b": {"items": one}, "c": {"additionalProperties": one}}}),
            &[
                "s.default: Invalid value: {\"a\":1,\"apiVersion\":\"v1\",\"kind\":\"A\"}: resource true",
                "s.properties[a].default: Invalid value: 1: resource false",
                "s.properties[b].items.default: Invalid value: 1: resource false",
            ],
        );
    }

    #[test]
    fn unknown_fields_are_reported() {
        check(
            json!({"properties": {"a": {"default": {"b": 1}}}}),
            &[
                "s.properties[a].default: Invalid value: {\"b\":1}: must not have unknown fields",
                "s.properties[a].default: Invalid value: {\"b\":1}: resource false",
            ],
        );
    }

    #[test]
    fn embedded_objects_are_objects_of_their_own() {
        let pod = |default: Json| json!({"properties": {"pod": {"default": default, "x-kubernetes-embedded-resource": true, "properties": {"spec": {}}}}});
        check(
            pod(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": null}})),
            &[
                "s.properties[pod].default: Invalid value: {\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{}}: resource true",
            ],
        );
        check(
            pod(json!({"kind": "Pod", "metadata": {"name": ".."}, "x": 1})),
            &[
                "s.properties[pod].default: Invalid value: {\"kind\":\"Pod\",\"metadata\":{\"name\":\"..\"},\"x\":1}: must not have unknown fields",
                "s.properties[pod].default.apiVersion: Required value",
                "s.properties[pod].default.metadata.name: Invalid value: \"..\": may not be '..'",
            ],
        );
        check(
            pod(json!({"kind": 1})),
            &["s.properties[pod].default.kind: Invalid value: 1: must be a string"],
        );
    }

    #[test]
    fn defaults_in_metadata_make_valid_metadata() {
        let in_metadata = |rest: Json| json!({"properties": {"pod": {"x-kubernetes-embedded-resource": true, "properties": rest}}});
        let name = |default: &str| {
            in_metadata(json!({"metadata": {"properties": {"name": {"default": default}}}}))
        };
        let path = "s.properties[pod].properties[metadata].properties[name].default";
        check(
            name("a"),
            &[&format!("{path}: Invalid value: \"a\": resource false")],
        );
        check(
            name("a/b%"),
            &[&format!(
                "{path}: Invalid value: \"a/b%\": must result in valid metadata: [metadata.name: Invalid value: \"a/b%\": may not contain '/', metadata.name: Invalid value: \"a/b%\": may not contain '%']"
            )],
        );
        check(
            in_metadata(json!({"kind": {"default": 1}})),
            &[
                "s.properties[pod].properties[kind].default: Invalid value: 1: must result in valid metadata: kind: Invalid value: 1: must be a string",
            ],
        );
    }

    #[test]
    fn nothing_follows_once_the_budget_is_used_up() {
        let schema = json!({"properties": {"a": {"default": 1}, "b": {"default": 1}}});
        let schema: JsonSchema = serde_json::from_value(schema).unwrap();
        let mut count = 0;
        let mut check = |_: DefaultOf<'_>, _: &mut Errors| {
            count += 1;
            ControlFlow::Break(())
        };
        validate_defaults(
            &schema,
            &Path::new("s"),
            true,
            Server::default(),
            &mut check,
        );
        assert_eq!(count, 1);
    }
}
