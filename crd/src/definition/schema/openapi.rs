//! Walks over all schemas within a schema, and checks each of these schemas and its rules (apiextensions-apiserver `validation.go`,
//! `ValidateCustomResourceDefinitionOpenAPISchema`).

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_schema::{Dependency, Items, JsonSchema, SchemaOrBool};

use super::check::SchemaCheck;
use super::context::{Context, Step};
use super::cost::TotalCost;
use super::{lists, rule_syntax};

/// The valid values of `type` in a schema.
pub(in crate::definition) const TYPES: [&str; 6] =
    ["array", "boolean", "integer", "number", "object", "string"];

/// The state of the walk, and its errors.
#[derive(Debug)]
pub(super) struct OpenApi<'w> {
    pub(super) check: SchemaCheck<'w>,
    /// All errors except those that the compilation of rules finds. For each node, errors of the type and the default come first, then
    /// errors of the nodes below, then errors of list extensions and of rule syntax.
    pub(super) schema_errors: Errors,
    /// Errors of rules.
    pub(super) rule_errors: Errors,
    /// The cost of all rules.
    pub(super) total: TotalCost,
}

/// The constraints on a node that come from the nodes above it.
#[derive(Debug, Clone, Copy, Default)]
struct Above<'w> {
    /// Why defaults are not allowed; `None` if they are allowed.
    no_defaults: Option<NoDefaults<'w>>,
    /// Whether the node is the `apiVersion`, `kind` or `metadata` of a resource, or is below one of these fields.
    in_metadata: bool,
    /// The outermost node above this one whose children before an update cannot be matched with those after it; `None` if there is no such
    /// node.
    uncorrelatable: Option<&'w Path<'w>>,
}

impl<'w> Above<'w> {
    /// Records that children of the node at this path cannot be matched.
    fn below_uncorrelatable<'p>(self, path: &'p Path<'p>) -> Above<'p>
    where
        'w: 'p,
    {
        Above {
            uncorrelatable: self.uncorrelatable.or(Some(path)),
            ..self
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum NoDefaults<'w> {
    /// The node is this top-level field or is below this field.
    TopLevel(&'w str),
    MetadataValues,
}

/// The position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    Below,
}

impl<'w> OpenApi<'w> {
    pub(super) fn new(check: SchemaCheck<'w>) -> Self {
        OpenApi {
            check,
            schema_errors: Errors::default(),
            rule_errors: Errors::default(),
            total: TotalCost::default(),
        }
    }

    /// Checks a whole schema. Without a context, no rules are compiled.
    pub(super) fn check(
        &mut self,
        schema: &JsonSchema,
        path: &Path<'_>,
        context: Option<&Context<'_>>,
    ) {
        self.node(schema, Place::Root, Above::default(), path, context);
    }

    fn node(
        &mut self,
        schema: &JsonSchema,
        place: Place,
        above: Above<'_>,
        path: &Path<'_>,
        context: Option<&Context<'_>>,
    ) {
        if self.schema_errors.is_full() || self.rule_errors.is_full() {
            return;
        }
        let errors_before = self.schema_errors.len();
        self.check_own(schema, above, path);
        self.values(schema, above, path, context);
        self.properties(schema, place, above, path, context);
        self.beside(schema, above, path);
        self.items(schema, above, path, context);
        for (name, dependency) in &schema.unsupported.dependencies {
            if let Dependency::Schema(schema) = dependency {
                let path = path.child("dependencies");
                self.node(schema, Place::Below, above, &path.key(name), None);
            }
        }
        lists::check(schema, self.check.options, path, &mut self.schema_errors);
        if schema.validations.is_empty() {
            return;
        }
        rule_syntax::check(schema, path, &mut self.schema_errors);
        if self.schema_errors.len() == errors_before
            && let Some(context) = context
        {
            self.check_rules(schema, above.uncorrelatable, path, context);
        }
    }

    fn values(
        &mut self,
        schema: &JsonSchema,
        mut above: Above<'_>,
        path: &Path<'_>,
        context: Option<&Context<'_>>,
    ) {
        let Some(values) = &schema.additional_properties else {
            return;
        };
        let path = path.child("additionalProperties");
        if !schema.properties.is_empty() && *values != SchemaOrBool::Allows(true) {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.schema_errors.push(Error::forbidden(&path, detail));
        }
        if above.in_metadata {
            above.no_defaults = Some(NoDefaults::MetadataValues);
        }
        if let SchemaOrBool::Schema(values) = values {
            let context = context.map(|context| context.child(Step::Value, values));
            self.node(values, Place::Below, above, &path, context.as_ref());
        }
    }

    fn properties(
        &mut self,
        schema: &JsonSchema,
        place: Place,
        above: Above<'_>,
        path: &Path<'_>,
        context: Option<&Context<'_>>,
    ) {
        let properties_path = path.child("properties");
        let is_resource = place == Place::Root || schema.embedded_resource;
        let map_type = schema.topology.map_type.as_deref();
        let is_correlatable = matches!(map_type, None | Some("granular" | "atomic"));
        for (name, property) in &schema.properties {
            let mut above = match is_correlatable {
                true => above,
                false => above.below_uncorrelatable(path),
            };
            if is_resource && matches!(name.as_str(), "metadata" | "kind" | "apiVersion") {
                above.in_metadata = true;
                if place == Place::Root {
                    above.no_defaults = Some(NoDefaults::TopLevel(name));
                }
            }
            let path = properties_path.key(name);
            let context = context.map(|context| context.child(Step::Property(name), property));
            self.node(property, Place::Below, above, &path, context.as_ref());
        }
    }

    /// Checks the schemas under `allOf`, `anyOf`, `oneOf`, `not` and `definitions`. Their rules are not compiled.
    fn beside(&mut self, schema: &JsonSchema, above: Above<'_>, path: &Path<'_>) {
        if let Some(not) = &schema.combinations.not {
            self.node(not, Place::Below, above, &path.child("not"), None);
        }
        for (name, schemas) in [
            ("allOf", &schema.combinations.all_of),
            ("oneOf", &schema.combinations.one_of),
            ("anyOf", &schema.combinations.any_of),
        ] {
            let path = path.child(name);
            for (n, schema) in schemas.iter().enumerate() {
                self.node(schema, Place::Below, above, &path.index(n), None);
            }
        }
        let path = path.child("definitions");
        for (name, schema) in &schema.unsupported.definitions {
            self.node(schema, Place::Below, above, &path.key(name), None);
        }
    }

    fn items(
        &mut self,
        schema: &JsonSchema,
        above: Above<'_>,
        path: &Path<'_>,
        context: Option<&Context<'_>>,
    ) {
        // Only elements of lists of type map can be matched before and after an update, because they have keys.
        let above = match schema.topology.list_type.as_deref() {
            Some("map") => above,
            _ => above.below_uncorrelatable(path),
        };
        let path = path.child("items");
        match &schema.items {
            Some(Items::Schema(item)) => {
                let context = context.map(|context| context.child(Step::Item, item));
                self.node(item, Place::Below, above, &path, context.as_ref());
            }
            Some(Items::Positions(items)) => {
                for (n, item) in items.iter().enumerate() {
                    let context = context.map(|context| context.child(Step::Item, item));
                    self.node(item, Place::Below, above, &path.index(n), context.as_ref());
                }
            }
            None => {}
        }
    }

    /// Checks the constraints that apply to every node.
    fn check_own(&mut self, schema: &JsonSchema, above: Above<'_>, path: &Path<'_>) {
        let kind = schema.kind.as_str();
        let require_known = self.check.options.require_known_types;
        if require_known && !kind.is_empty() && !TYPES.contains(&kind) {
            let error = Error::not_supported(&path.child("type"), kind, &TYPES);
            self.schema_errors.push(error);
        }
        if let Some(reason) = above.no_defaults
            && schema.default_value().is_some()
        {
            let detail = match reason {
                NoDefaults::TopLevel(name) => format!("must not be set in top-level {name}"),
                NoDefaults::MetadataValues => {
                    "must not be set inside additionalProperties applying to object metadata"
                        .to_owned()
                }
            };
            let error = Error::forbidden(&path.child("default"), detail);
            self.schema_errors.push(error);
        }
        let unsupported = &schema.unsupported;
        for (is_set, name) in [
            (!unsupported.id.is_empty(), "id"),
            (unsupported.additional_items.is_some(), "additionalItems"),
            (
                !unsupported.pattern_properties.is_empty(),
                "patternProperties",
            ),
            (!unsupported.definitions.is_empty(), "definitions"),
            (unsupported.dependencies.is_present(), "dependencies"),
            (unsupported.reference.is_some(), "$ref"),
        ] {
            if is_set {
                let detail = format!("{name} is not supported");
                self.schema_errors
                    .push(Error::forbidden(&path.child(name), detail));
            }
        }
        let has_positions =
            matches!(&schema.items, Some(Items::Positions(items)) if !items.is_empty());
        for (at_fault, name, detail) in [
            (
                kind == "null",
                "type",
                "type cannot be set to null, use nullable as an alternative",
            ),
            (
                has_positions,
                "items",
                "items must be a schema object and not an array",
            ),
            (
                above.in_metadata && schema.embedded_resource,
                "x-kubernetes-embedded-resource",
                "must not be used inside of resource meta",
            ),
            (
                schema.bounds.unique_items,
                "uniqueItems",
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
            ),
        ] {
            if at_fault {
                let error = Error::forbidden(&path.child(name), detail);
                self.schema_errors.push(error);
            }
        }
    }
}
